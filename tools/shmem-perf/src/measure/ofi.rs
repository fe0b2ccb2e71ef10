//! Measures over libfabric.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use clap::{Args, FromArgMatches};
use shmem::prelude::*;
use shmem::thread::{Single, ThreadLevel};
use shmem_core::transport::ofi::strided::{self, Reach, Row, Way};

use crate::case::{Record, Site};
use crate::fabric::model::{BLOCKS, Blocks};
use crate::fabric::{Bare, BareError, Costs, OPERATIONS, Operation, OperationName, Pair, State, pingpong};
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::jobs::Asked;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::measure::{array, network, partitions};
use crate::name::{self, Part, names, words};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};

/// What operations over libfabric cost.
pub const MEASURE: Measure = Measure {
    name: "ofi",
    about: "Operations over libfabric, against a bare program that calls it directly in the same way",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    usual: false,
    tasks: &[OFI, OFI_BARE, OFI_STRIDED, OFI_MODEL, OFI_COSTS, OFI_PIECES, OFI_PARTITIONS],
    cases: &[
        cases(
            &["ofi"],
            "operation/bytes/provider",
            "puts and their quiet, gets, fetch-add; `-asleep`: to a PE that sleeps in its own code",
            "the same by a bare program on libfabric",
        ),
        cases(
            &["ofi"],
            "put-rate/8/provider",
            "8-byte puts with 64 in flight; time for each",
            "the same by the bare program",
        ),
        cases(
            &["ofi"],
            "put, get/65536, 1048576/provider",
            "non-blocking transfers, 32 and 8 in flight; time for each",
            "the same by the bare program",
        ),
        cases(&["ofi"], "idle/0/provider", "share of a core that a PE uses while all sleep", "1 %"),
        cases(
            &["ofi-bare"],
            "operation/bytes/provider",
            "what the bare program does",
            "its 8-byte put and quiet",
        ),
        cases(
            &["ofi-bare"],
            "pingpong/8/provider",
            "the bare program's 8-byte put and quiet",
            "a round trip of `fi_pingpong`, if that is installed",
        ),
        cases(
            &["ofi-strided"],
            "blocks/bytes/state",
            "blocks by one strided put and a quiet",
            "a non-blocking put for each block and one quiet",
        ),
        cases(
            &["ofi-strided-model"],
            "blocks/bytes/state",
            "how many times faster that is",
            "what the cost model predicts by the costs of the same run (`transport/ofi/strided`)",
        ),
        cases(&["ofi-model"], "number/state/provider", "alpha, gap and beta of that model", "alpha"),
        cases(
            &["ofi-register"],
            "regions",
            "regions of 1 MiB registered with the provider and given back by hand; time for each",
            "one alone",
        ),
    ],
    goal: |case| goal_of(case, goal),
    again: again::<Name>,
    guards: &[Guard {
        jobs: 1,
        possible: || bare(PROVIDER, 8).map(drop).map_err(|why| why.to_string()),
        cases: || {
            use OperationName::{FetchAdd, Get, Put, PutRate};
            let small = |name| Name::Library(At(name, State::Polling), 8, PROVIDER.to_owned());
            let guarded = |name| Guarded::side_by_side(small(name), Bound::Eased(3.0));
            [Put, Get, FetchAdd, PutRate].map(guarded).into()
        },
        ..Guard::of("ofi", |runner| against_bare(runner, PROVIDER))
    }],
};

