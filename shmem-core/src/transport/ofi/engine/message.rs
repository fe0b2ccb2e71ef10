//! The fields and the encoding of messages.
//!
//! Numbers are little-endian and aligned to their size. A message is a head of 24 bytes, then numbers of 64 bits, then indices and
//! operands of a list, then data. A *loop* repeats blocks `count` times, `distance` bytes apart.
//!
//! ```text
//! kind, three bytes by kind | sending PE | channel or request | segment | token
//! put      ..., offset, block, (count, distance) of each loop, [offset and value of a signal], data
//! get      ..., offset, block, (count, distance) of each loop
//! data     ..., data
//! answers  ..., (channel, count) of each acknowledgement
//! borrow   ...
//! grant     ..., address, key, mark
//! each     ..., offset, (count, size), [operand], [expected], indices, [operands], [expected ones]
//! fetch    as each
//! place    ..., offset, (count, size), indices, elements
//! pick     ..., offset, (count, size), indices
//! ```
//!
//! `each` changes listed words, and `fetch` also requests their old values. `borrow` requests a grant of bounce slots; each write
//! to a slot carries the grant's secret `mark`. The three bytes after `kind` are, in a put: number of loops, signal operation with
//! the bit of a patient sender, signal segment; in a get: number of loops; in answers: number of acknowledgements; in a grant:
//! whether there is one; in a list: operation, and a bit for each operand that is given per word. A single word is a list of
//! one index. Indices have 32 bits, and are padded by zeroes to a multiple of eight bytes. The field `segment` of answers has a bit
//! for each free slot, and that of grants the number of their first slot.
//!
//! The receiver checks all fields, and refuses an inconsistent message with a [`Malformed`].

use core::ops::Range;

use super::bounce_slots::{Grant, Region};
use super::wire::Malformed;
use crate::segment_table::MAX_SEGMENTS;
use crate::strided::{Level, MAX_LEVELS, Pattern};
use crate::transport::{AtomicOp, Change, EachOp, Elements, ListRequest, Operand, Remote, SignalOp, Width};

pub(super) const HEAD: usize = 24;
/// Position of the token in a message.
pub(crate) const TOKEN: Range<usize> = 16..24;
/// Bytes of an index in a message.
pub(super) const INDEX: usize = size_of::<u32>();
/// Upper limit on the bytes in front of the data of a put.
pub(super) const MOST_BEFORE_DATA: usize = HEAD + 16 + 16 * MAX_LEVELS + 16;
/// Bytes in front of the data that answers a request.
pub(super) const BEFORE_ANSWER: usize = HEAD;
/// Upper limit on the bytes of a list's message besides indices, elements and operands per word. Includes the padding of indices.
pub(super) const MOST_BESIDE_ELEMENTS: usize = HEAD + 16 + 2 * 8 + INDEX;

const PUT: u8 = 1;
const GET: u8 = 2;
const DATA: u8 = 3;
const ANSWERS: u8 = 4;
const BORROW: u8 = 5;
const GRANT: u8 = 6;
const EACH: u8 = 7;
const FETCH: u8 = 8;
const PLACE: u8 = 9;
const PICK: u8 = 10;

/// Bit for a patient sender, in the byte of a put's signal operation.
const PATIENT: u8 = 0x80;
/// Bits for values that are given per word: the operand, and the expected value.
const OWN: [u8; 2] = [1, 2];

const _: () = assert!(MAX_SEGMENTS <= u8::MAX as usize, "a segment fits a byte");
const _: () = assert!(usize::BITS >= 64, "an offset, and two numbers of 32 bits multiplied, fit a usize");
const _: () = assert!(cfg!(target_endian = "little"), "lists and answers are encoded as they lie in memory");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) segment: u32,
    pub(super) offset: usize,
}

impl From<Remote> for Address {
    fn from(Remote { segment, offset, .. }: Remote) -> Self {
        Self { segment, offset }
    }
}

/// The content of a message, except its data, its sender, and the number of its channel or request.
#[derive(Clone, Debug)]
pub(super) enum Message<'a> {
    /// Writes blocks, whose packed bytes are the data, then changes the signal, if any. If `is_patient`, the answer may be late.
    Put {
        at: Address,
        pattern: Pattern,
        signal: Option<(Address, SignalOp)>,
        is_patient: bool,
    },
    Get {
        at: Address,
        pattern: Pattern,
    },
    Data(usize),
    /// [Acknowledgements](super::acknowledgements::Acknowledged), and a bit for each bounce slot that is free again.
    Answers {
        acknowledged: &'a [u8],
        slots: u32,
    },
    Borrow,
    /// The answer to [`Borrow`](Self::Borrow), which has a grant if there is memory to lend.
    Grant(Option<Grant>),
    List(List<'a>, Task<'a>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct List<'a> {
    pub(super) first: Address,
    pub(super) size: usize,
    /// The indices of the elements, little-endian.
    pub(super) indices: &'a [[u8; INDEX]],
}

