//! Messages as bytes, and how they are read; `compose` writes them.
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

use super::debts::{Acknowledged, Read, Value};
use super::fault::Flaw;
use super::loan::{Loan, Place};
use crate::strided::{Level, MAX_LEVELS, Pattern};
use crate::transport::{AtomicOp, Change, EachOp, Operand, Remote, SignalOp, Width};

/// Bytes that every message starts with.
pub(super) const HEAD: usize = 24;
/// Where a message has its token.
pub const TOKEN: Range<usize> = 16..24;
/// Bytes of a signal behind a put.
pub(super) const SIGNAL: usize = 16;

pub(super) const PUT: u8 = 1;
pub(super) const GET: u8 = 2;
pub(super) const ATOMIC: u8 = 3;
pub(super) const DATA: u8 = 4;
pub(super) const ANSWERS: u8 = 5;
pub(super) const BORROW: u8 = 6;
pub(super) const LOAN: u8 = 7;
pub(super) const EACH: u8 = 8;
pub(super) const FETCH: u8 = 9;
pub(super) const PLACE: u8 = 10;
pub(super) const PICK: u8 = 11;

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
        signal: Option<(Spot, SignalOp)>,
        /// Whether its acknowledgement may come late.
        patient: bool,
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
    /// Words are changed.
    Each { channel: u32, words: List<'a>, change: Change<'a> },
    /// The same, and what they were is wanted.
    Fetch { request: u32, words: List<'a>, change: Change<'a> },
    /// Elements are written.
    Place { channel: u32, to: List<'a>, data: &'a [u8] },
    /// Elements are wanted.
    Pick { request: u32, from: List<'a> },
}

/// Entries of a message.
#[derive(Debug)]
pub(super) struct Answers<'a> {
    acknowledged: &'a [u8],
    values: &'a [u8],
    slots: u32,
}

impl Answers<'_> {
    /// Slots that are free again.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn acknowledged(&self) -> impl Iterator<Item = Acknowledged> {
        self.acknowledged.chunks_exact(8).map(|entry| {
            let mut entry = Reader(entry);
            Acknowledged { channel: entry.u32(), count: entry.u32() }
        })
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.values.chunks_exact(16).map(|entry| {
            let mut entry = Reader(entry);
            Value {
                request: entry.u32(),
                before: {
                    entry.u32();
                    entry.u64()
                },
            }
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
        let mut head = Reader(message.get(..HEAD)?);
        let (_kind, pe, _number, _segment) = (head.u32(), head.u32(), head.u32(), head.u32());
        Some(Self { pe, token: head.u64() })
    }
}

impl<'a> Message<'a> {
    /// Reads a message. Blocks are fewer bytes than `most`, or there is a flaw.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn read(bytes: &'a [u8], most: usize) -> Result<Self, Flaw> {
        let mut reader = Reader(bytes);
        reader.require(HEAD)?;
        let [kind, a, b, c] = reader.bytes();
        let (_from, number, segment, _token) = (reader.u32(), reader.u32(), reader.u32(), reader.u64());
        let message = match kind {
            PUT => {
                reader.require(16)?;
                let to = Spot { segment, offset: reader.size()? };
                let pattern = reader.pattern(a, most, |count, distance, packed| Level {
                    count,
                    to: distance,
                    from: packed,
                })?;
                let (signal, patient) = (reader.signal(b & !PATIENT, c)?, b & PATIENT != 0);
                reader.require(pattern.bytes())?;
                let data = reader.take(pattern.bytes());
                Self::Put { channel: number, to, pattern, data, signal, patient }
            }
            GET => {
                reader.require(16)?;
                let offset = reader.size()?;
                let pattern = reader.pattern(a, most, |count, distance, packed| Level {
                    count,
                    to: packed,
                    from: distance,
                })?;
                Self::Get(Read { request: number, segment, offset, pattern })
            }
            ATOMIC => {
                reader.require(24)?;
                let word = Spot { segment, offset: reader.size()? };
                let wanted = if b & WANTS_VALUE == 0 {
                    Wanted::Acknowledgement(number)
                } else {
                    Wanted::Value(number)
                };
                let width = match b & !WANTS_VALUE {
                    4 => Width::W4,
                    8 => Width::W8,
                    _ => return Err(Flaw::Operation),
                };
                let words = (a.into(), reader.u64(), reader.u64());
                let op = AtomicOp::from_words(words);
                // A code that does not exist was taken for another one.
                if op.into_words().0 != words.0 {
                    return Err(Flaw::Operation);
                }
                Self::Atomic { wanted, word, width, op }
            }
            DATA => Self::Data { request: number, data: reader.take(reader.0.len()) },
            ANSWERS => {
                let (acknowledged, values) = (8 * usize::from(a), 16 * usize::from(b));
                reader.require(acknowledged + values)?;
                Self::Answers(Answers {
                    acknowledged: reader.take(acknowledged),
                    values: reader.take(values),
                    slots: segment,
                })
            }
            BORROW => Self::Borrow,
            LOAN => {
                reader.require(24)?;
                let (address, key, mark) = (reader.u64(), reader.u64(), reader.u64());
                let mark = u32::try_from(mark).map_err(|_| Flaw::Operation)?;
                let place = Place { address, key, mark };
                Self::Loan((a != 0).then_some(Loan { first: segment, place }))
            }
            EACH => {
                let (words, change) = reader.change(a, b, segment)?;
                Self::Each { channel: number, words, change }
            }
            FETCH => {
                let (words, change) = reader.change(a, b, segment)?;
                Self::Fetch { request: number, words, change }
            }
            PLACE => {
                let (head, first) = reader.elements(segment)?;
                let to = reader.list(first, head)?;
                Self::Place { channel: number, to, data: reader.values(to)? }
            }
            PICK => {
                let (head, first) = reader.elements(segment)?;
                Self::Pick { request: number, from: reader.list(first, head)? }
            }
            kind => return Err(Flaw::Kind(kind)),
        };
        if reader.0.is_empty() { Ok(message) } else { Err(Flaw::Length) }
    }
}

