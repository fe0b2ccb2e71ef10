//! What it costs to know that operations are complete, by the design of the mapping: on the transport itself, over a provider
//! whose writes are complete at once, so that nothing is left but what the processor does, and over a network.

use std::ffi::c_int;
use std::path::PathBuf;

use shmem::mapping::Design;
use shmem::thread::{Multiple, Private};
use shmem::{Order as _, Rma as _, World};
use shmem_core::context::{NonBlocking, Stores};
use shmem_core::loader::Loaded;

use super::{At, Cases, Measure, mapping, row};
use crate::bench::Records;
use crate::check::{Bound, Guard, held_by_two};
use crate::fabric::{self, Far, LESS, LIBFABRIC, PROVIDER, State, over};
use crate::goal::Goal;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::sources::{self, Missing};
use crate::task::{Done, Task};

type Pair<'w> = fabric::Pair<'w, Multiple>;

pub(crate) const MEASURE: Measure = Measure {
    name: "tracking",
    about: "What it costs to know that operations are complete, by the design of contexts, over a provider whose writes are \
            complete at once and over TCP",
    run: |runner, _| {
        measure(runner, AT_ONCE)?;
        measure(runner, PROVIDER)
    },
    // Two networks, of which one may have to be built first.
    usual: false,
    tasks: &[TRACKING],
    rows: ROWS,
    guards: &[Guard {
        jobs: 1,
        possible: || {
            shim().map_err(|why| why.to_string())?;
            fabric::possible()
        },
        ..Guard::of(
            "tracking",
            |runner| measure(runner, AT_ONCE),
            || {
                vec![
                    held_by_two("tracking events/65536/at-once", Bound::Own(Goal::Ratio(3.0))),
                    // By events it is more than six.
                    held_by_two("tracking domain/8/at-once", Bound::Own(Goal::Ratio(5.0))),
                ]
            },
        )
    }],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("tracking | design/bytes/provider | puts of four contexts in turn and their quiets, in each mapping of contexts to \
         endpoints; `at-once`: over a provider (`fabric-shim`) that copies the bytes and is done | the same by a bare \
         program, which has one endpoint and its counter",
        // Large ones do not notice, where a network takes its time.
         &[("tracking events|hybrid|domain/65536../tcp;ofi_rxm", At::Anywhere, Goal::Ratio(1.05))]),
    row("tracking | design/quiet/provider | one 8-byte put and its quiet | the same", &[]),
];

const TRACKING: Task =
    Task::own("tracking", |given, repetitions| fabric::with_threads(given, repetitions, tracking));

/// The designs. The last one is nearest to what they are compared with.
const DESIGNS: [Design; 4] = [Design::Events, Design::Hybrid, Design::Domain, Design::Context];

/// A provider whose writes are complete at once, as it stands in cases.
pub(crate) const AT_ONCE: &str = "at-once";

/// `fabric-shim`, a libfabric that has a switch for it: beside this program, where a build leaves it; built if it is not there
/// and the sources are.
fn shim() -> Result<PathBuf, Missing> {
    sources::built("libfabric_shim.so", &["-p", "fabric-shim", "--lib"])
}

/// Every design over a provider. Where it cannot be had, that is said.
pub(crate) fn measure(runner: &mut Runner, provider: &str) -> Done {
    let shim = if provider == AT_ONCE { Some(shim()) } else { None };
    let shim = match shim.transpose() {
        Ok(shim) => shim,
        Err(why) => {
            runner.remark(&format!(
                "shmem-perf: nothing is complete at once, and tracking is not measured so: {why}"
            ));
            return Ok(());
        }
    };
    DESIGNS.into_iter().try_for_each(|design| {
        let job = over(runner, &TRACKING, PROVIDER).with(&[mapping::variable(design)]);
        runner.repeat(&match &shim {
            Some(shim) => job.with(&[(LIBFABRIC, shim.display().to_string())]),
            None => job,
        })
    })
}

/// Contexts of a domain, which are used in turn.
const CONTEXTS: usize = 4;

/// Operations of a context between two quiets, and the most bytes of them.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 2 << 20;