/// The operation on the elements of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task<'a> {
    /// Changes words. `true`: their old values are the result.
    Change(Change<'a>, bool),
    /// Writes elements. Their values are the data of the message.
    Place,
    Pick,
}

/// The sender of a message, proved by a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) pe: u32,
    /// Token of the sender, derived from the job's secret for the sender and the receiver.
    pub(super) token: u64,
}

impl Sender {
    /// The sender that a message names; `None`: the message is too short.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        let mut reader = Reader(message);
        let (_kind, pe) = (reader.u32().ok()?, reader.u32().ok()?);
        let (_numbers, token) = (reader.u64().ok()?, reader.u64().ok()?);
        Some(Self { pe, token })
    }
}

impl<'a> List<'a> {
    pub(super) fn of(Elements { first, size, indices, .. }: Elements<'a>) -> Self {
        Self { first: first.into(), size, indices: bytemuck::cast_slice(indices) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.indices.len() * self.size
    }
}

impl<'a> Task<'a> {
    pub(super) fn of(request: ListRequest<'a>) -> Self {
        match request {
            ListRequest::Change(change, before) => Self::Change(change, before.is_some()),
            ListRequest::Place(_) => Self::Place,
            ListRequest::Pick(_) => Self::Pick,
        }
    }

    /// Bytes of the message for each element of `size` bytes.
    pub(super) fn bytes_of_each(self, size: usize) -> usize {
        let own = self.operands().filter(|operand| matches!(operand, Operand::Own(_))).count();
        INDEX + (own + usize::from(matches!(self, Self::Place))) * size
    }

    fn operands(self) -> impl Iterator<Item = Operand<'a>> {
        let (taken, both) = match self {
            Self::Change(change, _) => (change.op.operands(), [change.operand, change.expected]),
            Self::Place | Self::Pick => (0, [Operand::Same(0); 2]),
        };
        both.into_iter().take(taken)
    }
}

impl Message<'static> {
    /// A message that changes one word. If `is_wanted`, the old value of the word is the result.
    pub(super) fn word(word: Remote, width: Width, op: AtomicOp, is_wanted: bool) -> Self {
        let (code, operand, expected) = op.into_words();
        let (op, operand, expected) =
            (EachOp::ALL[code as usize], Operand::Same(operand), Operand::Same(expected));
        let list = List { first: word.into(), size: width.bytes(), indices: &[[0; INDEX]] };
        Self::List(list, Task::Change(Change { op, width, operand, expected }, is_wanted))
    }
}

impl<'a> Message<'a> {
    /// Bytes of the message's data, which follow the fields.
    fn data(&self) -> usize {
        match self {
            Self::Put { pattern, .. } => pattern.bytes(),
            Self::Data(bytes) => *bytes,
            Self::List(list, Task::Place) => list.bytes(),
            _ => 0,
        }
    }

    /// Bytes of the message, data included.
    pub(super) fn bytes(&self) -> usize {
        let mut bytes = self.data();
        self.encode(Sender::default(), 0, |field| bytes += field.len());
        bytes
    }

