//! Programs as data: what all PEs derive from one number.
//!
//! A step names the objects, teams and halos that it uses by slots. One that finds its slot empty, because the step
//! that filled it was cut out, is left out on all PEs: so every part of a program is a program.

use std::ops::Range;

use crate::together::Call;

/// Where something is kept: one of [`OBJECTS`], [`TEAMS`] or [`HALOS`], or of as many partitions or addresses.
pub(crate) type Slot = usize;

/// Slots of objects, of which the first are static.
pub(crate) const OBJECTS: Range<Slot> = 0..14;
/// Slots of the teams of a split.
pub(crate) const TEAMS: Range<Slot> = 14..17;
pub(crate) const HALOS: Range<Slot> = 17..20;
/// That of the word in which signals are counted: no step names it.
pub(crate) const SIGNALS: Slot = HALOS.end;
pub(crate) const PARTITIONS: usize = 3;
pub(crate) const ADDRESSES: usize = 8;

/// The static objects that every program finds: in these slots.
pub(crate) const STATICS: [(Element, usize); 4] =
    [(Element::Byte, 256), (Element::Number, 64), (Element::Number, 32), (Element::Word, 8)];

/// A program.
pub(crate) type Program = Vec<Step>;

/// What an object is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Byte,
    Number,
    /// Three bytes: a size that is no power of two.
    Three,
    /// Aligned to 4096 bytes.
    Page,
    /// For atomic operations.
    Word,
}

impl Element {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Three => 3,
            Self::Number | Self::Word => 8,
            Self::Page => 4096,
        }
    }
}

/// How an array lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Single,
    Separate,
    Cyclic,
    Multi,
}

impl Storage {
    pub(crate) const ALL: [Self; 4] = [Self::Single, Self::Separate, Self::Cyclic, Self::Multi];
}

/// Where an object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// From the beginning of the program.
    Static,
    /// On the heap of the default partition, or of one made by the program.
    Heap(Option<Slot>),
    /// In so many chunks.
    Array(Storage, usize),
    /// In the memory of the teams of a split.
    Team(Slot),
    /// Nowhere: it is the teams of a split.
    Split,
    /// Nowhere: it is a halo.
    Halo,
}

impl Home {
    /// The split in the memory of whose teams it lies.
    pub(crate) fn team(self) -> Option<Slot> {
        if let Self::Team(slot) = self { Some(slot) } else { None }
    }
}

/// A set of PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pes(pub(crate) u32);

impl Pes {
    pub(crate) fn all(pes: usize) -> Self {
        Self((1 << pes) - 1)
    }

    pub(crate) fn has(self, pe: usize) -> bool {
        self.0 >> pe & 1 == 1
    }
}

/// Elements one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) first: usize,
    pub(crate) len: usize,
}

impl Run {
    pub(crate) fn range(self) -> Range<usize> {
        self.first..self.first + self.len
    }
}

/// By which routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `put`, `get`.
    Typed,
    /// `p`, `g`, an element at a time.
    Each,
    /// `putmem`, `getmem`.
    Bytes,
    /// Inside a scope.
    Scope,
    /// Inside a scope whose body panics.
    Panicking,
    /// Owned, and waited for.
    Owned,
    /// Owned, and forgotten.
    Forgotten,
    /// The own copy, where it is meant.
    Here,
    /// With a signal behind it.
    Signalled,
}

impl Way {
    pub(crate) const ALL: [Self; 9] = [
        Self::Typed,
        Self::Each,
        Self::Bytes,
        Self::Scope,
        Self::Panicking,
        Self::Owned,
        Self::Forgotten,
        Self::Here,
        Self::Signalled,
    ];

    /// Whether all that the token has started is complete behind it.
    pub(crate) fn quiets(self) -> bool {
        matches!(self, Self::Scope | Self::Panicking | Self::Owned)
    }
}

/// What one thread does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Elements of a seed, to some of an object.
    Write { slot: Slot, pe: usize, at: Run, way: Way, seed: u64 },
    /// Some elements of an object.
    Read { slot: Slot, pe: usize, at: Run, way: Way },
    /// From the own copy of one object to another one, or from a place to the own copy: as many bytes.
    Copy { to: Slot, from: Slot, pe: usize, elements: usize, get: bool },
    /// Adds to a word, atomically.
    Add { slot: Slot, pe: usize, word: usize, number: u64, fetches: bool },
    /// Completes what the thread has started.
    Quiet,
    /// Orders it.
    Fence,
}

