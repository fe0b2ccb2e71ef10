//! Atomic operations are linearizable, between PEs of one node and of several, and between threads: many short
//! histories of two PEs with two threads each, or of four PEs on two nodes, on words of either width, integers and
//! floating-point numbers, recorded with the times of the host's one clock. All threads begin a history together. Where
//! they share a core, operations overlap because threads yield inside of them.
//!
//! An addition that takes two steps inside the library is found (`ci/mutants.sh`), so the histories are tight enough to
//! show one.

use std::collections::HashSet;
use std::thread;

use shmem::On;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem_core::object::AmoValue;
use shmem_core::system::monotonic_now;

use crate::dice::Dice;

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

/// What a thread tells of an operation: whether it gave something, what it gave, and its times.
type Told = [u64; 4];

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
        if let Op::And(v) | Op::Or(v) | Op::Xor(v) = op { Op::Add(v) } else { op }
    }

    /// A bit operation; what was there, if its form gives it.
    fn bits(_: &World<Multiple>, _: On<'_, [Atomic<Self>]>, _: usize, op: Op, _: Form) -> Option<Self> {
        unreachable!("{op:?} is not possible")
    }
}

/// Calls the routine of a form; what was there, if that gives it.
macro_rules! formed {
    ($world:ident, $words:ident[$at:ident], $form:ident:
        $silent:ident or $fetching:ident $(, $each:ident)? ($($value:expr),*)) => {
        if $form == Form::Silent {
            $world.$silent($words.index($at) $(, $value)*);
            None
        } else {
            formed!($world, $words[$at], $form: $fetching $(, $each)? ($($value),*))
        }
    };
    ($world:ident, $words:ident[$at:ident], $form:ident: $fetching:ident, $each:ident($($value:expr),*)) => {
        if $form == Form::Listed {
            let mut before = [Counted::of(0); 5];
            $world.$each(&mut before, $words.at(&listed($at)) $(, $value)*);
            Some(before[2])
        } else {
            formed!($world, $words[$at], $form: $fetching($($value),*))
        }
    };
    ($world:ident, $words:ident[$at:ident], $form:ident: $fetching:ident($($value:expr),*)) => {{
        let (mut before, word) = (Counted::of(0), $words.index($at));
        match $form {
            Form::Scoped => $world.scope(|s| s.$fetching(&mut before, word $(, $value)*)),
            _ => before = $world.$fetching(word $(, $value)*),
        }
        Some(before)
    }};
}

/// A list with the word of a history in it.
fn listed(history: usize) -> [usize; 5] {
    [SPARE, SPARE, history, SPARE, SPARE]
}

