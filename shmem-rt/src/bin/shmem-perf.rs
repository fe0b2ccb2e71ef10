//! Measures what operations cost on this machine, each against a limit measured beside it.
//!
//! The tool starts its own program as PEs, with the hidden subcommand `pe`. PE 0 prints its samples as
//! JSON; the tool joins those of several jobs and shows what comes out. Several, because which pages
//! a job gets is luck, and caches make a difference of it.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use shmem::perf::baseline::{LINES, WORDS_OF_LINE};
use shmem::perf::jobs::{Job, Printed};
use shmem::perf::lookup::{self, Buffers, Operation};
use shmem::perf::put::{self, Row};
use shmem::perf::startup::{self, Footprint};
use shmem::perf::{self, Case, FEWEST, Record, Samples, Site, affinity, alloc, barrier, table};
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{PlainData, zeroed};

/// Measures what operations cost, each against a limit that is measured beside it, in turn.
///
/// Ratios are costs over the limit's cost: smaller is better everywhere. Without a subcommand,
/// everything is measured.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one line of JSON for each case.
    #[arg(long, global = true)]
    json: bool,
    /// Pairs of samples for each case.
    #[arg(long, global = true, default_value_t = 31, value_parser = clap::value_parser!(u16).range(FEWEST as i64..))]
    repetitions: u16,
    /// Jobs that share out each case: which pages a job gets, and what else the machine does, is luck.
    #[arg(long, global = true, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Command {
    /// Puts: of 8 bytes to a static against a store, of 1 byte to 4 MiB against `memcpy`.
    Put,
    /// Gets of 1 byte to 4 MiB, against `memcpy`.
    Get,
    /// Puts to many partitions against puts to one.
    Lookup,
    /// Barriers: of 2 PEs against a round trip of a cache line, of 16 against a futex barrier.
    Barrier,
    /// Collective allocations, against the barriers that they need.
    Alloc,
    /// Start and end of a job, against programs that do nothing.
    Startup,
    /// One PE of a measure.
    #[command(hide = true)]
    Pe {
        measure: Measure,
        #[arg(long, default_value_t = 1)]
        partitions: usize,
    },
}

/// What a job of PEs is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    Put,
    Get,
    Lookup,
    LookupPublished,
    Barrier,
    Alloc,
    Nothing,
    Footprint,
}

#[symmetric]
static ROW: Row;

