//! Atomic operations are linearizable, between threads and between PEs of one node and of two. Four threads carry out many short
//! histories on integers and floating-point numbers of 32 and 64 bits, and record the times of the host's clock. All threads begin
//! a history together. Threads yield inside operations, so that operations overlap on a shared core.

use std::collections::HashSet;
use std::thread;

use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{AmoValue, BitValue, On};
use shmem_core::system_area::monotonic_now;

use crate::dice::Dice;

const THREADS: usize = 4;

/// Number of words of one width. Each word has one history.
const HISTORIES: usize = 128;

/// A word without a history, to fill lists.
const SPARE: usize = HISTORIES;

/// Operations of each thread on a word.
const MOST: usize = 12;

/// One in so many operations yields the core before it is carried out.
const YIELDS: u64 = 32;

/// Number of overlapping operations that a run needs.
const LEAST: usize = 200;

/// The record of an operation: whether it has a result, the result, and its times.
type Record = [u64; 4];

/// The history that each thread has reached, in PE 0's memory. Threads set these words, because additions are under test.
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

/// Carries out a bitwise operation, as [`Numbers::carry_out`] does others.
type Bits<'w, V> = fn(&Numbers<'w, V>, usize, Op, Form) -> Option<V>;

/// Words of PE 0, each with a history, and conversions of their values.
struct Numbers<'w, V: AmoValue> {
    world: &'w World<Multiple>,
    words: On<'w, [Atomic<V>]>,
    /// The bits of an integer that words use. With few bits, floating-point numbers stay exact.
    mask: u64,
    of: fn(u64) -> V,
    to: fn(V) -> u64,
    /// Bitwise operations of integers. Floating-point words are added to instead.
    bits: Option<Bits<'w, V>>,
}

/// Calls the routine of a form. Evaluates to the old value, if the routine returns it.
macro_rules! formed {
    ($it:ident[$at:ident], $form:ident: $silent:ident or $fetching:ident $(, $each:ident)? ($($value:expr),*)) => {
        if $form == Form::Silent {
            $it.world.$silent($it.words.index($at) $(, $value)*);
            None
        } else {
            formed!($it[$at], $form: $fetching $(, $each)? ($($value),*))
        }
    };
    ($it:ident[$at:ident], $form:ident: $fetching:ident, $each:ident($($value:expr),*)) => {
        if $form == Form::Listed {
            let mut before = [bytemuck::Zeroable::zeroed(); 5];
            $it.world.$each(&mut before, $it.words.at(&listed($at)) $(, $value)*);
            Some(before[2])
        } else {
            formed!($it[$at], $form: $fetching($($value),*))
        }
    };
    ($it:ident[$at:ident], $form:ident: $fetching:ident($($value:expr),*)) => {{
        let (mut before, word) = (bytemuck::Zeroable::zeroed(), $it.words.index($at));
        match $form {
            Form::Scoped => $it.world.scope(|s| s.$fetching(&mut before, word $(, $value)*)),
            _ => before = $it.world.$fetching(word $(, $value)*),
        }
        Some(before)
    }};
}

/// Returns a list of words that includes the word of a history.
fn listed(history: usize) -> [usize; 5] {
    [SPARE, SPARE, history, SPARE, SPARE]
}

/// The form in which an operation is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The routine without a result, if there is one.
    Silent,
    Fetching,
    /// The routine in a scope, at whose end the result is available.
    Scoped,
    /// The routine for lists, if there is one.
    Listed,
}

impl<V: BitValue> Numbers<'_, V> {
    fn bits(&self, at: usize, op: Op, form: Form) -> Option<V> {
        match op {
            Op::And(v) => formed!(self[at], form: and or fetch_and((self.of)(v))),
            Op::Or(v) => formed!(self[at], form: or or fetch_or((self.of)(v))),
            Op::Xor(v) => formed!(self[at], form: xor or fetch_xor((self.of)(v))),
            _ => unreachable!("{op:?} is no bit operation"),
        }
    }
}

