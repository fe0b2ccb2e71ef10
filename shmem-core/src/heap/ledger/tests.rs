use proptest::prelude::*;

use super::*;
use crate::text::Text;

const FIRST: u32 = 1;
const SECOND: u32 = 2;

fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    ledger.add_heap(FIRST, Allocator::new(1, Text::head("default"), 4096..4096 + 65536));
    ledger.add_heap(SECOND, Allocator::new(4, Text::head("bulk"), 1 << 20..(1 << 20) + 65536));
    ledger
}

fn and(bitmaps: &[Vec<u64>]) -> Vec<u64> {
    let mut agreed = bitmaps[0].clone();
    for bitmap in bitmaps {
        assert_eq!(bitmap.len(), agreed.len(), "all PEs have bitmaps of one length");
        for (all, one) in agreed.iter_mut().zip(bitmap) {
            *all &= one;
        }
    }
    agreed
}

/// A job whose PEs drop their handles when they like.
struct Job {
    pes: Vec<Ledger>,
    /// What each PE still holds.
    handles: Vec<Vec<Allocation>>,
    /// What each PE has dropped and not all have.
    dropped: Vec<Vec<Allocation>>,
    cursor: u64,
}

impl Job {
    fn new(pes: usize) -> Self {
        Self {
            pes: (0..pes).map(|_| ledger()).collect(),
            handles: vec![Vec::new(); pes],
            dropped: vec![Vec::new(); pes],
            cursor: 0,
        }
    }

    fn allocate(&mut self, segment: u32, bytes: usize) {
        let answers: Vec<_> =
            self.pes.iter_mut().map(|pe| pe.allocate(segment, bytes, 8, Owner::Handle)).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        let Ok(new) = answers[0].clone() else { return };
        for (pe, handles) in self.handles.iter_mut().enumerate() {
            for old in handles.iter() {
                let apart = old.offset + old.bytes.max(1) <= new.offset
                    || new.offset + new.bytes.max(1) <= old.offset;
                assert!(apart, "#{} lies on #{}, which PE {pe} still has", new.id, old.id);
            }
            handles.push(new);
        }
    }

    fn drop(&mut self, pe: usize, which: usize) {
        let pe = pe % self.pes.len();
        if !self.handles[pe].is_empty() {
            let at = which % self.handles[pe].len();
            let handle = self.handles[pe].swap_remove(at);
            self.pes[pe].released().push(handle.id);
            self.dropped[pe].push(handle);
        }
    }

    /// Frees collectively what PE 0 holds there, if every PE still holds it.
    fn free(&mut self, which: usize) {
        let Some(&one) = self.handles[0].get(which % self.handles[0].len().max(1)) else { return };
        if self.handles.iter().all(|handles| handles.contains(&one)) {
            for (pe, handles) in self.pes.iter_mut().zip(&mut self.handles) {
                handles.retain(|handle| handle.id != one.id);
                assert_eq!(pe.free(one.id), Ok(one));
            }
        }
    }

    fn reclaim(&mut self, words: usize) {
        let first = self.cursor;
        let bitmaps: Vec<_> = self.pes.iter_mut().map(|pe| pe.pending_bitmap(first, words)).collect();
        self.check();
        let agreed = and(&bitmaps);
        let all: Vec<_> = self.pes.iter_mut().map(|pe| pe.reclaim(first, &agreed).unwrap()).collect();
        assert!(all.iter().all(|one| *one == all[0]));
        for freed in &all[0].freed {
            let held = self.handles.iter().any(|handles| handles.contains(freed));
            assert!(!held, "#{} was reclaimed while a PE has it", freed.id);
            self.dropped.iter_mut().for_each(|dropped| dropped.retain(|handle| handle.id != freed.id));
        }
        self.cursor = all[0].next;
        self.check();
    }

