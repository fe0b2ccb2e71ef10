//! Plans: each call gathers the values of a list's elements from their owners.

use shmem::Distribution;
use shmem::prelude::*;

use crate::dice::Dice;
use crate::panics::refused;

const SHARE: usize = 24;

fn element(index: usize, round: usize) -> [u32; 3] {
    [index as u32, round as u32, (index * round) as u32]
}

/// Returns a list for each PE: long lists with repeated indices, short lists, and empty lists.
fn lists(pes: usize, len: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut dice = Dice(seed);
    let mut list = || {
        let count = [0, 5, 300][dice.below(3) as usize];
        (0..count).map(|_| dice.below(len as u64) as u32).collect()
    };
    (0..pes).map(|_| list()).collect()
}

/// Gathers from the object and from private memory, without a barrier between rounds.
fn rounds<D: Distribution>(world: &mut World, distribution: D, seed: u64) {
    let object = world.alloc(shmem::zeroed::<[u32; 3]>(SHARE)).unwrap();
    let (me, pes) = (world.my_pe(), world.n_pes());
    let (mine, list): (Vec<usize>, Vec<u32>) = {
        let over = object.over(world.team(), distribution);
        (over.owned(me).collect(), lists(pes, over.len(), seed).swap_remove(me))
    };
    let mut plan = world.plan(object.over(world.team(), distribution).at(&list)).unwrap();
    assert_eq!((plan.len(), plan.is_empty()), (list.len(), list.is_empty()));
    let mut into = vec![[0; 3]; list.len()];
    for round in 0..6 {
        let as_expected = |into: &[[u32; 3]]| {
            list.iter().zip(into).all(|(index, value)| *value == element(*index as usize, round))
        };
        let part: Vec<_> = mine.iter().map(|index| element(*index, round)).collect();
        match round % 3 {
            0 => {
                object.here(world).index(..part.len()).copy_from(&part);
                plan.gather(world, &mut into, object.on(world.me()));
                // A late PE still gets the values that were sent.
                object.here(world).fill([u32::MAX; 3]);
            }
            1 => plan.gather_from(world, &mut into, &part),
            _ => world.local_with_exchanges(&object, |object, phase| {
                object[..part.len()].copy_from_slice(&part);
                plan.gather_from(phase, &mut into, object);
            }),
        }
        assert!(as_expected(&into), "round {round}");
        let found = plan.bring_from(world, &part).to_vec();
        assert!(as_expected(&plan.places().iter().map(|place| found[*place as usize]).collect::<Vec<_>>()));
        let mut once = list.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(found.len(), once.len(), "each element once");
    }
}

#[shmem::test(pes = [1, 2, 4])]
fn what_is_planned_comes(world: &mut World) {
    let pes = world.n_pes();
    for seed in 0..3 {
        rounds(world, Cyclic, seed);
        rounds(world, Block, seed);
        rounds(world, Block::of(SHARE * pes - 5), seed);
        rounds(world, BlockCyclic::<6>, seed);
    }
}

/// An object is divided among the members of a team in the order of their ranks. A PE outside the team plans an empty list.
#[shmem::test(pes = 3)]
fn an_object_may_be_that_of_some(world: &mut World) {
    let config = shmem::TeamConfig::default();
    let both = world.team().split_strided(world, 2, -2, 2, &config).unwrap();
    let object = world.alloc(shmem::filled(world.my_pe() as u64, SHARE)).unwrap();
    let (list, mut into) = ([1_usize, SHARE, 2, 1], [9; 4]);
    if let Some(both) = &both {
        let of_both = both.alloc(world, zeroed::<u64>(5)).unwrap();
        let over = object.over(both, Block);
        assert_eq!((over.len(), over.owner(SHARE + 3)), (2 * SHARE, (world.pes()[0], 3)));
        assert_eq!((over.part(0).pe(), over.part(1).len()), (world.pes()[2], SHARE));
        assert!(over.owned(both.rank()).all(|index| over.locate(index).pe() == world.me()));
        refused! {
            over.part(2).len() => "no PE has the rank 2: there are 2, whose ranks run from 0";
            of_both.over(world.team(), Cyclic).len() => "is not a member of the team";
        }
        let mut plan = world.plan(over.at(&list)).unwrap();
        plan.gather(world, &mut into, object.on(world.me()));
        assert_eq!(into, [2, 0, 2, 2]);
    } else {
        let all = object.over(world.team(), Block);
        let mut plan = world.plan(all.at(&[0_u32; 0])).unwrap();
        plan.gather(world, &mut [], object.on(world.me()));
    }
    world.barrier_all();
}

#[shmem::test(pes = 1)]
fn misuse_is_told(world: &mut World) {
    let object = world.alloc(shmem::filled(7_u64, SHARE)).unwrap();
    let over = object.over(world.team(), Block);
    let mut plan = world.plan(over.at(&[3_u64, 23])).unwrap();
    refused! {
        world.plan(over.at(&[3_u64, 24])).unwrap()
            => "index 24 at position 1 of the list is beyond the end: the object has 24 elements (0..24)";
        plan.gather(world, &mut [0; 1], object.on(world.me()))
            => "the list has 2 indices, and there are 1 elements";
        plan.gather_from(world, &mut [0; 2], &[1; 23]) => "other PEs want element 23 of this PE, and it gives 23";
    }
    let mut found = [0; 2];
    plan.gather(world, &mut found, object.on(world.me()));
    assert_eq!(found, [7; 2]);
}
