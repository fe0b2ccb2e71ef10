use core::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::fixture::assert_says;
use crate::heap::{MAX_ALIGN, MIN_ALIGN};
use crate::text::Text;

const FIRST: u32 = 1;
const SECOND: u32 = 2;

/// Bytes of a heap, in units of [`MIN_ALIGN`].
const LINES: usize = 256;

/// The range of a heap. The first heap starts at unit `first`.
fn heap_of(segment: u32, first: usize) -> Range<usize> {
    let start = if segment == FIRST { first * MIN_ALIGN } else { 1 << 20 };
    start..start + LINES * MIN_ALIGN
}

fn ledger_from(first: usize) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.add_heap(FIRST, Allocator::new(1, Text::head("default"), heap_of(FIRST, first), 0));
    ledger.add_heap(SECOND, Allocator::new(4, Text::head("bulk"), heap_of(SECOND, first), 0));
    ledger
}

fn ledger() -> Ledger {
    ledger_from(64)
}

struct Held {
    block: Allocation,
    by: Vec<bool>,
}

/// A job whose PEs drop their handles in any order. Its heaps are modelled by a list of their blocks.
struct Job {
    pes: Vec<Ledger>,
    first: usize,
    blocks: Vec<Held>,
    cursor: u64,
}

impl Job {
    fn new(pes: usize, first: usize) -> Self {
        Self { pes: (0..pes).map(|_| ledger_from(first)).collect(), first, blocks: Vec::new(), cursor: 0 }
    }

    /// Makes a call on all PEs, whose results must be equal.
    fn all<R: PartialEq + core::fmt::Debug>(&mut self, call: impl FnMut(&mut Ledger) -> R) -> R {
        let mut answers: Vec<R> = self.pes.iter_mut().map(call).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        answers.swap_remove(0)
    }

    /// Start and bytes of each hole of a heap, as if the block `without` were free.
    fn holes(&self, segment: u32, without: Option<u64>) -> Vec<(usize, usize)> {
        let heap = heap_of(segment, self.first);
        let mut taken = [false; LINES];
        let there =
            self.blocks.iter().filter(|one| one.block.segment == segment && Some(one.block.id) != without);
        for Held { block, .. } in there {
            assert!(block.offset.is_multiple_of(block.align.max(MIN_ALIGN)), "{block:?}");
            let line = (block.offset - heap.start) / MIN_ALIGN;
            for taken in &mut taken[line..line + block.bytes.max(1).div_ceil(MIN_ALIGN)] {
                assert!(!std::mem::replace(taken, true), "{block:?} lies on another");
            }
        }
        let runs = taken.chunk_by(|a, b| a == b).scan(heap.start, |at, run| {
            let start = *at;
            *at += run.len() * MIN_ALIGN;
            Some((run[0], start, run.len() * MIN_ALIGN))
        });
        runs.filter(|(taken, ..)| !taken).map(|(_, start, bytes)| (start, bytes)).collect()
    }

    fn allocate(&mut self, segment: u32, bytes: usize, align: usize, owner: Owner) {
        let holes = self.holes(segment, None);
        let room = bytes.max(1).next_multiple_of(MIN_ALIGN);
        let answer = self.all(|pe| pe.allocate(segment, bytes, align, owner));
        assert_eq!(answer.is_ok(), fits(&holes, room, align), "{bytes} bytes aligned to {align}");
        let Ok(block) = answer else { return };
        let tightest = holes
            .iter()
            .filter(|hole| fits(&[**hole], room, align))
            .map(|&(start, size)| (size, start))
            .min();
        let offset = tightest.map(|(_, start)| start.next_multiple_of(align.max(MIN_ALIGN)));
        assert_eq!(offset, Some(block.offset), "not the tightest hole");
        self.blocks.push(Held { block, by: vec![true; self.pes.len()] });
    }

