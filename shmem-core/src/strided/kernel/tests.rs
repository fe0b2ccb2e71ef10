//! Every kernel, with every set of instructions that this machine has, against a copy byte by byte.
//!
//! Both sides end with a page, or begin with one, next to pages that fault when they are touched. So an access outside a transfer is
//! found, though it is an instruction that no checker knows; Miri, which has no pages, finds it by the bounds of an allocation.
//! Everything around and between the blocks of the destination is compared, too.

use std::sync::OnceLock;

use proptest::prelude::*;
#[cfg(not(miri))]
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{Isa, Kernel, run_row, run_with};
use crate::strided::loop_nest::Level;

/// Under Miri those that are no more than rows are left out.
const KERNELS: &[Kernel] = &[
    Kernel::Rows,
    Kernel::Throttled(1),
    #[cfg(not(miri))]
    Kernel::Throttled(0),
    #[cfg(not(miri))]
    Kernel::Throttled(8),
    #[cfg(not(miri))]
    Kernel::Throttled(255),
    #[cfg(not(miri))]
    Kernel::Stream,
    #[cfg(not(miri))]
    Kernel::Span,
    #[cfg(not(miri))]
    Kernel::Shuffle,
];

fn noise(seed: u64) -> &'static [u8] {
    static NOISE: [OnceLock<Vec<u8>>; 3] = [const { OnceLock::new() }; 3];
    NOISE[seed as usize].get_or_init(|| {
        let step = |state: &mut u64| {
            *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            Some((*state >> 56) as u8)
        };
        (0..ROOM).scan(seed, |state, _| step(state)).collect()
    })
}

/// Runs a kernel with the instructions of `isa`, or, without `isa`, as a row, which the transfer must be.
///
/// # Safety
///
/// As [`run_with`].
unsafe fn run(
    isa: Option<Isa>,
    kernel: Kernel,
    block: usize,
    levels: [Level; 2],
    to: *mut u8,
    from: *const u8,
) {
    match isa {
        // SAFETY: the caller's promise; unavailable sets are left out of `each`.
        Some(isa) => unsafe { run_with(isa, kernel, block, levels, to, from) },
        // SAFETY: the caller's promise.
        None => unsafe { run_row(kernel, block, levels[1], to, from) },
    }
}

/// The blocks of a transfer, and where each side lies in its memory.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    block: usize,
    levels: [Level; 2],
    to: Place,
    from: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    First,
    Last,
    Behind(usize),
}

impl Place {
    fn offset(self, hull: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Last => ROOM - hull,
            Self::Behind(bytes) => bytes.min(ROOM - hull),
        }
    }
}

