//! What it costs to know that operations are complete, by the design of the mapping: on the transport itself, over a provider
//! whose writes are complete at once, so that nothing is left but what the processor does, and over a network.

use std::ffi::c_int;

use shmem::{Order as _, Rma as _};
use shmem_core::context::NonBlocking;
use shmem_core::loader::Loaded;

use super::*;
use crate::fabric::LIBFABRIC;

pub(crate) const MEASURE: Measure = Measure {
    name: "tracking",
    run: Some(|runner| match &runner.asked.provider.clone()[..] {
        [] => measure(runner, AT_ONCE).and_then(|()| measure(runner, PROVIDER)),
        providers => providers.iter().try_for_each(|provider| measure(runner, provider)),
    }),
    tasks: &[("tracking", Task::Threads(tracking))],
    possible: || shim().map(drop).and_then(|()| fabric::possible()),
    ..Measure::PLAIN
};

/// The designs. The last one is nearest to what they are compared with.
const DESIGNS: [Design; 4] = [Design::Events, Design::Hybrid, Design::Domain, Design::Context];

/// A provider whose writes are complete at once, as it stands in cases.
const AT_ONCE: &str = "at-once";

/// `fabric-shim`, a libfabric that has a switch for it: beside this program, where a build leaves it; built if it is not there
/// and the sources are.
fn shim() -> Result<PathBuf, String> {
    built("libfabric_shim.so", &["-p", "fabric-shim", "--lib"])
}

/// Every design over a provider. Where it cannot be had, that is said.
fn measure(runner: &mut Runner, provider: &str) -> Done {
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
        let job = mapping::job(runner, "tracking", design, Given::default());
        runner.repeat(&job.with(fabric::variables(provider)).with(shim.clone()))
    })
}

const CONTEXTS: usize = 4;

fn tracking(pair: &Pair<'_, Multiple>, bench: &Bench<'_>) -> Done {
    let (world, design) = (pair.world, fabric::variable(mapping::DESIGN).unwrap_or_default());
    let switch = fabric::variable(LIBFABRIC).and_then(|library| switch(&library));
    // Turns in one sample, of batches and of single puts: some hundred microseconds, and some milliseconds.
    let (provider, rounds, sizes) = match switch {
        Some(_) => (AT_ONCE, [16, 256], &[8, 64, 512, 4 << 10, 64 << 10, 1 << 20][..]),
        None => (&*pair.provider, [2, 32], &[8, 4 << 10, 64 << 10][..]),
    };
    let domain = &world.domains::<Private>(1)?[0];
    let contexts = (0..CONTEXTS).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(world)).collect();
    if let Some(switch) = switch {
        // Sees for itself that nothing goes out while writes are complete at once.
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
    // Puts through contexts in turn, a batch and its quiet through each.
    let take = |case: &str, bytes: usize, batch: usize, rounds: usize| {
        let rounds = rounds.div_ceil(LESS);
        let (own, place, puts) = (vec![1_u8; bytes], pair.place().index(..bytes), (CONTEXTS * batch) as f64);
        let cost = || {
            for context in &tokens {
                // The end of a scope is the quiet of its context.
                context.scope(|scope| (0..batch).for_each(|_| scope.put(place, &own)));
            }
        };
        let limit = || {
            for _ in 0..CONTEXTS {
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
    // Operations of a context between two quiets: 64, or those of 2 MiB.
    for &bytes in sizes {
        take(&bytes.to_string(), bytes, ((2 << 20) / bytes).clamp(1, 64), rounds[0]);
    }
    take("quiet", 8, 1, rounds[1]);
    Ok(())
}

type Switch = extern "C" fn(c_int);

/// That of the library which the transport of this job has loaded as its libfabric, if it has one.
fn switch(library: &str) -> Option<Switch> {
    // SAFETY: it is loaded, so that nothing of it runs for the first time.
    let library = unsafe { Loaded::open(library) }.ok()?;
    // SAFETY: the one function of that name is the shim's, and has this type.
    unsafe { library.function(c"fabric_shim_at_once", None) }.ok()
}

/// Does something while writes are complete at once and reach nobody. Nothing is under way before.
fn at_once<R>(switch: Switch, body: impl FnOnce() -> R) -> R {
    switch(1);
    let result = body();
    switch(0);
    result
}