    /// The index of one of the blocks for which `of` holds.
    fn one(&self, which: usize, of: impl Fn(&Held) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.blocks.len()).filter(|at| of(&self.blocks[*at])).collect();
        all.get(which % all.len().max(1)).copied()
    }

    fn resize(&mut self, which: usize, bytes: usize) {
        let Some(at) = self.one(which, |one| one.block.owner == Owner::Address) else { return };
        let Allocation { id, segment, offset, bytes: old, align, .. } = self.blocks[at].block;
        let room = bytes.next_multiple_of(MIN_ALIGN);
        let without = self.holes(segment, Some(id));
        let elsewhere = fits(&self.holes(segment, None), room, align);
        let can_stay = without.iter().any(|(hole, size)| *hole <= offset && offset + room <= hole + size);
        let answer = self.all(|pe| pe.reallocate_at(offset, bytes));
        assert_eq!(answer.is_ok(), fits(&without, room, align));
        let Ok(block) = answer else { return };
        if block.offset != offset {
            assert!(!can_stay, "moved without need");
            let overlaps = block.offset < offset + old && offset < block.offset + bytes;
            assert!(!overlaps || !elsewhere, "moved onto itself without need");
        }
        assert_eq!((block.id, block.bytes), (id, bytes));
        self.blocks[at].block = block;
    }

    /// Frees, on all PEs, a block that no PE has dropped.
    fn free(&mut self, which: usize) {
        let Some(at) = self.one(which, |one| one.by.iter().all(|held| *held)) else { return };
        let block = self.blocks.swap_remove(at).block;
        let freed = match block.owner {
            Owner::Address => self.all(|pe| pe.free_at(block.offset)),
            _ => self.all(|pe| pe.free(block.id)),
        };
        assert_eq!(freed, Ok(block));
    }

    fn drop(&mut self, pe: usize, which: usize) {
        let pe = pe % self.pes.len();
        let Some(at) = self.one(which, |one| one.by[pe] && one.block.owner == Owner::Handle) else { return };
        self.blocks[at].by[pe] = false;
        self.pes[pe].released().push(self.blocks[at].block.id);
    }

    fn reclaim(&mut self, words: usize) {
        let first = self.cursor;
        let bitmaps: Vec<_> = self.pes.iter_mut().map(|pe| pe.pending_bitmap(first, words)).collect();
        assert!(
            bitmaps.iter().all(|one| one.len() == bitmaps[0].len()),
            "all PEs have bitmaps of one length"
        );
        let agreed: Vec<u64> =
            (0..bitmaps[0].len()).map(|k| bitmaps.iter().fold(u64::MAX, |all, one| all & one[k])).collect();
        let Reclaimed { freed, next } = self.all(|pe| pe.reclaim(first, &agreed).unwrap());
        for gone in freed {
            let at = self.blocks.iter().position(|one| one.block == gone).unwrap();
            let by = self.blocks.swap_remove(at).by;
            assert!(!by.contains(&true), "#{} was reclaimed while a PE has it", gone.id);
        }
        self.cursor = next;
    }

    /// Compares what the ledgers count with the list of blocks.
    fn check(&self) {
        for segment in [FIRST, SECOND] {
            let holes = self.holes(segment, None);
            let free: usize = holes.iter().map(|(_, bytes)| bytes).sum();
            let largest = holes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
            let blocks = self.blocks.iter().filter(|one| one.block.segment == segment).count();
            for usage in self.pes.iter().map(|pe| pe.usage(segment).unwrap()) {
                assert_eq!((usage.used + free, usage.free), (LINES * MIN_ALIGN, free));
                assert_eq!((usage.largest_free, usage.blocks), (largest, blocks));
                assert!(usage.peak >= usage.used);
            }
        }
        for block in self.blocks.iter().map(|one| &one.block).filter(|block| block.bytes > 0) {
            let end = block.offset + block.bytes;
            assert!(self.pes.iter().all(|pe| pe.find(end - 1) == Some(block) && pe.find(end) != Some(block)));
        }
        let handles = self.blocks.iter().filter(|one| one.block.owner == Owner::Handle);
        let groups: std::collections::BTreeSet<u64> = handles.map(|one| one.block.id / 64).collect();
        assert!(self.pes.iter().all(|pe| pe.words() == groups.len()));
    }
}

fn fits(holes: &[(usize, usize)], room: usize, align: usize) -> bool {
    holes.iter().any(|(hole, size)| hole.next_multiple_of(align.max(MIN_ALIGN)) + room <= hole + size)
}

#[derive(Clone, Debug)]
enum Call {
    Allocate(u32, usize, u32, Owner),
    Resize(usize, usize),
    Drop(usize, usize),
    Free(usize),
    Reclaim(usize),
}

