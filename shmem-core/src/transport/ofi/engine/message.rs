//! Messages as bytes: how they are written and read.
//!
//! All numbers are little-endian, and lie at multiples of their size. The first 24 bytes are four bytes of the
//! message's kind, three numbers of 32 bits, and the token of its sender and receiver; behind them stand numbers of 64
//! bits:
//!
//! ```text
//! kind, three bytes of its own | PE that sends | channel or request | segment | token
//! put      ..., offset, block, (count, distance) of each loop, [offset and value of a signal], data
//! get      ..., offset, block, (count, distance) of each loop
//! atomic   ..., offset, two operands
//! data     ..., data
//! answers  ..., (channel, count) of each acknowledgement, (request, value) of each value
//! borrow   ...
//! loan     ..., address, key, mark
//! each     ..., offset, (count, size), [operand], [expected], indices, [operands], [expected ones]
//! fetch    as each
//! place    ..., offset, (count, size), indices, elements
//! pick     ..., offset, (count, size), indices
//! ```
//!
//! A list of elements begins at an offset, and has so many of so many bytes. Its indices have 32 bits, and as many zeroes behind
//! them that what follows lies at a multiple of eight bytes. Words are changed by an operation, the first byte of the message's own, with
//! operands that all of them have in common, or that lie behind the indices, as the second byte says of both operands. What picks
//! or fetches is answered by data.
//!
//! Answers say in the place of a segment which slots are free again, and loans which slot is the first. The last
//! byte of a put's kind is the segment of its signal, and the one before says what the signal is changed by, and whether
//! the sender has time.
//!
//! Whoever reads one believes nothing: what does not fit together is a [`Flaw`].

use core::ops::Range;

use super::loan::{Loan, Place};
use super::pending::{Acknowledged, Batch, Read, Value};
use super::wire::Flaw;
use crate::segment::MAX_SEGMENTS;
use crate::strided::{Level, MAX_LEVELS, Pattern};
use crate::transport::{AtomicOp, Change, Deed, EachOp, Elements, Operand, Remote, SignalOp, Width};

/// Bytes that every message starts with.
pub(super) const HEAD: usize = 24;
/// Where a message has its token.
pub const TOKEN: Range<usize> = 16..24;
/// Bytes of a signal behind a put.
const SIGNAL: usize = 16;
/// Bytes of an index.
pub(super) const INDEX: usize = size_of::<u32>();

/// Most bytes in front of the data of a put.
pub(super) const MOST_BEFORE_DATA: usize = HEAD + 16 + 16 * MAX_LEVELS + SIGNAL;
/// Bytes in front of the data that answers a get.
pub(super) const BEFORE_ANSWER: usize = HEAD;
/// Most bytes in front of and between what elements take of a message.
pub(super) const MOST_BESIDE_ELEMENTS: usize = HEAD + 16 + 2 * 8 + INDEX;

const PUT: u8 = 1;
const GET: u8 = 2;
const ATOMIC: u8 = 3;
const DATA: u8 = 4;
const ANSWERS: u8 = 5;
const BORROW: u8 = 6;
const LOAN: u8 = 7;
const EACH: u8 = 8;
const FETCH: u8 = 9;
const PLACE: u8 = 10;
const PICK: u8 = 11;

/// In the byte of an atomic's width: its old value is wanted.
const WANTS_VALUE: u8 = 0x80;
/// In the byte of a put's signal: its acknowledgement may come late.
const PATIENT: u8 = 0x80;
/// In the byte of operands: each word has its own.
const OWN: [u8; 2] = [1, 2];

/// Bytes of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) segment: u32,
    pub(super) offset: usize,
}

impl From<Remote> for Spot {
    fn from(Remote { segment, offset, .. }: Remote) -> Self {
        Self { segment, offset }
    }
}

/// What follows the data of a put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    /// The change of a signal.
    pub(super) signal: Option<(Spot, SignalOp)>,
    /// Whether the acknowledgement may come late.
    pub(super) patient: bool,
}

