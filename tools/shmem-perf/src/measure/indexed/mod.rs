//! What lists of indices cost, against what the same memory allows, and against single operations.

mod network;

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, FromArgMatches};
use shmem::prelude::*;
use shmem::{AmoValue, zeroed};

use crate::baseline::near;
use crate::bench::{self, Bench, Records};
use crate::goal::Goal;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::ofi::PROVIDER;
use crate::name::{names, words};
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

pub(crate) use self::network::measure as over_network;
pub use self::network::{OneWay, Traffic};

/// What lists of indices cost.
pub const MEASURE: Measure = Measure {
    name: "indexed",
    about: "Lists of indices: gathers and updates of an object on another PE, against loops",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { network, provider } = Options::from_arg_matches(options)?;
        if network { over_network(runner, None, &provider) } else { measure(runner) }
    },
    tasks: &[INDEXED, network::NETWORK],
    cases: &[
        cases(
            &["indexed"],
            "verb/bytes",
            "an element of lists of 64 Ki, 16 in turn, at random in an object of so many bytes: `gather` of one PE, `gather-over` two; `add`, \
             `add-loop`, `add-plain`, `fetch-add` and `f64` (additions) on one",
            "gathers: a loop over a slice of the process; `add`: as many locked additions to one word; `add-plain`: a loop of plain \
             additions to a slice of the process, which is what memory allows; the others: a loop of single operations",
        ),
        cases(
            &["indexed-shared"],
            "updates of a word",
            "an addition by each of two PEs at the same time, to 256 KiB on one of them",
            "the same by loops of single operations",
        ),
        cases(
            &["indexed"],
            "`network-add`, `network-gather`",
            "an element of a list of 1 Mi, at random in an object of 8 MiB of a PE of another node: additions of a value each, and \
             reads",
            "as many bytes by the bare program, and packing and applying in memory",
        ),
        cases(
            &["indexed"],
            "network-rate/traffic",
            "the same of two nodes at the same time: additions of a value each (`12` bytes an element), additions of one value (`4`), and \
             reads (`gather`)",
            "single operations of both",
        ),
        cases(
            &["indexed"],
            "flood/traffic",
            "KiB that come to a PE at most while two nodes send each other lists of that kind, as many as they can and waiting for none",
            "the room that the fabric has for messages, a thread for lists, and the provider for itself (16 MiB)",
        ),
        cases(
            &["indexed"],
            "list/elements",
            "a list of so many elements read of another node",
            "1: the same by a single operation; 16: four single operations",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::One(Verb::Gather, bytes) if bytes > 1 << 28 => Some(Goal::Ratio(1.0)),
            Name::One(Verb::Gather, _) => Some(Goal::Ratio(1.15)),
            Name::One(Verb::GatherOver, _) => Some(Goal::RatioPlus(1.0, 1.5)),
            Name::One(Verb::Add, _) => Some(Goal::Ratio(1.15)),
            Name::One(Verb::AddLoop, bytes) if bytes > 1 << 28 => Some(Goal::Ratio(0.7)),
            Name::One(Verb::FetchAdd, bytes) if bytes > 1 << 28 => Some(Goal::Ratio(0.6)),
            Name::One(Verb::Float, bytes) if bytes > 1 << 28 => Some(Goal::Ratio(0.5)),
            Name::One(..) => None,
            Name::Shared(times) => Some(Goal::Ratio(if times >= 16 { 0.05 } else { 0.4 })),
            Name::Network(_) => Some(Goal::Ratio(1.25)),
            Name::Short(elements) => Some(Goal::Ratio(if elements == 1 { 1.05 } else { 1.0 })),
            Name::Flood(_) => Some(Goal::Ratio(1.0)),
            // 40, 60 and 30 million elements a second of each PE.
            Name::Rate(Traffic::Own) => Some(Goal::AtMost(25.0)),
            Name::Rate(Traffic::Same) => Some(Goal::AtMost(16.7)),
            Name::Rate(Traffic::Gather) => Some(Goal::AtMost(33.3)),
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

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

const INDEXED: Task = Task { name: "indexed", pe: |_, repetitions| bench::run(repetitions, lists) };

pub(crate) fn measure(runner: &mut Runner) -> Done {
    runner.repeat(&runner.job(&INDEXED, 2, &variables()))
}

names! {
    One(verb: Verb, bytes: usize) = "indexed": [verb / bytes];
    Shared(times: usize) = "indexed-shared": [times];
    Network(list: OneWay) = "indexed": [list];
    Short(elements: usize) = "indexed": ["list" / elements];
    Rate(traffic: Traffic) = "indexed": ["network-rate" / traffic];
    Flood(traffic: Traffic) = "indexed": ["flood" / traffic];
}

words! {
    /// What is done to the elements of a list.
    Verb {
        Gather = "gather", GatherOver = "gather-over", Add = "add", AddLoop = "add-loop", AddPlain = "add-plain",
        FetchAdd = "fetch-add", Float = "f64",
    }
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

fn variables() -> Vec<(String, String)> {
    vec![("SHMEM_SYMMETRIC_SIZE".to_owned(), (SIZES[2] + (8 << 20)).to_string())]
}

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

fn lists(bench: &Bench<'_>) -> Records {
    let mut records = Vec::new();
    for bytes in SIZES {
        records.extend(gathers(bench, bytes)?);
        records.extend(updates(bench, bytes)?);
    }
    records.extend(shared(bench)?);
    Ok(records)
}

fn gathers(bench: &Bench<'_>, bytes: usize) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let object = world.alloc(zeroed::<u64>(bytes / 8))?;
    let records = bench.alone(|| {
        let table: Vec<u64> = (0..bytes as u64 / 8).collect();
        let mut into = vec![0; ELEMENTS];
        let lists = || Turns::new(table.len(), 1);
        // Every page is there, also on PEs that only have a part of the numbers.
        object.here(world).copy_from(&table);
        world.put(object.on(bench.other()), &table);
        let mut limit = {
            let (table, mut lists) = (&table, lists());
            let mut into = vec![0; ELEMENTS];
            move || {
                let (table, list): (&[u64], &[u32]) = (black_box(table), lists.next());
                let cost = nanoseconds_each(ELEMENTS, || {
                    for (into, index) in into.iter_mut().zip(list) {
                        *into = table[*index as usize];
                    }
                });
                black_box(&mut into);
                cost
            }
        };
        let mut own = lists();
        let mut gather = || {
            let list = own.next();
            let cost = nanoseconds_each(ELEMENTS, || {
                world.gather(black_box(&mut into), object.on(bench.other()).at(list));
            });
            black_box(&mut into);
            cost
        };
        let one = Samples::alternate(repetitions, &mut gather, &mut limit);
        // Of half the elements of each: as many bytes in all.
        let halves = object.over(world.team(), Block::of(table.len()));
        let mut own = lists();
        let mut gather = || {
            let list = own.next();
            let cost = nanoseconds_each(ELEMENTS, || {
                world.gather(black_box(&mut into), black_box(&halves).at(list));
            });
            black_box(&mut into);
            cost
        };
        let both = Samples::alternate(repetitions, &mut gather, &mut limit);
        let compared = "an element of a gather, against a loop over a slice in one process";
        vec![
            bench.record(&Name::One(Verb::Gather, bytes), compared, one),
            bench.record(&Name::One(Verb::GatherOver, bytes), compared, both),
        ]
    });
    world.barrier_all();
    Ok(records)
}

fn updates(bench: &Bench<'_>, bytes: usize) -> Records {
    let Bench { world, repetitions, .. } = *bench;
    let words = world.alloc(zeroed::<Atomic<u64>>(bytes / 8))?;
    let records = bench.alone(|| {
        let (lists, words) = (|| Turns::new(bytes / 8, 2), words.on(bench.other()));
        touch(world, words, 0);
        let mut before = vec![0; ELEMENTS];
        let mut own = lists();
        let mut single = || {
            let list = own.next();
            nanoseconds_each(ELEMENTS, || {
                list.iter().for_each(|index| world.add(words.index(*index as usize), 1))
            })
        };
        let mut own = lists();
        let mut each = || {
            let list = own.next();
            nanoseconds_each(ELEMENTS, || each(world, words, list, 1))
        };
        let line = || {
            // SAFETY: an aligned word of the object, which is there while the token is, and no reference says that it does not
            // change.
            let word = unsafe { AtomicU64::from_ptr(near(words.index(0).ptr(world)).cast()) };
            nanoseconds_each(ELEMENTS, || {
                (0..ELEMENTS).for_each(|_| _ = black_box(word).fetch_add(1, Ordering::SeqCst));
            })
        };
        let add = Samples::alternate(repetitions, &mut each, line);
        let add_loop = Samples::alternate(repetitions, &mut each, &mut single);
        let mut table = vec![1_u64; bytes / 8];
        let mut others = lists();
        let plain = || {
            let (table, list): (&mut [u64], &[u32]) = (black_box(&mut table), others.next());
            nanoseconds_each(ELEMENTS, || list.iter().for_each(|index| table[*index as usize] += 1))
        };
        let add_plain = Samples::alternate(repetitions, &mut each, plain);
        let mut own = lists();
        let fetching = || {
            let list = own.next();
            nanoseconds_each(ELEMENTS, || world.fetch_add_each(&mut before, words.at(list), 1))
        };
        let mut own = lists();
        let single_fetching = || {
            let list = own.next();
            nanoseconds_each(ELEMENTS, || {
                list.iter().for_each(|index| _ = black_box(world.fetch_add(words.index(*index as usize), 1)));
            })
        };
        let fetch_add = Samples::alternate(repetitions, fetching, single_fetching);
        let line = "an addition of a list, against a locked addition to one word";
        let compared = "an update of a list, against a loop of single operations";
        vec![
            bench.record(&Name::One(Verb::Add, bytes), line, add),
            bench.record(&Name::One(Verb::AddLoop, bytes), compared, add_loop),
            bench.record(
                &Name::One(Verb::AddPlain, bytes),
                "an addition of a list, against a plain one to a slice of the process",
                add_plain,
            ),
            bench.record(&Name::One(Verb::FetchAdd, bytes), compared, fetch_add),
        ]
    });
    drop(words);
    let words = world.alloc(zeroed::<Atomic<f64>>(bytes / 8))?;
    let floats = bench.alone(|| {
        let (lists, words) = (|| Turns::new(bytes / 8, 3), words.on(bench.other()));
        touch(world, words, 0.0);
        let (mut own, mut others) = (lists(), lists());
        let each = || {
            let list = own.next();
            nanoseconds_each(ELEMENTS, || each(world, words, list, 1.0))
        };
        let single = || {
            let list = others.next();
            nanoseconds_each(ELEMENTS, || {
                list.iter().for_each(|index| world.add(words.index(*index as usize), 1.0))
            })
        };
        let compared = "an addition of f64 of a list, against a loop of single operations";
        vec![bench.record(
            &Name::One(Verb::Float, bytes),
            compared,
            Samples::alternate(repetitions, each, single),
        )]
    });
    Ok(records.into_iter().chain(floats).collect())
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
    let Bench { world, repetitions, .. } = *bench;
    let len = SHARED / 8;
    let words = world.alloc(zeroed::<Atomic<u64>>(len))?;
    let first = world.pes()[0];
    let mut records = Vec::new();
    for times in [1, 16] {
        let list = random(times * len, len, 4 + world.my_pe() as u64);
        let words = words.on(first);
        let each = || {
            world.barrier_all();
            nanoseconds_each(list.len(), || world.add_each(words.at(black_box(&list)), 1))
        };
        let single = || {
            world.barrier_all();
            let list: &[u32] = black_box(&list);
            nanoseconds_each(list.len(), || {
                list.iter().for_each(|index| world.add(words.index(*index as usize), 1))
            })
        };
        let samples = Samples::alternate(repetitions, each, single);
        let compared = "an addition by each of two PEs, against loops of single operations";
        records.push(bench.record(&Name::Shared(times), compared, samples));
        world.barrier_all();
    }
    Ok(if world.my_pe() == 0 { records } else { Vec::new() })
}
