//! Atomic operations are linearizable, between PEs of one node and of several, and between threads: many short
//! histories of two PEs with two threads each, or of four PEs on two nodes, on words of either width, written down with the times of the host's one clock. That clock
//! also says which word is in use, so threads that run at the same time meet without waiting for each other.
//!
//! An addition that takes two steps is found on the same schedule (and one inside the library by
//! `ci/mutants.sh`), so the histories are tight enough to show one.

use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{On, zeroed};
use shmem_core::object::{BitValue, NumberValue};
use shmem_core::system::monotonic_now;

mod checker;

use crate::dice::Dice;
use checker::{Event, Op, is_linearizable};

/// Threads of all PEs together.
const THREADS: usize = 4;

/// Words of one width, each of which has one history.
const HISTORIES: usize = 1024;

/// Most operations of one thread on one word.
const MOST: usize = 12;

/// Fewest operations during which another one was invoked, for a run to say anything.
const LEAST: usize = 50;

/// Numbers that an event is written down in.
const NUMBERS: usize = 7;

#[symmetric]
static WIDE: [Atomic<u64>; HISTORIES];
#[symmetric]
static NARROW: [Atomic<i32>; HISTORIES];

/// How additions are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addition {
    Atomic,
    /// A fetch and a set: what others add in between is lost.
    TwoSteps,
}

/// A random operation. Few values, so that most comparisons meet; many additions, so that none is lost unseen.
fn drawn(dice: &mut Dice) -> Op {
    let (kind, value) = (dice.below(12), dice.below(4));
    match kind {
        0 => Op::Fetch,
        1 => Op::Set(value),
        2 => Op::Swap(value),
        3 | 4 => Op::CompareSwap(value, dice.below(4)),
        5 => Op::And(value),
        6 => Op::Or(value),
        7 => Op::Xor(value),
        _ => Op::Add(value + 1),
    }
}

/// Carries an operation out; `silent`, by the form that gives nothing back, if there is one.
fn carried_out<V: NumberValue + BitValue>(
    world: &World<Multiple>,
    word: On<'_, Atomic<V>>,
    op: Op,
    silent: bool,
    addition: Addition,
) -> Option<u64> {
    let of = V::from_bits64;
    let before = match op {
        Op::Fetch => world.fetch(word),
        Op::Swap(v) => world.swap(word, of(v)),
        Op::CompareSwap(expected, desired) => world.compare_swap(word, of(expected), of(desired)),
        Op::Add(v) if addition == Addition::TwoSteps => {
            let before = world.fetch(word);
            world.set(word, of(before.to_bits64().wrapping_add(v)));
            world.quiet();
            before
        }
        Op::Add(1) if !silent => world.fetch_inc(word),
        Op::Add(v) if !silent => world.fetch_add(word, of(v)),
        Op::And(v) if !silent => world.fetch_and(word, of(v)),
        Op::Or(v) if !silent => world.fetch_or(word, of(v)),
        Op::Xor(v) if !silent => world.fetch_xor(word, of(v)),
        Op::Set(_) | Op::Add(_) | Op::And(_) | Op::Or(_) | Op::Xor(_) => {
            match op {
                Op::Add(1) => world.inc(word),
                Op::Add(v) => world.add(word, of(v)),
                Op::And(v) => world.and(word, of(v)),
                Op::Or(v) => world.or(word, of(v)),
                Op::Xor(v) => world.xor(word, of(v)),
                Op::Set(v) => world.set(word, of(v)),
                Op::Fetch | Op::Swap(_) | Op::CompareSwap(..) => unreachable!("they give something back"),
            }
            // Until then it may happen.
            world.quiet();
            return None;
        }
    };
    Some(before.to_bits64())
}

/// One thread's part of all histories: at any time, all threads work on the word of that time.
fn events_of_a_thread<V: NumberValue + BitValue>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    start: u64,
    mut dice: Dice,
    addition: Addition,
) -> Vec<(usize, Event)> {
    let on_one_node = world.pes().iter().all(|pe| pe.on_node().is_some());
    let slot = if on_one_node { 3_000 } else { 100_000 };
    let (mut events, mut here, mut done) = (Vec::new(), 0, 0);
    loop {
        let now = monotonic_now();
        let history = (now.saturating_sub(start) / slot) as usize;
        if history >= HISTORIES {
            return events;
        }
        if history != here {
            (here, done) = (history, 0);
        }
        if now < start || done == MOST {
            std::hint::spin_loop();
            continue;
        }
        done += 1;
        let (op, silent) = (drawn(&mut dice), dice.below(2) == 0);
        let invoked = monotonic_now();
        let result = carried_out(world, words.index(history), op, silent, addition);
        events.push((history, Event { op, result, invoked, returned: monotonic_now() }));
    }
}

fn written((history, event): &(usize, Event)) -> [u64; NUMBERS] {
    let (kind, a, b) = match event.op {
        Op::Fetch => (0, 0, 0),
        Op::Set(v) => (1, v, 0),
        Op::Swap(v) => (2, v, 0),
        Op::CompareSwap(expected, desired) => (3, expected, desired),
        Op::Add(v) => (4, v, 0),
        Op::And(v) => (5, v, 0),
        Op::Or(v) => (6, v, 0),
        Op::Xor(v) => (7, v, 0),
    };
    let (gives, result) = (u64::from(event.result.is_some()), event.result.unwrap_or_default());
    [*history as u64, kind << 1 | gives, a, b, result, event.invoked, event.returned]
}