/// Numbers, the width that they count as, and the method of those that have bit operations.
macro_rules! counted {
    ($($number:ident as $width:ident $(with $bits:ident)?;)*) => {$(
        impl Counted for $number {
            const MASK: u64 = $width::MAX as u64;

            fn of(number: u64) -> Self {
                number as Self
            }

            fn number(self) -> u64 {
                self as $width as u64
            }

            $(
                fn possible(op: Op) -> Op {
                    op
                }

                fn $bits(
                    world: &World<Multiple>,
                    words: On<'_, [Atomic<Self>]>,
                    at: usize,
                    op: Op,
                    form: Form,
                ) -> Option<Self> {
                    match op {
                        Op::And(v) => formed!(world, words[at], form: and or fetch_and(Self::of(v))),
                        Op::Or(v) => formed!(world, words[at], form: or or fetch_or(Self::of(v))),
                        Op::Xor(v) => formed!(world, words[at], form: xor or fetch_xor(Self::of(v))),
                        _ => unreachable!("{op:?} is no bit operation"),
                    }
                }
            )?
        }
    )*};
}
counted! {
    u64 as u64 with bits;
    i32 as u32 with bits;
    f64 as u64;
    f32 as u64;
}

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
) -> Option<u64> {
    let (word, of) = (words.index(history), V::of);
    let before = match op {
        Op::And(_) | Op::Or(_) | Op::Xor(_) => V::bits(world, words, history, op, form),
        Op::Set(v) => {
            match form {
                Form::Scoped => world.scope(|s| s.set(word, of(v))),
                Form::Listed => world.set_each(words.at(&listed(history)), of(v)),
                _ => world.set(word, of(v)),
            }
            None
        }
        Op::Fetch => formed!(world, words[history], form: fetch, fetch_each()),
        Op::Swap(v) => formed!(world, words[history], form: swap, swap_each(of(v))),
        Op::CompareSwap(a, b) => {
            formed!(world, words[history], form: compare_swap, compare_swap_each(of(a), of(b)))
        }
        Op::Add(1) if form != Form::Listed => formed!(world, words[history], form: inc or fetch_inc()),
        Op::Add(v) => formed!(world, words[history], form: add or fetch_add, fetch_add_each(of(v))),
        Op::Min(v) => formed!(world, words[history], form: set_min or fetch_min, fetch_min_each(of(v))),
        Op::Max(v) => formed!(world, words[history], form: set_max or fetch_max, fetch_max_each(of(v))),
    };
    if before.is_none() {
        // Until then it may happen.
        world.quiet();
    }
    before.map(V::number)
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

/// What a thread does in all histories, one after the other: the number of the history, an operation in a form, and whether it
/// yields before. All know it of each other.
fn plan<V: Counted>(thread: usize, round: usize) -> impl Iterator<Item = (usize, Op, Form, bool)> {
    let mut dice = Dice((thread + THREADS * round) as u64);
    (0..HISTORIES * MOST).map(move |number| {
        let form = [Form::Silent, Form::Fetching, Form::Scoped, Form::Listed][dice.below(4) as usize];
        (number / MOST, V::possible(drawn(&mut dice)), form, dice.below(YIELDS) == 0)
    })
}

/// Carries out one thread's part of all histories: at any time, all threads work on the word of one history.
fn events_of_a_thread<V: Counted>(
    world: &World<Multiple>,
    words: On<'_, [Atomic<V>]>,
    (number, round): (usize, usize),
) -> Vec<Told> {
    let mut told = Vec::with_capacity(HISTORIES * MOST);
    for (step, (history, op, form, yields)) in plan::<V>(number, round).enumerate() {
        if step % MOST == 0 {
            begin_together(world, number, history);
        }
        let invoked = monotonic_now();
        if yields {
            thread::yield_now();
        }
        let result = carried_out(world, words, history, op, form);
        told.push([u64::from(result.is_some()), result.unwrap_or_default(), invoked, monotonic_now()]);
    }
    told
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
fn run<V: Counted>(world: &World<Multiple>, words: On<'_, [Atomic<V>]>, round: usize, outcome: &mut Outcome) {
    let threads_of_a_pe = THREADS / world.n_pes();
    let root = world.pe(0).unwrap();
    if world.me() == root {
        (0..HISTORIES).for_each(|history| world.set(words.index(history), V::of(0)));
        (0..THREADS).for_each(|thread| world.set(ARRIVED.on(root).index(thread), 0));
    }
    world.barrier_all();
    let mine: Vec<Told> = thread::scope(|scope| {
        let first = world.my_pe() * threads_of_a_pe;
        let threads = (first..first + threads_of_a_pe)
            .map(|number| scope.spawn(move || events_of_a_thread(world, words, (number, round))));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let Some(all) = world.collect_to(&mine, root) else { return };
    let mut found = vec![Vec::new(); HISTORIES];
    for (number, told) in all.chunks(HISTORIES * MOST).enumerate() {
        for ((history, op, ..), &[gives, result, invoked, returned]) in plan::<V>(number, round).zip(told) {
            found[history].push(Event { op, result: (gives == 1).then_some(result), invoked, returned });
        }
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

/// Runs rounds of histories until there were enough.
fn many_histories_are_linearizable(world: &World<Multiple>) {
    let root = world.pe(0).unwrap();
    let mut outcome = Outcome::default();
    for round in (0..80).step_by(4) {
        run(world, WIDE.on(root).index(..), round, &mut outcome);
        run(world, NARROW.on(root).index(..), round + 1, &mut outcome);
        run(world, WIDE_FLOATS.on(root).index(..), round + 2, &mut outcome);
        run(world, NARROW_FLOATS.on(root).index(..), round + 3, &mut outcome);
        if world.max(outcome.overlaps) >= LEAST {
            break;
        }
    }
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

/// What is done to a word of `MASK`'s width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Fetch,
    Set(u64),
    Swap(u64),
    CompareSwap(u64, u64),
    Add(u64),
    And(u64),
    Or(u64),
    Xor(u64),
    /// Of numbers without a sign.
    Min(u64),
    Max(u64),
}

/// One operation, as the thread that called it saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    op: Op,
    /// What it gave back, if it gives anything.
    result: Option<u64>,
    invoked: u64,
    returned: u64,
}

impl Op {
    /// What the word is afterwards.
    fn applied(self, value: u64, mask: u64) -> u64 {
        let after = match self {
            Self::Fetch => value,
            Self::Set(v) | Self::Swap(v) => v,
            Self::CompareSwap(expected, desired) if value == expected & mask => desired,
            Self::CompareSwap(..) => value,
            Self::Add(v) => value.wrapping_add(v),
            Self::And(v) => value & v,
            Self::Or(v) => value | v,
            Self::Xor(v) => value ^ v,
            Self::Min(v) => value.min(v),
            Self::Max(v) => value.max(v),
        };
        after & mask
    }
}

/// Whether the events could have happened one after the other to a word that is 0 at first, each between its
/// invocation and its return, and give what they gave.
///
/// The algorithm of Wing and Gong ("Testing and verifying concurrent objects", 1993), with the memory of states that Lowe
/// added: an operation may come next if no other that is left had returned before it was invoked. A state is what has
/// happened and the value of the word; none is looked at twice.
fn is_linearizable(events: &[Event], mask: u64) -> bool {
    assert!(events.len() <= 64, "a history of {} events is too long", events.len());
    let all = if events.len() == 64 { u64::MAX } else { (1 << events.len()) - 1 };
    let mut seen = HashSet::new();
    let mut open = vec![(0_u64, 0_u64)];
    while let Some((done, value)) = open.pop() {
        if done == all {
            return true;
        }
        let left = || events.iter().enumerate().filter(|(i, _)| done >> i & 1 == 0);
        let first_return = left().map(|(_, event)| event.returned).min().unwrap_or(u64::MAX);
        for (i, event) in left().filter(|(_, event)| event.invoked <= first_return) {
            let state = (done | 1 << i, event.op.applied(value, mask));
            if event.result.is_none_or(|result| result == value) && seen.insert(state) {
                open.push(state);
            }
        }
    }
    false
}
