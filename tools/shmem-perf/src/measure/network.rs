//! Collectives of two hosts; the usual micro-benchmarks over libfabric and collectives of small jobs beside the scale model,
//! which are a part of `ofi`.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use clap::{Args, FromArgMatches};
use shmem::scale::{Cost, Model, Shape};
use shmem::thread::{Single, ThreadLevel};

use crate::case::{Record, Site};
use crate::fabric::{Form, OPERATIONS, Operation, Pair, State};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::hosts::Hosts;
use crate::jobs::Asked;
use crate::measure::collective::{self, Buffers, CASES, CollectiveCase};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::ofi::{self, At, Far, Number, OFI_MODEL, PROVIDER, over, pe, print};
use crate::name::{self, Part, names};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::scale::{self, MEASURED, MEASURED_CASES};
use crate::task::{Done, Task};

/// What the usual operations cost, by size.
pub const MEASURE: Measure = Measure {
    name: "network",
    about: "Collectives of two hosts over libfabric, against a put of as many bytes by a bare program, and puts both ways",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { few, provider } = Options::from_arg_matches(options)?;
        runner.repeat(&over(runner, if few { &TOGETHER_FEW } else { &TOGETHER }, &provider))
    },
    usual: false,
    tasks: &[MICRO, MICRO_FEW, TOGETHER, TOGETHER_FEW, TOGETHER_GUARDED, SCALE],
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
            "barrier, broadcast, sum, fcollect, alltoall of two PEs; `broadcast-direct` ..: on symmetric objects. What is given is \
             written anew each time, on both sides",
            "a put of as many bytes by the bare program and its quiet: there and back",
        ),
        cases(
            &["network-both-ways"],
            "collective/bytes/provider",
            "sum, fcollect, alltoall of two PEs; `sum-direct` ..",
            "a put of as many bytes by each PE at once by the bare program, behind whose quiets they meet",
        ),
        cases(
            &["network-bare"],
            "both-ways/bytes/provider; chunks/bytes/bytes of each/provider",
            "that; and puts of so many bytes each, and their quiet, by the bare program",
            "one put of all by one PE and its quiet, by the bare program",
        ),
        cases(
            &["network-scale"],
            "collective/bytes/PEs",
            "collectives of PEs that are told that each is on a node of its own",
            "what the scale model predicts by the numbers of the same run",
        ),
    ],
    goal: |case| goal_of(case, goal),
    again: again::<Name>,
    guards: &[Guard {
        jobs: 1,
        possible: || ofi::bare(PROVIDER, 8).map(drop).map_err(|why| why.to_string()),
        cases: || {
            let name =
                |case: CollectiveCase| Name::Direct(Direct(case.operation), case.bytes, PROVIDER.to_owned());
            GUARDED.into_iter().map(|case| Guarded::side_by_side(name(case), Bound::Eased(ALLOWED))).collect()
        },
        ..Guard::of("network", |runner| runner.repeat(&over(runner, &TOGETHER_GUARDED, PROVIDER)))
    }],
};

/// What the guard allows of goals.
const ALLOWED: f64 = 1.5;

/// What is guarded: large data on symmetric objects. What else there is depends on how two PEs and a kernel share two cores.
const GUARDED: [CollectiveCase; 3] = {
    use collective::Operation::{Alltoall, Broadcast, Fcollect};
    const fn of(operation: collective::Operation) -> CollectiveCase {
        CollectiveCase { operation, bytes: 1 << 20 }
    }
    [of(Broadcast), of(Fcollect), of(Alltoall)]
};

/// What is measured of a provider.
#[derive(Args, Clone, Debug)]
struct Options {
    /// Small collectives only.
    #[arg(long)]
    few: bool,
    /// The provider of libfabric.
    #[arg(long, default_value = PROVIDER)]
    provider: String,
}

