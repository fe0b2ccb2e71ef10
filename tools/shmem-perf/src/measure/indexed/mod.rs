//! What lists of indices cost, against what the same memory allows, and against single operations.

mod network;

use std::hint::black_box;
use std::sync::atomic::Ordering;

use clap::{Args, FromArgMatches};
use shmem::AmoValue;
use shmem::prelude::*;

use super::{At, Cases, Measure, row};
use crate::baseline::near;
use crate::bench::{Bench, Records};
use crate::fabric::PROVIDER;
use crate::goal::Goal;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

pub(crate) use self::network::measure as over_network;

pub(crate) const MEASURE: Measure = Measure {
    name: "indexed",
    about: "Lists of indices: gathers and updates of an object on another PE, against loops",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { network, provider } = Options::from_arg_matches(options)?;
        if network { over_network(runner, None, &provider) } else { measure(runner) }
    },
    tasks: &[INDEXED, network::NETWORK],
    rows: ROWS,
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("indexed | verb/bytes | an element of lists of 64 Ki, 16 in turn, at random in an object of so many bytes: `gather` \
         of one PE, `gather-over` two; `add`, `add-loop`, `add-plain`, `fetch-add` and `f64` (additions) on one | gathers: a \
         loop over a slice of the process; `add`: as many locked additions to one word; `add-plain`: a loop of plain \
         additions to a slice of the process, which is what memory allows; the others: a loop of single operations",
        &[("indexed gather/268435457..", At::Anywhere, Goal::Ratio(1.0)),
        ("indexed gather|add/*", At::Anywhere, Goal::Ratio(1.15)),
        ("indexed gather-over/*", At::Anywhere, Goal::RatioPlus(1.0, 1.5)),
        ("indexed add-loop/268435457..", At::Anywhere, Goal::Ratio(0.7)),
        ("indexed fetch-add/268435457..", At::Anywhere, Goal::Ratio(0.6)),
        ("indexed f64/268435457..", At::Anywhere, Goal::Ratio(0.5))]),
    row("indexed-shared | updates of a word | an addition by each of two PEs at the same time, to 256 KiB on one of them | \
         the same by loops of single operations", &[("indexed-shared 16..", At::Anywhere, Goal::Ratio(0.05)),
        ("indexed-shared *", At::Anywhere, Goal::Ratio(0.4))]),
    row("indexed | `network-add`, `network-gather` | an element of a list of 1 Mi, at random in an object of 8 MiB of a PE of \
         another node: additions of a value each, and reads | as many bytes by the bare program, and packing and applying in \
         memory", &[("indexed network-add|network-gather", At::Anywhere, Goal::Ratio(1.25))]),
    row("indexed | network-rate/traffic | the same of two nodes at the same time: additions of a value each (`12` bytes an \
         element), additions of one value (`4`), and reads (`gather`) | single operations of both",
        // 40, 60 and 30 million elements a second of each PE.
         &[("indexed network-rate/12", At::Anywhere, Goal::AtMost(25.0)),
        ("indexed network-rate/4", At::Anywhere, Goal::AtMost(16.7)),
        ("indexed network-rate/gather", At::Anywhere, Goal::AtMost(33.3))]),
    row("indexed | flood/traffic | KiB that come to a PE at most while two nodes send each other lists of that kind, as many \
         as they can and waiting for none | the room that the fabric has for messages, a thread for lists, and the provider \
         for itself (16 MiB)", &[("indexed flood/*", At::Anywhere, Goal::Ratio(1.0))]),
    row("indexed | list/elements | a list of so many elements read of another node | 1: the same by a single operation; 16: \
         four single operations", &[("indexed list/1", At::Anywhere, Goal::Ratio(1.05)),
        ("indexed list/*", At::Anywhere, Goal::Ratio(1.0))]),
];

/// Where lists go.
#[derive(Args, Clone, Debug)]
struct Options {
    /// To another node, instead of another PE of this one.
    #[arg(long)]
    network: bool,
    /// The provider of libfabric, for that.
    #[arg(long, default_value = PROVIDER)]
    provider: String,
}

