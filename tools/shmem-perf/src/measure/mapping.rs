//! Contexts over libfabric: what they are mapped to, and what it costs to complete one of them.

use std::error::Error;
use std::time::Instant;

use shmem::mapping::Design;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private};
use shmem_core::endpoint::Stores;
use shmem_core::exclusion::Mutex;

use super::*;
use crate::fabric::Lane;
use crate::rounds;

type Far<'w> = fabric::Far<'w, Multiple>;
type Pair<'w> = fabric::Pair<'w, Multiple>;

pub(crate) const MEASURE: Measure = Measure {
    name: "mapping",
    about: "Threads with contexts, in each mapping of contexts to endpoints, against bare threads with endpoints",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { threads, quiet } = Options::from_arg_matches(options)?;
        let threads: Vec<_> = threads.into_iter().map(usize::from).collect();
        let room = threads.iter().max().copied().unwrap_or(1) << 20;
        for design in Design::ALL {
            let given = Given { threads: threads.clone(), ..Given::default() };
            let job = match quiet {
                true => over(runner, &QUIET, Given::default()),
                false => over(runner, &MAPPING, given).heap(room + (16 << 20)),
            };
            runner.repeat(&job.with(&[variable(design)]))?;
        }
        Ok(())
    },
    usual: false,
    tasks: &[MAPPING, QUIET],
    rows: &[
        // 0.95 of the rate. Where threads share an endpoint they wait for each other, and that is for comparison.
        "mapping ** | design/threads/bytes | threads with a context each, in each mapping of contexts to endpoints; `locked`: \
         with the default context behind a lock; time for each put while the other PE sleeps | as many bare threads with an \
         endpoint each | events|hybrid|domain|context|auto/1/* 1.05; context|auto/2/* 1/0.95",
        "quiet ** | design/contexts/bytes | the quiet of one of so many contexts of a domain, all of which have four puts under \
         way | the quiet of each of them | | us",
    ],
    ..Measure::PLAIN
};

const MAPPING: Task = Task::threads("mapping", of_threads);
const QUIET: Task = Task::threads("quiet", of_quiet);

const CONTEXT_MAPPING: &str = "SHMEM_CONTEXT_MAPPING";

/// The mapping of a job's contexts, as its PEs are told.
pub(super) fn variable(design: Design) -> (&'static str, String) {
    (CONTEXT_MAPPING, design.name().to_owned())
}

/// The same, inside a PE.
pub(super) fn design() -> Design {
    let named = fabric::variable(CONTEXT_MAPPING).unwrap_or_default();
    Design::ALL.into_iter().find(|design| design.name() == named).unwrap_or(Design::Auto)
}

/// With how many threads, and over what.
#[derive(Args, Clone, Debug)]
struct Options {
    /// Numbers of threads, each with a context.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1,2", value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: Vec<u16>,
    /// What it costs instead to complete one of 1 to 16 contexts that have operations under way, against all.
    #[arg(long, conflicts_with = "threads")]
    quiet: bool,
}

/// What a thread does between two quiets: the bytes of each put, how many (a mebibyte at most), and batches in one sample.
type Batch = (usize, usize, usize);

/// From small ones, of which the issue is what costs, to large ones.
const BATCHES: [Batch; 3] = [(8, 64, 16), (4 << 10, 64, 8), (64 << 10, 16, 4)];

fn of_threads(far: &Far<'_>) -> Done {
    let (world, design) = (far.world, design());
    far.pair()?.measure(|pair| {
        pair.ready(State::Asleep);
        for (&threads, batch) in far.given.threads.iter().flat_map(|n| BATCHES.map(|batch| (n, batch))) {
            if let Err(why) = try_to_open(far, threads) {
                eprintln!("mapping: {threads} threads are not measured: {why}");
                continue;
            }
            against_bare(far, pair, (design.name(), threads, batch), || {
                let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                move |from: &[u8], to: On<'_, [u8]>| puts(&context.bind(world), from, to, batch)
            });
            // The default context is the same in all mappings.
            if threads > 1 && design == Design::Auto {
                let lock = &Mutex::new(());
                against_bare(far, pair, ("locked", threads, batch), || {
                    move |from: &[u8], to: On<'_, [u8]>| {
                        let _alone = lock.lock();
                        puts(world, from, to, batch);
                    }
                });
            }
        }
    });
    Ok(())
}

