//! The usual micro-benchmarks over libfabric, and collectives of small jobs beside the scale model: a part of `ofi`.

use std::error::Error;
use std::sync::Arc;

use shmem::thread::{Single, ThreadLevel};

use crate::case::{Record, Site};
use crate::fabric::model::Model;
use crate::fabric::{OPERATIONS, Operation, Pair, State};
use crate::hosts::Hosts;
use crate::jobs::Asked;
use crate::measure::collective::{self, Buffers, CASES, CollectiveCase};
use crate::measure::form::{Measure, again, cases};
use crate::measure::ofi::{self, At, Far, Number, OFI_MODEL, over, pe, print};
use crate::name::names;
use crate::runner::Runner;
use crate::samples::Samples;
use crate::scale::{self, Cost, MEASURED, MEASURED_CASES, Shape};
use crate::task::{Done, Task};

/// What the usual operations cost, by size.
pub const MEASURE: Measure = Measure {
    name: "network",
    usual: false,
    tasks: &[MICRO, MICRO_FEW, SCALE],
    cases: &[
        cases(
            &["network"],
            "operation/bytes/provider",
            "the usual micro-benchmarks by size, 1 byte to 1 MiB: put, get, `bandwidth` (64 puts in flight), `both-ways` (in both \
             directions at once); fetch-add, add, swap, compare-swap",
            "the same by the bare program",
        ),
        cases(
            &["network"],
            "collective/bytes/provider",
            "barrier, broadcast, sum, fcollect, alltoall of two PEs",
            "a put of as many bytes by the bare program and its quiet: there and back",
        ),
        cases(
            &["network-scale"],
            "collective/bytes/PEs",
            "collectives of PEs that are told that each is on a node of its own",
            "what the scale model predicts by the numbers of the same run",
        ),
    ],
    again: again::<Name>,
    ..Measure::PLAIN
};

const MICRO: Task = Task { name: "ofi-micro", pe: |_, repetitions| pe(repetitions, |far| far.micro(false)) };
const MICRO_FEW: Task =
    Task { name: "ofi-micro-few", pe: |_, repetitions| pe(repetitions, |far| far.micro(true)) };
const SCALE: Task = Task { name: "ofi-scale", pe: |_, repetitions| small_job(repetitions) };

names! {
    BothWays(bytes: usize, provider: String) = "network": ["both-ways" / bytes / provider];
    Collective(operation: collective::Operation, bytes: usize, provider: String) = "network": [operation / bytes / provider];
    OneSided(operation: At, bytes: usize, provider: String) = "network": [operation / bytes / provider];
    Scale(operation: collective::Operation, bytes: usize, pes: usize) = "network-scale": [operation / bytes / pes];
}

/// Collectives in one sample of a small job, whose PEs have a core each, or share them.
const TIMES: usize = 32;
const TIMES_SHARED: usize = 8;

/// Latencies, bandwidths, atomic operations and collectives by size.
pub(crate) fn micro(runner: &mut Runner, few: bool, hosts: Option<&Arc<Hosts>>, provider: &str) -> Done {
    let job = over(runner, if few { &MICRO_FEW } else { &MICRO }, provider);
    runner.repeat(&hosts.map_or(job.clone(), |hosts| job.on(hosts)))
}

/// What the model's three numbers are between two PEs of this host, in each state; what it predicts; and
/// what jobs of some PEs take.
pub(crate) fn model(runner: &mut Runner, provider: &str) -> Result<[Model; 2], Box<dyn Error>> {
    let records = Record::join(runner.records(&over(runner, &OFI_MODEL, provider))?);
    let median = |number, state| {
        let name = ofi::Name::Number(number, state, provider.to_owned());
        let of = records.iter().find(|record| record.is(&name));
        of.map(|record| record.samples.cost().median).ok_or("a number of the model is missing")
    };
    let model = |state| -> Result<Model, &str> {
        Ok(Model {
            alpha: median(Number::Alpha, state)?,
            gap: median(Number::Gap, state)?,
            beta: median(Number::Beta, state)?,
        })
    };
    let [polling, asleep] = [State::Polling, State::Asleep].map(model);
    let (polling, asleep) = (polling?, asleep?);
    runner.show(records);
    for pes in MEASURED {
        small(runner, pes, &polling, provider)?;
    }
    runner.explain(&format!(
        "a model, from these numbers at a PE that sleeps; none of it is measured\n{}",
        scale::table(&asleep)
    ));
    Ok([polling, asleep])
}