fn steps() -> impl Strategy<Value = Vec<Call>> {
    let bytes = || prop_oneof![4 => 0..600_usize, 1 => 1..9000_usize];
    let owner = prop_oneof![Just(Owner::Address), Just(Owner::Handle)];
    let step = prop_oneof![
        6 => (FIRST..=SECOND, bytes(), 0..13_u32, owner)
            .prop_map(|(segment, bytes, log, owner)| Call::Allocate(segment, bytes, log, owner)),
        2 => (any::<usize>(), bytes()).prop_map(|(which, bytes)| Call::Resize(which, bytes.max(1))),
        6 => (any::<usize>(), any::<usize>()).prop_map(|(pe, which)| Call::Drop(pe, which)),
        2 => any::<usize>().prop_map(Call::Free),
        2 => (1..4_usize).prop_map(Call::Reclaim),
    ];
    prop::collection::vec(step, 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn heaps_agree_with_a_bitmap_and_pes_may_drop_in_any_order(pes in 1..5_usize, first in 0..200_usize, steps in steps()) {
        let mut job = Job::new(pes, first);
        for step in steps {
            match step {
                Call::Allocate(segment, bytes, log, owner) => job.allocate(segment, bytes, 1 << log, owner),
                Call::Resize(which, bytes) => job.resize(which, bytes),
                Call::Drop(pe, which) => job.drop(pe, which),
                Call::Free(which) => job.free(which),
                Call::Reclaim(words) => job.reclaim(words),
            }
            job.check();
        }
        for _ in 0..job.blocks.len() {
            job.free(0);
            (0..pes).for_each(|pe| job.drop(pe, 0));
        }
        job.cursor = 0;
        job.reclaim(usize::MAX);
        job.check();
        prop_assert!(job.blocks.is_empty(), "all freed is one piece, as `check` has seen");
    }

    #[test]
    fn only_whole_lines_are_managed(start in 0..1000_usize, bytes in 0..1000_usize) {
        let mut heap = Allocator::new(1, Text::head("default"), start..start + bytes, bytes);
        let room = heap.usage().free;
        prop_assert!(room <= bytes && room.is_multiple_of(MIN_ALIGN));
        if let Ok(offset) = heap.allocate(room.max(1), 1) {
            prop_assert!(offset >= start && offset + room <= start + bytes);
        }
    }
}

#[test]
fn what_is_no_block_is_told_apart() {
    let mut ledger = ledger();
    let [first, second, third] =
        [(); 3].map(|()| ledger.allocate(FIRST, 100, 1, Owner::Address).unwrap().offset);
    ledger.free_at(second).unwrap();
    let handle = ledger.allocate(SECOND, 64, 8, Owner::Handle).unwrap().offset;
    let refused = [
        (
            second,
            "`free` of offset 0x1080 in partition `default`: that memory is free; it was freed before or never allocated",
        ),
        (
            third + 64,
            "`free` of offset 0x1140 in partition `default`: that is 64 bytes inside a block of 100 bytes at offset 0x1100; give the address that the allocation returned",
        ),
        (
            64,
            "`free` of offset 0x40: that is on no symmetric heap; heaps are 0x1000..0x5000 (`default`), 0x100000..0x104000 (`bulk`)",
        ),
        (
            handle,
            "`free` of offset 0x100000: allocation #4 belongs to a `SymBox`; drop the box, or give it to its own `free`",
        ),
    ];
    for (offset, message) in refused {
        assert_eq!(ledger.free_at(offset).unwrap_err().to_string(), message);
    }
    assert_says(ledger.reallocate_at(second, 1).unwrap_err(), &["`realloc` of offset 0x1080"]);
    assert_says(ledger.free(2).unwrap_err(), &["no allocation #2: it was freed before"]);
    assert_eq!(ledger.words(), 1, "addresses take no part in agreement");
    assert_eq!(ledger.usage(FIRST).unwrap().blocks, 2, "nothing was freed");
    ledger.free_at(first).unwrap();
    ledger.free_at(third).unwrap();
}

#[test]
fn bad_requests_are_refused() {
    let mut ledger = ledger_from(0);
    for align in [0, 48, 2 * MAX_ALIGN] {
        let refused = ledger.allocate(FIRST, 8, align, Owner::Address);
        assert_eq!(refused, Err(HeapError::Alignment { align }), "whatever offset 0 has");
    }
    for (bytes, align) in [(usize::MAX, 1), (usize::MAX - 100, MAX_ALIGN), (1, MAX_ALIGN)] {
        let before = ledger.usage(FIRST).unwrap();
        let made = ledger.allocate(FIRST, bytes, align, Owner::Address);
        assert_eq!(made.is_ok(), bytes == 1, "offset 0 has every alignment");
        _ = ledger.free_at(0);
        let after = ledger.usage(FIRST).unwrap();
        assert_eq!(after, Usage { peak: before.peak.max(after.peak), ..before });
    }
    let block = ledger.allocate(FIRST, 8, 8, Owner::Address).unwrap().offset;
    assert_says(ledger.reallocate_at(block, 0).unwrap_err(), &["has at least one byte"]);
    assert!(matches!(ledger.reallocate_at(block, usize::MAX), Err(HeapError::Exhausted { .. })));
}

#[test]
fn exhaustion_says_how_much_is_enough() {
    // A heap with a hole of 256 bytes, a block of 512, and what is behind them, in a partition with a page of statics.
    let holed = |bytes: usize| {
        let mut heap = Allocator::new(7, Text::head("fast"), 0..bytes, bytes + 4096);
        let first = heap.allocate(256, 64).unwrap();
        heap.allocate(512, 64).unwrap();
        heap.free(first, 256);
        heap
    };
    assert_eq!(
        holed(1024).allocate(300, 64).unwrap_err().to_string(),
        "no room for 300 bytes aligned to 64 in partition `fast`: its heap has 1K, of which 512 bytes are free, 256 bytes of them in one piece; give the partition at least 6K in the program (`partitions!`, `create_partition`), or set SHMEM_SYMMETRIC_PARTITION7=SIZE=6K"
    );
    assert_eq!(holed(1024 + 64).allocate(300, 64), Ok(768), "so much more is enough");
    let refused = |partition, bytes: usize, asked: usize| {
        let name = Text::head("default");
        Allocator::new(partition, name, 0..bytes, bytes).allocate(asked, 1).unwrap_err().to_string()
    };
    for (partition, bytes, asked, part) in [
        (1, 64, 1 << 26, "or set SHMEM_SYMMETRIC_SIZE=64M (or SHMEM_SYMMETRIC_PARTITION1=SIZE=64M)"),
        (1, 64, (1 << 26) + 1, "at least 65M in the program"),
        (1, 64, usize::MAX, "; no partition has as many"),
    ] {
        assert_says(refused(partition, bytes, asked), &[part]);
    }
}

#[test]
fn agreement_on_what_is_still_used_frees_nothing() {
    let mut ledger = ledger();
    for _ in 0..2 {
        ledger.allocate(FIRST, 8, 8, Owner::Handle).unwrap();
    }
    ledger.released().push(1);
    assert_eq!(ledger.pending_bitmap(0, 1), [0b010]);
    assert_says(ledger.reclaim(0, &[0b110]).unwrap_err(), &["allocation #2 was to be reclaimed"]);
    assert_eq!(ledger.allocations().count(), 2);
}

#[test]
fn a_handle_that_outlives_its_heap_frees_nothing() {
    let mut ledger = ledger();
    ledger.allocate(SECOND, 64, 8, Owner::Handle).unwrap();
    let kept = ledger.allocate(FIRST, 64, 8, Owner::Handle).unwrap();
    assert!(ledger.remove_heap(SECOND).is_some());
    ledger.released().push(1);
    assert_eq!(ledger.pending_bitmap(0, 10), [0]);
    assert_eq!(ledger.allocations().copied().collect::<Vec<_>>(), [kept]);
}

#[test]
fn what_has_a_name_stays_until_it_is_taken_off_and_all_handles_are_gone() {
    let mut ledger = ledger();
    let Allocation { id, offset, .. } = ledger.allocate(FIRST, 100, 8, Owner::Name).unwrap();
    let owned = HeapError::named("free", id);
    for _ in 0..2 {
        ledger.open(id);
        ledger.released().push(id);
    }
    assert_eq!(ledger.words(), 0, "nobody need agree on it");
    assert!(ledger.pending_bitmap(0, 10).is_empty());
    assert_eq!(ledger.free_at(offset), Err(owned.clone()));
    // Given to `free`, only the handle is gone.
    ledger.open(id);
    assert_eq!(ledger.free(id), Err(owned));
    for _ in 0..2 {
        ledger.open(id);
    }
    ledger.unname(id);
    for pending in [0, 1 << id] {
        ledger.released().push(id);
        assert_eq!(ledger.pending_bitmap(0, 10), [pending]);
    }
    assert_eq!(ledger.reclaim(0, &[1 << id]).unwrap().freed.len(), 1);
    // Without handles it is pending at once.
    let id = ledger.allocate(FIRST, 100, 8, Owner::Name).unwrap().id;
    ledger.unname(id);
    assert_eq!(ledger.pending_bitmap(0, 10), [1 << id]);
}