/// Through what a thread does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    World,
    Private,
    Serialized,
    Multiple,
    InTurn,
    Registered,
    Session,
    /// Never destroyed.
    Leaked,
}

/// A thread of a PE.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) pe: usize,
    pub(crate) token: Token,
    pub(crate) ops: Vec<Op>,
}

/// A thread that writes, or reads, at an address that was kept, again and again, whatever lies there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storm {
    pub(crate) pe: usize,
    pub(crate) address: Slot,
    pub(crate) delta: isize,
    pub(crate) bytes: usize,
    pub(crate) target: usize,
    pub(crate) get: bool,
}

/// An edge of a halo: the neighbour, its edge, and how many cells come from there.
pub(crate) type Edge = Option<(usize, usize, usize)>;

/// How many teams a split makes of its parent, and which.
#[derive(Clone, Debug)]
pub(crate) enum Split {
    /// The colour and the key of each PE.
    By(Vec<(Option<u64>, i64)>),
    /// Start, stride and size.
    Strided(usize, isize, usize),
}

/// How an exchange ends in which everything is sent.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// It is finished; the ghost cells are held while these steps are carried out.
    Finished(Vec<Step>),
    /// Never: there is none after it.
    Forgotten,
    /// Neither: a panic gives it up.
    Unwound,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An object whose elements are those of the seed, on every PE.
    Alloc { slot: Slot, home: Home, element: Element, len: usize, seed: u64 },
    /// Drops the handles of these PEs, or forgets them: of an object, of teams or of a halo.
    Drop { slot: Slot, pes: Pes, forget: bool },
    /// Frees an object, on all PEs.
    Free { slot: Slot },
    /// Gives back what all have dropped.
    Reclaim,
    /// Keeps the address of a byte.
    Keep { slot: Slot, address: Slot, byte: usize },
    /// Threads of all PEs, which write, read and update.
    Epoch { streams: Vec<Stream> },
    /// Storms that blow while steps are carried out.
    Window { storms: Vec<Storm>, steps: Vec<Step> },
    /// A collective of all PEs, or of the teams of a split.
    Together { team: Option<Slot>, call: Call },
    /// Teams of all PEs, or of the teams of another split.
    Split { slot: Slot, parent: Option<Slot>, split: Split },
    /// `local` or `frozen` of the world, of an object and of a list of numbers; of an object of teams that of all of them, beside
    /// which the others storm. No meeting lies between it and what threads do before and behind it.
    Phase {
        slot: Slot,
        list: Vec<Slot>,
        frozen: bool,
        seed: u64,
        storms: Vec<Storm>,
        around: [Vec<Stream>; 2],
    },
    /// A halo, of which each PE has these edges.
    Halo { slot: Slot, element: Element, edges: Vec<Vec<Edge>> },
    /// One exchange.
    Exchange { slot: Slot, seed: u64, iter: bool, end: End },
    /// A partition of so many bytes.
    Partition { slot: Slot, bytes: u64 },
    /// Drops it, if nothing is left in it.
    DropPartition { slot: Slot },
}

/// Byte `i` of what a seed stands for.
pub(crate) fn byte(seed: u64, i: usize) -> u8 {
    let mixed =
        (seed ^ (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 32) as u8
}

/// So many bytes of what a seed stands for.
pub(crate) fn bytes(seed: u64, len: usize) -> Vec<u8> {
    (0..len).map(|i| byte(seed, i)).collect()
}

/// Bytes as items of any type.
pub(crate) fn items<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    let mut items = vec![T::zeroed(); bytes.len().checked_div(size_of::<T>()).unwrap_or(0)];
    bytemuck::cast_slice_mut(&mut items).copy_from_slice(bytes);
    items
}

/// The seed of one PE.
pub(crate) fn of(seed: u64, pe: usize) -> u64 {
    (seed ^ 0xA5A5).wrapping_mul(2 * pe as u64 + 3)
}