/// One PE of a job.
fn tracking(far: &Far<'_, Multiple>) -> Records {
    let (world, design) = (far.world, mapping::design().name());
    // SAFETY: the transport of this job has loaded it.
    let switch = fabric::variable(LIBFABRIC).and_then(|library| unsafe { Switch::of(&library) });
    // Turns in one sample, of batches and of single puts: some hundred microseconds, and some milliseconds.
    let (provider, rounds, sizes, compared) = match switch {
        Some(_) => (
            AT_ONCE,
            [16, 256],
            &[8, 64, 512, 4 << 10, 64 << 10, 1 << 20][..],
            "puts of four contexts and their quiets over a provider whose writes are complete at once, against the same by the bare program; time for each put",
        ),
        None => (
            PROVIDER,
            [2, 32],
            &[8, 4 << 10, 64 << 10][..],
            "puts of four contexts and their quiets, against the same by the bare program; the other PE sleeps; time for each put",
        ),
    };
    let domain = &world.domains::<Private>(1)?[0];
    let contexts = (0..CONTEXTS).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(world)).collect();
    Ok(far.pair()?.measure(|pair| {
        if let Some(switch) = switch {
            is_alone(world, pair, switch);
        }
        let take = |case: &str, bytes, batch, rounds: usize| {
            // The other PE is told before anything goes nowhere.
            let measure =
                || against_bare(pair, &tokens, (bytes, batch), rounds.div_ceil(LESS), far.repetitions);
            pair.ready(State::Asleep);
            let samples = match switch {
                Some(switch) => switch.during(measure),
                None => measure(),
            };
            far.record(&format!("tracking {design}/{case}/{provider}"), compared, samples)
        };
        let batch = |bytes: &usize| {
            take(&bytes.to_string(), *bytes, BATCH.min(BATCH_BYTES / bytes).max(1), rounds[0])
        };
        let mut records: Vec<_> = sizes.iter().map(batch).collect();
        records.push(take("quiet", 8, 1, rounds[1]));
        records
    }))
}

/// Puts of `bytes` bytes through contexts in turn, a batch and its quiet through each, against the same by the bare program,
/// which has one endpoint and its counter: nanoseconds for each put. The other PE has been told to sleep.
fn against_bare<I: Stores>(
    pair: &Pair<'_>,
    contexts: &[I],
    (bytes, batch): (usize, usize),
    rounds: usize,
    repetitions: usize,
) -> Samples {
    let (own, place, puts) =
        (vec![1_u8; bytes], pair.place().index(..bytes), rounds * contexts.len() * batch);
    // The end of a scope is the quiet of its context.
    let through = |context: &I| context.scope(|scope| (0..batch).for_each(|_| scope.put(place, &own)));
    let cost = || nanoseconds_each(puts, || (0..rounds).for_each(|_| contexts.iter().for_each(through)));
    let limit = || {
        nanoseconds_each(puts, || {
            for _ in 0..rounds * contexts.len() {
                (0..batch).for_each(|_| pair.lane.put(&pair.peer, 0, 0, bytes));
                pair.lane.quiet();
            }
        })
    };
    Samples::alternate(repetitions, cost, limit)
}

/// Sees for itself that nothing goes out while writes are complete at once.
fn is_alone(world: &World<Multiple>, pair: &Pair<'_>, switch: Switch) {
    pair.ready(State::Asleep);
    let (place, mut found) = (pair.place().index(..8), [0_u8; 8]);
    let put = |byte| {
        world.put(place, &[byte; 8]);
        world.quiet();
    };
    put(2);
    switch.during(|| put(3));
    world.get(&mut found, place);
    assert_eq!(found, [2; 8], "a write that is complete at once has reached the other PE");
}

/// The switch of a shim that this process has loaded.
#[derive(Clone, Copy, Debug)]
struct Switch(extern "C" fn(c_int));

impl Switch {
    /// That of the library that this process has loaded as its libfabric, if it has one.
    ///
    /// # Safety
    ///
    /// The library is loaded, so that nothing of it runs for the first time.
    unsafe fn of(library: &str) -> Option<Self> {
        // SAFETY: what its initialisers do is done (caller).
        let library = unsafe { Loaded::open(library) }.ok()?;
        // SAFETY: the one function of that name is the shim's, and has this type.
        unsafe { library.function(c"fabric_shim_at_once", None) }.ok().map(Self)
    }

    /// Does something while writes are complete at once and reach nobody. Nothing is under way before.
    fn during<R>(self, body: impl FnOnce() -> R) -> R {
        (self.0)(1);
        let result = body();
        (self.0)(0);
        result
    }
}