impl Transfer {
    /// Distances of all blocks from the first, at the destination and at the source.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [outer, inner] = self.levels;
        (0..outer.count)
            .flat_map(move |i| (0..inner.count).map(move |j| (i, j)))
            .map(move |(i, j)| (i * outer.to + j * inner.to, i * outer.from + j * inner.from))
    }

    /// Bytes from the first block's first to the last block's last, on both sides.
    fn hulls(&self) -> (usize, usize) {
        self.blocks().fold((0, 0), |(a, b), (to, from)| (a.max(to + self.block), b.max(from + self.block)))
    }

    fn check(self, to: &mut Fenced, from: &mut Fenced) -> Result<(), TestCaseError> {
        let (to_hull, from_hull) = self.hulls();
        prop_assume!(to_hull <= ROOM && from_hull <= ROOM);
        let (a, b) = (self.to.offset(to_hull), self.from.offset(from_hull));
        from.fill(1);
        to.fill(2);
        let mut expected = to.bytes().to_vec();
        for (to, at) in self.blocks() {
            expected[a + to..][..self.block].copy_from_slice(&from.bytes()[b + at..][..self.block]);
        }
        each(self.levels, |isa, kernel| {
            to.fill(2);
            let (to_first, from_first) = (to.first().wrapping_add(a), from.first().wrapping_add(b));
            // SAFETY: both hulls lie inside their memories; that blocks do not overlap is up to the
            // strategies below.
            unsafe { run(isa, kernel, self.block, self.levels, to_first, from_first) };
            compare(isa, kernel, to.bytes(), &expected)
        })
    }

    /// Runs all kernels from blocks to other blocks of one memory, `apart` bytes further.
    fn check_inside(self, memory: &mut Fenced, apart: usize) -> Result<(), TestCaseError> {
        let (hull, _) = self.hulls();
        prop_assume!(hull + apart <= ROOM);
        let first = self.to.offset(hull + apart);
        memory.fill(0);
        let mut expected = memory.bytes().to_vec();
        for (at, _) in self.blocks() {
            expected.copy_within(first + at..first + at + self.block, first + at + apart);
        }
        each(self.levels, |isa, kernel| {
            memory.fill(0);
            let from = memory.first().wrapping_add(first);
            // SAFETY: both hulls lie inside the memory; that blocks do not overlap is up to the strategies below.
            unsafe { run(isa, kernel, self.block, self.levels, from.wrapping_add(apart), from) };
            compare(isa, kernel, memory.bytes(), &expected)
        })
    }
}

fn each(
    levels: [Level; 2],
    mut run: impl FnMut(Option<Isa>, Kernel) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let available = Isa::ALL.into_iter().filter(|isa| isa.is_available()).map(Some);
    let row = (levels[0] == Level::ONCE).then_some(None);
    for isa in available.chain(row) {
        for &kernel in KERNELS {
            run(isa, kernel)?;
        }
    }
    Ok(())
}

fn compare(isa: Option<Isa>, kernel: Kernel, found: &[u8], expected: &[u8]) -> Result<(), TestCaseError> {
    if found != expected {
        let first = found.iter().zip(expected).position(|(a, b)| a != b);
        prop_assert!(false, "{:?} with {:?} differs at byte {:?}", kernel, isa, first);
    }
    Ok(())
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        Just(Place::First),
        Just(Place::Last),
        (0..200usize).prop_map(Place::Behind),
        (0..50usize).prop_map(|lane| Place::Behind(lane * 4)),
    ]
}

/// A second loop around a row, or inside it: `wide` says which.
fn second(row: Transfer) -> impl Strategy<Value = Transfer> {
    (0..5usize, 0..100usize, 0..100usize, any::<bool>()).prop_map(move |(count, to, from, inside)| {
        let (to_hull, from_hull) = row.hulls();
        let other = Level { count, to: to_hull + to, from: from_hull + from };
        let levels = if inside { [row.levels[1], other] } else { [other, row.levels[1]] };
        Transfer { levels, ..row }
    })
}

fn transfer(row: impl Strategy<Value = (usize, usize, usize, usize)>) -> impl Strategy<Value = Transfer> {
    (row, place(), place())
        .prop_map(|((block, count, to, from), at, source)| Transfer {
            block,
            levels: [Level::ONCE, Level { count, to, from }],
            to: at,
            from: source,
        })
        .prop_flat_map(|row| prop_oneof![Just(row), second(row)])
}

fn any_row() -> impl Strategy<Value = (usize, usize, usize, usize)> {
    let block = prop_oneof![0..70usize, 1..300usize, 300..3000usize];
    let gap = || prop_oneof![Just(0usize), 0..100usize, 0..1000usize];
    (block, 0..20usize, gap(), gap())
        .prop_map(|(block, count, to, from)| (block, count, block + to, block + from))
}

/// Small blocks at one small distance, often of whole lanes.
fn dense_row() -> impl Strategy<Value = (usize, usize, usize, usize)> {
    (1..16usize, 0..16usize, 0..300usize, prop_oneof![Just(4usize), Just(4), Just(8), Just(1)]).prop_map(
        |(block, gap, count, lane)| (block * lane, count, (block + gap) * lane, (block + gap) * lane),
    )
}

