//! Messages that are written: as [`message`](super::message) says that they stand.

use super::debts::Batch;
use super::loan::{Loan, Place};
use super::message::{
    ANSWERS, ATOMIC, BORROW, DATA, EACH, FETCH, GET, HEAD, INDEX, LOAN, OWN, PATIENT, PICK, PLACE, PUT,
    SIGNAL, Sender, Spot, WANTS_VALUE, Wanted,
};
use crate::segment::MAX_SEGMENTS;
use crate::strided::{Level, MAX_LEVELS, Pattern};
use crate::transport::{AtomicOp, Change, Elements, Operand, SignalOp, Width};

/// Most bytes in front of the data of a put.
pub(super) const MOST_BEFORE_DATA: usize = HEAD + 16 + 16 * MAX_LEVELS + SIGNAL;
/// Bytes in front of the data that answers a get.
pub(super) const BEFORE_ANSWER: usize = HEAD;

/// Most bytes in front of and between what elements take of a message.
pub(super) const MOST_BESIDE_ELEMENTS: usize = HEAD + 16 + 2 * 8 + INDEX;

/// A put, to be written.
pub(super) struct Put<'a> {
    pub(super) from: Sender,
    pub(super) channel: u32,
    pub(super) to: Spot,
    /// The blocks at the target.
    pub(super) pattern: &'a Pattern,
    pub(super) signal: Option<(Spot, SignalOp)>,
    pub(super) patient: bool,
}

impl Put<'_> {
    /// Bytes of the message.
    pub(super) fn bytes(&self) -> usize {
        let signal = if self.signal.is_some() { SIGNAL } else { 0 };
        HEAD + 16 + 16 * self.pattern.levels().len() + signal + self.pattern.bytes()
    }

    /// Writes the message but for its data; gives the room for that.
    pub(super) fn write<'b>(&self, buffer: &'b mut [u8]) -> &'b mut [u8] {
        let mut writer = Writer(buffer);
        let signal = match self.signal {
            None => 0,
            Some((_, SignalOp::Set(_))) => 1,
            Some((_, SignalOp::Add(_))) => 2,
        };
        let depth = self.pattern.levels().len() as u8;
        let signal = if self.patient { signal | PATIENT } else { signal };
        let of_signal = self.signal.map_or(0, |(spot, _)| segment_byte(spot));
        writer.head([PUT, depth, signal, of_signal], self.from, self.channel, self.to.segment);
        writer.u64(self.to.offset as u64);
        writer.pattern(self.pattern, |level| level.to);
        if let Some((spot, op)) = self.signal {
            let (SignalOp::Set(value) | SignalOp::Add(value)) = op;
            writer.u64(spot.offset as u64);
            writer.u64(value);
        }
        writer.0
    }
}

/// A get, to be written.
pub(super) struct Get<'a> {
    pub(super) from: Sender,
    pub(super) request: u32,
    pub(super) of: Spot,
    /// The blocks at the target.
    pub(super) pattern: &'a Pattern,
}

impl Get<'_> {
    pub(super) fn bytes(&self) -> usize {
        HEAD + 16 + 16 * self.pattern.levels().len()
    }

    pub(super) fn write(&self, buffer: &mut [u8]) {
        let mut writer = Writer(buffer);
        let depth = self.pattern.levels().len() as u8;
        writer.head([GET, depth, 0, 0], self.from, self.request, self.of.segment);
        writer.u64(self.of.offset as u64);
        writer.pattern(self.pattern, |level| level.from);
    }
}

/// A change of a word, to be written.
pub(super) struct Atomic {
    pub(super) from: Sender,
    pub(super) wanted: Wanted,
    pub(super) word: Spot,
    pub(super) width: Width,
    pub(super) op: AtomicOp,
}

impl Atomic {
    pub(super) const BYTES: usize = HEAD + 24;

    pub(super) fn write(&self, buffer: &mut [u8]) {
        let mut writer = Writer(buffer);
        let (code, first, second) = self.op.into_words();
        let (number, flag) = match self.wanted {
            Wanted::Acknowledgement(channel) => (channel, 0),
            Wanted::Value(request) => (request, WANTS_VALUE),
        };
        let width = self.width.bytes() as u8 | flag;
        writer.head([ATOMIC, code as u8, width, 0], self.from, number, self.word.segment);
        writer.u64(self.word.offset as u64);
        writer.u64(first);
        writer.u64(second);
    }
}

/// Writes the head of data that was wanted, and of what was found; gives the room for the data.
pub(super) fn write_data(buffer: &mut [u8], from: Sender, request: u32) -> &mut [u8] {
    let mut writer = Writer(buffer);
    writer.head([DATA, 0, 0, 0], from, request, 0);
    writer.0
}

impl Batch {
    /// Bytes of the message.
    pub(super) fn bytes(&self) -> usize {
        HEAD + 8 * self.acknowledged().len() + 16 * self.values().len()
    }

    pub(super) fn write(&self, from: Sender, buffer: &mut [u8]) {
        let mut writer = Writer(buffer);
        let counts = (self.acknowledged().len() as u8, self.values().len() as u8);
        writer.head([ANSWERS, counts.0, counts.1, 0], from, 0, self.slots());
        for one in self.acknowledged() {
            writer.u32(one.channel);
            writer.u32(one.count);
        }
        for value in self.values() {
            writer.u32(value.request);
            writer.u32(0);
            writer.u64(value.before);
        }
    }
}