fn read([history, kind, a, b, result, invoked, returned]: [u64; NUMBERS]) -> (usize, Event) {
    let op = match kind >> 1 {
        0 => Op::Fetch,
        1 => Op::Set(a),
        2 => Op::Swap(a),
        3 => Op::CompareSwap(a, b),
        4 => Op::Add(a),
        5 => Op::And(a),
        6 => Op::Or(a),
        _ => Op::Xor(a),
    };
    (history as usize, Event { op, result: (kind & 1 == 1).then_some(result), invoked, returned })
}

/// What came out of histories.
#[derive(Default)]
struct Outcome {
    operations: usize,
    /// Operations during which another one was invoked.
    overlaps: usize,
    /// Histories that could not have happened.
    wrong: Vec<Vec<Event>>,
}

/// Runs histories in all threads, on words of PE 0, which learns what came out.
fn run<V: NumberValue + BitValue>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    round: usize,
    addition: Addition,
    outcome: &mut Outcome,
) {
    let threads_of_a_pe = THREADS / world.n_pes();
    let room = 1 + threads_of_a_pe * HISTORIES * MOST * NUMBERS;
    let all = world.alloc(zeroed::<u64>(world.n_pes() * room)).unwrap();
    let first = world.my_pe() == 0;
    if first {
        (0..HISTORIES).for_each(|history| world.set(words.index(history), V::from_bits64(0)));
    }
    let mut start = [if first { monotonic_now() + 5_000_000 } else { 0 }];
    world.barrier_all();
    world.max(&mut start);
    let mine: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads_of_a_pe)
            .map(|thread| {
                let dice = Dice((world.my_pe() * threads_of_a_pe + thread + THREADS * round) as u64);
                scope.spawn(move || events_of_a_thread(world, words, start[0], dice, addition))
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .flat_map(|event| written(&event))
            .collect()
    });
    let at = world.my_pe() * room;
    let to = all.on(world.pe(0).unwrap());
    world.p(to.index(at), mine.len() as u64);
    world.put(to.index(at + 1..at + 1 + mine.len()), &mine[..]);
    world.barrier_all();
    if !first {
        return;
    }
    let mut numbers = vec![0; world.n_pes() * room];
    all.here(world).copy_to(&mut numbers);
    let mut found = vec![Vec::new(); HISTORIES];
    for part in numbers.chunks_exact(room) {
        for event in part[1..1 + part[0] as usize].chunks_exact(NUMBERS) {
            let (history, event) = read(event.try_into().unwrap());
            found[history].push(event);
        }
    }
    let mask = if size_of::<V>() == 8 { u64::MAX } else { u64::from(u32::MAX) };
    for events in found {
        let meets = |a: &&Event| events.iter().any(|b| b.invoked > a.invoked && b.invoked < a.returned);
        outcome.operations += events.len();
        outcome.overlaps += events.iter().filter(meets).count();
        if !is_linearizable(&events, mask) {
            outcome.wrong.push(events);
        }
    }
}

/// Runs rounds of histories until there were enough, or none that would not be known by now.
fn rounds(world: &World<Multiple>, addition: Addition, enough: impl Fn(&Outcome) -> bool) -> Outcome {
    let root = world.pe(0).unwrap();
    let mut outcome = Outcome::default();
    for round in 0..40 {
        run(world, WIDE.on(root).index(..), 2 * round, addition, &mut outcome);
        run(world, NARROW.on(root).index(..), 2 * round + 1, addition, &mut outcome);
        let mut done = [u64::from(enough(&outcome))];
        world.max(&mut done);
        if done[0] == 1 {
            break;
        }
    }
    outcome
}

fn many_histories_are_linearizable(world: &World<Multiple>) {
    let outcome =
        rounds(world, Addition::Atomic, |found| found.operations >= 10_000 && found.overlaps >= 500);
    let Outcome { operations, overlaps, wrong } = outcome;
    assert!(wrong.is_empty(), "this could not have happened: {:#?}", wrong[0]);
    // Many PEs on few cores, with a network's threads besides, seldom run at the same time.
    let enough = operations >= 10_000 && overlaps >= LEAST;
    assert!(world.my_pe() != 0 || enough, "{operations} operations met {overlaps} times only");
    world.barrier_all();
}

#[shmem::test(pes = 2, threads = multiple)]
fn atomic_operations_are_linearizable(world: &mut World) {
    many_histories_are_linearizable(world);
}

/// Two PEs change the words through memory and two through the transport, which must be atomic for each other.
#[shmem::test(pes = 4, threads = multiple, env("SHMRUN_HOSTS_AS" = "2x2"))]
fn atomic_operations_of_two_nodes_on_one_word_are_linearizable(world: &mut World) {
    many_histories_are_linearizable(world);
}

/// The same histories, with additions that are no atomic ones.
#[shmem::test(pes = 2, threads = multiple)]
fn an_addition_in_two_steps_is_found_out(world: &mut World) {
    let outcome = rounds(world, Addition::TwoSteps, |found| !found.wrong.is_empty());
    let Outcome { operations, overlaps, wrong } = outcome;
    assert!(world.my_pe() != 0 || !wrong.is_empty(), "{operations} operations met {overlaps} times unseen");
    world.barrier_all();
}
