//! Atomic operations are linearizable, between PEs and between threads: many short histories of two PEs with
//! two threads each, on words of either width, written down with the times of the host's one clock.
//!
//! An addition that takes two steps is found on the same schedule (and one inside the library by
//! `ci/mutants.sh`), so the histories are tight enough to show one.

use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{On, zeroed};
use shmem_core::object::{BitValue, NumberValue};
use shmem_core::system::monotonic_now;

#[path = "linearizability/checker.rs"]
mod checker;
mod dice;

use checker::{Event, Op, is_linearizable};
use dice::Dice;

const PES: usize = 2;
const THREADS: usize = 2;

/// Operations of one thread on one word.
const EACH: usize = 5;

/// Histories on words of one width; with both, 12,000 operations.
const HISTORIES: usize = 300;

/// Numbers that an event is written down in.
const NUMBERS: usize = 7;

#[symmetric]
static WIDE: [Atomic<u64>; HISTORIES];
#[symmetric]
static NARROW: [Atomic<i32>; HISTORIES];
/// How many threads have come to each history, on each PE.
#[symmetric]
static GATE: Atomic<u64>;

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

/// One thread's part of all histories. Each begins when all threads have come to it.
fn histories<V: NumberValue + BitValue>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    (thread, base): (usize, u64),
    addition: Addition,
) -> Vec<(usize, Event)> {
    let mut dice = Dice((world.my_pe() * THREADS + thread) as u64 + base);
    let mut events = Vec::new();
    for history in 0..HISTORIES {
        for pe in world.pes() {
            world.inc(GATE.on(pe));
        }
        world.quiet();
        GATE.wait_until(world, ge(base + (history as u64 + 1) * (PES * THREADS) as u64));
        for _ in 0..EACH {
            let (op, silent) = (drawn(&mut dice), dice.below(2) == 0);
            let invoked = monotonic_now();
            let result = carried_out(world, words.index(history), op, silent, addition);
            events.push((history, Event { op, result, invoked, returned: monotonic_now() }));
        }
    }
    events
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

/// Runs histories on words of PE 0 in all threads; gives PE 0 those that could not have happened, and how many
/// operations of different threads overlapped, at least.
fn run<V: NumberValue + BitValue>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    base: u64,
    addition: Addition,
) -> (Vec<Vec<Event>>, usize) {
    let all = world.alloc(zeroed::<u64>(PES * THREADS * HISTORIES * EACH * NUMBERS)).unwrap();
    let mine: Vec<u64> = std::thread::scope(|scope| {
        let start = |thread| scope.spawn(move || histories(world, words, (thread, base), addition));
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .flat_map(|event| written(&event))
            .collect()
    });
    let to = all.on(world.pe(0).unwrap());
    world.put(to.index(world.my_pe() * mine.len()..(world.my_pe() + 1) * mine.len()), &mine[..]);
    world.barrier_all();
    if world.my_pe() != 0 {
        return (Vec::new(), 0);
    }
    let mut numbers = vec![0; PES * mine.len()];
    all.here(world).copy_to(&mut numbers);
    let mut found = vec![Vec::new(); HISTORIES];
    for event in numbers.as_chunks().0 {
        let (history, event) = read(*event);
        found[history].push(event);
    }
    let mask = if size_of::<V>() == 8 { u64::MAX } else { u64::from(u32::MAX) };
    let overlaps = found.iter().map(|events| {
        let after = |a: &&Event| events.iter().any(|b| b.invoked > a.invoked && b.invoked < a.returned);
        events.iter().filter(after).count()
    });
    let overlaps = overlaps.sum();
    (found.into_iter().filter(|events| !is_linearizable(events, mask)).collect(), overlaps)
}

#[shmem::test(pes = 2, threads = multiple)]
fn atomic_operations_are_linearizable(world: &mut World) {
    let (wide, narrow) = (WIDE.on(world.pe(0).unwrap()), NARROW.on(world.pe(0).unwrap()));
    let (wrong, overlaps) = run(world, wide.index(..), 0, Addition::Atomic);
    assert!(wrong.is_empty(), "of 64 bits: {:#?}", wrong[0]);
    let base = (HISTORIES * PES * THREADS) as u64;
    let (wrong, more) = run(world, narrow.index(..), base, Addition::Atomic);
    assert!(wrong.is_empty(), "of 32 bits: {:#?}", wrong[0]);
    assert!(world.my_pe() != 0 || overlaps + more > 100, "threads hardly met: {overlaps} and {more} times");
    world.barrier_all();
}

/// The same histories, with additions that are no atomic ones.
#[shmem::test(pes = 2, threads = multiple)]
fn an_addition_in_two_steps_is_found_out(world: &mut World) {
    let words = WIDE.on(world.pe(0).unwrap());
    let (wrong, overlaps) = run(world, words.index(..), 0, Addition::TwoSteps);
    assert!(world.my_pe() != 0 || !wrong.is_empty(), "all histories are sound, with {overlaps} overlaps");
    world.barrier_all();
}