/// What `put8-static` measures: one 8-byte put to each line of the row.
#[inline(never)]
fn put_row(world: &World, pe: Pe, value: u64) {
    for line in 0..LINES {
        world.p(ROW.on(pe).index(line * WORDS_OF_LINE), value);
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let repetitions = usize::from(arguments.repetitions);
    let done = match arguments.command {
        Some(Command::Pe { measure, partitions }) => pe(measure, partitions, repetitions),
        Some(command) => Report::new(&arguments).measure(command),
        None => {
            let mut report = Report::new(&arguments);
            use Command::{Alloc, Barrier, Get, Lookup, Put, Startup};
            [Put, Get, Lookup, Barrier, Alloc, Startup].into_iter().try_for_each(|one| report.measure(one))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shmem-perf: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The tool: starts jobs and shows what they print.
struct Report {
    json: bool,
    repetitions: usize,
    jobs: u16,
    /// What PEs have said besides; jobs are many and say the same.
    remarks: BTreeSet<String>,
}

impl Report {
    fn new(arguments: &Arguments) -> Self {
        Self {
            json: arguments.json,
            repetitions: arguments.repetitions.into(),
            jobs: arguments.jobs,
            remarks: BTreeSet::new(),
        }
    }

    fn measure(&mut self, command: Command) -> Result<(), Box<dyn Error>> {
        match command {
            Command::Put => self.jobs(Measure::Put, 2, 1),
            Command::Get => self.jobs(Measure::Get, 2, 1),
            Command::Lookup => {
                let mut partitions = lookup::PARTITIONS.into_iter();
                partitions.try_for_each(|n| self.jobs(Measure::Lookup, 2, n))?;
                let mut partitions = [1].into_iter().chain(lookup::PARTITIONS);
                partitions.try_for_each(|n| self.jobs(Measure::LookupPublished, 2, n))
            }
            Command::Barrier => [2, 16].into_iter().try_for_each(|pes| self.jobs(Measure::Barrier, pes, 1)),
            Command::Alloc => self.jobs(Measure::Alloc, 2, 1),
            Command::Startup => self.startup(),
            Command::Pe { .. } => unreachable!("a PE measures by itself"),
        }
    }

    /// Runs jobs whose PE 0 prints records, and shows what comes out of all of them.
    fn jobs(&mut self, measure: Measure, pes: usize, partitions: usize) -> Result<(), Box<dyn Error>> {
        let variables = if partitions == 1 { Vec::new() } else { lookup::variables(partitions) };
        let mut records = Vec::new();
        for _ in 0..self.jobs {
            let printed = self.run(&self.job(measure, pes, partitions, &variables))?;
            for line in printed.lines() {
                records.push(serde_json::from_str(line)?);
            }
        }
        self.show(records);
        Ok(())
    }

    fn job(&self, measure: Measure, pes: usize, partitions: usize, variables: &[(String, String)]) -> Job {
        let name = measure.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let (partitions, repetitions) = (partitions.to_string(), self.repetitions.to_string());
        let args = ["pe", &name, "--partitions", &partitions, "--repetitions", &repetitions];
        Job { pes, args: args.map(str::to_owned).into(), variables: variables.to_vec() }
    }

    fn run(&mut self, job: &Job) -> Result<String, Box<dyn Error>> {
        let Printed { results, remarks } = job.run()?;
        for remark in remarks.lines() {
            if self.remarks.insert(remark.to_owned()) {
                eprintln!("{remark}");
            }
        }
        Ok(results)
    }

    fn show(&self, records: Vec<Record>) {
        let cases: Vec<Case> = Record::join(records).iter().map(Record::case).collect();
        if self.json {
            print!("{}", table::json(&cases));
        } else {
            println!("{}", table::text(&cases));
        }
    }

    fn startup(&mut self) -> Result<(), Box<dyn Error>> {
        let gibibyte = |id| (format!("SHMEM_SYMMETRIC_PARTITION{id}"), "SIZE=1G".to_owned());
        let partitions: Vec<_> = (1..=127).map(gibibyte).collect();
        self.starts(4, "4", "the default heaps", &[], self.repetitions)?;
        self.starts(16, "16/127/1G", "127 partitions of 1 GiB", &partitions, FEWEST)
    }

    /// Measures starts of jobs of `pes` PEs, and what their PEs keep.
    fn starts(
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
}

/// One PE of a job.
fn pe(measure: Measure, partitions: usize, repetitions: usize) -> Result<(), Box<dyn Error>> {
    let before = Footprint::now()?;
    let world = shmem::init::<Single>()?;
    match measure {
        Measure::Nothing => return Ok(()),
        Measure::Footprint => return footprint(&world, before),
        _ => {}
    }
    let cores = affinity::take(world.my_pe(), world.n_pes())?;
    let bench = Bench { site: Site::of(&world, cores), world: &world, repetitions };
    let records = match measure {
        Measure::Put => bench.put(),
        Measure::Get => bench.get(),
        Measure::Lookup => bench.lookup(partitions),
        Measure::LookupPublished => bench.published(partitions),
        Measure::Barrier => bench.barrier(),
        Measure::Alloc => bench.alloc(),
        Measure::Nothing | Measure::Footprint => unreachable!("taken above"),
    }?;
    if world.my_pe() == 0 {
        for record in records {
            println!("{}", serde_json::to_string(&record)?);
        }
    }
    Ok(())
}

fn footprint(world: &World, before: Footprint) -> Result<(), Box<dyn Error>> {
    world.barrier_all();
    let grown = Footprint::now()?.since(before);
    let mut most = [grown.resident, grown.mappings];
    world.max(&mut most[..]);
    if world.my_pe() == 0 {
        println!("{}", serde_json::to_string(&Footprint { resident: most[0], mappings: most[1] })?);
    }
    Ok(())
}

/// What measures need, inside a PE. All PEs call every measure; what PE 0 returns counts.
struct Bench<'w> {
    world: &'w World,
    site: Site,
    repetitions: usize,
}

type Records = Result<Vec<Record>, Box<dyn Error>>;

impl Bench<'_> {
    fn record(&self, measure: &str, case: impl Into<String>, compared: &str, samples: Samples) -> Record {
        Record::new(&self.site, measure, case, "ns", compared, samples)
    }

    /// The PE that is written and read.
    fn other(&self) -> Pe {
        self.world.ring_neighbours().1
    }

    /// Runs `measure` on PE 0 while the others sleep.
    fn alone(&self, measure: impl FnOnce() -> Vec<Record>) -> Vec<Record> {
        self.world.barrier_all();
        let records = if self.world.my_pe() == 0 { measure() } else { Vec::new() };
        self.world.barrier_all();
        records
    }

    fn put(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let object = world.alloc(zeroed::<u8>(4 << 20))?;
        let to = object.on(self.other());
        Ok(self.alone(|| {
            let samples = put::put8_static(world, ROW.on(self.other()), put_row, repetitions);
            let compared = "an 8-byte put to a static, against a store to the same word";
            let to_static = self.record("put8-static", "8", compared, samples);
            let sizes = put::SIZES.iter().map(|&bytes| {
                let samples = put::put(world, to.index(..bytes), repetitions);
                let compared = "a put, against memcpy into the same bytes; time for each byte";
                self.record("put", bytes.to_string(), compared, samples)
            });
            std::iter::once(to_static).chain(sizes).collect()
        }))
    }

    fn get(&self) -> Records {
        let Self { world, repetitions, .. } = *self;
        let object = world.alloc(zeroed::<u8>(4 << 20))?;
        let from = object.on(self.other());
        Ok(self.alone(|| {
            let sizes = put::SIZES.iter().map(|&bytes| {
                let samples = perf::get::get(world, from.index(..bytes), repetitions);
                let compared = "a get, against memcpy out of the same bytes; time for each byte";
                self.record("get", bytes.to_string(), compared, samples)
            });
            sizes.collect()
        }))
    }

    fn lookup(&self, partitions: usize) -> Records {
        let mut records = self.lookup_of::<u8>(partitions)?;
        records.extend(self.lookup_of::<u64>(partitions)?);
        records.extend(self.lookup_of::<[u64; 8]>(partitions)?);
        records.extend(self.lookup_of::<[u64; 64]>(partitions)?);
        records.extend(self.lookup_of::<[u64; 512]>(partitions)?);
        records.sort_by_key(|record| record.case.starts_with("raw"));
        Ok(records)
    }

    fn lookup_of<T: PlainData>(&self, partitions: usize) -> Records {
        let Self { world, repetitions, .. } = *self;
        let mut buffers = Buffers::<T>::allocate(world, partitions)?;
        let record = |kind, samples| {
            let case = format!("{kind}/{partitions}/{}", size_of::<T>());
            let compared = "puts to random buffers in a partition each, against the same in one partition";
            self.record("lookup", case, compared, samples)
        };
        let records = self.alone(|| {
            vec![
                record("typed", lookup::typed(world, &mut buffers, self.other(), repetitions)),
                record("raw", lookup::raw(world, &buffers, self.other(), repetitions)),
            ]
        });
        buffers.free(world)?;
        Ok(records)
    }

    fn published(&self, partitions: usize) -> Records {
        let Self { world, repetitions, .. } = *self;
        let mut records = Vec::new();
        for operation in Operation::ALL {
            let samples = lookup::published(world, partitions, operation, self.other(), repetitions)?;
            let case = format!("{}/{partitions}/8", operation.name());
            let compared =
                "10,000 operations on buffers of random partitions, then quiet, against all on one buffer";
            records.push(self.record("lookup-published", case, compared, samples));
        }
        Ok(records)
    }

    fn barrier(&self) -> Records {
        let Self { world, repetitions, site } = self;
        let words = world.alloc(zeroed::<u64>(barrier::LIMIT_WORDS))?;
        let words = words.on(world.pe(0)?);
        let (samples, compared) = if site.pes == 2 && !site.shared_cores {
            let samples = barrier::against_round_trip(world, words, *repetitions);
            (samples, "barrier_all, against a round trip of a cache line between the two")
        } else {
            let samples = barrier::against_futex(world, words, *repetitions);
            (samples, "barrier_all, against a plain futex barrier of as many processes")
        };
        Ok(vec![self.record("barrier", site.pes.to_string(), compared, samples)])
    }

    fn alloc(&self) -> Records {
        let of_size = |&bytes: &usize| {
            let samples = alloc::alloc(self.world, bytes, self.repetitions)?;
            Ok(self.record(
                "alloc",
                bytes.to_string(),
                "allocating and freeing bytes, against two barriers",
                samples,
            ))
        };
        alloc::SIZES.iter().map(of_size).collect()
    }
}
