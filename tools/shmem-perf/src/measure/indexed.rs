//! Operations on lists of indices, against loops over the same memory, and against single operations. Between two nodes, one PE
//! sends lists, or both PEs at once.

use shmem::AmoValue;

use super::startup::of_status;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "indexed",
    run: Some(|runner| {
        runner.repeat(&match runner.is("network") {
            true => over(runner, "indexed-network", PeArguments::default()),
            false => runner.job("indexed", 2, PeArguments::default()).heap(SIZES[2] + (8 << 20)),
        })
    }),
    tasks: &[
        (
            "indexed",
            Task::Near(|world, bench| {
                for bytes in SIZES {
                    gathers(world, bench, bytes)?;
                    updates(world, bench, bytes)?;
                }
                shared(world, bench)
            }),
        ),
        ("indexed-network", Task::Far(lists)),
    ],
    ..Measure::PLAIN
};

/// Bytes of objects: one fits the first-level cache, one the last-level cache, one no cache.
const SIZES: [usize; 3] = [32 << 10, 16 << 20, 512 << 20];

/// Elements of a list. [`LISTS`] lists take turns, because the cache lines of a single list would stay in the last-level cache.
const ELEMENTS: usize = 64 << 10;
const LISTS: usize = 16;

/// Returns random numbers less than `below`, the same in every run.
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

/// Returns a function that measures the nanoseconds of an element of a list. Each call uses the next list.
fn timed(below: usize, seed: u64, mut list: impl FnMut(&[u32])) -> impl FnMut() -> f64 {
    let (indices, mut turn) = (random(LISTS * ELEMENTS, below, seed), 0);
    move || {
        let indices = black_box(&indices[turn * ELEMENTS..][..ELEMENTS]);
        turn = (turn + 1) % LISTS;
        nanoseconds_each(ELEMENTS, || list(indices))
    }
}

fn gathers(world: &World, bench: &Bench<'_>, bytes: usize) -> Done {
    let object = world.alloc(zeroed::<u64>(bytes / 8))?;
    Ok(alone(world, || {
        let table: Vec<u64> = (0..bytes as u64 / 8).collect();
        // Writes to all pages of both PEs, so that the measured accesses cause no page faults.
        object.here(world).copy_from(&table);
        let there = object.on(other(world));
        world.put(there, &table);
        let [mut own, mut ours, mut of_both] = [(); 3].map(|()| vec![0; ELEMENTS]);
        let mut limit = timed(table.len(), 1, |list| {
            let table: &[u64] = black_box(&table);
            own.iter_mut().zip(list).for_each(|(into, index)| *into = table[*index as usize]);
            black_box(&mut own);
        });
        let gather = timed(table.len(), 1, |list| world.gather(black_box(&mut ours), there.at(list)));
        bench.pairs(format!("indexed gather/{bytes}"), gather, &mut limit);
        // A distributed list of the first half of each PE's elements. It has as many elements as `table`.
        let halves = object.over(world.team(), Block::of(table.len()));
        let gather =
            timed(table.len(), 1, |list| world.gather(black_box(&mut of_both), black_box(&halves).at(list)));
        bench.pairs(format!("indexed gather-over/{bytes}"), gather, &mut limit);
    })?)
}

fn updates(world: &World, bench: &Bench<'_>, bytes: usize) -> Done {
    let (len, pe) = (bytes / 8, other(world));
    let object = world.alloc(zeroed::<Atomic<u64>>(len))?;
    alone(world, || {
        let words = object.on(pe);
        let [mut list, single] = of_words(world, words, 0, 1, 2);
        let word = word_at(world, words.index(0));
        let locked = timed(len, 2, |list| {
            list.iter().for_each(|_| _ = black_box(word).fetch_add(1, Ordering::SeqCst))
        });
        bench.pairs(format!("indexed add/{bytes}"), &mut list, locked);
        bench.pairs(format!("indexed add-loop/{bytes}"), &mut list, single);
        let mut table = vec![1_u64; len];
        let plain = timed(len, 2, |list| {
            let table: &mut [u64] = black_box(&mut table);
            list.iter().for_each(|index| table[*index as usize] += 1);
        });
        bench.pairs(format!("indexed add-plain/{bytes}"), &mut list, plain);
        let mut before = vec![0; ELEMENTS];
        let fetching = timed(len, 2, |list| world.fetch_add_each(&mut before, words.at(list), 1));
        let single = timed(len, 2, |list| {
            list.iter().for_each(|index| _ = black_box(world.fetch_add(words.index(*index as usize), 1)));
        });
        bench.pairs(format!("indexed fetch-add/{bytes}"), fetching, single);
    })?;
    drop(object);
    let object = world.alloc(zeroed::<Atomic<f64>>(len))?;
    Ok(alone(world, || {
        let [list, single] = of_words(world, object.on(pe), 0.0, 1.0, 3);
        bench.pairs(format!("indexed f64/{bytes}"), list, single);
    })?)
}

