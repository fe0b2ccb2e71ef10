//! Atomic operations are linearizable, between PEs of one node and of several, and between threads: many short
//! histories of two PEs with two threads each, or of four PEs on two nodes, on words of either width, integers and
//! floating-point numbers, recorded with the times of the host's one clock. All threads begin a history together. Where
//! they share a core, operations overlap because threads yield inside of them.
//!
//! An addition that takes two steps is found on the same schedule (and one inside the library by
//! `ci/mutants.sh`), so the histories are tight enough to show one.

use std::thread;

use shmem::On;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem_core::object::AmoValue;
use shmem_core::system::monotonic_now;

mod checker;

use crate::dice::Dice;
use checker::{Event, Op, is_linearizable};

/// Threads of all PEs together.
const THREADS: usize = 4;

/// Words of one width, each of which has one history.
const HISTORIES: usize = 128;

/// A word without a history, which is in lists as well.
const SPARE: usize = HISTORIES;

/// Most operations of one thread on one word.
const MOST: usize = 12;

/// Operations of which one yields the core before it is carried out.
const YIELDS: u64 = 32;

/// Operations during which another one was invoked, without which a run proves nothing.
const LEAST: usize = 200;

/// Numbers that an event is written down in.
const NUMBERS: usize = 7;

/// On PE 0, the histories that each thread has arrived at. No word that is added to: additions are under test.
#[symmetric]
static ARRIVED: [Atomic<u64>; THREADS];
#[symmetric]
static WIDE: [Atomic<u64>; HISTORIES + 1];
#[symmetric]
static NARROW: [Atomic<i32>; HISTORIES + 1];
#[symmetric]
static WIDE_FLOATS: [Atomic<f64>; HISTORIES + 1];
#[symmetric]
static NARROW_FLOATS: [Atomic<f32>; HISTORIES + 1];

/// A number that words of histories hold. In none of them does a floating-point number become so large that a digit is
/// lost, so that it counts as a number of 64 bits does.
trait Counted: AmoValue {
    /// What numbers are kept of.
    const MASK: u64;

    fn of(number: u64) -> Self;

    fn number(self) -> u64;

    /// The operation, or an addition, if there are no bit operations of such numbers.
    fn possible(op: Op) -> Op {
        op
    }

    /// A bit operation; what was there, if its form gives it.
    fn bits(_: &World<Multiple>, _: On<'_, Atomic<Self>>, op: Op, _: Form) -> Option<Self> {
        unreachable!("{op:?} of floating-point numbers, or no bit operation")
    }
}

/// Calls the routine of a form; what was there, if that gives it.
macro_rules! formed {
    ($world:ident, $word:ident, $form:ident: $silent:ident or $fetching:ident($($value:expr),*)) => {
        if $form == Form::Silent {
            $world.$silent($word $(, $value)*);
            None
        } else {
            formed!($world, $word, $form: $fetching($($value),*))
        }
    };
    ($world:ident, $word:ident, $form:ident: $fetching:ident($($value:expr),*)) => {{
        let mut before = Counted::of(0);
        match $form {
            Form::Scoped => $world.scope(|s| s.$fetching(&mut before, $word $(, $value)*)),
            _ => before = $world.$fetching($word $(, $value)*),
        }
        Some(before)
    }};
}

macro_rules! integers {
    ($($number:ident, $mask:expr;)*) => {$(
        impl Counted for $number {
            const MASK: u64 = $mask;

            fn of(number: u64) -> Self {
                Self::from_bits64(number)
            }

            fn number(self) -> u64 {
                self.to_bits64()
            }

            fn bits(world: &World<Multiple>, word: On<'_, Atomic<Self>>, op: Op, form: Form) -> Option<Self> {
                match op {
                    Op::And(v) => formed!(world, word, form: and or fetch_and(Self::of(v))),
                    Op::Or(v) => formed!(world, word, form: or or fetch_or(Self::of(v))),
                    Op::Xor(v) => formed!(world, word, form: xor or fetch_xor(Self::of(v))),
                    _ => unreachable!("{op:?} is no bit operation"),
                }
            }
        }
    )*};
}
integers! {
    u64, u64::MAX;
    i32, u32::MAX as u64;
}

