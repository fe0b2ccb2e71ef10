//! Queues of work: every item once, on whichever PE, and an end when nobody has anything any more.

use shmem::prelude::*;

use crate::dice::Dice;
use crate::pes;

/// Most items of a tree.
const MOST: usize = 2000;

/// How often each item was done, on the first PE.
#[symmetric]
static DONE: [Atomic<u32>; MOST];
#[symmetric]
static TAKEN: Signal;

/// An item that tells whether it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Item {
    number: u64,
    rest: [u64; 15],
}

impl Item {
    fn new(number: u64) -> Self {
        Self { number, rest: [!number; 15] }
    }
}

/// The items that an item leads to, for each: a random forest, the same on all PEs.
fn forest(seed: u64, items: usize) -> Vec<Vec<u64>> {
    let mut dice = Dice(seed);
    let mut children = vec![Vec::new(); items];
    for item in 1..items {
        // Some are wide, and some are long lines.
        let spread = if seed.is_multiple_of(2) { item as u64 } else { 3.min(item as u64) };
        let parent = item as u64 - 1 - dice.below(spread);
        children[parent as usize].push(item as u64);
    }
    children
}

/// Does the items of random forests; the model is a list of how often each was done.
#[shmem::test(pes = [1, 2, 3, 5])]
fn every_item_is_done_once(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let first = world.pe(0).unwrap();
    for window in [1, 2, 7, 64] {
        let mut queue = world.work_queue::<Item>(window).unwrap();
        for round in 0..4 {
            let items = [0, 1, 300, MOST][round];
            let children = forest(round as u64 + window as u64, items);
            // The root begins on another PE each time, or nowhere.
            if items > 0 && me == (window + round) % pes {
                queue.push(world, Item::new(0));
            }
            while let Some(item) = queue.next(world) {
                assert_eq!(item, Item::new(item.number), "window {window}");
                world.inc(DONE.on(first).index(item.number as usize));
                for &child in &children[item.number as usize] {
                    queue.push(world, Item::new(child));
                }
            }
            world.barrier_all();
            if me == 0 {
                let done: Vec<u32> =
                    (0..MOST).map(|item| world.swap(DONE.on(first).index(item), 0)).collect();
                let expected: Vec<u32> = (0..MOST).map(|item| u32::from(item < items)).collect();
                let wrong = (0..MOST).find(|&item| done[item] != expected[item]);
                assert_eq!(wrong.map(|item| (item, done[item])), None, "window {window}, {items} items");
            }
            world.barrier_all();
        }
    }
}

#[shmem::test(pes = 3)]
fn who_sleeps_is_called_when_there_is_something(world: &mut World) {
    let (me, first) = (world.my_pe(), world.pe(0).unwrap());
    let mut queue = world.work_queue::<u64>(8).unwrap();
    for round in 1..=10 {
        let mut done = 0;
        if me == 0 {
            for pe in world.pes().iter().skip(1) {
                pes::wait_for(world, pe);
            }
            // With nothing but its own items it would wait here for ever.
            (0..20).for_each(|item| queue.push(world, item));
            TAKEN.wait_until(world, ge(round));
        } else {
            pes::go(world, first);
        }
        while queue.next(world).is_some() {
            done += 1;
            if me != 0 {
                world.signal_set(TAKEN.on(first), round);
            }
        }
        world.sum(&mut done);
        assert_eq!(done, 20);
    }
}

#[shmem::test(pes = 4)]
fn nobody_leaves_while_an_item_is_on_its_way(world: &mut World) {
    // One item that makes the next one: all others look for it, and find it or not.
    let mut queue = world.work_queue::<u64>(4).unwrap();
    for round in 0..30 {
        if world.my_pe() == round % 4 {
            queue.push(world, 60);
            queue.push(world, 60);
        }
        let mut done = 0;
        while let Some(left) = queue.next(world) {
            done += 1;
            if left > 0 {
                queue.push(world, left - 1);
            }
        }
        world.sum(&mut done);
        assert_eq!(done, 122, "round {round}");
    }
}
