//! Programs as data, which all PEs generate from one number.
//!
//! A step names objects, teams and halos by slot. All PEs skip a step whose slot is empty. So any part of a program is a program.

use std::ops::Range;

use shmem::array::StorageKind;

use crate::together::Call;

/// An index in [`OBJECTS`], [`TEAMS`] or [`HALOS`], or the index of a partition or an address.
pub(crate) type SlotNumber = usize;

/// Slots of objects. The first ones are static.
pub(crate) const OBJECTS: Range<SlotNumber> = 0..14;
pub(crate) const TEAMS: Range<SlotNumber> = 14..17;
pub(crate) const HALOS: Range<SlotNumber> = 17..20;
/// The counter of signals, which steps do not name.
pub(crate) const SIGNALS: SlotNumber = HALOS.end;
pub(crate) const PARTITIONS: usize = 3;
pub(crate) const ADDRESSES: usize = 8;

/// The static objects of every program, in the first slots.
pub(crate) const STATICS: [(Element, usize); 3] =
    [(Element::Byte, 256), (Element::Number, 64), (Element::Number, 32)];

pub(crate) type Program = Vec<ProgramStep>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Byte,
    Number,
    /// Three bytes, because this is no power of two.
    Three,
    Page,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Static,
    /// The heap of the default partition, or of a partition of the program.
    Heap(Option<SlotNumber>),
    /// An array with this number of chunks.
    Array(StorageKind, usize),
    /// The memory of the teams of a split.
    Team(SlotNumber),
    /// The slot holds the teams of a split.
    Split,
    /// The slot holds a halo.
    Halo,
}

impl Home {
    /// Returns the split whose teams have allocated the object.
    pub(crate) fn team(self) -> Option<SlotNumber> {
        if let Self::Team(slot) = self { Some(slot) } else { None }
    }
}

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

/// Defines an enum with a list of all variants, for random draws.
macro_rules! kinds {
    ($(#[$of:meta])* $name:ident { $($(#[$doc:meta])* $kind:ident,)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$doc])* $kind,)*
        }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)*];
        }
    };
}
kinds! {
    Way {
        Typed,
        /// One element at a time by `p` or `g`.
        Each,
        Bytes,
        Scope,
        /// Inside a scope whose body panics.
        Panicking,
        /// `put_owned` or `get_owned`, with a wait.
        Owned,
        /// `put_owned` whose handle is forgotten.
        Forgotten,
        Here,
        Signalled,
        /// `iput`, `ibput`, `iputmem`, `iget` and so on, until all elements have been moved.
        Strided,
        /// As `Strided`, in a scope.
        StridedScope,
    }
}
kinds! {
    /// The token through which a thread issues its operations.
    Token {
        World,
        Private,
        Serialized,
        Multiple,
        InTurn,
        Registered,
        Session,
        /// A context that is never destroyed.
        Leaked,
    }
}

impl Way {
    /// Returns whether this way completes all earlier operations of the token.
    pub(crate) fn quiets(self) -> bool {
        matches!(self, Self::Scope | Self::Panicking | Self::Owned | Self::StridedScope)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) slot: SlotNumber,
    pub(crate) pe: usize,
    pub(crate) act: Act,
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Write(Range<usize>, Way, u64),
    Read(Range<usize>, Way),
    /// `put_from`, whose source is the start of this PE's copy of another object.
    PutFrom(SlotNumber, usize),
    GetInto(SlotNumber, usize),
    /// An atomic addition: (index of the word, number, whether it fetches the old value).
    Add(usize, u64, bool),
    Quiet,
    Fence,
}

pub(crate) type ElementRange = (SlotNumber, usize, Range<usize>);

