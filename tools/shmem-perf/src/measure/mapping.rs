//! Contexts over libfabric: what they are mapped to, and what it costs to complete one of them.

use std::error::Error;
use std::time::Instant;

use clap::{Args, FromArgMatches};
use shmem::mapping::Design;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private};
use shmem_core::endpoint::Stores;
use shmem_core::exclusion::Mutex;

use super::{At, Cases, Measure, row};
use crate::bench::Records;
use crate::case::{Record, Site};
use crate::fabric::{self, Far, LESS, Lane, PROVIDER, State, over};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::rounds;
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};

type Pair<'w> = fabric::Pair<'w, Multiple>;

pub(crate) const MEASURE: Measure = Measure {
    name: "mapping",
    about: "Threads with contexts, in each mapping of contexts to endpoints, against bare threads with endpoints",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    usual: false,
    tasks: &[MAPPING, QUIET],
    rows: ROWS,
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("mapping | design/threads/bytes | threads with a context each, in each mapping of contexts to endpoints; `locked`: \
         with the default context behind a lock | as many bare threads with an endpoint each",
        // 0.95 of the rate. Where threads share an endpoint they wait for each other, and that is for comparison.
         &[("mapping events|hybrid|domain|context|auto/1/*", At::Anywhere, Goal::Ratio(1.05)),
        ("mapping context|auto/2/*", At::Anywhere, Goal::Ratio(1.0 / 0.95))]),
    row("quiet | design/contexts/bytes | the quiet of one of so many contexts of a domain, all of which have four puts under \
         way | the quiet of each of them", &[]),
];

const MAPPING: Task =
    Task::own("mapping", |given, repetitions| fabric::with_threads(given, repetitions, of_threads));
const QUIET: Task =
    Task::own("quiet", |given, repetitions| fabric::with_threads(given, repetitions, of_quiet));

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
    /// The provider of libfabric.
    #[arg(long, default_value = PROVIDER)]
    provider: String,
}

impl Options {
    /// In every mapping of contexts to endpoints: threads with a context each, or the quiet of one.
    fn run(&self, runner: &mut Runner) -> Done {
        let threads: Vec<_> = self.threads.iter().map(|&threads| usize::from(threads)).collect();
        Design::ALL.into_iter().try_for_each(|design| {
            runner.repeat(&match self.quiet {
                true => quiet_of(runner, design, &self.provider),
                false => threads_of(runner, design, &threads, &self.provider),
            })
        })
    }
}

/// A job of threads with a context each, in one mapping.
pub(crate) fn threads_of(runner: &Runner, design: Design, threads: &[usize], provider: &str) -> Asked {
    let room = threads.iter().max().copied().unwrap_or(1) << 20;
    let heap = ("SHMEM_SYMMETRIC_SIZE", (room + (16 << 20)).to_string());
    over(runner, &MAPPING, provider).told_all("--threads", threads).with(&[variable(design), heap])
}

/// A job of contexts that one thread completes one by one, in one mapping.
pub(crate) fn quiet_of(runner: &Runner, design: Design, provider: &str) -> Asked {
    over(runner, &QUIET, provider).with(&[variable(design)])
}

/// What a thread does between two quiets: the bytes of each put, how many (a mebibyte at most), and batches in one sample.
type Batch = (usize, usize, usize);

/// From small ones, of which the issue is what costs, to large ones.
const BATCHES: [Batch; 3] = [(8, 64, 16), (4 << 10, 64, 8), (64 << 10, 16, 4)];

fn of_threads(far: &Far<'_, Multiple>) -> Records {
    let (world, design) = (far.world, design());
    Ok(far.pair()?.measure(|pair| {
        pair.ready(State::Asleep);
        let mut records = Vec::new();
        for (&threads, batch) in far.given.threads.iter().flat_map(|n| BATCHES.map(|batch| (n, batch))) {
            if let Err(why) = try_to_open(far, threads) {
                eprintln!("mapping: {threads} threads are not measured: {why}");
                continue;
            }
            let name = format!("{threads}/{}", batch.0);
            let with_contexts = against_bare(far, pair, threads, batch, || {
                let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
                move |from: &[u8], to: On<'_, [u8]>| puts(&context.bind(world), from, to, batch)
            });
            records.push(record(
                far,
                "threads with a context each",
                threads,
                &format!("{}/{name}", design.name()),
                with_contexts,
            ));
            // The default context is the same in all mappings.
            if threads > 1 && design == Design::Auto {
                let lock = Mutex::new(());
                let lock = &lock;
                let behind_a_lock = against_bare(far, pair, threads, batch, || {
                    move |from: &[u8], to: On<'_, [u8]>| {
                        let _alone = lock.lock();
                        puts(world, from, to, batch);
                    }
                });
                let what = "threads with the default context behind a lock";
                records.push(record(far, what, threads, &format!("locked/{name}"), behind_a_lock));
            }
        }
        records
    }))
}