    /// What the ledgers count, by a look at all that is alive.
    fn check(&self) {
        for (pe, dropped) in self.pes.iter().zip(&self.dropped) {
            for segment in [FIRST, SECOND] {
                let there = dropped.iter().filter(|handle| handle.segment == segment);
                assert_eq!(pe.dropped_bytes(segment), there.map(|handle| handle.bytes).sum::<usize>());
            }
            let groups: std::collections::BTreeSet<u64> = pe.allocations().map(|one| one.id / 64).collect();
            assert_eq!(pe.words(), groups.len());
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(u32, usize),
    Drop(usize, usize),
    Free(usize),
    Reclaim(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (FIRST..=SECOND, 0..3000_usize).prop_map(|(segment, bytes)| Step::Allocate(segment, bytes)),
        8 => (any::<usize>(), any::<usize>()).prop_map(|(pe, which)| Step::Drop(pe, which)),
        1 => any::<usize>().prop_map(Step::Free),
        2 => (1..4_usize).prop_map(Step::Reclaim),
    ];
    prop::collection::vec(step, 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pes_may_drop_in_any_order(pes in 1..5_usize, steps in steps()) {
        let mut job = Job::new(pes);
        for step in steps {
            match step {
                Step::Allocate(segment, bytes) => job.allocate(segment, bytes),
                Step::Drop(pe, which) => job.drop(pe, which),
                Step::Free(which) => job.free(which),
                Step::Reclaim(words) => job.reclaim(words),
            }
        }
        for pe in 0..pes {
            while !job.handles[pe].is_empty() {
                job.drop(pe, 0);
            }
        }
        job.cursor = 0;
        job.reclaim(usize::MAX);
        for pe in &job.pes {
            prop_assert_eq!(pe.words(), 0);
            prop_assert_eq!(pe.allocations().count(), 0);
            for segment in [FIRST, SECOND] {
                let usage = pe.usage(segment).unwrap();
                prop_assert_eq!((usage.used, usage.largest_free), (0, 65536));
            }
        }
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
    assert_eq!(ledger.reclaim(0, &[0b110]), Err(HeapError::StillUsed { id: 2 }));
    assert_eq!(ledger.allocations().count(), 2);
}

#[test]
fn an_address_is_given_back_by_its_offset_and_a_handle_is_not() {
    let mut ledger = ledger();
    let handle = ledger.allocate(FIRST, 64, 8, Owner::Handle).unwrap();
    let address = ledger.allocate(SECOND, 64, 8, Owner::Address).unwrap();
    assert_eq!(
        ledger.free_at(handle.offset).unwrap_err().to_string(),
        format!(
            "`free` of offset {:#x}: allocation #1 belongs to a `SymBox`; drop the box, or give it to its own `free`",
            handle.offset
        )
    );
    assert_eq!(ledger.words(), 1, "addresses take no part in agreement");
    assert!(matches!(ledger.free_at(address.offset + 1), Err(HeapError::InsideBlock { .. })));
    let foreign = ledger.free_at(8).unwrap_err().to_string();
    assert!(foreign.contains("0x1000..0x11000 (`default`), 0x100000..0x110000 (`bulk`)"), "{foreign}");
    assert_eq!(ledger.free_at(address.offset), Ok(address));
    assert!(matches!(ledger.free_at(address.offset), Err(HeapError::DoubleFree { .. })));
    assert_eq!(ledger.free(2), Err(HeapError::NoAllocation { id: 2 }));
}

#[test]
fn a_resized_allocation_keeps_its_number_and_partition() {
    let mut ledger = ledger();
    let block = ledger.allocate(SECOND, 64, 8, Owner::Address).unwrap();
    ledger.hint(block.id, MemoryHints::SIGNAL_REMOTE);
    ledger.allocate(SECOND, 64, 8, Owner::Address).unwrap();
    let (moved, grown) = ledger.reallocate_at(block.offset, 1000).unwrap();
    assert_eq!(grown, Grown::Moved { offset: moved.offset, keep: 64 });
    assert_eq!((moved.id, moved.segment, moved.bytes), (block.id, SECOND, 1000));
    assert_eq!(moved.hints, MemoryHints::SIGNAL_REMOTE);
    assert_eq!(ledger.find(moved.offset + 999), Some(&moved));
    assert_eq!(ledger.find(moved.offset + 1000), None);
    assert_eq!(ledger.find(block.offset), None);
    assert!(matches!(ledger.reallocate_at(block.offset, 8), Err(HeapError::DoubleFree { .. })));
    assert_eq!(ledger.free_at(moved.offset).unwrap().id, block.id);
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
fn what_has_a_name_stays_when_handles_go() {
    let mut ledger = ledger();
    let named = ledger.allocate(FIRST, 100, 8, Owner::Name).unwrap();
    ledger.open(named.id);
    ledger.open(named.id);
    for _ in 0..2 {
        ledger.released().push(named.id);
    }
    assert_eq!(ledger.words(), 0, "nobody need agree on it");
    assert!(ledger.pending_bitmap(0, 10).is_empty());
    assert_eq!(ledger.get(named.id), Some(&named));
    assert_eq!(ledger.free_at(named.offset), Err(HeapError::OwnedByName { operation: "free", id: named.id }));
    // Given to `free`, only the handle is gone.
    ledger.open(named.id);
    assert_eq!(ledger.free(named.id), Err(HeapError::OwnedByName { operation: "free", id: named.id }));
    ledger.unname(named.id).unwrap();
    assert_eq!(ledger.pending_bitmap(0, 10), [1 << named.id]);
    assert_eq!(ledger.reclaim(0, &[1 << named.id]).unwrap().freed.len(), 1);
    assert_eq!(ledger.unname(named.id), Err(HeapError::NoAllocation { id: named.id }));
}

#[test]
fn what_has_lost_its_name_waits_for_its_last_handle() {
    let mut ledger = ledger();
    let named = ledger.allocate(FIRST, 100, 8, Owner::Name).unwrap();
    ledger.open(named.id);
    ledger.open(named.id);
    ledger.unname(named.id).unwrap();
    for pending in [0, 1 << named.id] {
        ledger.released().push(named.id);
        assert_eq!(ledger.pending_bitmap(0, 1), [pending]);
    }
}
