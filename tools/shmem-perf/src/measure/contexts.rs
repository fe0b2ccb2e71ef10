//! Contexts over libfabric: their mapping to endpoints, the quiet of one context, and the tracking of completions. Tracking is
//! measured over a network, and over a libfabric that completes writes at once, which leaves only the processor's cost.

use std::ffi::c_int;

use shmem::{Context, Order as _, Rma as _};
use shmem_core::context::NonBlocking;
use shmem_core::endpoint::Stores;
use shmem_core::exclusion::Mutex;
use shmem_core::loader::Loaded;

use super::threads::in_turn;
use super::*;
use crate::fabric::{LIBFABRIC, Lane};

pub(crate) const MAPPING: Measure = Measure {
    name: "mapping",
    run: Some(|runner| {
        let (task, threads) = match runner.is("quiet") {
            true => ("quiet", Vec::new()),
            false => ("mapping", runner.numbers("threads")),
        };
        let room = (threads.iter().max().copied().unwrap_or(1) << 20) + (16 << 20);
        Design::ALL.into_iter().try_for_each(|design| {
            let given = PeArguments { threads: threads.clone(), ..PeArguments::default() };
            let job = runner.job(task, 2, given).with([(DESIGN, design.name())]);
            runner.repeat(&job.with(fabric::variables(runner.provider())).heap(room))
        })
    }),
    tasks: &[("mapping", Task::Threads(of_threads)), ("quiet", Task::Threads(of_quiet))],
    ..Measure::PLAIN
};

pub(crate) const TRACKING: Measure = Measure {
    name: "tracking",
    run: Some(|runner| match &runner.asked.provider.clone()[..] {
        [] => [AT_ONCE, PROVIDER].into_iter().try_for_each(|provider| track(runner, provider)),
        providers => providers.iter().try_for_each(|provider| track(runner, provider)),
    }),
    tasks: &[("tracking", Task::Threads(tracking))],
    possible: || shim().map(drop).and_then(|()| fabric::possible()),
};

/// The environment variable that selects the mapping of contexts to endpoints.
const DESIGN: &str = "SHMEM_CONTEXT_MAPPING";

fn design() -> String {
    fabric::variable(DESIGN).unwrap_or_default()
}

/// A batch of puts between two quiets: (bytes of a put, puts of a batch, batches in a sample). A batch has at most 1 MiB.
type Batch = (usize, usize, usize);

/// From batches of small puts, whose cost is mostly that of their issue, to batches of large puts.
const BATCHES: [Batch; 3] = [(8, 64, 16), (4 << 10, 64, 8), (64 << 10, 16, 4)];

