use proptest::prelude::*;

use super::*;

const UNITS: usize = 256;

fn heap(start: usize) -> Allocator {
    Allocator::new(1, Text::head("default"), start..start + UNITS * MIN_ALIGN)
}

/// A heap as one flag per line of memory.
struct Model {
    start: usize,
    taken: Vec<bool>,
    blocks: Vec<(usize, usize, usize)>,
}

impl Model {
    fn new(start: usize) -> Self {
        Self { start, taken: vec![false; UNITS], blocks: Vec::new() }
    }

    fn lines(&self, offset: usize, bytes: usize) -> Range<usize> {
        let first = (offset - self.start) / MIN_ALIGN;
        first..first + bytes.div_ceil(MIN_ALIGN)
    }

    fn take(&mut self, offset: usize, bytes: usize, align: usize) {
        assert!(offset.is_multiple_of(align.max(MIN_ALIGN)), "{offset:#x} for {align}");
        assert!(offset >= self.start);
        for line in self.lines(offset, bytes) {
            assert!(!std::mem::replace(&mut self.taken[line], true), "overlap at line {line}");
        }
        self.blocks.push((offset, bytes, align));
    }

    fn drop(&mut self, at: usize) -> (usize, usize, usize) {
        let block = self.blocks.swap_remove(at);
        let lines = self.lines(block.0, block.1);
        self.taken[lines].fill(false);
        block
    }

    fn holes(&self) -> Vec<(usize, usize)> {
        let mut holes: Vec<(usize, usize)> = Vec::new();
        for line in (0..UNITS).filter(|&line| !self.taken[line]) {
            match holes.last_mut() {
                Some((first, lines)) if *first + *lines == line => *lines += 1,
                _ => holes.push((line, 1)),
            }
        }
        holes.iter().map(|&(first, lines)| (self.start + first * MIN_ALIGN, lines * MIN_ALIGN)).collect()
    }

    fn has_room(&self, bytes: usize, align: usize) -> bool {
        let room = bytes.next_multiple_of(MIN_ALIGN);
        self.holes().iter().any(|&(hole, size)| {
            let offset = hole.next_multiple_of(align.max(MIN_ALIGN));
            offset + room <= hole + size
        })
    }

    fn check(&self, heap: &Allocator) {
        let usage = heap.usage();
        let holes = self.holes();
        let free: usize = holes.iter().map(|&(_, bytes)| bytes).sum();
        assert_eq!(usage.free, free);
        assert_eq!(usage.used, UNITS * MIN_ALIGN - free);
        assert_eq!(usage.largest_free, holes.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0));
        assert_eq!(usage.blocks, self.blocks.len());
        assert!(usage.peak >= usage.used);
    }
}

#[derive(Clone, Debug)]
enum Call {
    Allocate(usize, usize),
    Free(usize),
    Reallocate(usize, usize),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let bytes = || prop_oneof![4 => 1..600_usize, 1 => 1..9000_usize];
    let call = prop_oneof![
        4 => (bytes(), 0..13_u32).prop_map(|(bytes, log)| Call::Allocate(bytes, 1 << log)),
        3 => any::<usize>().prop_map(Call::Free),
        2 => (any::<usize>(), bytes()).prop_map(|(at, bytes)| Call::Reallocate(at, bytes)),
    ];
    prop::collection::vec(call, 1..300)
}