fn goal(name: Name) -> Option<Goal> {
    use OperationName::{FetchAdd, Get, Put, PutRate};
    use State::{Asleep, Polling};
    match name {
        Name::Library(At(Put | Get | FetchAdd, Polling), 8, _) => Some(Goal::Ratio(1.1)),
        Name::Library(At(Put | Get | FetchAdd, Asleep), 8, _) => Some(Goal::Ratio(1.25)),
        // 0.9 of the rate, 0.95 of the bandwidth.
        Name::Library(At(PutRate, Polling), 8, _) => Some(Goal::Ratio(1.0 / 0.9)),
        Name::Library(At(Put | Get, Polling), 65_536 | 1_048_576, _) => Some(Goal::Ratio(1.0 / 0.95)),
        Name::Idle(_) => Some(Goal::Ratio(1.0)),
        Name::Pingpong(_) => Some(Goal::Ratio(1.1)),
        Name::Blocks(16, ..) => Some(Goal::Ratio(1.0 / 2.5)),
        Name::Blocks(64, ..=256, _) => Some(Goal::Ratio(1.0 / 9.0)),
        Name::Blocks(64, ..) => Some(Goal::Ratio(1.0 / 4.0)),
        // 0.85 of what the model predicts.
        Name::Gain(..) => Some(Goal::Beaten(0.85)),
        _ => None,
    }
}

const OFI: Task = Task { name: "ofi", pe: |_, repetitions| pe(repetitions, |far| far.operations()) };
const OFI_BARE: Task = Task { name: "ofi-bare", pe: |_, repetitions| pe(repetitions, |far| far.bare()) };
const OFI_STRIDED: Task =
    Task { name: "ofi-strided", pe: |_, repetitions| pe(repetitions, |far| far.blocks()) };
pub(crate) const OFI_MODEL: Task =
    Task { name: "ofi-model", pe: |_, repetitions| pe(repetitions, |far| far.model()) };
/// Costs of puts and messages, for a calibration.
pub(crate) const OFI_COSTS: Task = Task {
    name: "ofi-costs",
    pe: |_, repetitions| {
        pe(repetitions, |far| {
            far.costs(|pair, repetitions| {
                let carries = far.carries(Costs::LONGEST);
                pair.row(State::Polling, carries, repetitions).fields().collect()
            })
        })
    },
};
/// Costs of pieces, likewise.
pub(crate) const OFI_PIECES: Task = Task {
    name: "ofi-pieces",
    pe: |_, repetitions| {
        pe(repetitions, |far| {
            far.costs(|pair, repetitions| vec![("piece", pair.piece(State::Polling, repetitions))])
        })
    },
};
const OFI_PARTITIONS: Task =
    Task { name: "ofi-partitions", pe: |_, repetitions| pe(repetitions, |far| far.registration()) };

names! {
    Idle(provider: String) = "ofi": ["idle" / "0" / provider];
    Library(operation: At, bytes: usize, provider: String) = "ofi": [operation / bytes / provider];
    Pingpong(provider: String) = "ofi-bare": ["pingpong" / "8" / provider];
    Bare(operation: At, bytes: usize, provider: String) = "ofi-bare": [operation / bytes / provider];
    Blocks(blocks: usize, bytes: usize, state: State) = "ofi-strided": [blocks / bytes / state];
    Gain(blocks: usize, bytes: usize, state: State) = "ofi-strided-model": [blocks / bytes / state];
    Number(number: Number, state: State, provider: String) = "ofi-model": [number / state / provider];
    Register(regions: usize) = "ofi-register": [regions];
}

words! {
    /// A number of the model.
    Number { Alpha = "alpha", Gap = "gap", Beta = "beta" }
}

/// An operation on a PE in a state: `put`, `put-asleep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub OperationName, pub State);

impl Part for At {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        let text = name::piece(rest)?;
        let (text, state) = match text.strip_suffix("-asleep") {
            Some(text) => (text, State::Asleep),
            None => (text, State::Polling),
        };
        Some(Self(OperationName::take(&mut Some(text))?, state))
    }

    fn show(&self) -> Cow<'static, str> {
        match self.1 {
            State::Polling => self.0.name().into(),
            State::Asleep => format!("{}-asleep", self.0.name()).into(),
        }
    }
}