/// What an atomic is answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// An acknowledgement, of a channel.
    Acknowledgement(u32),
    /// What the word was before, for a request.
    Value(u32),
}

/// A message, as it has arrived.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// Packed bytes for blocks, and a signal behind them.
    Put {
        channel: u32,
        to: Spot,
        /// Where the blocks go, from the packed data.
        pattern: Pattern,
        data: &'a [u8],
        behind: Behind,
    },
    /// Blocks are wanted.
    Get(Read),
    /// A change of a word.
    Atomic { wanted: Wanted, word: Spot, width: Width, op: AtomicOp },
    /// The blocks that were wanted.
    Data { request: u32, data: &'a [u8] },
    /// Acknowledgements, and what words were before.
    Answers(Answers<'a>),
    /// Slots are wanted.
    Borrow,
    /// The slots that were wanted, if there are any.
    Loan(Option<Loan>),
    /// Something is done to elements: `number` is a channel, or a request where something is wanted.
    List { number: u32, list: List<'a>, task: Task<'a> },
}

/// What is done to the elements of a list.
#[derive(Debug)]
pub(super) enum Task<'a> {
    /// Words are changed, and what they were is wanted or not.
    Change { change: Change<'a>, fetches: bool },
    /// Elements are written.
    Place(&'a [u8]),
    /// Elements are wanted.
    Pick,
}

/// Entries of a message.
#[derive(Debug)]
pub(super) struct Answers<'a> {
    acknowledged: &'a [[u8; 8]],
    values: &'a [[u8; 16]],
    /// Slots that are free again.
    pub(super) slots: u32,
}

impl Answers<'_> {
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = Acknowledged> {
        self.acknowledged.iter().map(|entry| {
            let entry = u64::from_le_bytes(*entry);
            Acknowledged { channel: entry as u32, count: (entry >> 32) as u32 }
        })
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.values.iter().map(|entry| {
            let entry = u128::from_le_bytes(*entry);
            Value { request: entry as u32, before: (entry >> 64) as u64 }
        })
    }
}

/// Who sends a message, and how the receiver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) pe: u32,
    /// What follows from the job's secret for the two PEs.
    pub(super) token: u64,
}

impl Sender {
    /// Of a message, as far as it says so.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        let mut reader = Reader(message);
        let (_kind, pe) = (reader.u32().ok()?, reader.u32().ok()?);
        let (_numbers, token) = (reader.u64().ok()?, reader.u64().ok()?);
        Some(Self { pe, token })
    }
}

