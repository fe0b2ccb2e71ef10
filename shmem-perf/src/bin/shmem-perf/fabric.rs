//! Measures over libfabric.

use std::error::Error;
use std::sync::Arc;

use shmem::prelude::*;
use shmem::thread::{Single, ThreadLevel};
use shmem_core::transport::ofi::strided::{self, Reach, Row, Way};
use shmem_perf::fabric::model::{BLOCKS, Blocks};
use shmem_perf::fabric::{Bare, BareError, Costs, OPERATIONS, Operation, Pair, State, pingpong};
use shmem_perf::jobs::Job;
use shmem_perf::partitions::{LATER, PARTITIONS};
use shmem_perf::{Record, Samples, Site};

use crate::Measure;
use crate::network;
use crate::runner::Runner;

/// Where no other one is asked for.
pub(crate) const PROVIDER: &str = "tcp;ofi_rxm";

/// What PEs are started for here.
pub(crate) const MEASURES: [Measure; 10] = [
    Measure::Ofi,
    Measure::OfiBare,
    Measure::OfiStrided,
    Measure::OfiModel,
    Measure::OfiCosts,
    Measure::OfiPieces,
    Measure::OfiPartitions,
    Measure::OfiMicro,
    Measure::OfiMicroFew,
    Measure::OfiScale,
];

/// What PEs are told by their environment, as programs are.
const OFI_PROVIDER: &str = "SHMEM_OFI_PROVIDER";
const OFI_INTERFACE: &str = "SHMEM_OFI_INTERFACE";
const TRANSPORT: &str = "SHMEM_TRANSPORT";
const LIBFABRIC: &str = "SHMEM_LIBFABRIC";

impl Runner {
    /// Latencies, bandwidths and the rate of puts, against the bare program; or that alone, against the
    /// latency of its own put and that of libfabric's tool.
    pub(crate) fn ofi(&mut self, bare: bool, provider: &str) -> Result<(), Box<dyn Error>> {
        if !bare {
            return self.repeat(&self.over(Measure::Ofi, provider));
        }
        // The bare program needs no transport: its PEs are told what to do through shared memory.
        let variables = [(OFI_PROVIDER.to_owned(), provider.to_owned())];
        let job = self.job(Measure::OfiBare, 2, 1, &variables);
        let mut records: Vec<Record> = Vec::new();
        let mut anchored = Samples::new();
        for _ in 0..self.jobs {
            let before = records.len();
            for line in self.run(&job)?.lines() {
                records.push(serde_json::from_str(line)?);
            }
            let put = records[before..].iter().find(|record| record.case.starts_with("put/8/"));
            let put = put.ok_or("the bare program has not said what a put costs")?;
            match pingpong::round_trip(provider)? {
                Some(round_trip) => anchored.push(put.samples.cost().median, round_trip),
                None => self.remark("fi_pingpong is not installed, or does not run with this provider: the bare program stands alone (Debian: libfabric-bin)"),
            }
        }
        if !anchored.is_empty() {
            let compared =
                "a put of the bare program and its quiet, against a round trip of messages by fi_pingpong";
            let (site, case) = (records[0].site.clone(), format!("pingpong/8/{provider}"));
            records.push(Record::new(&site, "ofi-bare", case, "ns", compared, anchored));
        }
        self.show(records);
        Ok(())
    }

    /// Blocks in one message, against a put for each.
    pub(crate) fn far_blocks(&mut self, provider: &str) -> Result<(), Box<dyn Error>> {
        self.repeat(&self.over(Measure::OfiStrided, provider))
    }

    /// Registration of many regions by hand, and of partitions made at run time.
    pub(crate) fn registration(&mut self, provider: &str) -> Result<(), Box<dyn Error>> {
        self.far_partitions(provider)?;
        self.far_layers(provider)
    }

    /// Regions registered by hand, and partitions made at run time.
    pub(crate) fn far_partitions(&mut self, provider: &str) -> Result<(), Box<dyn Error>> {
        self.repeat(&self.over(Measure::OfiPartitions, provider))?;
        for n in LATER {
            let mut job = self.over(Measure::LaterPartitions, provider);
            let place = job.args.iter().position(|arg| arg == "--partitions");
            job.args[place.map_or(0, |place| place + 1)] = n.to_string();
            self.repeat(&job)?;
        }
        Ok(())
    }