/// What collectives ought to cost, in puts of as many bytes that come back.
fn goal(name: Name) -> Option<Goal> {
    use collective::Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
    const WORD: usize = 8;
    const PIECE: usize = 64 << 10;
    const LARGE: usize = 1 << 20;
    let most = match name {
        Name::Collective(Barrier, ..) => 0.9,
        Name::Collective(Broadcast, WORD, _) => 0.9,
        Name::Collective(Broadcast, PIECE | LARGE, _) => 1.25,
        Name::Direct(Direct(Broadcast), PIECE | LARGE, _) => 1.15,
        Name::Collective(Sum, WORD, _) => 1.0,
        Name::Collective(Sum, PIECE | LARGE, _) => 2.5,
        Name::Direct(Direct(Sum), PIECE | LARGE, _) => 2.3,
        Name::Direct(Direct(Fcollect | Alltoall), PIECE | LARGE, _) => 2.1,
        Name::Collective(Fcollect | Alltoall, WORD, _) => 1.1,
        Name::Collective(Fcollect | Alltoall, PIECE | LARGE, _) => 2.3,
        Name::BesideBothWays(_, LARGE, _) | Name::DirectBesideBothWays(_, LARGE, _) => 1.25,
        _ => return None,
    };
    Some(Goal::Ratio(most))
}

const MICRO: Task = Task { name: "ofi-micro", pe: |_, repetitions| pe(repetitions, |far| far.micro(false)) };
const MICRO_FEW: Task =
    Task { name: "ofi-micro-few", pe: |_, repetitions| pe(repetitions, |far| far.micro(true)) };
const TOGETHER: Task =
    Task { name: "network", pe: |_, repetitions| pe(repetitions, |far| far.together(false)) };
const TOGETHER_FEW: Task =
    Task { name: "network-few", pe: |_, repetitions| pe(repetitions, |far| far.together(true)) };
const TOGETHER_GUARDED: Task =
    Task { name: "network-guarded", pe: |_, repetitions| pe(repetitions, |far| far.guarded()) };
const SCALE: Task = Task { name: "ofi-scale", pe: |_, repetitions| small_job(repetitions) };

names! {
    BothWays(bytes: usize, provider: String) = "network": ["both-ways" / bytes / provider];
    Collective(operation: collective::Operation, bytes: usize, provider: String) = "network": [operation / bytes / provider];
    Direct(operation: Direct, bytes: usize, provider: String) = "network": [operation / bytes / provider];
    BesideBothWays(operation: collective::Operation, bytes: usize, provider: String) = "network-both-ways": [operation / bytes / provider];
    DirectBesideBothWays(operation: Direct, bytes: usize, provider: String) = "network-both-ways": [operation / bytes / provider];
    BareBothWays(bytes: usize, provider: String) = "network-bare": ["both-ways" / bytes / provider];
    BareChunks(bytes: usize, each: usize, provider: String) = "network-bare": ["chunks" / bytes / each / provider];
    OneSided(operation: At, bytes: usize, provider: String) = "network": [operation / bytes / provider];
    Scale(operation: collective::Operation, bytes: usize, pes: usize) = "network-scale": [operation / bytes / pes];
}

/// A collective on symmetric objects: `sum-direct`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direct(pub collective::Operation);

impl Part for Direct {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        let text = name::piece(rest)?.strip_suffix("-direct")?;
        collective::Operation::take(&mut Some(text)).map(Self)
    }

    fn show(&self) -> Cow<'static, str> {
        format!("{}-direct", self.0.name()).into()
    }
}

/// The collectives that are measured of two PEs: those of a node, and the longest of each family.
fn collectives(few: bool) -> impl Iterator<Item = CollectiveCase> {
    use collective::Operation::{Alltoall, Fcollect};
    let longest = [Fcollect, Alltoall].map(|operation| CollectiveCase { operation, bytes: 1 << 20 });
    CASES.into_iter().chain(longest).filter(move |case| !few || case.bytes <= 4 << 10)
}