/// Words that every second or third place holds, of one side or the other.
fn sparse_row() -> impl Strategy<Value = (usize, usize, usize, usize)> {
    (prop_oneof![Just(4usize), Just(8)], 0..200usize, 2..=4usize, any::<bool>()).prop_map(
        |(word, count, every, pack)| {
            if pack { (word, count, word, every * word) } else { (word, count, every * word, word) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks(transfer in transfer(prop_oneof![any_row(), dense_row(), sparse_row()])) {
        transfer.check(&mut Fenced::new(), &mut Fenced::new())?;
    }

    /// As in a checkerboard: the blocks of one side lie in the gaps of the other.
    #[test]
    fn blocks_between_blocks(transfer in transfer(dense_row()), apart in 0..64usize) {
        let level = transfer.levels[1];
        let gap = level.to.saturating_sub(transfer.block);
        prop_assume!(transfer.levels[0].count == 1 && level.to == level.from && gap >= transfer.block);
        let apart = transfer.block + apart % (gap - transfer.block + 1);
        transfer.check_inside(&mut Fenced::new(), apart)?;
    }
}

/// Every length up to that of several vectors, with the block alone in its page on both sides.
#[test]
fn every_length_at_the_end_of_a_page() {
    let (mut to, mut from) = (Fenced::new(), Fenced::new());
    let (every, longer): (_, &[usize]) = if cfg!(miri) {
        (1..=5, &[8, 15, 16, 17, 37, 131])
    } else {
        (1..=700, &[1023, 1024, 4095, 4096, 4097])
    };
    for block in every.chain(longer.iter().copied()) {
        for (a, b) in
            [(Place::Last, Place::Last), (Place::First, Place::First), (Place::Behind(37), Place::Last)]
        {
            let levels = [Level::ONCE, Level { count: 3, to: block + 5, from: block + 3 }];
            Transfer { block, levels, to: a, from: b }.check(&mut to, &mut from).unwrap();
        }
    }
}

/// Bytes that may be touched; a multiple of all page sizes, where there are pages.
const ROOM: usize = if cfg!(miri) { 1 << 13 } else { 1 << 16 };
/// Bytes on both sides that may not.
#[cfg(not(miri))]
const FENCE: usize = 1 << 16;

/// Memory between two stretches that fault.
struct Fenced(*mut u8);

#[cfg(not(miri))]
impl Fenced {
    fn new() -> Self {
        // SAFETY: a new mapping.
        let outer = unsafe {
            mmap_anonymous(core::ptr::null_mut(), ROOM + 2 * FENCE, ProtFlags::empty(), MapFlags::PRIVATE)
        };
        let room = outer.unwrap().cast::<u8>().wrapping_add(FENCE);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: inside that mapping, to which nothing refers.
        let inner =
            unsafe { mmap_anonymous(room.cast(), ROOM, protection, MapFlags::PRIVATE | MapFlags::FIXED) };
        inner.unwrap();
        Self(room)
    }
}

#[cfg(not(miri))]
impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { munmap(self.0.wrapping_sub(FENCE).cast(), ROOM + 2 * FENCE) }.unwrap();
    }
}

#[cfg(miri)]
impl Fenced {
    fn new() -> Self {
        Self(Box::into_raw(Box::new([0u8; ROOM])).cast())
    }
}

#[cfg(miri)]
impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the allocation of `new`.
        drop(unsafe { Box::from_raw(self.0.cast::<[u8; ROOM]>()) });
    }
}

impl Fenced {
    fn first(&self) -> *mut u8 {
        self.0
    }

    fn fill(&mut self, seed: u64) {
        self.bytes().copy_from_slice(noise(seed));
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: all of the room, any byte is a value, and borrowed together with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.0, ROOM) }
    }
}
