//! Queues of work: every item once, on whichever PE, and an end when nobody has anything any more.

use shmem::prelude::*;

use crate::channel::Message;
use crate::dice::Dice;
use crate::pes;

/// Most items of a tree.
const MOST: usize = 2000;

/// How often each item was done, on the first PE.
#[symmetric]
static DONE: [Atomic<u32>; MOST];
#[symmetric]
static TAKEN: Signal;

/// The items that an item leads to, for each: a random forest, the same on all PEs.
fn forest(seed: u64, items: usize) -> Vec<Vec<u64>> {
    let mut dice = Dice(seed);
    let mut children = vec![Vec::new(); items];
    for item in 1..items {
        // Some are wide, some are narrow, and some are one line, of which one PE has an item at a time.
        let spread = [item as u64, 3.min(item as u64), 1][seed as usize % 3];
        let parent = item as u64 - 1 - dice.below(spread);
        children[parent as usize].push(item as u64);
    }
    children
}

/// Does the items of random forests; the model is a list of how often each was done.
#[shmem::test(pes = [1, 2, 5])]
fn every_item_is_done_once(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let first = world.pe(0).unwrap();
    for window in [1, 2, 7, 64] {
        let mut queue = world.work_queue::<Message>(window).unwrap();
        for round in 0..4 {
            let items = [0, 1, 300, MOST][round];
            let children = forest(round as u64 + window as u64, items);
            // The root begins on another PE each time, or nowhere.
            if items > 0 && me == (window + round) % pes {
                queue.push(world, Message::new(0, 0, 0));
            }
            while let Some(item) = queue.next(world) {
                assert_eq!(item, Message::new(0, 0, item.number), "window {window}");
                world.inc(DONE.on(first).index(item.number as usize));
                for &child in &children[item.number as usize] {
                    queue.push(world, Message::new(0, 0, child));
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