/// In the byte of an atomic's width: its old value is wanted.
pub(super) const WANTS_VALUE: u8 = 0x80;

/// In the byte of a put's signal: its acknowledgement may come late.
pub(super) const PATIENT: u8 = 0x80;

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

/// Bytes of an index.
pub(super) const INDEX: usize = size_of::<u32>();

/// In the byte of operands: each word has its own.
pub(super) const OWN: [u8; 2] = [1, 2];

/// Bytes that are read from the front. Only what was [required](Self::require) may be.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn require(&self, bytes: usize) -> Result<(), Flaw> {
        if self.0.len() < bytes { Err(Flaw::Length) } else { Ok(()) }
    }

    fn take(&mut self, bytes: usize) -> &'a [u8] {
        let (taken, left) = self.0.split_at(bytes);
        self.0 = left;
        taken
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N));
        bytes
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    fn size(&mut self) -> Result<usize, Flaw> {
        usize::try_from(self.u64()).map_err(|_| Flaw::Blocks)
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
        self.require(16 * depth)?;
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
        self.require(16)?;
        let first = Spot { segment, offset: self.size()? };
        let (count, size) = (self.u32(), self.u32());
        if size == 0 {
            return Err(Flaw::Elements);
        }
        Ok(((count as usize, size as usize), first))
    }

    /// The indices of so many elements, with what fills up behind them.
    fn list(&mut self, first: Spot, (count, size): (usize, usize)) -> Result<List<'a>, Flaw> {
        let bytes = count.checked_mul(INDEX).ok_or(Flaw::Elements)?;
        let filled = bytes.checked_next_multiple_of(8).ok_or(Flaw::Elements)?;
        self.require(filled)?;
        let (indices, _) = self.take(filled)[..bytes].as_chunks();
        Ok(List { first, size, indices })
    }

    /// As many bytes as the elements of a list have.
    fn values(&mut self, list: List<'_>) -> Result<&'a [u8], Flaw> {
        let bytes = list.bytes().ok_or(Flaw::Elements)?;
        self.require(bytes)?;
        Ok(self.take(bytes))
    }

    /// Words, and what changes them.
    fn change(&mut self, code: u8, own: u8, segment: u32) -> Result<(List<'a>, Change<'a>), Flaw> {
        let op = EachOp::of_code(code).ok_or(Flaw::Operation)?;
        let (head, first) = self.elements(segment)?;
        let width = match head.1 {
            4 => Width::W4,
            8 => Width::W8,
            _ => return Err(Flaw::Operation),
        };
        let taken = op.operands();
        if own & !OWN[..taken].iter().sum::<u8>() != 0 {
            return Err(Flaw::Operation);
        }
        let mut operands = [Operand::Same(0); 2];
        let is_own = |which: usize| own & OWN[which] != 0;
        for which in (0..taken).filter(|&which| !is_own(which)) {
            self.require(8)?;
            operands[which] = Operand::Same(self.u64());
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
        self.require(SIGNAL)?;
        let segment = segment.into();
        Ok(Some((Spot { segment, offset: self.size()? }, op(self.u64()))))
    }
}
