//! Lists between two PEs of different nodes, in one direction and in both.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shmem::prelude::*;
use shmem::thread::Single;
use shmem_core::transport::ofi::Footprint;

use super::random;
use crate::bench::Records;
use crate::case::Record;
use crate::fabric::{self, Far, State, over};
use crate::footprint::Peak;
use crate::hosts::Hosts;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

type Pair<'w> = fabric::Pair<'w, Single>;

pub(super) const NETWORK: Task = Task::far("indexed-network", lists);

/// What travels for each element, as cases name it, and its bytes on the wire: an index and a value; an index, where all have
/// the same value; an index there and an element back.
type Traffic = (&'static str, usize);
const OWN: Traffic = ("12", 12);
const SAME: Traffic = ("4", 4);
const GATHER: Traffic = ("gather", 12);
const TRAFFIC: [Traffic; 3] = [OWN, SAME, GATHER];

/// Bytes of messages that a job keeps room for.
const MESSAGE: usize = 64 << 10;

/// Elements of a list, of an object of as many. Less where figures do not count.
const ELEMENTS: usize = if cfg!(debug_assertions) { 16 << 10 } else { 1 << 20 };

/// Elements of short lists, and of how many single operations each may take the time.
const SHORT: [(usize, usize); 2] = [(1, 1), (16, 4)];

/// Short lists in a sample.
const TIMES: usize = if cfg!(debug_assertions) { 8 } else { 128 };

/// How often all elements are sent in the first flood, more bytes than there is room for, and in each later one.
const FLOODS: [usize; 2] = if cfg!(debug_assertions) { [192, 4] } else { [16, 16] };

/// Bytes that a thread keeps for its lists: what the guide's chapter on lists says.
const OF_THREAD: usize = 9 << 19;

/// Bytes that the provider keeps for itself. Its tables are large and come page by page, with any traffic: over `tcp;ofi_rxm` of
/// libfabric 1.20, 11 MiB after some ten thousand messages, and no more.
const OF_PROVIDER: usize = 16 << 20;

/// Elements that are done one by one.
const SINGLE: usize = if cfg!(debug_assertions) { 16 } else { 512 };

/// Between two PEs of this host, or of two, by way of a provider.
pub(crate) fn measure(runner: &mut Runner, hosts: Option<&Arc<Hosts>>, provider: &str) -> Done {
    runner.repeat(&over(runner, &NETWORK, provider).on(hosts))
}

/// What a PE has.
struct Lists<'w> {
    world: &'w World,
    words: SymBox<[Atomic<u64>]>,
    table: SymBox<[u64]>,
    indices: Vec<u32>,
    values: Vec<u64>,
    into: Vec<u64>,
    memory: Memory,
}

/// What packing and applying takes in memory of one process.
struct Memory {
    words: Vec<AtomicU64>,
    indices: Vec<u32>,
    values: Vec<u64>,
}

fn lists(far: &Far<'_, Single>) -> Records {
    let world = far.world;
    let mut lists = Lists {
        world,
        words: world.alloc(zeroed(ELEMENTS))?,
        table: world.alloc(zeroed(ELEMENTS))?,
        indices: random(ELEMENTS, ELEMENTS, 5 + world.my_pe() as u64),
        values: vec![1; ELEMENTS],
        into: vec![0; ELEMENTS],
        memory: Memory {
            words: (0..ELEMENTS).map(|_| AtomicU64::new(0)).collect(),
            indices: vec![0; ELEMENTS],
            values: vec![0; ELEMENTS],
        },
    };
    let floods = lists.floods(far);
    let mut records = far.pair()?.measure(|pair| lists.one_way(pair, far));
    records.extend(lists.both_ways(far));
    records.extend(floods);
    Ok(records)
}

