//! Programs written by hand: each breaks a library with one certain hole in most runs.

use super::step::{Element, Home, Op, Pes, Program, Slot, Split, Step, Storage, Storm, Stream, Token, Way};

const ALL: Pes = Pes(0b11);

/// Bytes of what takes long to be copied.
const LARGE: usize = 48 << 20;

fn storm(pe: usize, target: usize, address: Slot, bytes: usize) -> Storm {
    Storm { pe, address, delta: 0, bytes, target, get: false }
}

/// The memory of an array goes while other threads, of both PEs, write to all of it by its address; then ghost cells
/// come where it was.
pub(crate) fn memory_goes_under_writers(storage: Storage) -> Program {
    let array = Home::Array(storage, 1);
    let round = |seed: u64| {
        let ring = vec![vec![Some((1, 0, 30_000))], vec![Some((0, 0, 30_000))]];
        [
            Step::Alloc { slot: 4, home: array, element: Element::Number, len: LARGE / 8, seed },
            Step::Keep { slot: 4, address: 0, byte: 0 },
            Step::Window {
                storms: vec![storm(0, 0, 0, LARGE), storm(0, 1, 0, LARGE), storm(1, 1, 0, LARGE)],
                steps: vec![
                    Step::Drop { slot: 4, pes: ALL, forget: false },
                    Step::Reclaim,
                    Step::Halo { slot: 0, element: Element::Number, edges: ring },
                    Step::Exchange { slot: 0, seed, iter: false, hold: vec![Step::Reclaim, Step::Reclaim] },
                    Step::DropHalo { slot: 0, pes: ALL, forget: false },
                    Step::Reclaim,
                ],
            },
        ]
    };
    (0..8).flat_map(round).collect()
}

/// A partition goes while threads write to all of it.
pub(crate) fn a_partition_goes_under_writers() -> Program {
    let mut program = Vec::new();
    for seed in 0..4 {
        program.extend([
            Step::Partition { slot: 0, bytes: (LARGE + (1 << 20)) as u64 },
            Step::Alloc { slot: 4, home: Home::Heap(Some(0)), element: Element::Byte, len: LARGE, seed },
            Step::Keep { slot: 4, address: 0, byte: 0 },
            Step::Free { slot: 4 },
            Step::DropPartition { slot: 0 },
            // Nothing may be left of it, and an address of it leads nowhere.
            Step::Window {
                storms: vec![storm(0, 1, 0, 64), storm(1, 0, 0, LARGE)],
                steps: vec![Step::Reclaim],
            },
        ]);
    }
    program
}

/// Types that are aligned to more than any place is, wherever something is allocated.
pub(crate) fn alignment_is_refused_everywhere() -> Program {
    vec![
        Step::Split { slot: 0, parent: None, split: Split::By(vec![Some(1), Some(1)]) },
        // The memory of the team begins elsewhere then.
        Step::Alloc { slot: 4, home: Home::Team(0), element: Element::Three, len: 5, seed: 1 },
        Step::Vast { team: None },
        Step::Vast { team: Some(0) },
        Step::Alloc { slot: 5, home: Home::Team(0), element: Element::Page, len: 2, seed: 2 },
        Step::TeamPhase { slot: 5, frozen: false, seed: 3, storms: Vec::new() },
    ]
}

/// A PE alone in a team has its memory open, while the other one writes wherever it can name something.
pub(crate) fn a_team_is_alone_with_its_memory() -> Program {
    vec![
        Step::Keep { slot: 1, address: 0, byte: 0 },
        Step::Split { slot: 0, parent: None, split: Split::By(vec![Some(0), None]) },
        Step::Alloc { slot: 4, home: Home::Team(0), element: Element::Number, len: 500, seed: 1 },
        Step::TeamPhase {
            slot: 4,
            frozen: false,
            seed: 2,
            storms: [1 << 20, 1 << 23, 1 << 26]
                .into_iter()
                .map(|back| Storm { pe: 1, address: 0, delta: -back, bytes: 1 << 16, target: 0, get: false })
                .collect(),
        },
    ]
}

/// Contexts and transfers that were forgotten are complete when a phase begins.
pub(crate) fn what_was_forgotten_is_complete() -> Program {
    let write = |pe: usize| Op::Write {
        slot: 1,
        pe: 1 - pe,
        at: super::step::Blocks { first: 0, block: 40, stride: 40, count: 1 },
        way: Way::Forgotten,
        seed: 5 + pe as u64,
    };
    let stream = |pe: usize| Stream { pe, token: Token::Leaked, ops: vec![write(pe)] };
    vec![
        Step::Epoch { streams: vec![stream(0), stream(1)] },
        Step::Phase { objects: vec![1], frozen: false, seed: 7 },
    ]
}