/// What is measured of a provider.
#[derive(Args, Clone, Debug)]
struct Options {
    /// The bare program alone, beside `fi_pingpong` where that is installed.
    #[arg(long)]
    bare: bool,
    /// Blocks in one message, against a put for each, and against what the model predicts.
    #[arg(long, conflicts_with = "bare")]
    strided: bool,
    /// The numbers of the model of docs/scale.md: of a round trip, of a message, of a byte; and what it
    /// predicts of large jobs.
    #[arg(long, conflicts_with_all = ["bare", "strided"])]
    model: bool,
    /// Registration: of 1 to 127 regions by hand, of partitions made at run time, and of arrays made and freed.
    #[arg(long, conflicts_with_all = ["bare", "strided", "model"])]
    partitions: bool,
    /// The usual micro-benchmarks for 1 byte to 1 MiB: latencies, bandwidth one way and both ways, atomic operations,
    /// collectives.
    #[arg(long, conflicts_with_all = ["bare", "strided", "model", "partitions"])]
    micro: bool,
    /// Eight sizes instead of twenty-one.
    #[arg(long, requires = "micro")]
    few: bool,
    /// The provider of libfabric.
    #[arg(long, default_value = PROVIDER)]
    provider: String,
}

impl Options {
    fn run(&self, runner: &mut Runner) -> Done {
        let Self { bare, strided, model, partitions, micro, few, provider } = self;
        if *strided {
            // Blocks in one message, against a put for each.
            return runner.repeat(&over(runner, &OFI_STRIDED, provider));
        }
        if *model {
            return network::model(runner, provider).map(|_| ());
        }
        if *micro {
            return network::micro(runner, *few, None, provider);
        }
        if *partitions {
            registered(runner, provider)?;
            return array::far_layers(runner, provider);
        }
        if *bare { bare_alone(runner, provider) } else { against_bare(runner, provider) }
    }
}

/// Where no other one is asked for.
pub(crate) const PROVIDER: &str = "tcp;ofi_rxm";

/// What PEs are told by their environment, as programs are.
const OFI_PROVIDER: &str = "SHMEM_OFI_PROVIDER";
const OFI_INTERFACE: &str = "SHMEM_OFI_INTERFACE";
const TRANSPORT: &str = "SHMEM_TRANSPORT";
pub(crate) const LIBFABRIC: &str = "SHMEM_LIBFABRIC";

/// Latencies, bandwidths and the rate of puts, against the bare program.
fn against_bare(runner: &mut Runner, provider: &str) -> Done {
    runner.repeat(&over(runner, &OFI, provider))
}

/// The bare program alone, against the latency of its own put and that of libfabric's tool.
fn bare_alone(runner: &mut Runner, provider: &str) -> Done {
    // The bare program needs no transport: its PEs are told what to do through shared memory.
    let variables = [(OFI_PROVIDER.to_owned(), provider.to_owned())];
    let job = runner.job(&OFI_BARE, 2, &variables);
    let mut records: Vec<Record> = Vec::new();
    let mut anchored = Samples::new();
    let put = Name::Bare(At(OperationName::Put, State::Polling), 8, provider.to_owned()).to_string();
    for _ in 0..runner.jobs {
        let before = records.len();
        for line in runner.run(&job)?.lines() {
            records.push(serde_json::from_str(line)?);
        }
        let put = records[before..].iter().find(|record| record.case == put);
        let put = put.ok_or("the bare program has not said what a put costs")?;
        match pingpong::round_trip(provider)? {
            Some(round_trip) => anchored.push(put.samples.cost().median, round_trip),
            None => runner.remark("fi_pingpong is not installed, or does not run with this provider: the bare program stands alone (Debian: libfabric-bin)"),
        }
    }
    if !anchored.is_empty() {
        let compared =
            "a put of the bare program and its quiet, against a round trip of messages by fi_pingpong";
        let (site, name) = (records[0].site.clone(), Name::Pingpong(provider.to_owned()));
        records.push(Record::new(&site, &name, "ns", compared, anchored));
    }
    runner.show(records);
    Ok(())
}

