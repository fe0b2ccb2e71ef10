//! Streams of updates and of reads, element by element: what a slice makes of them. (Of few words: `indexed`.)

use shmem::Numbered;
use shmem::prelude::*;

use crate::dice::Dice;
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

/// Every PE reads rows that others have, as it comes to them.
fn reads<P: Numbered<Item = [u32; 3]>>(world: &World, rows: P, len: usize, row: impl Fn(usize) -> [u32; 3]) {
    let mut dice = Dice(world.my_pe() as u64);
    for count in [0, 5, 80_000] {
        let wanted: Vec<usize> = (0..count).map(|_| dice.below(len as u64) as usize).collect();
        let mut found = vec![[u32::MAX; 3]; count];
        let len = world.gathers(&rows, |rows| {
            for (index, found) in wanted.iter().zip(&mut found) {
                rows.get(*index, found);
            }
            rows.len()
        });
        assert!(len > 0 && wanted.iter().zip(&found).all(|(index, found)| *found == row(*index)));
    }
}

#[shmem::test(pes = 3)]
fn what_is_read_is_there_at_the_end(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let row = |pe: usize, k: usize| [pe as u32, k as u32, (pe * k) as u32];
    let me = world.my_pe();
    world.local(&ROWS, |rows| rows.iter_mut().enumerate().for_each(|(k, one)| *one = row(me, k)));
    reads(world, ROWS.over(world.team(), Cyclic), 3000, |index| row(index % 3, index / 3));
    reads(world, ROWS.on(east).index(..), 1000, |index| row(east.number(), index));
    // So long that few of them are kept, wherever they are.
    let pages = world.alloc(shmem::filled([me as u64; 2048], 10)).unwrap();
    let wanted: Vec<usize> = (0..150).map(|k| k * 7 % 30).collect();
    let mut found = vec![[9; 2048]; wanted.len()];
    world.gathers(pages.over(world.team(), Cyclic), |pages| {
        wanted.iter().zip(&mut found).for_each(|(index, page)| pages.get(*index, page));
    });
    assert!(wanted.iter().zip(&found).all(|(index, page)| *page == [*index as u64 % 3; 2048]));
    world.barrier_all();
}