impl<V: AmoValue> Numbers<'_, V> {
    /// Carries out an operation on the word of a history. Returns the old value, if the routine does.
    fn carry_out(&self, at: usize, op: Op, form: Form) -> Option<u64> {
        let (world, word, of) = (self.world, self.words.index(at), self.of);
        let before = match op {
            Op::And(_) | Op::Or(_) | Op::Xor(_) => self.bits.and_then(|bits| bits(self, at, op, form)),
            Op::Set(v) => {
                match form {
                    Form::Listed => world.set_each(self.words.at(&listed(at)), of(v)),
                    _ => world.set(word, of(v)),
                }
                None
            }
            Op::Fetch => formed!(self[at], form: fetch, fetch_each()),
            Op::Swap(v) => formed!(self[at], form: swap, swap_each(of(v))),
            Op::CompareSwap(a, b) => formed!(self[at], form: compare_swap, compare_swap_each(of(a), of(b))),
            Op::Add(1) if form != Form::Listed => formed!(self[at], form: inc or fetch_inc()),
            Op::Add(v) => formed!(self[at], form: add or fetch_add, fetch_add_each(of(v))),
            Op::Min(v) => formed!(self[at], form: set_min or fetch_min, fetch_min_each(of(v))),
            Op::Max(v) => formed!(self[at], form: set_max or fetch_max, fetch_max_each(of(v))),
        };
        if before.is_none() {
            // The operation may take effect at any time until this quiet.
            world.quiet();
        }
        before.map(self.to)
    }

    /// Draws an operation. It has few values, so that many comparisons succeed, and many additions, so that a lost one is noticed.
    fn draw(&self, dice: &mut Dice) -> Op {
        let (kind, value) = (dice.below(14), dice.below(4));
        match kind {
            0 => Op::Fetch,
            1 => Op::Set(value),
            2 => Op::Swap(value),
            3 | 4 => Op::CompareSwap(value, dice.below(4)),
            5..=7 if self.bits.is_none() => Op::Add(value),
            5 => Op::And(value),
            6 => Op::Or(value),
            7 => Op::Xor(value),
            8 => Op::Min(value),
            9 => Op::Max(value + 4),
            _ => Op::Add(value + 1),
        }
    }

    /// Returns a thread's operations in all histories: (history, operation, form, whether the thread yields before). All threads
    /// know all operations.
    fn plan(&self, thread: usize, round: usize) -> impl Iterator<Item = (usize, Op, Form, bool)> {
        let mut dice = Dice((thread + THREADS * round) as u64);
        (0..HISTORIES * MOST).map(move |number| {
            let form = [Form::Silent, Form::Fetching, Form::Scoped, Form::Listed][dice.below(4) as usize];
            (number / MOST, self.draw(&mut dice), form, dice.below(YIELDS) == 0)
        })
    }

    /// Carries out one thread's part of all histories. All threads work on the same history at a time.
    fn thread(&self, number: usize, round: usize) -> Vec<Record> {
        let (world, arrived) = (self.world, ARRIVED.on(self.words.pe()));
        let plan = self.plan(number, round).enumerate();
        let records = plan.map(|(step, (history, op, form, yields))| {
            if step % MOST == 0 {
                world.set(arrived.index(number), history as u64 + 1);
                world.quiet();
                while (0..THREADS).any(|thread| world.fetch(arrived.index(thread)) <= history as u64) {
                    thread::yield_now();
                }
            }
            let invoked = monotonic_now();
            if yields {
                thread::yield_now();
            }
            let result = self.carry_out(history, op, form);
            [u64::from(result.is_some()), result.unwrap_or_default(), invoked, monotonic_now()]
        });
        records.collect()
    }

    /// Runs histories in all threads of all PEs. Returns all events on PE 0.
    fn run(&self, round: usize) -> Vec<Vec<Event>> {
        let (world, root, threads_of_a_pe) = (self.world, self.words.pe(), THREADS / self.world.n_pes());
        if world.me() == root {
            (0..HISTORIES).for_each(|history| world.set(self.words.index(history), (self.of)(0)));
            (0..THREADS).for_each(|thread| world.set(ARRIVED.on(root).index(thread), 0));
        }
        world.barrier_all();
        let mine: Vec<Record> = thread::scope(|scope| {
            let first = world.my_pe() * threads_of_a_pe;
            let threads = (first..first + threads_of_a_pe)
                .map(|number| scope.spawn(move || self.thread(number, round)));
            threads.collect::<Vec<_>>().into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut histories = vec![Vec::new(); HISTORIES];
        let all = world.collect_to(&mine, root).unwrap_or_default();
        for (number, records) in all.chunks(HISTORIES * MOST).enumerate() {
            for ((history, op, ..), &[gives, result, invoked, returned]) in
                self.plan(number, round).zip(records)
            {
                histories[history].push(Event {
                    op,
                    result: (gives == 1).then_some(result),
                    invoked,
                    returned,
                });
            }
        }
        histories
    }

    /// Checks the histories of a round. Returns the number of operations that overlap others.
    fn overlaps(&self, round: usize) -> usize {
        let histories = self.run(round);
        let wrong = histories.iter().find(|events| !is_linearizable(events, self.mask));
        assert!(wrong.is_none(), "this could not have happened: {wrong:#?}");
        let overlaps = |events: &Vec<Event>| {
            let meets = |a: &&Event| events.iter().any(|b| b.invoked > a.invoked && b.invoked < a.returned);
            events.iter().filter(meets).count()
        };
        histories.iter().map(overlaps).sum()
    }
}

/// Runs rounds of histories until enough operations have overlapped.
fn many_histories_are_linearizable(world: &World<Multiple>) {
    let root = world.pe(0).unwrap();
    let words = WIDE.on(root).index(..);
    let wide = Numbers { world, words, mask: u64::MAX, of: |n| n, to: |v| v, bits: Some(Numbers::bits) };
    let (words, mask) = (NARROW.on(root).index(..), u64::from(u32::MAX));
    let (of, to) = (|n| n as i32, |v| u64::from(v as u32));
    let narrow = Numbers { world, words, mask, of, to, bits: Some(Numbers::bits) };
    let words = WIDE_FLOATS.on(root).index(..);
    let floats = Numbers { world, words, mask: u64::MAX, of: |n| n as f64, to: |v| v as u64, bits: None };
    let words = NARROW_FLOATS.on(root).index(..);
    let short = Numbers { world, words, mask: u64::MAX, of: |n| n as f32, to: |v| v as u64, bits: None };
    let mut overlaps = 0;
    for round in (0..80).step_by(4) {
        overlaps += wide.overlaps(round) + narrow.overlaps(round + 1);
        overlaps += floats.overlaps(round + 2) + short.overlaps(round + 3);
        if world.max(overlaps) >= LEAST {
            break;
        }
    }
    assert!(world.my_pe() != 0 || overlaps >= LEAST, "operations met {overlaps} times only");
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

/// An operation on a word.
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
    /// The smaller value, compared as unsigned integers.
    Min(u64),
    Max(u64),
}

/// One operation, as the calling thread has observed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    op: Op,
    /// The result of the operation, if it has one.
    result: Option<u64>,
    invoked: u64,
    returned: u64,
}

impl Op {
    /// Returns the value of a word after the operation.
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

/// Returns whether the events are linearizable: could they have happened one after the other to a word that is 0 at first, each
/// between its invocation and its return, with the same results?
///
/// The algorithm of Wing and Gong ("Testing and verifying concurrent objects", 1993), with Lowe's memory of states. An operation
/// may be next if no other remaining operation had returned before it was invoked. A state is the set of operations that have
/// happened, and the value of the word. No state is examined twice.
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
