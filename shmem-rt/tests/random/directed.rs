//! Programs written by hand. Each fails in most runs if the library has the fault that the program was written for.

use shmem::array::{Separate, StorageKind};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{TeamConfig, zeroed};

use super::direct;
use super::step::{
    Act, Element, End, HALOS, Home, Op, Pes, Program, ProgramStep, SlotNumber, Stray, Stream, TEAMS, Token,
    Way,
};

const ALL: Pes = Pes(0b11);
const HALO: SlotNumber = HALOS.start;
const TEAM: SlotNumber = TEAMS.start;

/// Bytes of an object whose copy takes long.
const LARGE: usize = 48 << 20;

fn stray(pe: usize, target: usize, bytes: usize) -> Stray {
    Stray { pe, address: 0, delta: 0, bytes, target, get: false }
}

fn phase(slot: SlotNumber, seed: u64, strays: Vec<Stray>) -> ProgramStep {
    ProgramStep::Phase { slot, frozen: false, seed, strays, around: [Vec::new(), Vec::new()] }
}

/// Frees the memory of an array while threads of both PEs write to all its addresses. Then places ghost cells at the same
/// addresses.
fn memory_goes(storage: StorageKind) -> Program {
    let array = Home::Array(storage, 1);
    let round = |seed: u64| {
        let ring = vec![vec![Some((1, 0, 30_000))], vec![Some((0, 0, 30_000))]];
        [
            ProgramStep::Alloc { slot: 4, home: array, element: Element::Number, len: LARGE / 8, seed },
            ProgramStep::Keep { slot: 4, address: 0, byte: 0 },
            ProgramStep::Beside {
                strays: vec![stray(0, 0, LARGE), stray(0, 1, LARGE), stray(1, 1, LARGE)],
                steps: vec![
                    ProgramStep::Drop { slot: 4, pes: ALL, forget: false },
                    ProgramStep::Reclaim,
                    ProgramStep::Halo { slot: HALO, element: Element::Number, edges: ring },
                    ProgramStep::Exchange {
                        slot: HALO,
                        seed,
                        end: End::Finished(vec![ProgramStep::Reclaim, ProgramStep::Reclaim]),
                    },
                    ProgramStep::Drop { slot: HALO, pes: ALL, forget: false },
                    ProgramStep::Reclaim,
                ],
            },
        ]
    };
    (0..8).flat_map(round).collect()
}

#[shmem::test(pes = 2)]
fn memory_goes_under_writers(world: &mut World<Multiple>) {
    // Arrays with these storages have memory of their own. Other arrays are in a heap, which stays mapped.
    for storage in [StorageKind::Separate, StorageKind::Multi] {
        direct(world, &memory_goes(storage));
    }
}

#[shmem::test(pes = 2)]
fn a_partition_goes_under_writers(world: &mut World<Multiple>) {
    let mut program = Vec::new();
    for seed in 0..4 {
        program.extend([
            ProgramStep::Partition { slot: 0, bytes: (LARGE + (1 << 20)) as u64 },
            ProgramStep::Alloc {
                slot: 4,
                home: Home::Heap(Some(0)),
                element: Element::Byte,
                len: LARGE,
                seed,
            },
            ProgramStep::Keep { slot: 4, address: 0, byte: 0 },
            ProgramStep::Free { slot: 4 },
            ProgramStep::DropPartition { slot: 0 },
            // No allocation is left in the partition, and its addresses are refused.
            ProgramStep::Beside {
                strays: vec![stray(0, 1, 64), stray(1, 0, LARGE)],
                steps: vec![ProgramStep::Reclaim],
            },
        ]);
    }
    direct(world, &program);
}

/// Needs a larger alignment than a PE's arena slot has.
#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(8388608))]
struct Vast([u8; 8 << 20]);

/// Each way to allocate refuses types that need a larger alignment than a PE's arena slot has.
#[shmem::test(pes = 2)]
fn alignment_is_refused_everywhere(world: &mut World<Multiple>) {
    let refused = world.alloc(zeroed::<Vast>(1)).unwrap_err().to_string();
    assert_eq!(refused, "8388608 is not an alignment: give a power of two, at most 2M");
    let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    // Shifts the next allocation of the team.
    let _three = team.alloc(world, [[1_u8; 3]; 5]).unwrap();
    assert_eq!(team.alloc(world, zeroed::<Vast>(1)).unwrap_err().to_string(), refused);
    // The refused allocation leaves nothing behind.
    assert_eq!(team.alloc(world, [1_u64; 4]).unwrap().here(world).index(3).load(), 1);
    assert!(world.array([2]).storage(Separate).chunks(1).zeroed::<Vast>().is_err());
    let edges = [Edge::new(world.me(), 1, 1), Edge::new(world.me(), 0, 1)];
    assert!(world.halo::<Vast>(&edges).is_err(), "cells aligned to 8 MiB cannot be placed");
    let program = vec![
        ProgramStep::Split { slot: TEAM, parent: None, wishes: vec![(Some(1), 0); 2] },
        // Shifts the next allocation of the team.
        ProgramStep::Alloc { slot: 4, home: Home::Team(TEAM), element: Element::Three, len: 5, seed: 1 },
        ProgramStep::Alloc { slot: 5, home: Home::Team(TEAM), element: Element::Page, len: 2, seed: 2 },
        phase(5, 3, Vec::new()),
    ];
    direct(world, &program);
}

/// A PE that is alone in a team opens an object, while the other PE writes to all addresses near the object.
#[shmem::test(pes = 2)]
fn a_team_is_alone_with_its_memory(world: &mut World<Multiple>) {
    let stray = |back: isize| Stray { delta: -back, ..stray(1, 0, 1 << 16) };
    let program = vec![
        ProgramStep::Keep { slot: 1, address: 0, byte: 0 },
        ProgramStep::Split { slot: TEAM, parent: None, wishes: vec![(Some(0), 0), (None, 0)] },
        ProgramStep::Alloc { slot: 4, home: Home::Team(TEAM), element: Element::Number, len: 500, seed: 1 },
        phase(4, 2, [1 << 20, 1 << 23, 1 << 26].map(stray).to_vec()),
    ];
    direct(world, &program);
}

/// Transfers of a forgotten context are complete when a phase begins.
#[shmem::test(pes = 2)]
fn what_was_forgotten_is_complete(world: &mut World<Multiple>) {
    let act = |pe: u64| Act::Write(0..40, Way::Forgotten, 5 + pe);
    let write = |pe: usize| Op { slot: 1, pe: 1 - pe, act: act(pe as u64) };
    let stream = |pe: usize| Stream { pe, token: Token::Leaked, ops: vec![write(pe)] };
    let around = [vec![stream(0), stream(1)], Vec::new()];
    direct(world, &vec![ProgramStep::Phase { slot: 1, frozen: false, seed: 7, strays: Vec::new(), around }]);
}