/// Regions registered by hand, and partitions made at run time.
pub(crate) fn registered(runner: &mut Runner, provider: &str) -> Done {
    runner.repeat(&over(runner, &OFI_PARTITIONS, provider))?;
    partitions::at_run_time_over(runner, provider)
}

/// A job of two PEs that reach each other through a provider, though they share a host.
pub(crate) fn over(runner: &Runner, task: &Task, provider: &str) -> Asked {
    runner.job(task, 2, &variables(provider))
}

/// The variables of jobs whose PEs reach each other through a provider.
pub(crate) fn variables(provider: &str) -> Vec<(String, String)> {
    let variables = [(TRANSPORT, "ofi"), (OFI_PROVIDER, provider)];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// What the environment says, if it does.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The bare program with so many bytes of memory, by the library and on the interface that the environment names.
pub(crate) fn bare(provider: &str, bytes: usize) -> Result<Arc<Bare>, BareError> {
    Bare::open(variable(LIBFABRIC).as_deref(), provider, variable(OFI_INTERFACE).as_deref(), bytes)
}

/// One PE of a job. They keep no core for themselves: threads that do what has come need them, too.
pub(crate) fn pe(repetitions: usize, measure: impl FnOnce(&Far<'_, Single>) -> Done) -> Done {
    let world = shmem::init::<Single>()?;
    measure(&Far::new(&world, Operation::room(), repetitions)?)
}

/// What measures need, inside a PE.
pub(crate) struct Far<'w, L: ThreadLevel> {
    pub(crate) world: &'w World<L>,
    pub(crate) bare: Arc<Bare>,
    pub(crate) provider: String,
    pub(crate) site: Site,
    pub(crate) cores: usize,
    pub(crate) repetitions: usize,
}

impl<'w, L: ThreadLevel> Far<'w, L> {
    /// With room for transfers of so many bytes, of the library and of the bare program.
    pub(crate) fn new(world: &'w World<L>, room: usize, repetitions: usize) -> Result<Self, Box<dyn Error>> {
        let provider = variable(OFI_PROVIDER).unwrap_or_else(|| PROVIDER.to_owned());
        let bare = bare(&provider, room)?;
        let cores = std::thread::available_parallelism()?.get();
        let site = Site::of(world, cores);
        Ok(Self { world, bare, provider, site, cores, repetitions })
    }

    fn operations(&self) -> Done {
        let compared = |operation: &Operation, state| match state {
            State::Polling => format!("{}, against the bare program; the other PE polls", operation.does),
            State::Asleep => {
                format!("{}, against the bare program; the other PE sleeps in its own code", operation.does)
            }
        };
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            for (operation, state) in operations() {
                let samples = pair.against_bare(&operation, state, self.repetitions);
                let name = Name::Library(At(operation.name, state), operation.bytes, self.provider.clone());
                let compared = compared(&operation, state);
                records.push(Record::new(&self.site, &name, "ns", compared, samples));
            }
            let compared = "share of a core that a PE uses while all sleep in their own code, against 1 %";
            let name = Name::Idle(self.provider.clone());
            records.push(Record::new(&self.site, &name, "%", compared, pair.idle()));
            records
        });
        print(&records.unwrap_or_default())
    }

    fn bare(&self) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let compared = "what the bare program does, against its 8-byte put and quiet; the other PE polls, or sleeps in its own code";
            let mut records = Vec::new();
            for (operation, state) in operations() {
                let samples = pair.bare_alone(&operation, state, self.repetitions);
                let name = Name::Bare(At(operation.name, state), operation.bytes, self.provider.clone());
                records.push(Record::new(&self.site, &name, "ns", compared, samples));
            }
            records
        });
        print(&records.unwrap_or_default())
    }

    fn blocks(&self) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            for state in [State::Polling, State::Asleep] {
                for blocks in BLOCKS {
                    // What else the machine does changes from case to case.
                    let row = pair.row(state, self.carries(Costs::LONGEST), self.repetitions);
                    let samples = pair.blocks(blocks, state, self.repetitions);
                    let predicted = self.gain(&row, blocks);
                    let mut gains = Samples::new();
                    samples.pairs().iter().for_each(|(cost, limit)| gains.push(limit / cost, predicted));
                    let compared =
                        "blocks by one strided put, against a non-blocking put for each; both with one quiet";
                    records.push(Record::new(
                        &self.site,
                        &Name::Blocks(blocks.count, blocks.bytes, state),
                        "ns",
                        compared,
                        samples,
                    ));
                    let compared = "how many times faster that is, against what the model predicts";
                    records.push(Record::new(
                        &self.site,
                        &Name::Gain(blocks.count, blocks.bytes, state),
                        "x",
                        compared,
                        gains,
                    ));
                }
            }
            records.sort_by(|a, b| a.measure.cmp(&b.measure));
            records
        });
        print(&records.unwrap_or_default())
    }

    /// Bytes of blocks in each message of a transfer of so many bytes.
    fn carries(&self, bytes: usize) -> usize {
        strided::limits_of(&self.provider).carries(bytes, true)
    }

    /// How many times faster blocks are in messages than one by one, by the model of strided transfers.
    fn gain(&self, row: &Row, blocks: Blocks) -> f64 {
        let reach = Reach { pieces: 1, message: self.carries(blocks.count * blocks.bytes) };
        let blocks = strided::Blocks { count: blocks.count, bytes: blocks.bytes };
        let time = |way| row.time(way, blocks, reach).unwrap_or(u64::MAX) as f64;
        time(Way::Each) / time(Way::Messages)
    }

    /// Prints costs, a line of JSON for each.
    fn costs(&self, measure: impl FnOnce(&Pair<'_, L>, usize) -> Vec<(&'static str, u64)>) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let costs = pair.measure(|pair| measure(pair, self.repetitions));
        for cost in costs.unwrap_or_default() {
            println!("{}", serde_json::to_string(&cost)?);
        }
        Ok(())
    }

    fn model(&self) -> Done {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            for state in [State::Polling, State::Asleep] {
                let (mut alpha, mut gap, mut beta) = (Samples::new(), Samples::new(), Samples::new());
                for _ in 0..self.repetitions {
                    let model = pair.model(state, 1);
                    alpha.push(model.alpha, model.alpha);
                    gap.push(model.gap, model.alpha);
                    beta.push(model.beta, model.alpha);
                }
                for (number, samples) in [(Number::Alpha, alpha), (Number::Gap, gap), (Number::Beta, beta)] {
                    let compared =
                        "a round trip, a message among many, a byte among many; against the round trip";
                    let name = Name::Number(number, state, self.provider.clone());
                    records.push(Record::new(&self.site, &name, "ns", compared, samples));
                }
            }
            records
        });
        print(&records.unwrap_or_default())
    }

    fn registration(&self) -> Done {
        let mut records = Vec::new();
        for n in partitions::PARTITIONS {
            let mut samples = Samples::new();
            for _ in 0..self.repetitions {
                let bytes = 1 << 20;
                let many = self.bare.registration(n, bytes)?;
                samples.push(many, self.bare.registration(1, bytes)?);
            }
            let compared =
                "regions of 1 MiB registered by hand and given back; time for each, against one alone";
            records.push(Record::new(&self.site, &Name::Register(n), "ns", compared, samples));
        }
        self.world.barrier_all();
        print(if self.world.my_pe() == 0 { &records } else { &[] })
    }
}

/// All operations at a PE that polls, and those that are waited for at one that sleeps.
fn operations() -> impl Iterator<Item = (Operation, State)> {
    let polling = OPERATIONS.into_iter().map(|operation| (operation, State::Polling));
    let asleep =
        OPERATIONS.into_iter().filter(Operation::is_latency).map(|operation| (operation, State::Asleep));
    polling.chain(asleep)
}

pub(crate) fn print(records: &[Record]) -> Done {
    for record in records {
        println!("{}", serde_json::to_string(record)?);
    }
    Ok(())
}