impl<'a> Message<'a> {
    /// Reads a message. Blocks are fewer bytes than `most`, or there is a flaw.
    pub(super) fn read(bytes: &'a [u8], most: usize) -> Result<Self, Flaw> {
        let mut reader = Reader(bytes);
        let [kind, a, b, c] = reader.bytes()?;
        let (_from, number, segment, _token) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u64()?);
        let message = match kind {
            PUT => {
                let to = reader.spot(segment)?;
                let pattern = reader.pattern(a, most, |count, to, from| Level { count, to, from })?;
                let behind = Behind { signal: reader.signal(b & !PATIENT, c)?, patient: b & PATIENT != 0 };
                Self::Put { channel: number, to, pattern, data: reader.take(pattern.bytes())?, behind }
            }
            GET => {
                let from = reader.spot(segment)?;
                let pattern = reader.pattern(a, most, |count, from, to| Level { count, to, from })?;
                Self::Get(Read { request: number, from, pattern })
            }
            ATOMIC => {
                let word = reader.spot(segment)?;
                let (op, first, second) = (EachOp::of_code(a), reader.u64()?, reader.u64()?);
                let wanted = match b & WANTS_VALUE {
                    0 => Wanted::Acknowledgement(number),
                    _ => Wanted::Value(number),
                };
                let width = width_of((b & !WANTS_VALUE).into())?;
                let op = op.ok_or(Flaw::Operation)?.of_words(first, second);
                Self::Atomic { wanted, word, width, op }
            }
            DATA => Self::Data { request: number, data: reader.take(reader.0.len())? },
            ANSWERS => Self::Answers(Answers {
                acknowledged: reader.take(8 * usize::from(a))?.as_chunks().0,
                values: reader.take(16 * usize::from(b))?.as_chunks().0,
                slots: segment,
            }),
            BORROW => Self::Borrow,
            LOAN => {
                let (address, key, mark) = (reader.u64()?, reader.u64()?, reader.u64()?);
                let mark = u32::try_from(mark).map_err(|_| Flaw::Operation)?;
                let place = Place { address, key, mark };
                Self::Loan((a != 0).then_some(Loan { first: segment, place }))
            }
            EACH | FETCH => {
                let (list, change) = reader.change(a, b, segment)?;
                Self::List { number, list, task: Task::Change { change, fetches: kind == FETCH } }
            }
            PLACE | PICK => {
                let (head, first) = reader.elements(segment)?;
                let list = reader.list(first, head)?;
                let task = if kind == PLACE { Task::Place(reader.values(list)?) } else { Task::Pick };
                Self::List { number, list, task }
            }
            kind => return Err(Flaw::Kind(kind)),
        };
        if reader.0.is_empty() { Ok(message) } else { Err(Flaw::Length) }
    }
}

/// The width of words of so many bytes.
fn width_of(bytes: usize) -> Result<Width, Flaw> {
    match bytes {
        4 => Ok(Width::W4),
        8 => Ok(Width::W8),
        _ => Err(Flaw::Operation),
    }
}

/// Elements of the target that a message names.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    pub(super) first: Spot,
    /// Bytes of each.
    pub(super) size: usize,
    /// Little-endian.
    pub(super) indices: &'a [[u8; INDEX]],
}

impl List<'_> {
    /// Bytes of all of them; `None`: more than there are anywhere.
    pub(super) fn bytes(&self) -> Option<usize> {
        self.indices.len().checked_mul(self.size)
    }
}