    /// Encodes the message, with the number of its channel or request. Returns the rest of the buffer, for the data.
    pub(super) fn write<'b>(&self, from: Sender, number: u32, buffer: &'b mut [u8]) -> &'b mut [u8] {
        let mut left = buffer;
        self.encode(from, number, |field| {
            let (written, behind) = core::mem::take(&mut left).split_at_mut(field.len());
            written.copy_from_slice(field);
            left = behind;
        });
        assert_eq!(left.len(), self.data(), "a buffer has the size that was asked for");
        left
    }

    /// The first four bytes of the head, and the field of the segment.
    fn kind(&self) -> ([u8; 4], u32) {
        match self {
            Self::Put { at, pattern, signal, is_patient } => {
                let code = match signal {
                    None => 0,
                    Some((_, SignalOp::Set(_))) => 1,
                    Some((_, SignalOp::Add(_))) => 2,
                };
                let signal = signal.map_or(0, |(at, _)| at.segment as u8);
                (
                    [PUT, pattern.levels().len() as u8, code | if *is_patient { PATIENT } else { 0 }, signal],
                    at.segment,
                )
            }
            Self::Get { at, pattern } => ([GET, pattern.levels().len() as u8, 0, 0], at.segment),
            Self::Data(_) => ([DATA, 0, 0, 0], 0),
            Self::Answers { acknowledged, slots } => {
                ([ANSWERS, (acknowledged.len() / 8) as u8, 0, 0], *slots)
            }
            Self::Borrow => ([BORROW, 0, 0, 0], 0),
            Self::Grant(grant) => {
                ([GRANT, grant.is_some().into(), 0, 0], grant.map_or(0, |grant| grant.first))
            }
            Self::List(list, task) => {
                let own = |(operand, bit)| if matches!(operand, Operand::Own(_)) { bit } else { 0 };
                let own = task.operands().zip(OWN).map(own).sum();
                let (kind, code) = match task {
                    Task::Change(change, false) => (EACH, change.op.code()),
                    Task::Change(change, true) => (FETCH, change.op.code()),
                    Task::Place => (PLACE, 0),
                    Task::Pick => (PICK, 0),
                };
                ([kind, code, own, 0], list.first.segment)
            }
        }
    }

    /// Passes every field to `put`, in order.
    fn encode(&self, from: Sender, number: u32, mut put: impl FnMut(&[u8])) {
        let (kind, segment) = self.kind();
        put(&kind);
        [from.pe, number, segment].into_iter().for_each(|field| put(&field.to_le_bytes()));
        put(&from.token.to_le_bytes());
        let mut number = |number: u64| put(&number.to_le_bytes());
        match self {
            Self::Put { at, pattern, .. } | Self::Get { at, pattern } => {
                [at.offset, pattern.block()].into_iter().for_each(|field| number(field as u64));
                for level in pattern.levels() {
                    let distance = if matches!(self, Self::Put { .. }) { level.to } else { level.from };
                    [level.count, distance].into_iter().for_each(|field| number(field as u64));
                }
                if let Self::Put { signal: Some((at, SignalOp::Set(value) | SignalOp::Add(value))), .. } =
                    self
                {
                    [at.offset as u64, *value].into_iter().for_each(number);
                }
            }
            Self::Answers { acknowledged, .. } => put(acknowledged),
            Self::Grant(grant) => {
                let Region { address, key, mark } = grant.map(|grant| grant.region).unwrap_or_default();
                [address, key, mark.into()].into_iter().for_each(number);
            }
            Self::List(list, task) => {
                number(list.first.offset as u64);
                number(list.indices.len() as u64 | (list.size as u64) << 32);
                for operand in task.operands() {
                    if let Operand::Same(bits) = operand {
                        number(bits);
                    }
                }
                let indices = list.indices.as_flattened();
                put(indices);
                put(&[0; 8][..indices.len().next_multiple_of(8) - indices.len()]);
                for operand in task.operands() {
                    if let Operand::Own(packed) = operand {
                        put(packed);
                    }
                }
            }
            Self::Data(_) | Self::Borrow => {}
        }
    }

    /// Decodes a message: number of its channel or request, fields, data. Fails if its blocks have more than `most` bytes.
    pub(super) fn read(bytes: &'a [u8], most: usize) -> Result<(u32, Self, &'a [u8]), Malformed> {
        let mut reader = Reader(bytes);
        let [kind, a, b, c] = reader.array()?;
        let (_from, number, segment, _token) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u64()?);
        let message = match kind {
            PUT => {
                let at = reader.address(segment)?;
                let pattern = reader.pattern(a, most, |count, to, from| Level { count, to, from })?;
                let signal = reader.signal(b & !PATIENT, c)?;
                Self::Put { at, pattern, signal, is_patient: b & PATIENT != 0 }
            }
            GET => {
                let at = reader.address(segment)?;
                let pattern = reader.pattern(a, most, |count, from, to| Level { count, to, from })?;
                Self::Get { at, pattern }
            }
            DATA => Self::Data(reader.0.len()),
            ANSWERS => Self::Answers { acknowledged: reader.take(8 * usize::from(a))?, slots: segment },
            BORROW => Self::Borrow,
            GRANT => {
                let (address, key, mark) = (reader.u64()?, reader.u64()?, reader.u64()?);
                let mark = u32::try_from(mark).map_err(|_| Malformed::Operation)?;
                Self::Grant(
                    (a != 0).then_some(Grant { first: segment, region: Region { address, key, mark } }),
                )
            }
            EACH | FETCH => {
                let op = EachOp::of_code(a).ok_or(Malformed::Operation)?;
                let (list, change) = reader.change(op, b, segment)?;
                Self::List(list, Task::Change(change, kind == FETCH))
            }
            PLACE | PICK => {
                let (first, count, size) = reader.elements(segment)?;
                let list = List { first, size, indices: reader.indices(count)? };
                Self::List(list, if kind == PLACE { Task::Place } else { Task::Pick })
            }
            kind => return Err(Malformed::Kind(kind)),
        };
        if reader.0.len() == message.data() {
            Ok((number, message, reader.0))
        } else {
            Err(Malformed::Length)
        }
    }
}