/// Makes the calls on a heap and on the model; gives what the heap answered.
fn run(start: usize, calls: &[Call]) -> Vec<Result<usize, HeapError>> {
    let (mut heap, mut model, mut answers) = (heap(start), Model::new(start), Vec::new());
    for call in calls {
        let count = model.blocks.len();
        match *call {
            Call::Allocate(bytes, align) => {
                let could = model.has_room(bytes, align);
                let best = model.holes().into_iter().map(|(_, size)| size);
                let best = best.filter(|&size| size >= bytes.next_multiple_of(MIN_ALIGN)).min();
                let answer = heap.allocate(bytes, align);
                assert_eq!(answer.is_ok(), could, "{bytes} bytes aligned to {align}");
                if let Ok(offset) = answer {
                    if align <= MIN_ALIGN {
                        let hole = model.holes().into_iter().find(|&(hole, _)| hole == offset);
                        assert_eq!(hole.map(|(_, size)| size), best, "not the tightest hole");
                    }
                    model.take(offset, bytes, align);
                }
                answers.push(answer);
            }
            Call::Free(at) if count > 0 => {
                let (offset, bytes, _) = model.drop(at % count);
                assert_eq!(heap.free(offset), Ok(bytes));
            }
            Call::Reallocate(at, bytes) if count > 0 => {
                let (offset, old, align) = model.blocks[at % count];
                let elsewhere = model.has_room(bytes, align);
                model.drop(at % count);
                let with_own_place = model.has_room(bytes, align);
                let here = model.lines(offset, bytes);
                let can_stay = here.end <= UNITS && !model.taken[here].contains(&true);
                let answer = heap.reallocate(offset, bytes);
                assert_eq!(answer.is_ok(), with_own_place);
                let (to, bytes) = match answer {
                    Ok(Grown::InPlace) => (offset, bytes),
                    Ok(Grown::Moved { offset: to, keep }) => {
                        assert!(!can_stay, "moved without need");
                        assert_eq!(keep, old);
                        let overlaps = to < offset + old && offset < to + bytes;
                        assert!(!overlaps || !elsewhere, "moved onto itself without need");
                        (to, bytes)
                    }
                    Err(_) => (offset, old),
                };
                model.take(to, bytes, align);
                answers.push(answer.map(|_| to));
            }
            Call::Free(_) | Call::Reallocate(..) => {}
        }
        model.check(&heap);
    }
    for (offset, ..) in model.blocks {
        heap.free(offset).unwrap();
    }
    let usage = heap.usage();
    assert_eq!((usage.used, usage.blocks), (0, 0));
    assert_eq!(usage.largest_free, UNITS * MIN_ALIGN, "all freed is one piece");
    answers
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_a_bitmap(start in (0..200_usize).prop_map(|line| line * MIN_ALIGN), calls in calls()) {
        let once = run(start, &calls);
        prop_assert_eq!(once, run(start, &calls), "the same calls give the same offsets");
    }

    #[test]
    fn only_whole_lines_are_managed(start in 0..1000_usize, bytes in 0..1000_usize) {
        let mut heap = Allocator::new(1, Text::head("default"), start..start + bytes);
        let room = heap.usage().free;
        prop_assert!(room <= bytes && room.is_multiple_of(MIN_ALIGN));
        if let Ok(offset) = heap.allocate(room.max(1), 1) {
            prop_assert!(offset >= start && offset + room <= start + bytes);
        }
    }
}

#[test]
fn many_tight_holes_do_not_hide_one_that_fits() {
    // More holes of one line than are probed, none of them on a page, and no room behind them.
    let mut heap = Allocator::new(1, Text::head("default"), 4096..4096 + 4 * 4096);
    let offsets: Vec<usize> = (0..4 * 64).map(|_| heap.allocate(64, 64).unwrap()).collect();
    for &offset in offsets.iter().filter(|&&offset| offset % 128 != 0 || offset == 3 * 4096) {
        heap.free(offset).unwrap();
    }
    assert_eq!(heap.allocate(64, 4096), Ok(3 * 4096));
}

#[test]
fn what_is_no_block_is_told_apart() {
    let mut heap = heap(4096);
    let first = heap.allocate(100, 1).unwrap();
    let second = heap.allocate(100, 1).unwrap();
    let third = heap.allocate(100, 1).unwrap();
    heap.free(second).unwrap();
    let message = |error: Result<usize, HeapError>| error.unwrap_err().to_string();
    assert_eq!(
        message(heap.free(second)),
        "`free` of offset 0x1080 in partition `default`: that memory is free; it was freed before or never allocated (the last block before it has 100 bytes at offset 0x1000, the first behind it has 100 bytes at offset 0x1100)"
    );
    assert_eq!(
        message(heap.free(third + 64)),
        "`free` of offset 0x1140 in partition `default`: that is 64 bytes inside a block of 100 bytes at offset 0x1100; give the address that the allocation returned"
    );
    assert_eq!(
        message(heap.free(64)),
        "`free` of offset 0x40: that is on no symmetric heap; heaps are 0x1000..0x5000 (`default`)"
    );
    assert!(matches!(heap.reallocate(second, 1), Err(HeapError::DoubleFree { operation: "realloc", .. })));
    assert_eq!(heap.usage().blocks, 2, "nothing was freed");
    heap.free(first).unwrap();
    heap.free(third).unwrap();
}