/// Bytes of the question for slots.
pub(super) const BORROW_BYTES: usize = HEAD;

/// Writes the question for slots.
pub(super) fn write_borrow(buffer: &mut [u8], from: Sender) {
    Writer(buffer).head([BORROW, 0, 0, 0], from, 0, 0);
}

/// Bytes of the answer to it.
pub(super) const LOAN_BYTES: usize = HEAD + 24;

/// Writes the answer to it.
pub(super) fn write_loan(buffer: &mut [u8], from: Sender, loan: Option<Loan>) {
    let mut writer = Writer(buffer);
    let none = Loan { first: 0, place: Place { address: 0, key: 0, mark: 0 } };
    let Loan { first, place } = loan.unwrap_or(none);
    writer.head([LOAN, u8::from(loan.is_some()), 0, 0], from, 0, first);
    writer.u64(place.address);
    writer.u64(place.key);
    writer.u64(place.mark.into());
}

/// What is done with the elements of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Errand<'a> {
    Each(Change<'a>),
    Fetch(Change<'a>),
    Place,
    Pick,
}

impl<'a> Errand<'a> {
    /// What changes the words, and the operands that it has: for all words one, or for each of them.
    fn operands(&self) -> impl Iterator<Item = Operand<'a>> + use<'a> {
        let (taken, both) = match self {
            Self::Each(change) | Self::Fetch(change) => {
                (change.op.operands(), [change.operand, change.expected])
            }
            Self::Place | Self::Pick => (0, [Operand::Same(0); 2]),
        };
        both.into_iter().take(taken)
    }

    /// Bytes that each element of `size` bytes takes of a message.
    pub(super) fn each(&self, size: usize) -> usize {
        let own = |operand: &Operand<'_>| matches!(operand, Operand::Own(_));
        let values = if matches!(self, Self::Place) { 1 } else { self.operands().filter(own).count() };
        INDEX + values * size
    }
}

/// A message about a list, to be written.
pub(super) struct Listing<'a> {
    pub(super) from: Sender,
    /// Channel, or request.
    pub(super) number: u32,
    pub(super) elements: Elements<'a>,
    pub(super) errand: Errand<'a>,
}

impl<'a> Listing<'a> {
    /// Bytes of the message.
    pub(super) fn bytes(&self) -> usize {
        let (count, size) = (self.elements.len(), self.elements.size);
        let same = self.errand.operands().filter(|operand| matches!(operand, Operand::Same(_))).count();
        let indices = (INDEX * count).next_multiple_of(8);
        HEAD + 16 + 8 * same + indices + (self.errand.each(size) - INDEX) * count
    }

    /// Writes the message but for elements that are to be placed; gives the room for those.
    pub(super) fn write<'b>(&self, buffer: &'b mut [u8]) -> &'b mut [u8] {
        let mut writer = Writer(buffer);
        let Elements { first, size, indices, .. } = self.elements;
        let (kind, op) = match self.errand {
            Errand::Each(change) => (EACH, change.op.code()),
            Errand::Fetch(change) => (FETCH, change.op.code()),
            Errand::Place => (PLACE, 0),
            Errand::Pick => (PICK, 0),
        };
        let own = |(operand, bit)| if matches!(operand, Operand::Own(_)) { bit } else { 0 };
        let own = self.errand.operands().zip(OWN).map(own).sum();
        writer.head([kind, op, own, 0], self.from, self.number, first.segment);
        writer.u64(first.offset as u64);
        writer.u32(indices.len() as u32);
        writer.u32(size as u32);
        for operand in self.errand.operands() {
            if let Operand::Same(bits) = operand {
                writer.u64(bits);
            }
        }
        writer.indices(indices);
        for operand in self.errand.operands() {
            if let Operand::Own(packed) = operand {
                // As the target takes them from there.
                const { assert!(cfg!(target_endian = "little"), "operands lie as they are in memory") };
                writer.bytes(packed);
            }
        }
        writer.0
    }
}

/// A segment in a byte, which is enough for all that there are.
fn segment_byte(spot: Spot) -> u8 {
    const { assert!(MAX_SEGMENTS <= u8::MAX as usize) };
    u8::try_from(spot.segment).unwrap_or(u8::MAX)
}

/// A buffer that is written from the front.
struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        let (written, left) = core::mem::take(&mut self.0).split_at_mut(bytes.len());
        written.copy_from_slice(bytes);
        self.0 = left;
    }

    fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Indices, filled up to a multiple of eight bytes.
    fn indices(&mut self, indices: &[u32]) {
        let bytes = INDEX * indices.len();
        let (written, left) = core::mem::take(&mut self.0).split_at_mut(bytes);
        written.as_chunks_mut().0.iter_mut().zip(indices).for_each(|(to, index)| *to = index.to_le_bytes());
        self.0 = left;
        let filling = bytes.next_multiple_of(8) - bytes;
        self.bytes(&[0; 8][..filling]);
    }

    fn head(&mut self, kind: [u8; 4], from: Sender, number: u32, segment: u32) {
        self.bytes(&kind);
        self.u32(from.pe);
        self.u32(number);
        self.u32(segment);
        self.u64(from.token);
    }

    fn pattern(&mut self, pattern: &Pattern, distance: impl Fn(&Level) -> usize) {
        self.u64(pattern.block() as u64);
        for level in pattern.levels() {
            self.u64(level.count as u64);
            self.u64(distance(level) as u64);
        }
    }
}