macro_rules! floats {
    ($($number:ident)*) => {$(
        impl Counted for $number {
            const MASK: u64 = u64::MAX;

            fn of(number: u64) -> Self {
                number as Self
            }

            fn number(self) -> u64 {
                self as u64
            }

            fn possible(op: Op) -> Op {
                if let Op::And(v) | Op::Or(v) | Op::Xor(v) = op { Op::Add(v) } else { op }
            }
        }
    )*};
}
floats!(f64 f32);

/// Which form of an operation is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The one that gives nothing back, if there is one.
    Silent,
    Fetching,
    /// In a scope, at whose end what was there has come.
    Scoped,
    /// One of the elements of a list, which are carried out together, if there are lists of it.
    Listed,
}

/// How additions are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addition {
    Atomic,
    /// A fetch and a set: what others add in between is lost.
    TwoSteps,
}

/// A random operation. Few values, so that most comparisons meet; many additions, so that none is lost unseen.
fn drawn(dice: &mut Dice) -> Op {
    let (kind, value) = (dice.below(14), dice.below(4));
    match kind {
        0 => Op::Fetch,
        1 => Op::Set(value),
        2 => Op::Swap(value),
        3 | 4 => Op::CompareSwap(value, dice.below(4)),
        5 => Op::And(value),
        6 => Op::Or(value),
        7 => Op::Xor(value),
        8 => Op::Min(value),
        9 => Op::Max(value + 4),
        _ => Op::Add(value + 1),
    }
}

/// Carries an operation out on a word that has a history; what was there, if that gives it.
fn carried_out<V: Counted>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    history: usize,
    op: Op,
    form: Form,
    addition: Addition,
) -> Option<u64> {
    let word = words.index(history);
    let before = match op {
        Op::And(_) | Op::Or(_) | Op::Xor(_) => V::bits(world, word, op, form),
        Op::Add(v) if addition == Addition::TwoSteps => {
            let before = world.fetch(word);
            thread::yield_now();
            world.set(word, V::of(before.number().wrapping_add(v)));
            world.quiet();
            Some(before)
        }
        _ if form == Form::Listed => listed(world, words, history, op),
        _ => single(world, word, op, form),
    };
    if before.is_none() {
        // Until then it may happen.
        world.quiet();
    }
    before.map(V::number)
}

fn single<V: Counted>(world: &World<Multiple>, word: On<'_, Atomic<V>>, op: Op, form: Form) -> Option<V> {
    let of = V::of;
    match op {
        Op::Fetch => formed!(world, word, form: fetch()),
        Op::Swap(v) => formed!(world, word, form: swap(of(v))),
        Op::CompareSwap(expected, desired) => {
            formed!(world, word, form: compare_swap(of(expected), of(desired)))
        }
        Op::Add(1) => formed!(world, word, form: inc or fetch_inc()),
        Op::Add(v) => formed!(world, word, form: add or fetch_add(of(v))),
        Op::Min(v) => formed!(world, word, form: set_min or fetch_min(of(v))),
        Op::Max(v) => formed!(world, word, form: set_max or fetch_max(of(v))),
        Op::Set(v) => {
            match form {
                Form::Scoped => world.scope(|s| s.set(word, of(v))),
                _ => world.set(word, of(v)),
            }
            None
        }
        Op::And(_) | Op::Or(_) | Op::Xor(_) => unreachable!("{op:?} is a bit operation"),
    }
}

/// What the word had before a list changed it, of which it is one element.
fn listed<V: Counted>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    history: usize,
    op: Op,
) -> Option<V> {
    let mut before = [V::of(0); 5];
    let list = [SPARE, SPARE, history, SPARE, SPARE];
    let (listed, of) = (words.at(&list), V::of);
    match op {
        Op::Fetch => world.fetch_each(&mut before, listed),
        Op::Swap(v) => world.swap_each(&mut before, listed, of(v)),
        Op::CompareSwap(expected, desired) => {
            world.compare_swap_each(&mut before, listed, of(expected), of(desired));
        }
        Op::Add(v) => world.fetch_add_each(&mut before, listed, of(v)),
        Op::Min(v) => world.fetch_min_each(&mut before, listed, of(v)),
        Op::Max(v) => world.fetch_max_each(&mut before, listed, of(v)),
        Op::Set(v) => {
            world.set_each(listed, of(v));
            return None;
        }
        Op::And(_) | Op::Or(_) | Op::Xor(_) => unreachable!("{op:?} is a bit operation"),
    }
    Some(before[2])
}