impl Lists<'_> {
    fn one_way(&mut self, pair: &Pair<'_>, far: &Far<'_, Single>) -> Vec<Record> {
        let mut records = Vec::new();
        for (list, traffic, put, got) in [("add", OWN, 12, 0), ("gather", GATHER, 4, 8)] {
            // One more, in which pages are touched.
            let samples = Samples::of(far.repetitions, || {
                pair.ready(State::Polling);
                let cost = nanoseconds_each(ELEMENTS, || self.list(traffic, pair.other));
                let bare = pair.bare_stream(put * ELEMENTS, got * ELEMENTS) / ELEMENTS as f64;
                (cost, bare + self.memory.apply(traffic, &self.indices))
            });
            let compared = "an element of a list of another node, against as many bytes by the bare program, and packing and \
                            applying in memory";
            records.push(far.record(&format!("indexed network-{list}"), compared, samples));
        }
        let Self { world, table, indices, into, .. } = self;
        let table = table.on(pair.other);
        pair.ready(State::Polling);
        for (count, singles) in SHORT {
            let list = |k: usize| &indices[k * count..][..count];
            let short = || {
                nanoseconds_each(TIMES, || {
                    (0..TIMES).for_each(|k| world.gather(black_box(&mut into[..count]), table.at(list(k))));
                })
            };
            let single = || {
                nanoseconds_each(TIMES, || {
                    let chosen = (0..TIMES).flat_map(|k| &list(k)[..singles]);
                    chosen.for_each(|index| _ = black_box(world.g(table.index(*index as usize))));
                })
            };
            let compared =
                format!("a list of {count} read of another node, against {singles} read one by one");
            let samples = Samples::alternate(far.repetitions, short, single);
            records.push(far.record(&format!("indexed list/{count}"), &compared, samples));
        }
        records
    }

    /// Both PEs send each other lists without waiting for any of them, before they have sent any other list. This PE's memory.
    fn floods(&mut self, far: &Far<'_, Single>) -> Vec<Record> {
        let (world, other) = (self.world, self.world.ring_neighbours().1);
        // All pages of what a program has itself are there.
        self.into.fill(1);
        (0..ELEMENTS).step_by(512).for_each(|index| {
            world.set(self.words.on(other).index(index), 0);
            world.p(self.table.on(other).index(index), 1);
        });
        world.barrier_all();
        let peak = match Peak::begin() {
            Ok(peak) => peak,
            Err(reason) => {
                eprintln!("shmem-perf: memory under a flood is not measured: {reason}");
                return Vec::new();
            }
        };
        let fabric = Footprint::with_messages_of(MESSAGE);
        let room = fabric.messages + fabric.for_each_unit + OF_THREAD + OF_PROVIDER;
        let mut records = Vec::new();
        for traffic in TRAFFIC {
            let mut samples = Samples::new();
            for turn in 0..far.repetitions {
                world.barrier_all();
                (0..FLOODS[turn.min(1)]).for_each(|_| self.flood(traffic, other));
                world.barrier_all();
                let Ok(most) = peak.bytes() else { return records };
                samples.push(most as f64 / 1024.0, room as f64 / 1024.0);
            }
            let compared = format!(
                "memory that comes to a PE while two send each other lists of {} MiB without waiting, against the room that there is \
                 for messages and lists, and 16 MiB of the provider's",
                (FLOODS[0] * ELEMENTS * traffic.1) >> 20
            );
            records.push(Record::new(
                &far.site,
                &format!("indexed flood/{}", traffic.0),
                "KiB",
                &compared,
                samples,
            ));
        }
        records
    }

    /// Lists, of which nothing is waited for but what is read.
    fn flood(&mut self, traffic: Traffic, other: Pe) {
        let Self { world, words, table, indices, values, into, .. } = self;
        let part = ELEMENTS / 16;
        world.scope(|scope| {
            let lists = indices.chunks(part).zip(values.chunks(part)).zip(into.chunks_mut(part));
            for ((indices, values), into) in lists {
                match traffic {
                    OWN => scope.add_each(words.on(other).at(indices), values),
                    SAME => scope.add_each(words.on(other).at(indices), 1),
                    _ => scope.gather(into, table.on(other).at(indices)),
                }
            }
        });
    }

    /// Both PEs do this at the same time.
    fn both_ways(&mut self, far: &Far<'_, Single>) -> Vec<Record> {
        let (world, other) = (self.world, self.world.ring_neighbours().1);
        let mut records = Vec::new();
        for traffic in TRAFFIC {
            let samples = Samples::of(far.repetitions, || {
                world.barrier_all();
                let cost = nanoseconds_each(ELEMENTS, || {
                    self.list(traffic, other);
                    world.barrier_all();
                });
                let single = nanoseconds_each(SINGLE, || {
                    self.one_by_one(traffic, other);
                    world.barrier_all();
                });
                (cost, single)
            });
            let compared = "an element of lists that two nodes send each other at the same time, against single operations of both";
            records.push(far.record(&format!("indexed network-rate/{}", traffic.0), compared, samples));
        }
        records
    }

    fn list(&mut self, traffic: Traffic, other: Pe) {
        let Self { world, words, table, indices, values, into, .. } = self;
        let indices: &[u32] = black_box(indices);
        match traffic {
            OWN => world.add_each(words.on(other).at(indices), &values[..]),
            SAME => world.add_each(words.on(other).at(indices), 1),
            _ => world.gather(into, table.on(other).at(indices)),
        }
        world.quiet();
    }

    fn one_by_one(&self, traffic: Traffic, other: Pe) {
        let Self { world, words, table, indices, .. } = self;
        let (words, table) = (words.on(other), table.on(other));
        for index in indices[..SINGLE].iter().map(|index| *index as usize) {
            match traffic {
                OWN | SAME => world.add(words.index(index), 1),
                _ => _ = black_box(world.g(table.index(index))),
            }
        }
        world.quiet();
    }
}

impl Memory {
    /// Nanoseconds of an element.
    fn apply(&mut self, traffic: Traffic, list: &[u32]) -> f64 {
        let Self { words, indices, values } = self;
        nanoseconds_each(list.len(), || {
            black_box(&mut *indices).copy_from_slice(black_box(list));
            match traffic {
                OWN | SAME => {
                    black_box(&mut *values).fill(1);
                    for (index, value) in indices.iter().zip(&*values) {
                        words[*index as usize].fetch_add(*value, Ordering::SeqCst);
                    }
                }
                _ => {
                    for (index, value) in indices.iter().zip(&mut *values) {
                        *value = words[*index as usize].load(Ordering::Relaxed);
                    }
                    black_box(values);
                }
            }
        })
    }
}
