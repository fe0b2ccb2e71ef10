//! What the channel and the queue of work cost, against what a program would write by hand for one place.
//!
//! The ring by hand is what two PEs of one node need at least: the data, a fence, and a counter of what has come; the reader counts what
//! it has taken, in a word of the writer. It is right for one writer and one reader, of which each knows the other, and no node
//! beyond. The queue by hand is a list under a lock, on PE 0; or, for one PE alone, a `Vec`.

use std::hint::black_box;

use shmem::prelude::*;
use shmem::{Lock, zeroed};

use crate::bench::{self, Bench, Records};
use crate::measure::form::{Measure, again, cases};
use crate::name::names;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

/// What channels and queues of work cost.
pub const MEASURE: Measure = Measure {
    name: "ready-made",
    about: "Channels and queues of work, against the same written by hand",
    run: |runner, _| runner.jobs(&READY_MADE, 2),
    tasks: &[READY_MADE],
    cases: &[
        cases(
            &["ready-made"],
            "channel/bytes",
            "a message from one PE to another, as many as there is room for on their way",
            "a ring by hand: put, fence, counter, and a counter back",
        ),
        cases(
            &["ready-made"],
            "batch/bytes",
            "the same, 32 messages at a time",
            "the same ring, 32 at a time",
        ),
        cases(
            &["ready-made"],
            "queue/one",
            "an item of work that is pushed and taken by the same PE, 16 at a time",
            "a `Vec`, which nobody else can take from",
        ),
        cases(
            &["ready-made"],
            "queue/tree",
            "an item of a tree of 2^13 - 1 items that two PEs share, the end included",
            "a stack on PE 0 under a `Lock`, and a count of what is left",
        ),
    ],
    again: again::<Name>,
    ..Measure::PLAIN
};

const READY_MADE: Task =
    Task { name: "ready-made", pe: |_, repetitions| bench::run(repetitions, ready_made) };

names! {
    Channel(bytes: usize) = "ready-made": ["channel" / bytes];
    Batch(bytes: usize) = "ready-made": ["batch" / bytes];
    One = "ready-made": ["queue" / "one"];
    Tree = "ready-made": ["queue" / "tree"];
}

/// Messages that there is room for, in both forms.
const ROOM: usize = 128;

/// Messages that are sent together.
const TOGETHER: usize = 32;

/// Messages in a sample.
const MESSAGES: usize = 1 << 14;

/// Items that one PE pushes before it takes them.
const PUSHED: u64 = 16;

/// Height of the tree.
const HEIGHT: u64 = 12;

/// Items of the tree.
const ITEMS: usize = (2 << HEIGHT) - 1;

fn ready_made(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let mut records = Vec::new();
    for together in [1, TOGETHER] {
        for (bytes, samples) in [
            (8, messages::<[u64; 1]>(world, together, repetitions)?),
            (64, messages::<[u64; 8]>(world, together, repetitions)?),
            (1024, messages::<[u64; 128]>(world, together, repetitions)?),
        ] {
            let name = if together == 1 { Name::Channel(bytes) } else { Name::Batch(bytes) };
            records.push(bench.record(&name, "a message through a channel, against a ring by hand", samples));
        }
    }
    let samples = one(world, repetitions)?;
    records.push(bench.record(&Name::One, "an item pushed and taken by a PE, against a `Vec`", samples));
    let samples = tree(world, repetitions)?;
    records.push(bench.record(&Name::Tree, "an item of a tree, against a stack under a lock", samples));
    Ok(records)
}

/// A ring from PE 0 to PE 1, by hand.
struct ByHand<T> {
    slots: SymBox<[T]>,
    come: SymBox<[Signal]>,
    taken: SymBox<[Signal]>,
}