/// Opens what the threads will: one that could not would leave the others waiting.
fn try_to_open(far: &Far<'_>, threads: usize) -> Result<(), Box<dyn Error>> {
    let contexts: Vec<_> =
        (0..threads).map(|_| far.world.create_ctx::<Private>()).collect::<Result<_, _>>()?;
    let lanes: Vec<_> = (0..threads).map(|_| Lane::open(&far.bare)).collect::<Result<_, _>>()?;
    drop((contexts, lanes));
    Ok(())
}

/// Batches of threads, against as many bare threads with an endpoint each: nanoseconds for each put of a thread. `thread` makes
/// what a thread puts through, and gives what puts a batch of it.
fn against_bare<T: FnMut(&[u8], On<'_, [u8]>)>(
    far: &Far<'_>,
    pair: &Pair<'_>,
    (design, threads, (bytes, in_flight, passes)): (&str, usize, Batch),
    thread: impl Fn() -> T + Sync,
) {
    let (room, own, place, peer) = (bytes * in_flight, vec![1; bytes * in_flight], pair.place(), pair.peer);
    let bare = &far.bare;
    // Many threads take turns, so that a sample is long anyhow.
    let passes = passes.div_ceil(LESS).div_ceil(threads) as u64;
    let name = format!("mapping {design}/{threads}/{bytes}");
    if !far.given.wants(&name) {
        return;
    }
    let samples = rounds::in_turn(threads, (passes, in_flight), far.repetitions, |number, rounds| {
        let lane = Lane::open(bare).unwrap_or_else(|error| panic!("{error}"));
        let (mut batch, start) = (thread(), number * room);
        let by_hand = |_| {
            (start..start + room).step_by(bytes).for_each(|at| lane.put(&peer, at, at, bytes));
            lane.quiet();
        };
        rounds.run(|_| batch(&own, place.index(start..start + room)), by_hand);
    });
    let site = Site { shared_cores: far.site.shared_cores || threads > far.cores, ..far.site.clone() };
    far.push(Record::new(&site, name, samples));
}

/// One batch and its quiet, through the library.
fn puts<I: Stores>(token: &I, from: &[u8], to: On<'_, [u8]>, (bytes, ..): Batch) {
    token.scope(|scope| {
        for (k, source) in from.chunks(bytes).enumerate() {
            scope.put(to.index(k * bytes..(k + 1) * bytes), source);
        }
    });
}

/// Numbers of contexts that have operations under way.
const CONTEXTS: [usize; 5] = [1, 2, 4, 8, 16];

/// Operations of each context, and quiets in one sample; each context is the one in turn.
const IN_FLIGHT: usize = 4;
const ROUNDS: usize = 16_usize.div_ceil(LESS);

/// All contexts start non-blocking puts, then one of them is completed, each in turn. The limit is that all of
/// them are. Microseconds of the quiet, or of all of them.
fn of_quiet(far: &Far<'_>) -> Done {
    let design = design().name();
    let domain = &far.world.domains::<Private>(1)?[0];
    let contexts = (0..CONTEXTS[4]).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(far.world)).collect();
    far.pair()?.measure(|pair| {
        // Those that are counted together where some are, and those that are not.
        for (bytes, number) in
            [8, 64 << 10].into_iter().flat_map(|bytes| CONTEXTS.map(|number| (bytes, number)))
        {
            pair.ready(State::Asleep);
            let contexts = &tokens[..number];
            let sample = |all: bool| {
                let mut time = 0.0;
                for one in (0..ROUNDS).map(|round| &contexts[round % number]) {
                    for (k, range) in (0..number * IN_FLIGHT).map(|k| (k, k * bytes..(k + 1) * bytes)) {
                        contexts[k / IN_FLIGHT]
                            .put_from(pair.place().index(range.clone()), pair.here().index(range));
                    }
                    let start = Instant::now();
                    one.quiet();
                    if all {
                        contexts.iter().for_each(Order::quiet);
                    }
                    time += start.elapsed().as_secs_f64();
                    contexts.iter().for_each(Order::quiet);
                }
                1e6 * time / ROUNDS as f64
            };
            far.pairs(format!("quiet {design}/{number}/{bytes}"), || sample(false), || sample(true));
        }
    });
    Ok(())
}