/// Opens what the threads will: one that could not would leave the others waiting.
fn try_to_open(far: &Far<'_, Multiple>, threads: usize) -> Result<(), Box<dyn Error>> {
    let contexts: Vec<_> =
        (0..threads).map(|_| far.world.create_ctx::<Private>()).collect::<Result<_, _>>()?;
    let lanes: Vec<_> = (0..threads).map(|_| Lane::open(&far.bare)).collect::<Result<_, _>>()?;
    drop((contexts, lanes));
    Ok(())
}

/// Batches of threads, against as many bare threads with an endpoint each: nanoseconds for each put of a thread. `thread` makes
/// what a thread puts through, and gives what puts a batch of it.
fn against_bare<T: FnMut(&[u8], On<'_, [u8]>)>(
    far: &Far<'_, Multiple>,
    pair: &Pair<'_>,
    threads: usize,
    (bytes, in_flight, passes): Batch,
    thread: impl Fn() -> T + Sync,
) -> Samples {
    let (room, own, place, peer) = (bytes * in_flight, vec![1; bytes * in_flight], pair.place(), pair.peer);
    // Many threads take turns, so that a sample is long anyhow.
    let passes = passes.div_ceil(LESS).div_ceil(threads) as u64;
    rounds::in_turn(threads, (passes, in_flight), far.repetitions, |number, rounds| {
        let lane = Lane::open(&far.bare).unwrap_or_else(|error| panic!("{error}"));
        let (mut batch, start) = (thread(), number * room);
        let by_hand = |_| {
            (start..start + room).step_by(bytes).for_each(|at| lane.put(&peer, at, at, bytes));
            lane.quiet();
        };
        rounds.run(|_| batch(&own, place.index(start..start + room)), by_hand);
    })
}

/// One batch and its quiet, through the library.
fn puts<I: Stores>(token: &I, from: &[u8], to: On<'_, [u8]>, (bytes, ..): Batch) {
    token.scope(|scope| {
        for (k, source) in from.chunks(bytes).enumerate() {
            scope.put(to.index(k * bytes..(k + 1) * bytes), source);
        }
    });
}

fn record(far: &Far<'_, Multiple>, what: &str, threads: usize, case: &str, samples: Samples) -> Record {
    let compared =
        format!("{what}, against bare threads with an endpoint each; the other PE sleeps; time for each put");
    let site = Site { shared_cores: far.site.shared_cores || threads > far.cores, ..far.site.clone() };
    Record::new(&site, &format!("mapping {case}"), "ns", &compared, samples)
}

/// Numbers of contexts that have operations under way.
const CONTEXTS: [usize; 5] = [1, 2, 4, 8, 16];

/// Operations of each context, and quiets in one sample; each context is the one in turn.
const IN_FLIGHT: usize = 4;
const ROUNDS: usize = 16_usize.div_ceil(LESS);

fn of_quiet(far: &Far<'_, Multiple>) -> Records {
    let design = design().name();
    let domain = &far.world.domains::<Private>(1)?[0];
    let contexts = (0..CONTEXTS[4]).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(far.world)).collect();
    Ok(far.pair()?.measure(|pair| {
        let mut records = Vec::new();
        // Those that are counted together where some are, and those that are not.
        for (bytes, number) in
            [8, 64 << 10].into_iter().flat_map(|bytes| CONTEXTS.map(|number| (bytes, number)))
        {
            let samples = one_against_all(pair, &tokens[..number], bytes, far.repetitions);
            let compared = "quiet of one context while all of a domain have puts under way, against that of \
                            each of them; the other PE sleeps";
            records.push(Record::new(
                &far.site,
                &format!("quiet {design}/{number}/{bytes}"),
                "us",
                compared,
                samples,
            ));
        }
        records
    }))
}

/// All contexts start non-blocking puts, then one of them is completed, each in turn. The limit is that all of
/// them are. Microseconds of the quiet, or of all of them.
fn one_against_all<I: Stores>(pair: &Pair<'_>, contexts: &[I], bytes: usize, repetitions: usize) -> Samples {
    pair.ready(State::Asleep);
    let sample = |all: bool| {
        let mut time = 0.0;
        for one in (0..ROUNDS).map(|round| &contexts[round % contexts.len()]) {
            for (k, range) in (0..contexts.len() * IN_FLIGHT).map(|k| (k, k * bytes..(k + 1) * bytes)) {
                contexts[k / IN_FLIGHT].put_from(pair.place().index(range.clone()), pair.here().index(range));
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
    Samples::alternate(repetitions, || sample(false), || sample(true))
}