/// Messages from PE 0 to PE 1.
fn messages<T: shmem::PlainData>(world: &World, together: usize, repetitions: usize) -> Result<Samples> {
    // A ring for 103 messages has 128 slots.
    let mut channel = world.channel::<T>(ROOM * 4 / 5 + 1)?;
    let hand = ByHand::<T> {
        slots: world.alloc(zeroed(ROOM))?,
        come: world.alloc(zeroed(1))?,
        taken: world.alloc(zeroed(1))?,
    };
    let (first, second) = (world.pe(0)?, world.pe(1)?);
    let is_first = world.my_pe() == 0;
    let data = vec![T::zeroed(); together];
    let cost = || {
        world.barrier_all();
        nanoseconds_each(MESSAGES, || {
            if is_first {
                for _ in 0..MESSAGES / together {
                    channel.send_all(world, second, black_box(&data));
                }
            } else {
                (0..MESSAGES).for_each(|_| _ = black_box(channel.recv(world)));
            }
            world.barrier_all();
        })
    };
    let mut base = 0_u64;
    let limit = || {
        world.barrier_all();
        nanoseconds_each(MESSAGES, || {
            let (come, taken) = (hand.come.on(second).index(0), hand.taken.on(first).index(0));
            let mut known = 0;
            if is_first {
                for number in (base..base + MESSAGES as u64).step_by(together) {
                    let end = number + together as u64;
                    if end > known + ROOM as u64 {
                        let room = ge(end.saturating_sub(ROOM as u64));
                        known = hand.taken.here(world).index(0).wait_until(room);
                    }
                    let slot = number as usize % ROOM;
                    world.put(hand.slots.on(second).index(slot..slot + together), black_box(&data[..]));
                    world.fence();
                    world.signal_set(come, end);
                }
            } else {
                for number in base..base + MESSAGES as u64 {
                    if number >= known {
                        known = hand.come.here(world).index(0).wait_until(gt(number));
                    }
                    black_box(hand.slots.here(world).index(number as usize % ROOM).load());
                    if (number + 1).is_multiple_of(ROOM as u64 / 4) {
                        world.signal_set(taken, number + 1);
                    }
                }
            }
            base += MESSAGES as u64;
            world.barrier_all();
        })
    };
    Ok(Samples::alternate(repetitions, cost, limit))
}

/// Items that PE 0 pushes and takes while the other one waits for it.
fn one(world: &World, repetitions: usize) -> Result<Samples> {
    let mut queue = world.work_queue::<u64>(64)?;
    let is_first = world.my_pe() == 0;
    let mut by_hand = Vec::new();
    let rounds = if is_first { MESSAGES as u64 / PUSHED } else { 0 };
    let cost = || {
        let each = nanoseconds_each(MESSAGES, || {
            for _ in 0..rounds {
                (0..PUSHED).for_each(|item| queue.push(world, black_box(item)));
                (0..PUSHED).for_each(|_| _ = black_box(queue.next(world)));
            }
        });
        world.barrier_all();
        each
    };
    let limit = || {
        let each = nanoseconds_each(MESSAGES, || {
            for _ in 0..rounds {
                (0..PUSHED).for_each(|item| by_hand.push(black_box(item)));
                (0..PUSHED).for_each(|_| _ = black_box(by_hand.pop()));
            }
        });
        world.barrier_all();
        each
    };
    Ok(Samples::alternate(repetitions, cost, limit))
}

/// A tree whose items two PEs share.
fn tree(world: &World, repetitions: usize) -> Result<Samples> {
    let mut queue = world.work_queue::<u64>(64)?;
    let stack = world.alloc(zeroed::<u64>(ITEMS))?;
    let words = world.alloc(zeroed::<Atomic<u64>>(2))?;
    let lock = world.alloc(zeroed::<Lock>(1))?;
    let first = world.pe(0)?;
    let (height, left) = (words.on(first).index(0), words.on(first).index(1));
    let is_first = world.my_pe() == 0;
    let cost = || {
        world.barrier_all();
        nanoseconds_each(ITEMS, || {
            if is_first {
                queue.push(world, HEIGHT);
            }
            while let Some(item) = queue.next(world) {
                for _ in 0..if item > 0 { 2 } else { 0 } {
                    queue.push(world, black_box(item - 1));
                }
            }
        })
    };
    let limit = || {
        if is_first {
            world.p(stack.on(first).index(0), HEIGHT);
            world.set(height, 1);
            world.set(left, ITEMS as u64);
        }
        world.barrier_all();
        nanoseconds_each(ITEMS, || {
            while world.fetch(left) > 0 {
                let guard = world.lock((&lock, 0));
                let top = world.fetch(height);
                if top == 0 {
                    continue;
                }
                let item = world.g(stack.on(first).index(top as usize - 1));
                world.set(height, top - 1);
                drop(guard);
                if item > 0 {
                    let guard = world.lock((&lock, 0));
                    let top = world.fetch(height);
                    let children = [black_box(item - 1); 2];
                    world.put(stack.on(first).index(top as usize..top as usize + 2), &children[..]);
                    world.set(height, top + 2);
                    drop(guard);
                }
                world.add(left, u64::MAX);
            }
            world.barrier_all();
        })
    };
    Ok(Samples::alternate(repetitions, cost, limit))
}