/// A job of so many PEs, each as if on a node of its own, beside what the model says.
fn small(runner: &mut Runner, pes: usize, model: &Model, provider: &str) -> Done {
    let job = over(runner, &SCALE, provider).on(&Arc::new(Hosts::apart()));
    let (job, shape) = (Asked { pes, ..job }, Shape { nodes: pes, per_node: 1 });
    let mut records = runner.records(&job)?;
    for case in MEASURED_CASES {
        let predicted = Cost::of(case.into(), shape).time(shape, model);
        let name = Name::Scale(case.operation, case.bytes, pes);
        for record in records.iter_mut().filter(|record| record.is(&name)) {
            let mut beside = Samples::new();
            record.samples.pairs().iter().for_each(|&(cost, _)| beside.push(cost, predicted));
            record.samples = beside;
        }
    }
    runner.show(records);
    Ok(())
}

impl<L: ThreadLevel> Far<'_, L> {
    /// The usual micro-benchmarks.
    fn micro(&self, few: bool) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            let provider = || self.provider.clone();
            let mut add = |name, compared: &str, samples| {
                records.push(Record::new(&self.site, &name, "ns", compared, samples));
            };
            for operation in Operation::micro(few) {
                let compared = format!("{}, against the bare program; the other PE polls", operation.does);
                let samples = pair.against_bare(&operation, State::Polling, self.repetitions);
                let at = At(operation.name, State::Polling);
                add(Name::OneSided(at, operation.bytes, provider()), &compared, samples);
            }
            for operation in OPERATIONS.iter().filter(|operation| operation.is_latency()) {
                let compared =
                    format!("{}, against the bare program; the other PE sleeps in its own code", operation.does);
                let samples = pair.against_bare(operation, State::Asleep, self.repetitions);
                let at = At(operation.name, State::Asleep);
                add(Name::OneSided(at, operation.bytes, provider()), &compared, samples);
            }
            pair.ready(State::Polling);
            for bytes in Operation::sizes(few) {
                let compared = "non-blocking puts with 64 in flight in both directions at once, against the bare \
                                program; time for each in one direction";
                add(Name::BothWays(bytes, provider()), compared, pair.both_ways(bytes, self.repetitions));
            }
            let is_wanted = |case: &&CollectiveCase| !few || case.bytes <= 4 << 10;
            for case in CASES.iter().filter(is_wanted) {
                let compared = "a collective of two PEs, against a put of as many bytes by the bare program and its \
                                quiet: there and back";
                let samples = pair.collective(*case, self.repetitions);
                add(Name::Collective(case.operation, case.bytes, provider()), compared, samples);
            }
            records
        });
        print(&records.unwrap_or_default())
    }
}

/// A PE of a small job. There is no limit yet: the tool knows what the model says.
fn small_job(repetitions: usize) -> Done {
    let world = shmem::init::<Single>()?;
    let site = Site::of(&world, std::thread::available_parallelism()?.get());
    let mut buffers = Buffers::new(world.n_pes());
    let mut records = Vec::new();
    for case in MEASURED_CASES {
        let times = if site.shared_cores { TIMES_SHARED } else { TIMES };
        let mut sample = || collective::run(&world, case, &mut buffers, times);
        let samples = Samples::alternate(repetitions, &mut sample, || 1.0);
        let name = Name::Scale(case.operation, case.bytes, world.n_pes());
        let compared = "a collective of PEs that are told that each is on a node of its own, against what the scale model \
                        predicts for as many nodes with cores of their own";
        records.push(Record::new(&site, &name, "ns", compared, samples));
    }
    print(if world.my_pe() == 0 { &records } else { &[] })
}