impl Op {
    pub(crate) fn parts(&self, me: usize) -> (Option<ElementRange>, Option<ElementRange>) {
        let on = |pe: usize, at: Range<usize>| Some((self.slot, pe, at));
        let of = |way: Way| if way == Way::Here { me } else { self.pe };
        match &self.act {
            Act::Write(at, way, _) => (None, on(of(*way), at.clone())),
            Act::Read(at, way) => (on(of(*way), at.clone()), None),
            Act::PutFrom(own, len) => (Some((*own, me, 0..*len)), on(self.pe, 0..*len)),
            Act::GetInto(own, len) => (on(self.pe, 0..*len), Some((*own, me, 0..*len))),
            Act::Add(word, ..) => (on(self.pe, *word..word + 1), on(self.pe, *word..word + 1)),
            Act::Quiet | Act::Fence => (None, None),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) pe: usize,
    pub(crate) token: Token,
    pub(crate) ops: Vec<Op>,
}

/// A thread that accesses a kept address again and again, whether or not the address is still valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    pub(crate) pe: usize,
    pub(crate) address: SlotNumber,
    pub(crate) delta: isize,
    pub(crate) bytes: usize,
    pub(crate) target: usize,
    pub(crate) get: bool,
}

/// An edge of a halo: (neighbour, the neighbour's edge, number of cells that arrive over this edge).
pub(crate) type Edge = Option<(usize, usize, usize)>;

/// The end of an exchange in which all cells were sent.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The exchange is finished. Ghost cells are held while these steps are carried out.
    Finished(Vec<ProgramStep>),
    /// The started exchange is forgotten, so that no further exchange is possible.
    Forgotten,
    /// A panic unwinds the started exchange.
    Unwound,
}

#[derive(Clone, Debug)]
pub(crate) enum ProgramStep {
    /// Allocates an object on every PE. Its elements depend on the seed.
    Alloc {
        slot: SlotNumber,
        home: Home,
        element: Element,
        len: usize,
        seed: u64,
    },
    /// Drops or forgets the handles of these PEs to an object, to teams or to a halo.
    Drop {
        slot: SlotNumber,
        pes: Pes,
        forget: bool,
    },
    Free {
        slot: SlotNumber,
    },
    /// Reclaims memory that all PEs have dropped.
    Reclaim,
    Keep {
        slot: SlotNumber,
        address: SlotNumber,
        byte: usize,
    },
    /// Threads of all PEs write, read and update.
    Epoch {
        streams: Vec<Stream>,
    },
    /// Steps that are carried out beside stray accesses.
    Beside {
        strays: Vec<Stray>,
        steps: Vec<ProgramStep>,
    },
    /// A collective of all PEs, or of the teams of a split.
    Together {
        team: Option<SlotNumber>,
        call: Call,
    },
    /// Splits the team of all PEs, or the teams of another split, by the colour and the key of each PE.
    Split {
        slot: SlotNumber,
        parent: Option<SlotNumber>,
        wishes: Vec<(Option<u64>, i64)>,
    },
    /// A phase of an object, by `local` or `frozen` of the world. An object of teams is opened by its teams, while PEs outside of
    /// them make stray accesses. No barrier separates the phase from the streams before and after it.
    Phase {
        slot: SlotNumber,
        frozen: bool,
        seed: u64,
        strays: Vec<Stray>,
        around: [Vec<Stream>; 2],
    },
    Halo {
        slot: SlotNumber,
        element: Element,
        edges: Vec<Vec<Edge>>,
    },
    Exchange {
        slot: SlotNumber,
        seed: u64,
        end: End,
    },
    /// Creates a partition with this number of bytes.
    Partition {
        slot: SlotNumber,
        bytes: u64,
    },
    /// Drops a partition, if nothing is left in it.
    DropPartition {
        slot: SlotNumber,
    },
}

pub(crate) fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mix = |i: usize| {
        (seed ^ (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    };
    (0..len).map(|i| (mix(i) >> 32) as u8).collect()
}

pub(crate) fn items<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

pub(crate) fn of(seed: u64, pe: usize) -> u64 {
    (seed ^ 0xA5A5).wrapping_mul(2 * pe as u64 + 3)
}
