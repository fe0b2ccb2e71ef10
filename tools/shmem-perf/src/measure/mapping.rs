//! Contexts over libfabric: what they are mapped to, and what it costs to complete one of them.

use std::error::Error;

use clap::{Args, FromArgMatches};
use shmem::mapping::Design;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private};
use shmem_core::exclusion::Mutex;

use crate::case::{Record, Site};
use crate::fabric::mapping::{self, BATCHES, Batch, MOST_THREADS, THREADS};
use crate::fabric::quiet::{CONTEXTS, SIZES};
use crate::fabric::{Lane, Operation, Pair, State};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::ofi::{Far, PROVIDER, over, print};
use crate::name::{listed, names};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};

/// What contexts cost in each mapping.
pub const MEASURE: Measure = Measure {
    name: "mapping",
    about: "Threads with contexts, in each mapping of contexts to endpoints, against bare threads with endpoints",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    usual: false,
    tasks: &[MAPPING, QUIET],
    cases: &[
        cases(
            &["mapping"],
            "design/threads/bytes",
            "threads with a context each, in each mapping of contexts to endpoints; `locked`: with the default context behind a \
             lock",
            "as many bare threads with an endpoint each",
        ),
        cases(
            &["quiet"],
            "design/contexts/bytes",
            "the quiet of one of so many contexts of a domain, all of which have four puts under way",
            "the quiet of each of them",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Contexts(_, 1, _) => Some(Goal::Ratio(1.05)),
            // 0.95 of the rate. Where threads share an endpoint they wait for each other, and that is for comparison.
            Name::Contexts(Design::Context | Design::Auto, 2, _) => Some(Goal::Ratio(1.0 / 0.95)),
            _ => None,
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

const MAPPING: Task = Task {
    name: "mapping",
    pe: |given, repetitions| {
        pe(&given.threads, repetitions, |far, design| far.mapping(design, &given.threads))
    },
};
const QUIET: Task =
    Task { name: "quiet", pe: |_, repetitions| pe(&[], repetitions, |far, design| far.quiet(design)) };

names! {
    Locked(threads: usize, bytes: usize) = "mapping": ["locked" / threads / bytes];
    Contexts(design: Design, threads: usize, bytes: usize) = "mapping": [design / threads / bytes];
    Quiet(design: Design, contexts: usize, bytes: usize) = "quiet": [design / contexts / bytes];
}

listed!(Design, Design::ALL);

const CONTEXT_MAPPING: &str = "SHMEM_CONTEXT_MAPPING";

/// The mapping of a job's contexts, as its PEs are told.
pub(crate) fn variable(design: Design) -> (String, String) {
    (CONTEXT_MAPPING.to_owned(), design.name().to_owned())
}

/// The same, inside a PE.
pub(crate) fn design() -> Design {
    let named = std::env::var(CONTEXT_MAPPING).unwrap_or_default();
    Design::ALL.into_iter().find(|design| design.name() == named).unwrap_or(Design::Auto)
}

/// With how many threads, and over what.
#[derive(Args, Clone, Debug)]
struct Options {
    /// Numbers of threads, each with a context.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS as i64))]
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
        let threads = if threads.is_empty() { &THREADS[..] } else { &threads };
        Design::ALL.into_iter().try_for_each(|design| {
            let job = match self.quiet {
                true => quiet_of(runner, design, &self.provider),
                false => threads_of(runner, design, threads, &self.provider),
            };
            runner.repeat(&job)
        })
    }
}

/// A job of threads with a context each, in one mapping.
pub(crate) fn threads_of(runner: &Runner, design: Design, threads: &[usize], provider: &str) -> Asked {
    let room = mapping::room(threads.iter().max().copied().unwrap_or(1));
    let mut job = over(runner, &MAPPING, provider).threads(threads);
    job.variables.push(variable(design));
    job.variables.push(("SHMEM_SYMMETRIC_SIZE".to_owned(), (room + (16 << 20)).to_string()));
    job
}

/// A job of contexts that one thread completes one by one, in one mapping.
pub(crate) fn quiet_of(runner: &Runner, design: Design, provider: &str) -> Asked {
    let mut job = over(runner, &QUIET, provider);
    job.variables.push(variable(design));
    job
}

/// One PE of a job.
fn pe(
    threads: &[usize],
    repetitions: usize,
    measure: impl FnOnce(&Far<'_, Multiple>, Design) -> Done,
) -> Done {
    let world = shmem::init::<Multiple>()?;
    let room = mapping::room(threads.iter().max().copied().unwrap_or(1)).max(Operation::room());
    measure(&Far::new(&world, room, repetitions)?, design())
}

impl Far<'_, Multiple> {
    fn mapping(&self, design: Design, threads: &[usize]) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            pair.ready(State::Asleep);
            let mut records = Vec::new();
            for (&threads, batch) in threads.iter().flat_map(|n| BATCHES.map(|batch| (n, batch))) {
                if let Err(why) = self.try_to_open(threads) {
                    eprintln!("mapping: {threads} threads are not measured: {why}");
                    continue;
                }
                records.push(self.with_contexts(pair, design, threads, &batch));
                // The default context is the same in all mappings.
                if threads > 1 && design == Design::Auto {
                    records.push(self.behind_a_lock(pair, threads, &batch));
                }
            }
            records
        });
        print(&records.unwrap_or_default())
    }

    /// Opens what the threads will: one that could not would leave the others waiting.
    fn try_to_open(&self, threads: usize) -> Result<(), Box<dyn Error>> {
        let contexts: Vec<_> =
            (0..threads).map(|_| self.world.create_ctx::<Private>()).collect::<Result<_, _>>()?;
        let lanes: Vec<_> = (0..threads).map(|_| Lane::open(&self.bare)).collect::<Result<_, _>>()?;
        drop((contexts, lanes));
        Ok(())
    }

    fn with_contexts(
        &self,
        pair: &Pair<'_, Multiple>,
        design: Design,
        threads: usize,
        batch: &Batch,
    ) -> Record {
        let (place, bare, own) = (pair.place(), (&self.bare, pair.peer()), vec![1; batch.room()]);
        let samples = mapping::against_bare(bare, threads, batch, self.repetitions, |number, turns| {
            let context = self.world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
            turns.run(|| batch.through(&context.bind(self.world), place, &own, number));
        });
        let name = Name::Contexts(design, threads, batch.bytes);
        self.record_of_threads("threads with a context each", threads, &name, samples)
    }

    fn behind_a_lock(&self, pair: &Pair<'_, Multiple>, threads: usize, batch: &Batch) -> Record {
        let (place, bare, own) = (pair.place(), (&self.bare, pair.peer()), vec![1; batch.room()]);
        let lock = Mutex::new(());
        let samples = mapping::against_bare(bare, threads, batch, self.repetitions, |number, turns| {
            turns.run(|| {
                let _alone = lock.lock();
                batch.through(self.world, place, &own, number);
            });
        });
        let name = Name::Locked(threads, batch.bytes);
        self.record_of_threads("threads with the default context behind a lock", threads, &name, samples)
    }

    fn record_of_threads(&self, what: &str, threads: usize, name: &Name, samples: Samples) -> Record {
        let compared = format!(
            "{what}, against bare threads with an endpoint each; the other PE sleeps; time for each put"
        );
        let shared_cores = self.site.shared_cores || threads > self.cores;
        let site = Site { shared_cores, ..self.site.clone() };
        Record::new(&site, name, "ns", compared, samples)
    }

    fn quiet(&self, design: Design) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let domain = &self.world.domains::<Private>(1)?[0];
        let most = CONTEXTS[CONTEXTS.len() - 1];
        let contexts = (0..most).map(|_| domain.create_ctx::<Private>()).collect::<Result<Vec<_>, _>>()?;
        let tokens: Vec<_> = contexts.iter().map(|context| context.bind(self.world)).collect();
        let records = pair.measure(|pair| {
            let cases = SIZES.into_iter().flat_map(|bytes| CONTEXTS.map(|number| (number, bytes)));
            let record = |(number, bytes): (usize, usize)| {
                let samples = pair.one_against_all(&tokens[..number], bytes, self.repetitions);
                let compared = "quiet of one context while all of a domain have puts under way, against that of \
                                each of them; the other PE sleeps";
                Record::new(&self.site, &Name::Quiet(design, number, bytes), "us", compared, samples)
            };
            cases.map(record).collect::<Vec<_>>()
        });
        print(&records.unwrap_or_default())
    }
}