    /// A job of two PEs that reach each other through a provider, though they share a host.
    pub(crate) fn over(&self, measure: Measure, provider: &str) -> Job {
        self.job(measure, 2, 1, &variables(provider))
    }
}

/// The variables of jobs whose PEs reach each other through a provider.
pub(crate) fn variables(provider: &str) -> Vec<(String, String)> {
    let variables = [(TRANSPORT, "ofi"), (OFI_PROVIDER, provider)];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// What the environment says, if it does.
fn told(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The bare program with so many bytes of memory, by the library and on the interface that the environment names.
pub(crate) fn bare(provider: &str, bytes: usize) -> Result<Arc<Bare>, BareError> {
    Bare::open(told(LIBFABRIC).as_deref(), provider, told(OFI_INTERFACE).as_deref(), bytes)
}

/// One PE of a job. They keep no core for themselves: threads that do what has come need them, too.
pub(crate) fn pe(measure: Measure, repetitions: usize) -> Result<(), Box<dyn Error>> {
    if measure == Measure::OfiScale {
        return network::small(repetitions);
    }
    let world = shmem::init::<Single>()?;
    let bench = Bench::new(&world, Operation::room(), repetitions)?;
    match measure {
        Measure::OfiBare => bench.bare(),
        Measure::OfiStrided => bench.blocks(),
        Measure::OfiModel => bench.model(),
        Measure::OfiCosts => bench.costs(|pair, repetitions| {
            let carries = bench.carries(Costs::LONGEST);
            pair.row(State::Polling, carries, repetitions).fields().collect()
        }),
        Measure::OfiPieces => {
            bench.costs(|pair, repetitions| vec![("piece", pair.piece(State::Polling, repetitions))])
        }
        Measure::OfiPartitions => bench.registration(),
        Measure::OfiMicro => bench.micro(false),
        Measure::OfiMicroFew => bench.micro(true),
        _ => bench.operations(),
    }
}

/// What measures need, inside a PE.
pub(crate) struct Bench<'w, L: ThreadLevel> {
    pub(crate) world: &'w World<L>,
    pub(crate) bare: Arc<Bare>,
    pub(crate) provider: String,
    pub(crate) site: Site,
    pub(crate) cores: usize,
    pub(crate) repetitions: usize,
}

impl<'w, L: ThreadLevel> Bench<'w, L> {
    /// With room for transfers of so many bytes, of the library and of the bare program.
    pub(crate) fn new(world: &'w World<L>, room: usize, repetitions: usize) -> Result<Self, Box<dyn Error>> {
        let provider = told(OFI_PROVIDER).unwrap_or_else(|| PROVIDER.to_owned());
        let bare = bare(&provider, room)?;
        let cores = std::thread::available_parallelism()?.get();
        let site = Site::of(world, cores);
        Ok(Self { world, bare, provider, site, cores, repetitions })
    }

    fn operations(&self) -> Result<(), Box<dyn Error>> {
        let compared = |operation: &Operation, state| match state {
            State::Polling => format!("{}, against the bare program; the other PE polls", operation.does),
            State::Asleep => {
                format!("{}, against the bare program; the other PE sleeps in its own code", operation.does)
            }
        };
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            for (operation, state) in cases() {
                let samples = pair.against_bare(&operation, state, self.repetitions);
                records.push(self.record("ofi", &operation, state, compared(&operation, state), samples));
            }
            let compared = "share of a core that a PE uses while all sleep in their own code, against 1 %";
            let case = format!("idle/0/{}", self.provider);
            records.push(Record::new(&self.site, "ofi", case, "%", compared, pair.idle()));
            records
        });
        print(&records.unwrap_or_default())
    }

    fn bare(&self) -> Result<(), Box<dyn Error>> {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let compared = "what the bare program does, against its 8-byte put and quiet; the other PE polls, or sleeps in its own code";
            let mut records = Vec::new();
            for (operation, state) in cases() {
                let samples = pair.bare_alone(&operation, state, self.repetitions);
                records.push(self.record("ofi-bare", &operation, state, compared.to_owned(), samples));
            }
            records
        });
        print(&records.unwrap_or_default())
    }

    fn blocks(&self) -> Result<(), Box<dyn Error>> {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            for (state, name) in [(State::Polling, "polling"), (State::Asleep, "asleep")] {
                for blocks in BLOCKS {
                    // What else the machine does changes from case to case.
                    let row = pair.row(state, self.carries(Costs::LONGEST), self.repetitions);
                    let case = format!("{}/{}/{name}", blocks.count, blocks.bytes);
                    let samples = pair.blocks(blocks, state, self.repetitions);
                    let predicted = self.gain(&row, blocks);
                    let mut gains = Samples::new();
                    samples.pairs().iter().for_each(|(cost, limit)| gains.push(limit / cost, predicted));
                    let compared =
                        "blocks by one strided put, against a non-blocking put for each; both with one quiet";
                    records.push(Record::new(&self.site, "ofi-strided", &*case, "ns", compared, samples));
                    let compared = "how many times faster that is, against what the model predicts";
                    records.push(Record::new(&self.site, "ofi-strided-model", case, "x", compared, gains));
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
    fn costs(
        &self,
        measure: impl FnOnce(&Pair<'_, L>, usize) -> Vec<(&'static str, u64)>,
    ) -> Result<(), Box<dyn Error>> {
        let pair = Pair::new(self.world, &self.bare)?;
        let costs = pair.measure(|pair| measure(pair, self.repetitions));
        for cost in costs.unwrap_or_default() {
            println!("{}", serde_json::to_string(&cost)?);
        }
        Ok(())
    }

    fn model(&self) -> Result<(), Box<dyn Error>> {
        let pair = Pair::new(self.world, &self.bare)?;
        let records = pair.measure(|pair| {
            let mut records = Vec::new();
            for (state, name) in [(State::Polling, "polling"), (State::Asleep, "asleep")] {
                let (mut alpha, mut gap, mut beta) = (Samples::new(), Samples::new(), Samples::new());
                for _ in 0..self.repetitions {
                    let model = pair.model(state, 1);
                    alpha.push(model.alpha, model.alpha);
                    gap.push(model.gap, model.alpha);
                    beta.push(model.beta, model.alpha);
                }
                for (number, samples) in [("alpha", alpha), ("gap", gap), ("beta", beta)] {
                    let compared =
                        "a round trip, a message among many, a byte among many; against the round trip";
                    let case = format!("{number}/{name}/{}", self.provider);
                    records.push(Record::new(&self.site, "ofi-model", case, "ns", compared, samples));
                }
            }
            records
        });
        print(&records.unwrap_or_default())
    }

    fn registration(&self) -> Result<(), Box<dyn Error>> {
        let mut records = Vec::new();
        for n in PARTITIONS {
            let mut samples = Samples::new();
            for _ in 0..self.repetitions {
                let bytes = 1 << 20;
                let many = self.bare.registration(n, bytes)?;
                samples.push(many, self.bare.registration(1, bytes)?);
            }
            let compared =
                "regions of 1 MiB registered by hand and given back; time for each, against one alone";
            records.push(Record::new(&self.site, "ofi-register", n.to_string(), "ns", compared, samples));
        }
        self.world.barrier_all();
        print(if self.world.my_pe() == 0 { &records } else { &[] })
    }

    fn record(
        &self,
        measure: &str,
        operation: &Operation,
        state: State,
        compared: String,
        samples: Samples,
    ) -> Record {
        let state = if state == State::Asleep { "-asleep" } else { "" };
        let case = format!("{}{state}/{}/{}", operation.name, operation.bytes, self.provider);
        Record::new(&self.site, measure, case, "ns", compared, samples)
    }
}

/// All operations at a PE that polls, and those that are waited for at one that sleeps.
fn cases() -> impl Iterator<Item = (Operation, State)> {
    let polling = OPERATIONS.into_iter().map(|operation| (operation, State::Polling));
    let asleep =
        OPERATIONS.into_iter().filter(Operation::is_latency).map(|operation| (operation, State::Asleep));
    polling.chain(asleep)
}

pub(crate) fn print(records: &[Record]) -> Result<(), Box<dyn Error>> {
    for record in records {
        println!("{}", serde_json::to_string(record)?);
    }
    Ok(())
}