fn width_of(bytes: usize) -> Result<Width, Malformed> {
    match bytes {
        4 => Ok(Width::W4),
        8 => Ok(Width::W8),
        _ => Err(Malformed::Operation),
    }
}

/// Reads fields from the front of a message. Fails with [`Malformed::Length`] if too few bytes are left.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let (taken, left) = self.0.split_at_checked(bytes).ok_or(Malformed::Length)?;
        self.0 = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, left) = self.0.split_first_chunk().ok_or(Malformed::Length)?;
        self.0 = left;
        Ok(*taken)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Result<usize, Malformed> {
        self.u64().map(|size| size as usize)
    }

    fn address(&mut self, segment: u32) -> Result<Address, Malformed> {
        Ok(Address { segment, offset: self.size()? })
    }

    fn signal(&mut self, code: u8, segment: u8) -> Result<Option<(Address, SignalOp)>, Malformed> {
        let op: fn(u64) -> SignalOp = match code {
            0 => return Ok(None),
            1 => SignalOp::Set,
            2 => SignalOp::Add,
            _ => return Err(Malformed::Operation),
        };
        Ok(Some((self.address(segment.into())?, op(self.u64()?))))
    }

    /// Reads a block and its loops, outermost first. `level` makes a loop from its count, its distance at the target and its
    /// distance in the packed data.
    fn pattern(
        &mut self,
        depth: u8,
        most: usize,
        level: impl Fn(usize, usize, usize) -> Level,
    ) -> Result<Pattern, Malformed> {
        let (block, depth) = (self.size()?, usize::from(depth));
        if depth > MAX_LEVELS {
            return Err(Malformed::Operation);
        }
        let mut loops = [(1, 0); MAX_LEVELS];
        for each in &mut loops[..depth] {
            *each = (self.size()?, self.size()?);
        }
        let (mut packed, mut hull) = (block, block);
        let mut levels = [Level::ONCE; MAX_LEVELS];
        for (level_of, &(count, distance)) in levels[..depth].iter_mut().zip(&loops[..depth]).rev() {
            *level_of = level(count, distance, packed);
            packed = packed
                .checked_mul(count)
                .filter(|&bytes| 0 < bytes && bytes <= most)
                .ok_or(Malformed::Blocks)?;
            hull =
                count.checked_mul(distance).and_then(|all| hull.checked_add(all)).ok_or(Malformed::Blocks)?;
        }
        if packed > most || hull > isize::MAX as usize {
            return Err(Malformed::Blocks);
        }
        Ok(Pattern::of_levels(block, &levels[..depth]))
    }

    /// Reads the place of element 0, the number of elements, and the bytes of an element.
    fn elements(&mut self, segment: u32) -> Result<(Address, usize, usize), Malformed> {
        let (first, count, size) = (self.address(segment)?, self.u32()?, self.u32()?);
        if size == 0 { Err(Malformed::Elements) } else { Ok((first, count as usize, size as usize)) }
    }

    fn indices(&mut self, count: usize) -> Result<&'a [[u8; INDEX]], Malformed> {
        let bytes = count * INDEX;
        Ok(self.take(bytes.next_multiple_of(8))?[..bytes].as_chunks().0)
    }

    fn change(&mut self, op: EachOp, own: u8, segment: u32) -> Result<(List<'a>, Change<'a>), Malformed> {
        let (first, count, size) = self.elements(segment)?;
        let (width, taken) = (width_of(size)?, op.operands());
        if own & !OWN[..taken].iter().sum::<u8>() != 0 {
            return Err(Malformed::Operation);
        }
        let mut operands = [Operand::Same(0); 2];
        let is_own = |which: &usize| own & OWN[*which] != 0;
        for which in (0..taken).filter(|which| !is_own(which)) {
            operands[which] = Operand::Same(self.u64()?);
        }
        if !first.offset.is_multiple_of(width.bytes()) {
            return Err(Malformed::Alignment(first.offset));
        }
        let list = List { first, size, indices: self.indices(count)? };
        for which in (0..taken).filter(is_own) {
            operands[which] = Operand::Own(self.take(list.bytes())?);
        }
        let [operand, expected] = operands;
        Ok((list, Change { op, width, operand, expected }))
    }
}