/// Returns functions that measure additions to words: by lists that are too short for the library to combine their additions in
/// private memory, and one by one. Touches the words' pages.
fn of_words<'a, V: AmoValue>(
    world: &'a World,
    words: On<'a, [Atomic<V>]>,
    zero: V,
    one: V,
    seed: u64,
) -> [Box<dyn FnMut() -> f64 + 'a>; 2] {
    (0..words.len()).step_by(512).for_each(|index| world.set(words.index(index), zero));
    let part = (3 * words.len()).min(ELEMENTS);
    let lists = move |list: &[u32]| list.chunks(part).for_each(|list| world.add_each(words.at(list), one));
    let single = move |list: &[u32]| each_add(world, words, list, one);
    [Box::new(timed(words.len(), seed, lists)), Box::new(timed(words.len(), seed, single))]
}

fn each_add<V: AmoValue>(world: &World, words: On<'_, [Atomic<V>]>, list: &[u32], value: V) {
    list.iter().for_each(|index| world.add(words.index(*index as usize), value));
}

/// Measures additions of both PEs at once to an object of 256 KiB on one of them.
fn shared(world: &World, bench: &Bench<'_>) -> Done {
    let object = world.alloc(zeroed::<Atomic<u64>>((256 << 10) / 8))?;
    let words = object.on(world.pes()[0]);
    for times in [1, 16] {
        let list = random(times * words.len(), words.len(), 4 + world.my_pe() as u64);
        let time = |body: &dyn Fn(&[u32])| {
            world.barrier_all();
            nanoseconds_each(list.len(), || body(black_box(&list)))
        };
        let list = || time(&|list| world.add_each(words.at(list), 1));
        bench
            .pairs(format!("indexed-shared {times}"), list, || time(&|list| each_add(world, words, list, 1)));
        world.barrier_all();
    }
    Ok(())
}

/// Kinds of traffic: (name in cases, bytes for each element). They are: an index and a value; an index, if all values are equal; an
/// index to the other node, and a value back.
const TRAFFIC: [(&str, usize); 3] = [("12", 12), ("4", 4), ("gather", 12)];

/// Number of elements of a list to another node, and of the object there.
const FAR: usize = 1 << 20;

/// Number of times that a flood sends [`FAR`] elements. Together they exceed the library's buffers.
const FLOOD: usize = 16;

/// Returns an upper limit on the bytes that a PE may allocate in a flood: message buffers of 64 KiB; a thread's buffers for lists
/// (see the guide); tables of the provider, which grow with traffic (over `tcp;ofi_rxm` of libfabric 1.20 to 11 MiB).
fn flood_room() -> usize {
    64 * (64 << 10) + 256 * (17 << 10) + (9 << 19) + (16 << 20)
}

struct Lists<'w> {
    world: &'w World,
    words: SymBox<[Atomic<u64>]>,
    table: SymBox<[u64]>,
    indices: Vec<u32>,
    values: Vec<u64>,
    into: Vec<u64>,
    /// Private memory in which the baseline packs and applies lists.
    memory: (Vec<AtomicU64>, Vec<u32>, Vec<u64>),
}

fn lists(pair: &Pair<'_>, bench: &Bench<'_>) -> Done {
    let world = pair.world;
    let words = (0..FAR).map(|_| AtomicU64::new(0)).collect();
    let mut lists = Lists {
        world,
        words: world.alloc(zeroed(FAR))?,
        table: world.alloc(zeroed(FAR))?,
        indices: random(FAR, FAR, 5 + world.my_pe() as u64),
        values: vec![1; FAR],
        into: vec![0; FAR],
        memory: (words, vec![0; FAR], vec![0; FAR]),
    };
    // Floods (lists that exceed the library's buffers) come first, because other lists allocate memory, too.
    lists.floods(bench);
    lists.one_way(pair, bench);
    lists.both_ways(bench);
    Ok(())
}

