//! What it costs to know that operations are complete, by the design of the mapping: on the transport itself, over a provider
//! whose writes are complete at once, so that nothing is left but what the processor does, and over a network.

use std::path::PathBuf;

use shmem::mapping::Design;
use shmem::thread::{Multiple, Private};
use shmem::{Order as _, Rma as _, World};

use crate::case::Record;
use crate::fabric::at_once::{self, Switch};
use crate::fabric::tracking::{CONTEXTS, FAR_SIZES, SIZES};
use crate::fabric::{Operation, Pair, State};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::jobs::Asked;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::mapping;
use crate::measure::ofi::{self, Far, LIBFABRIC, PROVIDER, over, print};
use crate::name::names;
use crate::runner::Runner;
use crate::task::{Done, Task};

/// What tracking costs.
pub const MEASURE: Measure = Measure {
    name: "tracking",
    about: "What it costs to know that operations are complete, by the design of contexts, over a provider whose writes are \
            complete at once and over TCP",
    run: |runner, _| {
        measure(runner, Over::AtOnce)?;
        measure(runner, Over::Network)
    },
    // Two networks, of which one may have to be built first.
    usual: false,
    tasks: &[TRACKING],
    cases: &[
        cases(
            &["tracking"],
            "design/bytes/provider",
            "puts of four contexts in turn and their quiets, in each mapping of contexts to endpoints; `at-once`: over a provider \
             (`fabric-shim`) that copies the bytes and is done",
            "the same by a bare program, which has one endpoint and its counter",
        ),
        cases(&["tracking"], "design/quiet/provider", "one 8-byte put and its quiet", "the same"),
    ],
    goal: |case| {
        // Large ones do not notice, where a network takes its time.
        goal_of(case, |name| match name {
            Name::Batch(Design::Events | Design::Hybrid | Design::Domain, 65_536.., provider)
                if provider != Over::AtOnce.name() =>
            {
                Some(Goal::Ratio(1.05))
            }
            _ => None,
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        jobs: 1,
        possible: || {
            at_once::library().map_err(|why| why.to_string())?;
            ofi::bare(PROVIDER, 8).map(drop).map_err(|why| why.to_string())
        },
        cases: || {
            let at_once = || Over::AtOnce.name().to_owned();
            vec![
                Guarded::side_by_side(
                    Name::Batch(Design::Events, 64 << 10, at_once()),
                    Bound::Own(Goal::Ratio(3.0)),
                ),
                // By events it is more than six.
                Guarded::side_by_side(
                    Name::Batch(Design::Domain, 8, at_once()),
                    Bound::Own(Goal::Ratio(5.0)),
                ),
            ]
        },
        ..Guard::of("tracking", |runner| measure(runner, Over::AtOnce))
    }],
    ..Measure::PLAIN
};

const TRACKING: Task = Task { name: "tracking", pe: |_, repetitions| pe(repetitions) };

names! {
    Quiet(design: Design, provider: String) = "tracking": [design / "quiet" / provider];
    Batch(design: Design, bytes: usize, provider: String) = "tracking": [design / bytes / provider];
}

/// The designs. The last one is nearest to what they are compared with.
pub(crate) const DESIGNS: [Design; 4] = [Design::Events, Design::Hybrid, Design::Domain, Design::Context];

/// What puts go over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// A provider whose writes are complete at once.
    AtOnce,
    /// TCP.
    Network,
}

impl Over {
    /// As it stands in cases.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "at-once",
            Self::Network => PROVIDER,
        }
    }

    /// Turns in one sample: some hundred microseconds, and some milliseconds.
    const fn rounds(self, alone: bool) -> usize {
        match (self, alone) {
            (Self::AtOnce, false) => 16,
            (Self::AtOnce, true) => 256,
            (Self::Network, false) => 2,
            (Self::Network, true) => 32,
        }
    }

    const fn sizes(self) -> &'static [usize] {
        match self {
            Self::AtOnce => &SIZES,
            Self::Network => &FAR_SIZES,
        }
    }
}

/// Every design over a provider. Where it cannot be had, that is said.
pub(crate) fn measure(runner: &mut Runner, provider: Over) -> Done {
    let shim = match provider {
        Over::Network => None,
        Over::AtOnce => match at_once::library() {
            Ok(library) => Some(library),
            Err(why) => {
                runner.remark(&format!(
                    "shmem-perf: nothing is complete at once, and tracking is not measured so: {why}"
                ));
                return Ok(());
            }
        },
    };
    DESIGNS.into_iter().try_for_each(|design| runner.repeat(&of_design(runner, design, shim.as_ref())))
}

fn of_design(runner: &Runner, design: Design, shim: Option<&PathBuf>) -> Asked {
    let mut job = over(runner, &TRACKING, PROVIDER);
    job.variables.push(mapping::variable(design));
    job.variables.extend(shim.map(|shim| (LIBFABRIC.to_owned(), shim.display().to_string())));
    job
}

/// Sees for itself that nothing goes out while writes are complete at once.
///
/// # Panics
///
/// If something does.
fn is_alone(world: &World<Multiple>, pair: &Pair<'_, Multiple>, switch: Switch) {
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

/// One PE of a job.
fn pe(repetitions: usize) -> Done {
    let world = shmem::init::<Multiple>()?;
    let far = Far::new(&world, Operation::room(), repetitions)?;
    let design = mapping::design();
    // SAFETY: the transport of this job has loaded it.
    let switch = ofi::variable(LIBFABRIC).and_then(|library| unsafe { Switch::of(&library) });
    let provider = if switch.is_some() { Over::AtOnce } else { Over::Network };
    let pair = Pair::new(&world, &far.bare)?;
    let domain = &world.domains::<Private>(1)?[0];
    let contexts = (0..CONTEXTS).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
    let tokens: Vec<_> = contexts.iter().map(|context| context.bind(&world)).collect();
    let records = pair.measure(|pair| {
        if let Some(switch) = switch {
            is_alone(&world, pair, switch);
        }
        let take = |bytes, alone| {
            let rounds = provider.rounds(alone);
            // The other PE is told before anything goes nowhere.
            let measure = || pair.contexts_against_bare(&tokens, (bytes, alone), rounds, repetitions);
            pair.ready(State::Asleep);
            match switch {
                Some(switch) => switch.during(measure),
                None => measure(),
            }
        };
        let record = |name, samples| {
            let compared = match provider {
                Over::AtOnce => "puts of four contexts and their quiets over a provider whose writes are complete at once, against the same by the bare program; time for each put",
                Over::Network => "puts of four contexts and their quiets, against the same by the bare program; the other PE sleeps; time for each put",
            };
            Record::new(&far.site, &name, "ns", compared, samples)
        };
        let batches = provider.sizes().iter().map(|&bytes| {
            record(Name::Batch(design, bytes, provider.name().to_owned()), take(bytes, false))
        });
        let mut records: Vec<Record> = batches.collect();
        records.push(record(Name::Quiet(design, provider.name().to_owned()), take(8, true)));
        records
    });
    print(&records.unwrap_or_default())
}