const INDEXED: Task = Task::near("indexed", |bench| {
    let mut records = Vec::new();
    for bytes in SIZES {
        records.extend(gathers(bench, bytes)?);
        records.extend(updates(bench, bytes)?);
    }
    records.extend(shared(bench)?);
    Ok(records)
});

pub(crate) fn measure(runner: &mut Runner) -> Done {
    runner.repeat(&runner.job_with_heap(&INDEXED, SIZES[2] + (8 << 20)))
}

/// Bytes of objects: in the first cache, in the last one, in none.
const SIZES: [usize; 3] = [32 << 10, 16 << 20, 512 << 20];

/// Bytes of the object that two PEs share.
const SHARED: usize = 256 << 10;

/// Elements of a list.
const ELEMENTS: usize = 64 << 10;

/// Lists that are taken in turn. One alone would have all of its lines in the last cache from its second time on, however large the
/// object is, and then nothing but addresses that are translated anew is left to wait for.
const LISTS: usize = 16;

/// Numbers below `below` at random, the same on every run.
pub(crate) fn random(count: usize, below: usize, seed: u64) -> Vec<u32> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ seed;
    let mut next = || {
        // xorshift64: Marsaglia, "Xorshift RNGs" (2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (((state >> 32) * below as u64) >> 32) as u32
    };
    (0..count).map(|_| next()).collect()
}

/// Lists of elements at random, one after the other.
struct Turns {
    indices: Vec<u32>,
    next: usize,
}

impl Turns {
    fn new(below: usize, seed: u64) -> Self {
        Self { indices: random(LISTS * ELEMENTS, below, seed), next: 0 }
    }

    /// The next list.
    fn next(&mut self) -> &[u32] {
        let first = self.next * ELEMENTS;
        self.next = (self.next + 1) % LISTS;
        black_box(&self.indices[first..first + ELEMENTS])
    }
}

/// Nanoseconds of an element of the next list, by turns.
fn timed(below: usize, seed: u64, mut list: impl FnMut(&[u32])) -> impl FnMut() -> f64 {
    let mut turns = Turns::new(below, seed);
    move || {
        let indices = turns.next();
        nanoseconds_each(ELEMENTS, || list(indices))
    }
}

fn gathers(bench: &Bench<'_>, bytes: usize) -> Records {
    let (world, repetitions) = (bench.world, bench.repetitions);
    let object = world.alloc(zeroed::<u64>(bytes / 8))?;
    let records = bench.alone(|| {
        let table: Vec<u64> = (0..bytes as u64 / 8).collect();
        // Every page is there, also on PEs that only have a part of the numbers.
        object.here(world).copy_from(&table);
        world.put(object.on(bench.other()), &table);
        let [mut own, mut ours] = [(); 2].map(|()| vec![0; ELEMENTS]);
        let mut limit = timed(table.len(), 1, |list| {
            let table: &[u64] = black_box(&table);
            for (into, index) in own.iter_mut().zip(list) {
                *into = table[*index as usize];
            }
            black_box(&mut own);
        });
        let compared = "an element of a gather, against a loop over a slice in one process";
        let gather = timed(table.len(), 1, |list| {
            world.gather(black_box(&mut ours), object.on(bench.other()).at(list))
        });
        let one = Samples::alternate(repetitions, gather, &mut limit);
        // Of half the elements of each: as many bytes in all.
        let halves = object.over(world.team(), Block::of(table.len()));
        let gather =
            timed(table.len(), 1, |list| world.gather(black_box(&mut ours), black_box(&halves).at(list)));
        let both = Samples::alternate(repetitions, gather, &mut limit);
        vec![
            bench.record(&format!("indexed gather/{bytes}"), compared, one),
            bench.record(&format!("indexed gather-over/{bytes}"), compared, both),
        ]
    });
    world.barrier_all();
    Ok(records)
}

