//! The usual micro-benchmarks over libfabric, and collectives of small jobs beside the scale model.

use std::error::Error;
use std::sync::Arc;

use shmem::thread::{Single, ThreadLevel};
use shmem_perf::collective::{self, Buffers, CASES, CollectiveCase};
use shmem_perf::fabric::model::Model;
use shmem_perf::fabric::{OPERATIONS, Operation, Pair, State};
use shmem_perf::hosts::Hosts;
use shmem_perf::scale::{self, Cost, MEASURED, MEASURED_CASES, Shape};
use shmem_perf::{Record, Samples, Site};

use crate::Measure;
use crate::fabric::{Bench, print};
use crate::runner::Runner;

/// Collectives in one sample of a small job, whose PEs have a core each, or share them.
const TIMES: usize = 32;
const TIMES_SHARED: usize = 8;

/// What the model is fed with: the state of the PE that is written to, as it stands in cases.
pub(crate) const STATES: [&str; 2] = ["polling", "asleep"];

impl Runner {
    /// Latencies, bandwidths, atomic operations and collectives by size.
    pub(crate) fn micro(
        &mut self,
        few: bool,
        hosts: Option<&Arc<Hosts>>,
        provider: &str,
    ) -> Result<(), Box<dyn Error>> {
        let job = self.over(if few { Measure::OfiMicroFew } else { Measure::OfiMicro }, provider);
        self.repeat(&hosts.map_or(job.clone(), |hosts| job.on(hosts)))
    }

    /// What the model's three numbers are between two PEs of this host, in each of [`STATES`]; what it predicts; and
    /// what jobs of some PEs take.
    pub(crate) fn model(&mut self, provider: &str) -> Result<[Model; 2], Box<dyn Error>> {
        let records = Record::join(self.records(&self.over(Measure::OfiModel, provider))?);
        let median = |number: &str, state: &str| {
            let of = records.iter().find(|record| record.case == format!("{number}/{state}/{provider}"));
            of.map(|record| record.samples.cost().median).ok_or("a number of the model is missing")
        };
        let model = |state| -> Result<Model, &str> {
            Ok(Model {
                alpha: median("alpha", state)?,
                gap: median("gap", state)?,
                beta: median("beta", state)?,
            })
        };
        let [polling, asleep] = STATES.map(model);
        let (polling, asleep) = (polling?, asleep?);
        self.show(records);
        for pes in MEASURED {
            self.small(pes, &polling, provider)?;
        }
        self.explain(&format!(
            "a model, from these numbers at a PE that sleeps; none of it is measured\n{}",
            scale::table(&asleep)
        ));
        Ok([polling, asleep])
    }

    /// A job of so many PEs, each as if on a node of its own, beside what the model says.
    fn small(&mut self, pes: usize, model: &Model, provider: &str) -> Result<(), Box<dyn Error>> {
        let job = self.over(Measure::OfiScale, provider).on(&Arc::new(Hosts::apart()));
        let (job, shape) = (shmem_perf::jobs::Job { pes, ..job }, Shape { nodes: pes, per_node: 1 });
        let mut records = self.records(&job)?;
        for case in MEASURED_CASES {
            let predicted = Cost::of(case.into(), shape).time(shape, model);
            for record in records.iter_mut().filter(|record| record.case == case.name(pes)) {
                let mut beside = Samples::new();
                record.samples.pairs().iter().for_each(|&(cost, _)| beside.push(cost, predicted));
                record.samples = beside;
            }
        }
        self.show(records);
        Ok(())
    }
}

impl<L: ThreadLevel> Bench<'_, L> {
    /// The usual micro-benchmarks.
    pub(crate) fn micro(&self, few: bool) -> Result<(), Box<dyn Error>> {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            let mut add = |name: &str, bytes, compared: &str, samples| {
                let case = format!("{name}/{bytes}/{}", self.provider);
                records.push(Record::new(&self.site, "network", case, "ns", compared, samples));
            };
            for operation in Operation::micro(few) {
                let compared = format!("{}, against the bare program; the other PE polls", operation.does);
                let samples = pair.against_bare(&operation, State::Polling, self.repetitions);
                add(operation.name, operation.bytes, &compared, samples);
            }
            for operation in OPERATIONS.iter().filter(|operation| operation.is_latency()) {
                let compared =
                    format!("{}, against the bare program; the other PE sleeps in its own code", operation.does);
                let samples = pair.against_bare(operation, State::Asleep, self.repetitions);
                add(&format!("{}-asleep", operation.name), operation.bytes, &compared, samples);
            }
            pair.ready(State::Polling);
            for bytes in Operation::sizes(few) {
                let compared = "non-blocking puts with 64 in flight in both directions at once, against the bare \
                                program; time for each in one direction";
                add("both-ways", bytes, compared, pair.both_ways(bytes, self.repetitions));
            }
            let is_wanted = |case: &&CollectiveCase| !few || case.bytes <= 4 << 10;
            for case in CASES.iter().filter(is_wanted) {
                let compared = "a collective of two PEs, against a put of as many bytes by the bare program and its \
                                quiet: there and back";
                let samples = pair.collective(*case, self.repetitions);
                add(case.operation.name(), case.bytes, compared, samples);
            }
            records
        });
        print(&records.unwrap_or_default())
    }
}

/// A PE of a small job. There is no limit yet: the tool knows what the model says.
pub(crate) fn small(repetitions: usize) -> Result<(), Box<dyn Error>> {
    let world = shmem::init::<Single>()?;
    let site = Site::of(&world, std::thread::available_parallelism()?.get());
    let mut buffers = Buffers::new(world.n_pes());
    let mut records = Vec::new();
    for case in MEASURED_CASES {
        let times = if site.shared_cores { TIMES_SHARED } else { TIMES };
        let mut sample = || collective::run(&world, case, &mut buffers, times);
        let samples = Samples::alternate(repetitions, &mut sample, || 1.0);
        let compared = "a collective of PEs that are told that each is on a node of its own, against what the scale model \
                        predicts for as many nodes with cores of their own";
        records.push(Record::new(&site, "network-scale", case.name(world.n_pes()), "ns", compared, samples));
    }
    print(if world.my_pe() == 0 { &records } else { &[] })
}
