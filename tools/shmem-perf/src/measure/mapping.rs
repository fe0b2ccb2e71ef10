//! Contexts over libfabric: what they are mapped to, and what it costs to complete one of them.

use shmem_core::endpoint::Stores;
use shmem_core::exclusion::Mutex;

use super::*;
use crate::fabric::Lane;
use crate::rounds;

pub(crate) const MEASURE: Measure = Measure {
    name: "mapping",
    run: Some(|runner| {
        let (task, threads) = match runner.is("quiet") {
            true => ("quiet", Vec::new()),
            false => ("mapping", runner.numbers("threads")),
        };
        let room = (threads.iter().max().copied().unwrap_or(1) << 20) + (16 << 20);
        Design::ALL.into_iter().try_for_each(|design| {
            let job = job(runner, task, design, Given { threads: threads.clone(), ..Given::default() });
            runner.repeat(&job.with(fabric::variables(runner.provider())).heap(room))
        })
    }),
    tasks: &[("mapping", Task::Threads(of_threads)), ("quiet", Task::Threads(of_quiet))],
    ..Measure::PLAIN
};

pub(super) fn job(runner: &Runner, task: &str, design: Design, given: Given) -> Asked {
    runner.job(task, 2, given).with([(DESIGN, design.name())])
}

/// Names what contexts of a job are mapped to.
pub(super) const DESIGN: &str = "SHMEM_CONTEXT_MAPPING";

/// What a thread does between two quiets: the bytes of each put, how many (a mebibyte at most), and batches in one sample.
type Batch = (usize, usize, usize);

/// From small ones, of which the issue is what costs, to large ones.
const BATCHES: [Batch; 3] = [(8, 64, 16), (4 << 10, 64, 8), (64 << 10, 16, 4)];

fn of_threads(pair: &Pair<'_, Multiple>, bench: &Bench<'_>) -> Done {
    let (world, design) = (pair.world, &*fabric::variable(DESIGN).unwrap_or_default());
    for (&threads, batch) in bench.threads.iter().flat_map(|n| BATCHES.map(|batch| (n, batch))) {
        if let Err(why) = try_to_open(pair, threads) {
            eprintln!("mapping: {threads} threads are not measured: {why}");
            continue;
        }
        against_bare(bench, pair, (design, threads, batch), || {
            let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
            move |from: &[u8], to: On<'_, [u8]>| puts(&context.bind(world), from, to, batch)
        });
        // The default context is the same in all mappings.
        if threads > 1 && design == Design::Auto.name() {
            let lock = &Mutex::new(());
            against_bare(bench, pair, ("locked", threads, batch), || {
                move |from: &[u8], to: On<'_, [u8]>| {
                    let _alone = lock.lock();
                    puts(world, from, to, batch);
                }
            });
        }
    }
    Ok(())
}

/// Opens what the threads will: one that could not would leave the others waiting.
fn try_to_open(pair: &Pair<'_, Multiple>, threads: usize) -> Result<(), Box<dyn Error>> {
    let contexts: Vec<_> =
        (0..threads).map(|_| pair.world.create_ctx::<Private>()).collect::<Result<_, _>>()?;
    let lanes: Vec<_> = (0..threads).map(|_| Lane::open(&pair.bare)).collect::<Result<_, _>>()?;
    drop((contexts, lanes));
    Ok(())
}

/// Batches of threads, against as many bare threads with an endpoint each: nanoseconds for each put of a thread. `thread` makes
/// what a thread puts through, and gives what puts a batch of it.
fn against_bare<T: FnMut(&[u8], On<'_, [u8]>)>(
    bench: &Bench<'_>,
    pair: &Pair<'_, Multiple>,
    (design, threads, (bytes, in_flight, passes)): (&str, usize, Batch),
    thread: impl Fn() -> T + Sync,
) {
    let (room, own, place, peer) = (bytes * in_flight, vec![1; bytes * in_flight], pair.place(), pair.peer);
    let bare = &pair.bare;
    // Many threads take turns, so that a sample is long anyhow.
    let passes = passes.div_ceil(LESS).div_ceil(threads) as u64;
    bench.of_threads(threads, format!("mapping {design}/{threads}/{bytes}"), || {
        rounds::in_turn(threads, (passes, in_flight), bench.repetitions, |number, rounds| {
            let lane = Lane::open(bare).unwrap_or_else(|error| panic!("{error}"));
            let (mut batch, start) = (thread(), number * room);
            let by_hand = |_| {
                (start..start + room).step_by(bytes).for_each(|at| lane.put(&peer, at, at, bytes));
                lane.quiet();
            };
            rounds.run(|_| batch(&own, place.index(start..start + room)), by_hand);
        })
    });
}

fn puts<I: Stores>(token: &I, from: &[u8], to: On<'_, [u8]>, (bytes, ..): Batch) {
    token.scope(|scope| {
        for (k, source) in from.chunks(bytes).enumerate() {
            scope.put(to.index(k * bytes..(k + 1) * bytes), source);
        }
    });
}

/// Numbers of contexts that have operations under way, how many each, and quiets in one sample; each context is the one in turn.
const CONTEXTS: [usize; 5] = [1, 2, 4, 8, 16];
const IN_FLIGHT: usize = 4;
const ROUNDS: usize = 16_usize.div_ceil(LESS);

/// All contexts start non-blocking puts, then one of them is completed, each in turn. The limit is that all of
/// them are. Microseconds of the quiet, or of all of them.
fn of_quiet(pair: &Pair<'_, Multiple>, bench: &Bench<'_>) -> Done {
    let domain = &pair.world.domains::<Private>(1)?[0];
    let contexts = (0..CONTEXTS[4]).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(pair.world)).collect();
    // Those that are counted together where some are, and those that are not.
    for (bytes, number) in [8, 64 << 10].into_iter().flat_map(|bytes| CONTEXTS.map(|number| (bytes, number)))
    {
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
        let name = format!("quiet {}/{number}/{bytes}", fabric::variable(DESIGN).unwrap_or_default());
        bench.pairs(name, || sample(false), || sample(true));
    }
    Ok(())
}