fn of_threads(pair: &Pair<'_, Multiple>, bench: &Bench<'_>) -> Done {
    let (world, design) = (pair.world, &*design());
    for (&threads, batch) in bench.threads.iter().flat_map(|n| BATCHES.map(|batch| (n, batch))) {
        if let Err(why) = try_to_open(pair, threads) {
            eprintln!("mapping: {threads} threads are not measured: {why}");
            continue;
        }
        against_bare(bench, pair, (design, threads, batch), || {
            let context = world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
            move |from: &[u8], to: On<'_, [u8]>| puts(&context.bind(world), from, to, batch)
        });
        // Also measures threads that share the default context by a lock: once, because all mappings treat it alike.
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

/// Opens and closes as many contexts and endpoints as `threads` need, because a thread that fails later would block the others.
fn try_to_open(pair: &Pair<'_, Multiple>, threads: usize) -> Result<(), Box<dyn Error>> {
    let contexts: Vec<_> =
        (0..threads).map(|_| pair.world.create_ctx::<Private>()).collect::<Result<_, _>>()?;
    let lanes: Vec<_> = (0..threads).map(|_| Lane::open(&pair.bare)).collect::<Result<_, _>>()?;
    drop((contexts, lanes));
    Ok(())
}

/// Measures threads that put batches, against as many threads of the bare program with an endpoint each, in nanoseconds for each
/// put of a thread. `thread` makes a thread's context, and returns the function that puts a batch.
fn against_bare<T: FnMut(&[u8], On<'_, [u8]>)>(
    bench: &Bench<'_>,
    pair: &Pair<'_, Multiple>,
    (design, threads, (bytes, in_flight, passes)): (&str, usize, Batch),
    thread: impl Fn() -> T + Sync,
) {
    let (room, own, place, peer) = (bytes * in_flight, vec![1; bytes * in_flight], pair.place(), pair.peer);
    let bare = &pair.bare;
    // Samples of many threads have fewer passes, because threads take turns on cores.
    let passes = passes.div_ceil(LESS).div_ceil(threads) as u64;
    bench.of_threads(threads, format!("mapping {design}/{threads}/{bytes}"), || {
        in_turn(threads, (passes, in_flight), bench.repetitions, |number, rounds| {
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

fn contexts(pair: &Pair<'_, Multiple>, count: usize) -> Result<Vec<Context<Private>>> {
    let domain = &pair.world.domains::<Private>(1)?[0];
    (0..count).map(|_| domain.create_ctx::<Private>()).collect()
}

/// Numbers of contexts that are measured. Each has [`IN_FLIGHT`] operations. A sample has [`ROUNDS`] quiets, of one context after
/// another.
const CONTEXTS: [usize; 5] = [1, 2, 4, 8, 16];
const IN_FLIGHT: usize = 4;
const ROUNDS: usize = 16_usize.div_ceil(LESS);

/// Measures the quiet of one context, against quiets of all contexts, in microseconds. All contexts have puts in flight.
fn of_quiet(pair: &Pair<'_, Multiple>, bench: &Bench<'_>) -> Done {
    let contexts = contexts(pair, CONTEXTS[4])?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(pair.world)).collect();
    // Contexts may share a completion counter for short puts, but not for long ones.
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
        let name = format!("quiet {}/{number}/{bytes}", design());
        bench.pairs(name, || sample(false), || sample(true));
    }
    Ok(())
}

/// The mappings of contexts to endpoints for which the tracking of completions is measured. The last one is most like the bare
/// program.
const DESIGNS: [Design; 4] = [Design::Events, Design::Hybrid, Design::Domain, Design::Context];

/// Name in cases of the libfabric that completes writes at once (`fabric-shim`).
const AT_ONCE: &str = "at-once";

/// Returns the path of `fabric-shim`, the libfabric that can complete writes at once. Builds it if it is not beside this program.
fn shim() -> Result<PathBuf, String> {
    built("libfabric_shim.so", &["-p", "fabric-shim", "--lib"])
}

/// Measures each mapping over a provider. Prints a remark if `fabric-shim` is needed and missing.
fn track(runner: &mut Runner, provider: &str) -> Done {
    let (provider, shim) = match (provider == AT_ONCE).then(shim).transpose() {
        Ok(None) => (provider, None),
        Ok(Some(shim)) => (PROVIDER, Some((LIBFABRIC, shim.display().to_string()))),
        Err(why) => {
            let lost = "shmem-perf: nothing is complete at once, and tracking is not measured so";
            runner.remark(&format!("{lost}: {why}"));
            return Ok(());
        }
    };
    DESIGNS.into_iter().try_for_each(|design| {
        let job = runner.job("tracking", 2, PeArguments::default()).with([(DESIGN, design.name())]);
        runner.repeat(&job.with(fabric::variables(provider)).with(shim.clone()))
    })
}

fn tracking(pair: &Pair<'_, Multiple>, bench: &Bench<'_>) -> Done {
    let (world, design) = (pair.world, design());
    let switch = fabric::variable(LIBFABRIC).and_then(|library| switch(&library));
    // Rounds in a sample: of batches, and of single puts. A sample takes some hundred microseconds, or milliseconds over a network.
    let (provider, rounds, sizes) = match switch {
        Some(_) => (AT_ONCE, [16, 256], &[8, 64, 512, 4 << 10, 64 << 10, 1 << 20][..]),
        None => (&*pair.provider, [2, 32], &[8, 4 << 10, 64 << 10][..]),
    };
    let contexts = contexts(pair, 4)?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(world)).collect();
    if let Some(switch) = switch {
        // Checks that the switch has an effect: the write must not reach the other PE.
        let (place, mut found) = (pair.place().index(..8), [0_u8; 8]);
        let put = |byte| {
            world.put(place, &[byte; 8]);
            world.quiet();
        };
        put(2);
        at_once(switch, || put(3));
        world.get(&mut found, place);
        assert_eq!(found, [2; 8], "a write that is complete at once has reached the other PE");
    }
    // Measures batches of puts through each context in turn. Each batch ends with a quiet.
    let take = |case: &str, bytes: usize, batch: usize, rounds: usize| {
        let rounds = rounds.div_ceil(LESS);
        let (own, place, puts) =
            (vec![1_u8; bytes], pair.place().index(..bytes), (tokens.len() * batch) as f64);
        let cost = || {
            for context in &tokens {
                // The end of a scope includes the quiet of its context.
                context.scope(|scope| (0..batch).for_each(|_| scope.put(place, &own)));
            }
        };
        let limit = || {
            for _ in &tokens {
                (0..batch).for_each(|_| pair.lane.put(&pair.peer, 0, 0, bytes));
                pair.lane.quiet();
            }
        };
        let both = || (each(rounds, cost) / puts, each(rounds, limit) / puts);
        let measure = || Samples::of(bench.repetitions, both);
        bench.samples(format!("tracking {design}/{case}/{provider}"), || match switch {
            Some(switch) => at_once(switch, measure),
            None => measure(),
        });
    };
    // A batch has 64 puts, or fewer, so that it has at most 2 MiB.
    for &bytes in sizes {
        take(&bytes.to_string(), bytes, ((2 << 20) / bytes).clamp(1, 64), rounds[0]);
    }
    take("quiet", 8, 1, rounds[1]);
    Ok(())
}

type Switch = extern "C" fn(c_int);

/// Returns the function of `fabric-shim` that switches the completion of writes at once; `None` for another libfabric.
fn switch(library: &str) -> Option<Switch> {
    // SAFETY: the job has loaded the library before, so that this call runs no initialiser.
    let library = unsafe { Loaded::open(library) }.ok()?;
    // SAFETY: `fabric-shim` alone has a function of this name, and it has the type `Switch`.
    unsafe { library.function(c"fabric_shim_at_once", None) }.ok()
}

/// Runs `body` while writes complete at once and have no effect.
fn at_once<R>(switch: Switch, body: impl FnOnce() -> R) -> R {
    switch(1);
    let result = body();
    switch(0);
    result
}