/// Whether it is measured on symmetric objects as well: short data is not moved otherwise there.
fn has_direct(CollectiveCase { operation, bytes }: CollectiveCase) -> bool {
    operation != collective::Operation::Barrier && bytes >= 64 << 10
}

/// Whether as many bytes go both ways, so many that what matters is how many go at a time.
fn goes_both_ways(CollectiveCase { operation, bytes }: CollectiveCase) -> bool {
    use collective::Operation::{Alltoall, Fcollect, Sum};
    matches!(operation, Sum | Fcollect | Alltoall) && bytes >= 64 << 10
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
        let predicted = Cost::of(case.into(), shape, model).time(shape, model);
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
            records.extend(self.collectives(pair, few));
            records
        });
        print(&records.unwrap_or_default())
    }

    /// Collectives alone.
    fn together(&self, few: bool) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        print(&pair.measure(|pair| self.collectives(pair, few)).unwrap_or_default())
    }

    fn collectives(&self, pair: &Pair<'_, L>, few: bool) -> Vec<Record> {
        let mut records = Vec::new();
        let mut add = |name: Name, compared: &str, samples| {
            records.push(Record::new(&self.site, &name, "ns", compared, samples));
        };
        for bytes in [64 << 10, 1 << 20].into_iter().filter(|_| !few) {
            let one = "one put of all by one PE and its quiet, by the bare program; what is put is written anew each time";
            let compared = format!(
                "a put of each PE at once by the bare program, behind whose quiets they meet, against {one}"
            );
            let name = Name::BareBothWays(bytes, self.provider.clone());
            add(name, &compared, pair.bare_both_ways(bytes, self.repetitions));
            for each in [32 << 10, 64 << 10, 128 << 10].into_iter().filter(|each| *each < bytes) {
                let compared =
                    format!("puts of {} KiB and their quiet by the bare program, against {one}", each >> 10);
                let name = Name::BareChunks(bytes, each, self.provider.clone());
                add(name, &compared, pair.bare_chunks(bytes, each, self.repetitions));
            }
        }
        for case in collectives(few) {
            let forms = [Form::Private, Form::Direct]
                .into_iter()
                .filter(|form| *form == Form::Private || has_direct(case));
            records.extend(forms.flat_map(|form| self.collective(pair, case, form)));
        }
        records
    }

    /// The guarded ones.
    fn guarded(&self) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let all = |pair: &Pair<'_, L>| {
            GUARDED.into_iter().flat_map(|case| self.collective(pair, case, Form::Direct)).collect()
        };
        print(&pair.measure(all).unwrap_or_else(Vec::new))
    }

    /// A collective against a put, and where as many bytes go both ways, against as many puts.
    fn collective(&self, pair: &Pair<'_, L>, case: CollectiveCase, form: Form) -> Vec<Record> {
        let (provider, CollectiveCase { operation, bytes }) = (self.provider.clone(), case);
        let (does, name, both_ways) = match form {
            Form::Private => (
                "a collective of two PEs",
                Name::Collective(operation, bytes, provider.clone()),
                Name::BesideBothWays(operation, bytes, provider),
            ),
            Form::Direct => (
                "a collective of two PEs on symmetric objects",
                Name::Direct(Direct(operation), bytes, provider.clone()),
                Name::DirectBesideBothWays(Direct(operation), bytes, provider),
            ),
        };
        let mut records = Vec::new();
        let mut add = |name: Name, what: &str, samples| {
            let compared = format!(
                "{does}, against a put of as many bytes by {what}; what is given is written anew each time"
            );
            records.push(Record::new(&self.site, &name, "ns", &compared, samples));
        };
        let samples = pair.collective(case, form, self.repetitions);
        add(name, "the bare program and its quiet, there and back", samples);
        if goes_both_ways(case) {
            let samples = pair.collective_both_ways(case, form, self.repetitions);
            add(both_ways, "each PE at once by the bare program, behind whose quiets they meet", samples);
        }
        records
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