impl Lists<'_> {
    fn one_way(&mut self, pair: &Pair<'_>, bench: &Bench<'_>) {
        // Measures as many bytes by the bare program, in messages of 64 KiB, with a quiet after every 64 messages.
        let bare = |name, bytes: usize| {
            let pieces = (bytes * FAR).div_ceil(64 << 10);
            let (in_flight, rounds) = (pieces.min(64), pieces.div_ceil(64));
            let operation = Operation { name, bytes: 64 << 10, in_flight, rounds };
            pair.sample(TargetState::Bare, || nanoseconds_each(FAR, || pair.by_hand(operation)))
        };
        for (list, traffic, put, got) in [("add", "12", 12, 0), ("gather", "gather", 4, 8)] {
            bench.pair(format!("indexed network-{list}"), || {
                let send = || nanoseconds_each(FAR, || self.send(traffic, FAR));
                let cost = pair.sample(TargetState::Library, send);
                let bare = bare("bandwidth", put) + if got > 0 { bare("get", got) } else { 0.0 };
                (cost, bare + pair.sample(TargetState::Library, || self.apply(traffic)))
            });
        }
        let Self { world, table, indices, into, .. } = self;
        let table = table.on(pair.other);
        pair.alone(TargetState::Library, || {
            // Lengths of short lists, and the number of single operations to compare with.
            for (count, singles) in [(1, 1), (16, 4)] {
                let (times, of) = (128, |k: u64| &indices[k as usize * count..][..count]);
                let mut list = |k| world.gather(black_box(&mut into[..count]), table.at(of(k)));
                let single = |k| {
                    for index in &of(k)[..singles] {
                        _ = black_box(world.g(table.index(*index as usize)));
                    }
                };
                let name = format!("indexed list/{count}");
                bench.pairs(name, || numbered(times, &mut list), || numbered(times, single));
            }
        });
    }

    /// Measures the memory that this PE allocates, in KiB, while both PEs send each other lists by non-blocking operations.
    fn floods(&mut self, bench: &Bench<'_>) {
        let world = self.world;
        // Touches the pages of the program's own memory, so that they do not count as the library's.
        self.into.fill(1);
        (0..FAR).step_by(512).for_each(|index| {
            world.set(self.words.on(other(world)).index(index), 0);
            world.p(self.table.on(other(world)).index(index), 1);
        });
        world.barrier_all();
        let before = match fs::write("/proc/self/clear_refs", "5").and_then(|()| of_status("VmRSS:")) {
            Ok(before) => before,
            Err(reason) => return eprintln!("shmem-perf: memory under a flood is not measured: {reason}"),
        };
        let room = flood_room() as f64 / 1024.0;
        for (traffic, bytes) in TRAFFIC {
            let mut samples = Samples::default();
            for _ in 0..bench.repetitions {
                world.barrier_all();
                (0..FLOOD).for_each(|_| self.send(traffic, FAR / 16));
                world.barrier_all();
                let Ok(most) = of_status("VmHWM:") else { return };
                samples.0.push((most.saturating_sub(before) as f64 / 1024.0, room));
            }
            let note = format!("; lists of {} MiB", (FLOOD * FAR * bytes) >> 20);
            bench.push(Record { note, ..bench.record(format!("indexed flood/{traffic}"), samples) });
        }
    }

    /// Sends lists of `part` elements by non-blocking operations, then waits for all.
    fn send(&mut self, traffic: &str, part: usize) {
        let Self { world, words, table, indices, values, into, .. } = self;
        let (words, table) = (words.on(other(*world)), table.on(other(*world)));
        world.scope(|scope| {
            let lists = black_box(&*indices).chunks(part).zip(values.chunks(part)).zip(into.chunks_mut(part));
            for ((indices, values), into) in lists {
                match traffic {
                    "12" => scope.add_each(words.at(indices), values),
                    "4" => scope.add_each(words.at(indices), 1),
                    _ => scope.gather(into, table.at(indices)),
                }
            }
        });
    }

    /// Measures lists that both PEs send at the same time, against single operations of both PEs.
    fn both_ways(&mut self, bench: &Bench<'_>) {
        let (world, some) = (self.world, 512);
        for (traffic, _) in TRAFFIC {
            bench.pair(format!("indexed network-rate/{traffic}"), || {
                world.barrier_all();
                let cost = nanoseconds_each(FAR, || {
                    self.send(traffic, FAR);
                    world.barrier_all();
                });
                let (words, table) = (self.words.on(other(world)), self.table.on(other(world)));
                let single = nanoseconds_each(some, || {
                    for index in self.indices[..some].iter().map(|index| *index as usize) {
                        match traffic {
                            "gather" => _ = black_box(world.g(table.index(index))),
                            _ => world.add(words.index(index), 1),
                        }
                    }
                    world.quiet();
                    world.barrier_all();
                });
                (cost, single)
            });
        }
    }

    /// Returns the nanoseconds of an element that is packed and applied in private memory: the baseline without the network.
    fn apply(&mut self, traffic: &str) -> f64 {
        let (words, indices, values) = &mut self.memory;
        nanoseconds_each(FAR, || {
            black_box(&mut *indices).copy_from_slice(black_box(&self.indices));
            let words = indices.iter().map(|index| &words[*index as usize]);
            if traffic == "gather" {
                words.zip(&mut *values).for_each(|(word, value)| *value = word.load(Ordering::Relaxed));
                black_box(values);
            } else {
                black_box(&mut *values).fill(1);
                words.zip(&*values).for_each(|(word, value)| _ = word.fetch_add(*value, Ordering::SeqCst));
            }
        })
    }
}