/// Bytes that are read from the front. Where there are too few it is a [`Flaw::Length`].
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Flaw> {
        let (taken, left) = self.0.split_at_checked(bytes).ok_or(Flaw::Length)?;
        self.0 = left;
        Ok(taken)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let (taken, left) = self.0.split_first_chunk().ok_or(Flaw::Length)?;
        self.0 = left;
        Ok(*taken)
    }

    fn u32(&mut self) -> Result<u32, Flaw> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Flaw> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Result<usize, Flaw> {
        usize::try_from(self.u64()?).map_err(|_| Flaw::Blocks)
    }

    fn spot(&mut self, segment: u32) -> Result<Spot, Flaw> {
        Ok(Spot { segment, offset: self.size()? })
    }

    /// The block and its loops, outermost first, each made by `level` of its count, its distance at the target
    /// and its distance in the packed data.
    fn pattern(
        &mut self,
        depth: u8,
        most: usize,
        level: impl Fn(usize, usize, usize) -> Level,
    ) -> Result<Pattern, Flaw> {
        let (block, depth) = (self.size()?, usize::from(depth));
        if depth > MAX_LEVELS {
            return Err(Flaw::Operation);
        }
        let mut loops = [(1, 0); MAX_LEVELS];
        for each in &mut loops[..depth] {
            *each = (self.size()?, self.size()?);
        }
        let (mut packed, mut hull) = (block, block);
        let mut levels = [Level::ONCE; MAX_LEVELS];
        for (level_of, &(count, distance)) in levels[..depth].iter_mut().zip(&loops[..depth]).rev() {
            *level_of = level(count, distance, packed);
            packed =
                packed.checked_mul(count).filter(|&bytes| 0 < bytes && bytes <= most).ok_or(Flaw::Blocks)?;
            hull = count.checked_mul(distance).and_then(|all| hull.checked_add(all)).ok_or(Flaw::Blocks)?;
        }
        if packed > most || hull > isize::MAX as usize {
            return Err(Flaw::Blocks);
        }
        Ok(Pattern::of_levels(block, &levels[..depth]))
    }

    /// How many elements of how many bytes, and where the first is.
    fn elements(&mut self, segment: u32) -> Result<((usize, usize), Spot), Flaw> {
        let first = self.spot(segment)?;
        let (count, size) = (self.u32()?, self.u32()?);
        if size == 0 {
            return Err(Flaw::Elements);
        }
        Ok(((count as usize, size as usize), first))
    }

    /// The indices of so many elements, with what fills up behind them.
    fn list(&mut self, first: Spot, (count, size): (usize, usize)) -> Result<List<'a>, Flaw> {
        let bytes = count.checked_mul(INDEX).ok_or(Flaw::Elements)?;
        let filled = bytes.checked_next_multiple_of(8).ok_or(Flaw::Elements)?;
        let (indices, _) = self.take(filled)?[..bytes].as_chunks();
        Ok(List { first, size, indices })
    }

    /// As many bytes as the elements of a list have.
    fn values(&mut self, list: List<'_>) -> Result<&'a [u8], Flaw> {
        self.take(list.bytes().ok_or(Flaw::Elements)?)
    }

    /// Words, and what changes them.
    fn change(&mut self, code: u8, own: u8, segment: u32) -> Result<(List<'a>, Change<'a>), Flaw> {
        let op = EachOp::of_code(code).ok_or(Flaw::Operation)?;
        let (head, first) = self.elements(segment)?;
        let (width, taken) = (width_of(head.1)?, op.operands());
        if own & !OWN[..taken].iter().sum::<u8>() != 0 {
            return Err(Flaw::Operation);
        }
        let mut operands = [Operand::Same(0); 2];
        let is_own = |which: usize| own & OWN[which] != 0;
        for which in (0..taken).filter(|&which| !is_own(which)) {
            operands[which] = Operand::Same(self.u64()?);
        }
        if !first.offset.is_multiple_of(width.bytes()) {
            return Err(Flaw::Alignment(first.offset));
        }
        let words = self.list(first, head)?;
        for which in (0..taken).filter(|&which| is_own(which)) {
            operands[which] = Operand::Own(self.values(words)?);
        }
        let [operand, expected] = operands;
        Ok((words, Change { op, width, operand, expected }))
    }

    fn signal(&mut self, code: u8, segment: u8) -> Result<Option<(Spot, SignalOp)>, Flaw> {
        let op: fn(u64) -> SignalOp = match code {
            0 => return Ok(None),
            1 => SignalOp::Set,
            2 => SignalOp::Add,
            _ => return Err(Flaw::Operation),
        };
        Ok(Some((self.spot(segment.into())?, op(self.u64()?))))
    }
}

/// Blocks of the target, to be written: they are put, and something may follow, or they are wanted.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    pub(super) from: Sender,
    /// Channel, or request.
    pub(super) number: u32,
    pub(super) at: Spot,
    pub(super) pattern: &'a Pattern,
    pub(super) put: Option<Behind>,
}