/// Blocks until all threads have arrived at a history.
fn begin_together(world: &World<Multiple>, me: usize, history: usize) {
    let arrived = ARRIVED.on(world.pe(0).unwrap());
    world.set(arrived.index(me), history as u64 + 1);
    world.quiet();
    for thread in 0..THREADS {
        while world.fetch(arrived.index(thread)) <= history as u64 {
            thread::yield_now();
        }
    }
}

/// One thread's part of all histories: at any time, all threads work on the word of one history.
fn events_of_a_thread<V: Counted>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    me: usize,
    mut dice: Dice,
    addition: Addition,
) -> Vec<(usize, Event)> {
    let mut events = Vec::with_capacity(HISTORIES * MOST);
    for history in 0..HISTORIES {
        begin_together(world, me, history);
        for _ in 0..MOST {
            let form = [Form::Silent, Form::Fetching, Form::Scoped, Form::Listed][dice.below(4) as usize];
            let op = V::possible(drawn(&mut dice));
            let yields = dice.below(YIELDS) == 0;
            let invoked = monotonic_now();
            if yields {
                thread::yield_now();
            }
            let result = carried_out(world, words, history, op, form, addition);
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
        Op::Min(v) => (8, v, 0),
        Op::Max(v) => (9, v, 0),
    };
    let (gives, result) = (u64::from(event.result.is_some()), event.result.unwrap_or_default());
    [*history as u64, kind << 1 | gives, a, b, result, event.invoked, event.returned]
}

fn read([history, kind, a, b, result, invoked, returned]: [u64; NUMBERS]) -> (usize, Event) {
    let op = Op::ALL[kind as usize >> 1](a, b);
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
fn run<V: Counted>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    round: usize,
    addition: Addition,
    outcome: &mut Outcome,
) {
    let threads_of_a_pe = THREADS / world.n_pes();
    let root = world.pe(0).unwrap();
    if world.me() == root {
        (0..HISTORIES).for_each(|history| world.set(words.index(history), V::of(0)));
        (0..THREADS).for_each(|thread| world.set(ARRIVED.on(root).index(thread), 0));
    }
    world.barrier_all();
    let mine: Vec<[u64; NUMBERS]> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads_of_a_pe)
            .map(|thread| {
                let me = world.my_pe() * threads_of_a_pe + thread;
                let dice = Dice((me + THREADS * round) as u64);
                scope.spawn(move || events_of_a_thread(world, words, me, dice, addition))
            })
            .collect();
        let events = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        events.map(|event| written(&event)).collect()
    });
    let Some(all) = world.collect_to(&mine, root) else { return };
    let mut found = vec![Vec::new(); HISTORIES];
    for (history, event) in all.into_iter().map(read) {
        found[history].push(event);
    }
    for events in found {
        let meets = |a: &&Event| events.iter().any(|b| b.invoked > a.invoked && b.invoked < a.returned);
        outcome.operations += events.len();
        outcome.overlaps += events.iter().filter(meets).count();
        if !is_linearizable(&events, V::MASK) {
            outcome.wrong.push(events);
        }
    }
}

/// Runs rounds of histories until there were enough, or none that would not be known by now.
fn rounds(world: &World<Multiple>, addition: Addition, enough: impl Fn(&Outcome) -> bool) -> Outcome {
    let root = world.pe(0).unwrap();
    let mut outcome = Outcome::default();
    for round in 0..20 {
        run(world, WIDE.on(root).index(..), 4 * round, addition, &mut outcome);
        run(world, NARROW.on(root).index(..), 4 * round + 1, addition, &mut outcome);
        run(world, WIDE_FLOATS.on(root).index(..), 4 * round + 2, addition, &mut outcome);
        run(world, NARROW_FLOATS.on(root).index(..), 4 * round + 3, addition, &mut outcome);
        let mut done = [u64::from(enough(&outcome))];
        world.max(&mut done);
        if done[0] == 1 {
            break;
        }
    }
    outcome
}

fn many_histories_are_linearizable(world: &World<Multiple>) {
    let outcome = rounds(world, Addition::Atomic, |found| found.overlaps >= LEAST);
    let Outcome { operations, overlaps, wrong } = outcome;
    assert!(wrong.is_empty(), "this could not have happened: {:#?}", wrong[0]);
    assert!(world.my_pe() != 0 || overlaps >= LEAST, "{operations} operations met {overlaps} times only");
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