fn updates(bench: &Bench<'_>, bytes: usize) -> Records {
    let (world, repetitions, len) = (bench.world, bench.repetitions, bytes / 8);
    let words = world.alloc(zeroed::<Atomic<u64>>(len))?;
    let mut records: Vec<_> = bench.alone(|| {
        let words = words.on(bench.other());
        touch(world, words, 0);
        let mut before = vec![0; ELEMENTS];
        let mut each = timed(len, 2, |list| each(world, words, list, 1));
        let single =
            timed(len, 2, |list| list.iter().for_each(|index| world.add(words.index(*index as usize), 1)));
        // SAFETY: an aligned word of the object, which is there while the token is, and no reference says that it does not
        // change.
        let word = unsafe { std::sync::atomic::AtomicU64::from_ptr(near(words.index(0).ptr(world)).cast()) };
        let locked = timed(len, 2, |list| {
            list.iter().for_each(|_| _ = black_box(word).fetch_add(1, Ordering::SeqCst))
        });
        let mut table = vec![1_u64; len];
        let plain = timed(len, 2, |list| {
            let table: &mut [u64] = black_box(&mut table);
            list.iter().for_each(|index| table[*index as usize] += 1);
        });
        let fetching = timed(len, 2, |list| world.fetch_add_each(&mut before, words.at(list), 1));
        let single_fetching = timed(len, 2, |list| {
            list.iter().for_each(|index| _ = black_box(world.fetch_add(words.index(*index as usize), 1)));
        });
        let compared = "an update of a list, against a loop of single operations";
        let add = Samples::alternate(repetitions, &mut each, locked);
        let add_loop = Samples::alternate(repetitions, &mut each, single);
        let add_plain = Samples::alternate(repetitions, &mut each, plain);
        let fetch_add = Samples::alternate(repetitions, fetching, single_fetching);
        [
            ("add", "an addition of a list, against a locked addition to one word", add),
            ("add-loop", compared, add_loop),
            ("add-plain", "an addition of a list, against a plain one to a slice of the process", add_plain),
            ("fetch-add", compared, fetch_add),
        ]
        .map(|(verb, compared, samples)| bench.record(&format!("indexed {verb}/{bytes}"), compared, samples))
        .into()
    });
    drop(words);
    let words = world.alloc(zeroed::<Atomic<f64>>(len))?;
    records.extend(bench.alone(|| {
        let words = words.on(bench.other());
        touch(world, words, 0.0);
        let each = timed(len, 3, |list| each(world, words, list, 1.0));
        let single =
            timed(len, 3, |list| list.iter().for_each(|index| world.add(words.index(*index as usize), 1.0)));
        let compared = "an addition of f64 of a list, against a loop of single operations";
        vec![bench.record(
            &format!("indexed f64/{bytes}"),
            compared,
            Samples::alternate(repetitions, each, single),
        )]
    }));
    Ok(records)
}

/// Has every page there: which lists come first is no matter then.
fn touch<V: AmoValue>(world: &World, words: On<'_, [Atomic<V>]>, value: V) {
    (0..words.len()).step_by(512).for_each(|index| world.set(words.index(index), value));
}

/// Adds to the words of a list, a part at a time that is not combined.
fn each<V: AmoValue>(world: &World, words: On<'_, [Atomic<V>]>, list: &[u32], value: V) {
    let part = (3 * words.len()).min(list.len());
    list.chunks(part).for_each(|list| world.add_each(words.at(list), value));
}

fn shared(bench: &Bench<'_>) -> Records {
    let (world, len) = (bench.world, SHARED / 8);
    let words = world.alloc(zeroed::<Atomic<u64>>(len))?;
    let words = words.on(world.pes()[0]);
    let mut records = Vec::new();
    for times in [1, 16] {
        let list = random(times * len, len, 4 + world.my_pe() as u64);
        let time = |body: &dyn Fn(&[u32])| {
            world.barrier_all();
            let list: &[u32] = black_box(&list);
            nanoseconds_each(list.len(), || body(list))
        };
        let each = || time(&|list| world.add_each(words.at(list), 1));
        let single =
            || time(&|list| list.iter().for_each(|index| world.add(words.index(*index as usize), 1)));
        let samples = Samples::alternate(bench.repetitions, each, single);
        let compared = "an addition by each of two PEs, against loops of single operations";
        records.push(bench.record(&format!("indexed-shared {times}"), compared, samples));
        world.barrier_all();
    }
    Ok(records)
}