impl Blocks<'_> {
    /// Bytes of the message.
    pub(super) fn bytes(&self) -> usize {
        let signal = self.put.and_then(|put| put.signal).map_or(0, |_| SIGNAL);
        let data = self.put.map_or(0, |_| self.pattern.bytes());
        HEAD + 16 + 16 * self.pattern.levels().len() + signal + data
    }

    /// Writes the message but for its data; gives the room for that.
    pub(super) fn write<'b>(&self, buffer: &'b mut [u8]) -> &'b mut [u8] {
        let Self { from, number, at, pattern, put } = *self;
        let depth = pattern.levels().len() as u8;
        let signal = put.and_then(|put| put.signal);
        let code = match signal {
            None => 0,
            Some((_, SignalOp::Set(_))) => 1,
            Some((_, SignalOp::Add(_))) => 2,
        };
        let kind = match put {
            None => [GET, depth, 0, 0],
            Some(Behind { patient, .. }) => {
                let code = if patient { code | PATIENT } else { code };
                [PUT, depth, code, signal.map_or(0, |(spot, _)| segment_byte(spot))]
            }
        };
        let mut writer = Writer(buffer);
        writer.head(kind, from, number, at.segment);
        writer.u64(at.offset as u64);
        writer.u64(pattern.block() as u64);
        for level in pattern.levels() {
            let distance = if put.is_some() { level.to } else { level.from };
            writer.u64(level.count as u64);
            writer.u64(distance as u64);
        }
        if let Some((spot, SignalOp::Set(value) | SignalOp::Add(value))) = signal {
            writer.u64(spot.offset as u64);
            writer.u64(value);
        }
        writer.0
    }
}

/// A change of a word, to be written.
#[derive(Clone, Copy)]
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
        writer.head([ANSWERS, counts.0, counts.1, 0], from, 0, self.slots);
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

/// The operands of a deed: one for all words, or one for each of them.
fn operands<'a>(deed: Deed<'a>) -> impl Iterator<Item = Operand<'a>> {
    let (taken, both) = match deed {
        Deed::Change(change, _) => (change.op.operands(), [change.operand, change.expected]),
        Deed::Place(_) | Deed::Pick(_) => (0, [Operand::Same(0); 2]),
    };
    both.into_iter().take(taken)
}

/// Bytes that each element of `size` bytes takes of a message.
pub(super) fn bytes_of_each(deed: Deed<'_>, size: usize) -> usize {
    let own = |operand: &Operand<'_>| matches!(operand, Operand::Own(_));
    let values = if matches!(deed, Deed::Place(_)) { 1 } else { operands(deed).filter(own).count() };
    INDEX + values * size
}

/// A message about a list, to be written.
#[derive(Clone, Copy)]
pub(super) struct Listing<'a> {
    pub(super) from: Sender,
    /// Channel, or request.
    pub(super) number: u32,
    pub(super) elements: Elements<'a>,
    pub(super) deed: Deed<'a>,
}

impl Listing<'_> {
    /// Bytes of the message.
    pub(super) fn bytes(&self) -> usize {
        let (count, size) = (self.elements.len(), self.elements.size);
        let same = operands(self.deed).filter(|operand| matches!(operand, Operand::Same(_))).count();
        let indices = (INDEX * count).next_multiple_of(8);
        HEAD + 16 + 8 * same + indices + (bytes_of_each(self.deed, size) - INDEX) * count
    }

    /// Writes the message but for elements that are to be placed; gives the room for those.
    pub(super) fn write<'b>(&self, buffer: &'b mut [u8]) -> &'b mut [u8] {
        let mut writer = Writer(buffer);
        let Elements { first, size, indices, .. } = self.elements;
        let (kind, op) = match self.deed {
            Deed::Change(change, None) => (EACH, change.op.code()),
            Deed::Change(change, Some(_)) => (FETCH, change.op.code()),
            Deed::Place(_) => (PLACE, 0),
            Deed::Pick(_) => (PICK, 0),
        };
        let own = |(operand, bit)| if matches!(operand, Operand::Own(_)) { bit } else { 0 };
        let own = operands(self.deed).zip(OWN).map(own).sum();
        writer.head([kind, op, own, 0], self.from, self.number, first.segment);
        writer.u64(first.offset as u64);
        writer.u32(indices.len() as u32);
        writer.u32(size as u32);
        for operand in operands(self.deed) {
            if let Operand::Same(bits) = operand {
                writer.u64(bits);
            }
        }
        writer.indices(indices);
        for operand in operands(self.deed) {
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
}
