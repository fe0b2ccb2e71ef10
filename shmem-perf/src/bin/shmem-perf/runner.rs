//! The tool: starts jobs, and shows or keeps what their PEs print.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use clap::ValueEnum;
use shmem::launch::Bind;
use shmem_perf::jobs::{Job, Printed};
use shmem_perf::peers::{PATIENCE, Peer, Programs};
use shmem_perf::placement::Found;
use shmem_perf::startup::{self, Footprint};
use shmem_perf::{Case, FEWEST, Record, Samples, Site, lookup, table};

use crate::check;
use crate::report::{self, Fact};
use crate::{Arguments, Command, Measure};

/// The tool: starts jobs, and shows or keeps what they print.
pub(crate) struct Runner {
    sink: Sink,
    pub(crate) repetitions: usize,
    pub(crate) jobs: u16,
    /// What PEs have said besides; jobs are many and say the same.
    remarks: BTreeSet<String>,
}

/// Where records and remarks go.
enum Sink {
    Tables,
    Json,
    Kept(Kept),
}

/// What was measured and said, for somebody who makes something of it.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) records: Vec<Record>,
    /// Each once.
    pub(crate) remarks: Vec<String>,
    pub(crate) facts: Vec<Fact>,
}

impl Runner {
    /// A runner that prints.
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let sink = if arguments.json { Sink::Json } else { Sink::Tables };
        Self::into(sink, arguments.repetitions.into(), arguments.jobs)
    }

    /// A runner that keeps what comes out.
    pub(crate) fn keeping(repetitions: usize, jobs: u16) -> Self {
        Self::into(Sink::Kept(Kept::default()), repetitions, jobs)
    }

    fn into(sink: Sink, repetitions: usize, jobs: u16) -> Self {
        Self { sink, repetitions, jobs, remarks: BTreeSet::new() }
    }

    /// What was kept since the last call; remarks that were made before do not come again.
    pub(crate) fn take(&mut self) -> Kept {
        match &mut self.sink {
            Sink::Kept(kept) => {
                let kept = std::mem::take(kept);
                Kept { records: Record::join(kept.records), ..kept }
            }
            Sink::Tables | Sink::Json => Kept::default(),
        }
    }

    pub(crate) fn measure(&mut self, command: Command) -> Result<(), Box<dyn Error>> {
        match command {
            Command::Put => self.jobs(Measure::Put, 2, 1),
            Command::Get => self.jobs(Measure::Get, 2, 1),
            Command::Lookup(options) => self.lookup(&options),
            Command::Barrier => [2, 16].into_iter().try_for_each(|pes| self.jobs(Measure::Barrier, pes, 1)),
            Command::Collective => self.collectives(),
            Command::Alloc => self.jobs(Measure::Alloc, 2, 1),
            Command::Threads(options) => self.threads(&options),
            Command::Signal => self.jobs(Measure::Signal, 2, 1),
            Command::Atomic => self.jobs(Measure::Atomic, 2, 1),
            Command::Tracking => {
                self.jobs(Measure::Tracking, 1, 1)?;
                self.jobs(Measure::TrackingDomains, 1, 1)
            }
            Command::Array => self.array(),
            Command::Halo => self.jobs(Measure::Halo, 2, 1),
            Command::Micro { quick, beside } if beside.is_empty() => self.micro_beside(&Peer::MICRO, quick),
            Command::Micro { quick, beside } => self.micro_beside(&beside, quick),
            Command::Pages => self.pages(),
            Command::Partitions => self.partitions(),
            Command::Placement { what } => self.placement(what),
            Command::Startup => self.startup(),
            Command::Applications => self.applications(),
            Command::Ofi { strided: true, provider, .. } => self.far_blocks(&provider),
            Command::Ofi { model: true, provider, .. } => self.model(&provider).map(|_| ()),
            Command::Ofi { micro: true, few, provider, .. } => self.micro(few, None, &provider),
            Command::Ofi { partitions: true, provider, .. } => self.registration(&provider),
            Command::Ofi { bare, provider, .. } => self.ofi(bare, &provider),
            Command::Mapping(options) => self.mapping(&options),
            Command::Strided(options) => self.strided(&options),
            Command::Calibrate { table, provider, dry_run } => self.calibrate(table, &provider, dry_run),
            Command::Report(options) => report::report(&options),
            Command::Check(options) => check::check(&options, matches!(self.sink, Sink::Json)),
            Command::Pe(_) => unreachable!("a PE measures by itself"),
        }
    }

    /// Runs jobs whose PE 0 prints records, and shows what comes out of all of them.
    pub(crate) fn jobs(
        &mut self,
        measure: Measure,
        pes: usize,
        partitions: usize,
    ) -> Result<(), Box<dyn Error>> {
        let variables = if partitions == 1 { Vec::new() } else { lookup::variables(partitions) };
        self.repeat(&self.job(measure, pes, partitions, &variables))
    }

    pub(crate) fn repeat(&mut self, job: &Job) -> Result<(), Box<dyn Error>> {
        let records = self.records(job)?;
        self.show(records);
        Ok(())
    }

    /// Shares out what is measured in several jobs: which pages a job gets is luck.
    pub(crate) fn several(
        &mut self,
        jobs: u16,
        measure: impl FnOnce(&mut Self) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let before = std::mem::replace(&mut self.jobs, jobs);
        let outcome = measure(self);
        self.jobs = before;
        outcome
    }

    /// Runs a job a single time.
    pub(crate) fn once(&mut self, job: &Job) -> Result<(), Box<dyn Error>> {
        let records = self.printed(job)?;
        self.show(records);
        Ok(())
    }

    /// What all jobs have measured.
    pub(crate) fn records(&mut self, job: &Job) -> Result<Vec<Record>, Box<dyn Error>> {
        let mut records = Vec::new();
        for _ in 0..self.jobs {
            records.extend(self.printed(job)?);
        }
        Ok(records)
    }

    fn printed(&mut self, job: &Job) -> Result<Vec<Record>, Box<dyn Error>> {
        let lines = self.run(job)?;
        Ok(lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    /// Measures collectives, and compares those of two PEs with another library's if it is there.
    fn collectives(&mut self) -> Result<(), Box<dyn Error>> {
        self.jobs(Measure::Collective, 2, 1)?;
        self.jobs(Measure::Collective, 4, 1)?;
        let Some(programs) = self.programs(&[Peer::OshmemMicro])? else { return Ok(()) };
        let mut job = self.job(Measure::CollectivePeer, 2, 1, &[]);
        job.args.extend(["--peers".into(), programs.directory().to_string_lossy().into_owned()]);
        self.repeat(&job)
    }

    pub(crate) fn job(
        &self,
        measure: Measure,
        pes: usize,
        partitions: usize,
        variables: &[(String, String)],
    ) -> Job {
        let name = measure.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let (partitions, repetitions) = (partitions.to_string(), self.repetitions.to_string());
        let args = ["pe", &name, "--partitions", &partitions, "--repetitions", &repetitions];
        let args = args.map(str::to_owned).into();
        Job { pes, args, variables: variables.to_vec(), bind: Bind::None, hosts: None }
    }

    pub(crate) fn run(&mut self, job: &Job) -> Result<String, Box<dyn Error>> {
        let Printed { results, remarks } = job.run()?;
        remarks.lines().for_each(|remark| self.remark(remark));
        Ok(results)
    }

    /// Says something once.
    pub(crate) fn remark(&mut self, remark: &str) {
        if !self.remarks.insert(remark.to_owned()) {
            return;
        }
        match &mut self.sink {
            Sink::Kept(kept) => kept.remarks.push(remark.to_owned()),
            Sink::Tables | Sink::Json => eprintln!("{remark}"),
        }
    }

    pub(crate) fn show(&mut self, records: Vec<Record>) {
        let cases = |records| Record::join(records).iter().map(Record::case).collect::<Vec<Case>>();
        match &mut self.sink {
            Sink::Tables => println!("{}", table::text(&cases(records))),
            Sink::Json => print!("{}", table::json(&cases(records))),
            Sink::Kept(kept) => kept.records.extend(records),
        }
    }

    /// Keeps a fact, or prints it.
    pub(crate) fn fact(&mut self, fact: Fact) {
        match &mut self.sink {
            Sink::Kept(kept) => kept.facts.push(fact),
            Sink::Tables => println!("{}: {}, {}: {}", fact.table, fact.row, fact.column, fact.value),
            Sink::Json => {}
        }
    }

    /// Keeps what was found of memory, or prints it.
    pub(crate) fn found(&mut self, found: &[Found]) -> Result<(), Box<dyn Error>> {
        match &mut self.sink {
            Sink::Kept(kept) => {
                let fact = |one: &Found| Fact::new(&one.table, &*one.row, &*one.column, &*one.value);
                kept.facts.extend(found.iter().map(fact));
            }
            Sink::Tables => print!("{}", Found::text(found)),
            Sink::Json => {
                for one in found {
                    println!("{}", serde_json::to_string(one)?);
                }
            }
        }
        Ok(())
    }

    /// Prints what is only to be read, and not when lines of JSON are wanted.
    pub(crate) fn explain(&self, text: &str) {
        if matches!(self.sink, Sink::Tables) {
            println!("{text}");
        }
    }

    fn startup(&mut self) -> Result<(), Box<dyn Error>> {
        let gibibyte = |id| (format!("SHMEM_SYMMETRIC_PARTITION{id}"), "SIZE=1G".to_owned());
        let partitions: Vec<_> = (1..=127).map(gibibyte).collect();
        self.starts(4, "4", "the default heaps", &[], self.repetitions)?;
        self.starts(16, "16/127/1G", "127 partitions of 1 GiB", &partitions, FEWEST)?;
        // Figures of a build without optimisation are nobody's: there it is shown that the measure works.
        self.starts_under_mpirun(if cfg!(debug_assertions) { 4 } else { 64 })
    }

    /// Measures starts by a launcher that is not ours, if it is there.
    fn starts_under_mpirun(&mut self, pes: usize) -> Result<(), Box<dyn Error>> {
        let args = self.job(Measure::Nothing, pes, 1, &[]).args;
        let Some(samples) = startup::under_mpirun(pes, &args, FEWEST)? else {
            self.remark("mpirun is not installed: starts under it are not measured (Debian: openmpi-bin)");
            return Ok(());
        };
        let cores = std::thread::available_parallelism()?.get();
        let site = Site { pes, transport: "shm".into(), shared_cores: pes > cores };
        let compared = "start and end of a job under mpirun, against mpirun of as many hostname";
        self.show(vec![Record::new(&site, "startup", format!("mpirun/{pes}"), "ms", compared, samples)]);
        Ok(())
    }

    /// Measures starts of jobs of `pes` PEs, and what their PEs keep.
    pub(crate) fn starts(
        &mut self,
        pes: usize,
        case: &str,
        heaps: &str,
        variables: &[(String, String)],
        repetitions: usize,
    ) -> Result<(), Box<dyn Error>> {
        let cores = std::thread::available_parallelism()?.get();
        let site = Site { pes, transport: "shm".into(), shared_cores: pes > cores };
        let samples = startup::startup(&self.job(Measure::Nothing, pes, 1, variables), repetitions)?;
        let compared =
            format!("start and end of a job with {heaps}, against as many programs that do nothing");
        let start = Record::new(&site, "startup", case, "ms", compared, samples);

        let job = self.job(Measure::Footprint, pes, 1, variables);
        let (mut resident, mut mappings) = (Samples::new(), Samples::new());
        for _ in 0..FEWEST {
            let footprint: Footprint = serde_json::from_str(&self.run(&job)?)?;
            resident.push(footprint.resident as f64 / f64::from(1 << 20), 8.0);
            mappings.push(footprint.mappings as f64, startup::most_mappings()? as f64);
        }
        let of = |what, limit| {
            format!("{what} of a PE with {heaps} beyond those of the program itself, against {limit}")
        };
        self.show(vec![
            start,
            Record::new(&site, "startup-resident", case, "MiB", of("pages", "8 MiB"), resident),
            Record::new(&site, "startup-mappings", case, "", of("mappings", "vm.max_map_count"), mappings),
        ]);
        Ok(())
    }

    /// The programs of some peers. Who is missing is said; nothing if all of them are.
    pub(crate) fn programs(&mut self, peers: &[Peer]) -> std::io::Result<Option<Programs>> {
        self.programs_within(peers, PATIENCE)
    }

    /// The same, each of them built within a time.
    pub(crate) fn programs_within(
        &mut self,
        peers: &[Peer],
        patience: Duration,
    ) -> std::io::Result<Option<Programs>> {
        let programs = Programs::build(peers, patience)?;
        for missing in programs.missing() {
            self.remark(&format!("shmem-perf: {missing}"));
        }
        Ok((programs.missing().len() < peers.len()).then_some(programs))
    }
}