#[test]
fn bad_requests_are_refused() {
    let mut heap = heap(0);
    assert_eq!(heap.allocate(0, 8), Err(HeapError::ZeroBytes));
    assert_eq!(heap.allocate(8, 0), Err(HeapError::Alignment { align: 0 }));
    assert_eq!(heap.allocate(8, 48), Err(HeapError::Alignment { align: 48 }));
    let beyond = Err(HeapError::Alignment { align: 2 * MAX_ALIGN });
    assert_eq!(heap.allocate(8, 2 * MAX_ALIGN), beyond, "whatever offset 0 has");
    for (bytes, align) in [(usize::MAX, 1), (usize::MAX - 100, MAX_ALIGN), (1, MAX_ALIGN)] {
        let before = heap.usage();
        assert_eq!(heap.allocate(bytes, align).is_ok(), bytes == 1, "offset 0 has every alignment");
        let _ = heap.free(0);
        assert_eq!(heap.usage(), Usage { peak: before.peak.max(heap.usage().peak), ..before });
    }
    let block = heap.allocate(8, 8).unwrap();
    assert_eq!(heap.reallocate(block, 0), Err(HeapError::ZeroBytes));
    assert!(matches!(heap.reallocate(block, usize::MAX), Err(HeapError::Exhausted { .. })));
}

#[test]
fn exhaustion_says_by_how_much_and_what_to_raise() {
    let mut heap = Allocator::new(7, Text::head("fast"), 0..1024);
    let first = heap.allocate(256, 64).unwrap();
    heap.allocate(512, 64).unwrap();
    heap.free(first).unwrap();
    let error = heap.allocate(300, 64).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no room for 300 bytes aligned to 64 in partition `fast`: its heap has 1K, of which 512 bytes are free, 256 bytes of them in one piece; raise by at least 64 bytes the size that the program gives it (`partitions!`, `create_partition`), or SHMEM_SYMMETRIC_PARTITION7=SIZE=.."
    );
    let mut raised = Allocator::new(7, Text::head("fast"), 0..1024 + 64);
    let first = raised.allocate(256, 64).unwrap();
    raised.allocate(512, 64).unwrap();
    raised.free(first).unwrap();
    assert_eq!(raised.allocate(300, 64), Ok(768), "so much more is enough");
    let mut odd = Allocator::new(7, Text::head("fast"), 0..(64 << 20) - 4800);
    let said = odd.allocate(64 << 20, 64).unwrap_err().to_string();
    assert!(said.contains("its heap has 63.995M, of which 63.995M are free, 63.995M of them"), "{said}");
    let error = Allocator::new(1, Text::head("default"), 0..64).allocate(65, 1).unwrap_err();
    assert!(error.to_string().contains(", or SHMEM_SYMMETRIC_SIZE (or"), "{error}");
    let said = |bytes: usize, all: Option<usize>| {
        let mut error = Allocator::new(1, Text::head("default"), 0..64).allocate(bytes, 1).unwrap_err();
        if let HeapError::Exhausted { enough, .. } = &mut error {
            *enough = all.and_then(core::num::NonZeroUsize::new);
        }
        let text = error.to_string();
        text.rsplit_once("; ").unwrap().1.to_owned()
    };
    assert!(said(64 + 771_756_672, None).starts_with("raise by at least 737M the size"), "whole mebibytes");
    assert_eq!(
        said(65, Some((64 << 20) + 1)),
        "give the partition at least 65M in the program (`partitions!`, `create_partition`), or set SHMEM_SYMMETRIC_SIZE=65M (or SHMEM_SYMMETRIC_PARTITION1=SIZE=65M)"
    );
}
