//! Streams of updates, element by element: what a slice makes of them. (Of few words, and of reads: `indexed`.)

use shmem::prelude::*;

use crate::indexed::{Way, bits, updates};
use crate::panics::refused;

/// Words of each PE: more than of which as many updates are kept as make it worth to combine them.
const SHARE: usize = 20_000;

#[symmetric]
static MANY: [Atomic<u64>; SHARE];
#[symmetric]
static FEW: [Atomic<i32>; 24];
#[symmetric]
static ROWS: [[u32; 3]; 1000];

#[shmem::test(pes = [1, 2, 4])]
fn batches_are_those_of_a_slice(world: &mut World) {
    // Less than is kept on a node, more than that, and more than is kept at all.
    let (lengths, team) = ([300, 1_200, 80_000], world.team());
    updates(world, &MANY.over(team, Cyclic), |n| (n + 50) as u64, lengths, &[Way::Batch], bits!());
    updates(
        world,
        &MANY.over(team, Block::of(SHARE - 7)),
        |n| (n + 50) as u64,
        lengths,
        &[Way::Batch],
        bits!(),
    );
}

/// What was flushed is there, and what is behind it comes behind it.
#[shmem::test(pes = 2)]
fn what_is_flushed_is_complete(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    for round in 1..20 {
        world.batch(FEW.on(east), |batch| {
            assert_eq!((batch.len(), batch.is_empty()), (24, false));
            batch.set(3, -1);
            batch.flush();
            assert_eq!(world.fetch(FEW.on(east).index(3)), -1);
            batch.set(3, round);
            batch.add(4, 2);
        });
        assert_eq!(world.fetch(FEW.on(east).index(3)), round);
        assert_eq!(world.fetch(FEW.on(east).index(4)), 2 * round);
    }
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn a_body_that_panics_hands_over_no_more(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let mut row = [7; 3];
    refused! {
        world.batch(FEW.on(east), |batch| {
            batch.add(3, 1);
            batch.add(24, 1);
        }) => "index 24 is beyond the end: FEW has 24 elements (0..24)";
        world.gathers(ROWS.on(east), |wanted| {
            wanted.get(0, &mut row);
            panic!("for a reason of its own");
        }) => "for a reason of its own";
    }
    world.barrier_all();
    assert_eq!(FEW.here(world).values(), [0; 24]);
    assert_eq!(row, [7; 3], "not read, since the body has not returned");
}
