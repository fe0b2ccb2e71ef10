//! Contexts over libfabric: what they are mapped to, and what it costs to complete one of them.

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use shmem::mapping::Design;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private};
use shmem_perf::fabric::mapping::{self, BATCHES, Batch, MOST_THREADS, THREADS};
use shmem_perf::fabric::quiet::{CONTEXTS, SIZES};
use shmem_perf::fabric::{Lane, Operation, Pair, State};
use shmem_perf::jobs::Job;
use shmem_perf::{Record, Samples, Site};

use crate::Measure;
use crate::fabric::{Bench, PROVIDER, print};
use crate::runner::Runner;

/// What PEs are started for here.
pub(crate) const MEASURES: [Measure; 2] = [Measure::Mapping, Measure::Quiet];

const CONTEXT_MAPPING: &str = "SHMEM_CONTEXT_MAPPING";

/// With how many threads, and over what.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
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

impl Runner {
    /// In every mapping of contexts to endpoints: threads with a context each, or the quiet of one.
    pub(crate) fn mapping(&mut self, options: &Options) -> Result<(), Box<dyn Error>> {
        let Options { threads, quiet, provider } = options;
        let threads: Vec<_> = threads.iter().map(|&threads| usize::from(threads)).collect();
        let threads = if threads.is_empty() { &THREADS[..] } else { &threads };
        Design::ALL.into_iter().try_for_each(|design| {
            let job = match quiet {
                true => self.quiet_of(design, provider),
                false => self.mapping_of(design, threads, provider),
            };
            self.repeat(&job)
        })
    }

    /// A job of threads with a context each, in one mapping.
    pub(crate) fn mapping_of(&self, design: Design, threads: &[usize], provider: &str) -> Job {
        let room = mapping::room(threads.iter().max().copied().unwrap_or(1));
        let mut job = self.over(Measure::Mapping, provider);
        job.variables.push((CONTEXT_MAPPING.to_owned(), design.name().to_owned()));
        job.variables.push(("SHMEM_SYMMETRIC_SIZE".to_owned(), (room + (16 << 20)).to_string()));
        let threads: Vec<_> = threads.iter().map(ToString::to_string).collect();
        job.args.extend(["--threads".into(), threads.join(",")]);
        job
    }

    /// A job of contexts that one thread completes one by one, in one mapping.
    pub(crate) fn quiet_of(&self, design: Design, provider: &str) -> Job {
        let mut job = self.over(Measure::Quiet, provider);
        job.variables.push((CONTEXT_MAPPING.to_owned(), design.name().to_owned()));
        job
    }
}

/// One PE of a job.
pub(crate) fn pe(measure: Measure, threads: &[usize], repetitions: usize) -> Result<(), Box<dyn Error>> {
    let world = shmem::init::<Multiple>()?;
    let room = mapping::room(threads.iter().max().copied().unwrap_or(1)).max(Operation::room());
    let bench = Bench::new(&world, room, repetitions)?;
    let design = std::env::var(CONTEXT_MAPPING).unwrap_or_else(|_| Design::Auto.name().to_owned());
    match measure {
        Measure::Quiet => bench.quiet(&design),
        _ => bench.mapping(&design, threads),
    }
}

impl Bench<'_, Multiple> {
    fn mapping(&self, design: &str, threads: &[usize]) -> Result<(), Box<dyn Error>> {
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
                if threads > 1 && design == Design::Auto.name() {
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
        design: &str,
        threads: usize,
        batch: &Batch,
    ) -> Record {
        let (place, bare, own) = (pair.place(), (&self.bare, pair.peer()), vec![1; batch.room()]);
        let samples = mapping::against_bare(bare, threads, batch, self.repetitions, |number, turns| {
            let context = self.world.create_ctx::<Private>().unwrap_or_else(|error| panic!("{error}"));
            turns.run(|| batch.through(&context.bind(self.world), place, &own, number));
        });
        let case = format!("{design}/{threads}/{}", batch.bytes);
        self.record_of_threads("threads with a context each", threads, case, samples)
    }

    fn behind_a_lock(&self, pair: &Pair<'_, Multiple>, threads: usize, batch: &Batch) -> Record {
        let (place, bare, own) = (pair.place(), (&self.bare, pair.peer()), vec![1; batch.room()]);
        let lock = Mutex::new(());
        let samples = mapping::against_bare(bare, threads, batch, self.repetitions, |number, turns| {
            turns.run(|| {
                let _alone = lock.lock().unwrap_or_else(PoisonError::into_inner);
                batch.through(self.world, place, &own, number);
            });
        });
        let case = format!("locked/{threads}/{}", batch.bytes);
        self.record_of_threads("threads with the default context behind a lock", threads, case, samples)
    }

    fn record_of_threads(&self, what: &str, threads: usize, case: String, samples: Samples) -> Record {
        let compared = format!(
            "{what}, against bare threads with an endpoint each; the other PE sleeps; time for each put"
        );
        let shared_cores = self.site.shared_cores || threads > self.cores;
        let site = Site { shared_cores, ..self.site.clone() };
        Record::new(&site, "mapping", case, "ns", compared, samples)
    }

    fn quiet(&self, design: &str) -> Result<(), Box<dyn Error>> {
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
                let case = format!("{design}/{number}/{bytes}");
                Record::new(&self.site, "quiet", case, "us", compared, samples)
            };
            cases.map(record).collect::<Vec<_>>()
        });
        print(&records.unwrap_or_default())
    }
}
