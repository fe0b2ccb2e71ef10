//! Measures what operations cost on this machine, each against a limit measured beside it.
//!
//! The tool starts its own program as PEs, with the hidden subcommand `pe`. PE 0 prints its cases as
//! JSON, and the tool shows them.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use shmem::perf::baseline::{LINES, WORDS_OF_LINE};
use shmem::perf::jobs::{Job, Printed};
use shmem::perf::lookup::{self, Buffers, Operation};
use shmem::perf::put::{self, Row};
use shmem::perf::startup::{self, Footprint};
use shmem::perf::{self, Case, FEWEST, Samples, Site, affinity, alloc, barrier, table};
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::zeroed;

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
        Some(command) => Report::new(arguments.json, repetitions).measure(command),
        None => {
            let mut report = Report::new(arguments.json, repetitions);
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
    /// What PEs have said besides; jobs are many and say the same.
    remarks: BTreeSet<String>,
}

impl Report {
    fn new(json: bool, repetitions: usize) -> Self {
        Self { json, repetitions, remarks: BTreeSet::new() }
    }

    fn measure(&mut self, command: Command) -> Result<(), Box<dyn Error>> {
        match command {
            Command::Put => self.job(Measure::Put, 2, 1),
            Command::Get => self.job(Measure::Get, 2, 1),
            Command::Lookup => {
                for n in lookup::PARTITIONS {
                    self.job(Measure::Lookup, 2, n)?;
                }
                [1].into_iter().chain(lookup::PARTITIONS).try_for_each(|n| self.job(Measure::LookupPublished, 2, n))
            }
            Command::Barrier => [2, 16].into_iter().try_for_each(|pes| self.job(Measure::Barrier, pes, 1)),
            Command::Alloc => self.job(Measure::Alloc, 2, 1),
            Command::Startup => self.startup(),
            Command::Pe { .. } => unreachable!("a PE measures by itself"),
        }
    }

    /// Runs a job whose PE 0 prints cases.
    fn job(&mut self, measure: Measure, pes: usize, partitions: usize) -> Result<(), Box<dyn Error>> {
        let variables = if partitions == 1 { Vec::new() } else { lookup::variables(partitions) };
        let printed = self.run(&self.plan(measure, pes, partitions, variables))?;
        let cases = printed.lines().map(serde_json::from_str).collect::<Result<Vec<Case>, _>>()?;
        self.show(&cases);
        Ok(())
    }

    fn plan(&self, measure: Measure, pes: usize, partitions: usize, variables: Vec<(String, String)>) -> Job {
        let name = measure.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let args = ["pe", &name, "--partitions", &partitions.to_string(), "--repetitions", &self.repetitions.to_string()];
        Job { pes, args: args.map(str::to_owned).into(), variables }
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

    fn show(&self, cases: &[Case]) {
        if self.json {
            print!("{}", table::json(cases));
        } else {
            println!("{}", table::text(cases));
        }
    }

    fn startup(&mut self) -> Result<(), Box<dyn Error>> {
        let gibibytes = |n: usize| {
            (1..=n).map(|id| (format!("SHMEM_SYMMETRIC_PARTITION{id}"), "SIZE=1G".to_owned())).collect()
        };
        self.start(4, "4", "the default heaps", Vec::new(), self.repetitions)?;
        self.start(16, "16/127/1G", "127 partitions of 1 GiB", gibibytes(127), FEWEST)
    }

    /// Measures starts of jobs of `pes` PEs.
    fn start(
        &mut self,
        pes: usize,
        case: &str,
        heaps: &str,
        variables: Vec<(String, String)>,
        repetitions: usize,
    ) -> Result<(), Box<dyn Error>> {
        let cores = std::thread::available_parallelism()?.get();
        let site = Site { pes, transport: "shm", shared_cores: pes > cores };
        let job = self.plan(Measure::Nothing, pes, 1, variables.clone());
        let samples = startup::startup(&job, repetitions)?;
        let compared = format!("start and end of a job with {heaps}, against as many programs that do nothing");
        self.show(&[site.case("startup", case, "ms", compared, &samples)]);

        let job = self.plan(Measure::Footprint, pes, 1, variables);
        let (mut resident, mut mappings) = (Samples::new(), Samples::new());
        for _ in 0..FEWEST {
            let footprint: Footprint = serde_json::from_str(&self.run(&job)?)?;
            resident.push(footprint.resident as f64 / f64::from(1 << 20), 8.0);
            mappings.push(footprint.mappings as f64, startup::most_mappings()? as f64);
        }
        let compared = format!("memory of a PE with {heaps} beyond what the program had before, against 8 MiB");
        self.show(&[site.case("startup-resident", case, "MiB", compared, &resident)]);
        let compared = format!("mappings of a PE with {heaps} beyond what the program had before, against vm.max_map_count");
        self.show(&[site.case("startup-mappings", case, "", compared, &mappings)]);
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
    let cases = match measure {
        Measure::Put => bench.put(),
        Measure::Get => bench.get(),
        Measure::Lookup => bench.lookup(partitions),
        Measure::LookupPublished => bench.published(partitions),
        Measure::Barrier => bench.barrier(),
        Measure::Alloc => bench.alloc(),
        Measure::Nothing | Measure::Footprint => unreachable!("taken above"),
    }?;
    if world.my_pe() == 0 {
        print!("{}", table::json(&cases));
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

type Cases = Result<Vec<Case>, Box<dyn Error>>;

impl Bench<'_> {
    /// The PE that is written and read.
    fn other(&self) -> Pe {
        self.world.ring_neighbours().1
    }

    /// Runs `measure` on PE 0 while the others sleep.
    fn alone(&self, measure: impl FnOnce() -> Vec<Case>) -> Vec<Case> {
        self.world.barrier_all();
        let cases = if self.world.my_pe() == 0 { measure() } else { Vec::new() };
        self.world.barrier_all();
        cases
    }

    fn put(&self) -> Cases {
        let Self { world, site, repetitions } = self;
        let object = world.alloc(zeroed::<u8>(4 << 20))?;
        let to = object.on(self.other());
        Ok(self.alone(|| {
            let samples = put::put8_static(*world, ROW.on(self.other()), put_row, *repetitions);
            let compared = "an 8-byte put to a static, against a store to the same word";
            let static_case = site.case("put8-static", "8", "ns", compared, &samples);
            let sizes = put::SIZES.iter().map(|&bytes| {
                let samples = put::put(*world, to.index(..bytes), *repetitions);
                let compared = "a put, against memcpy into the same bytes; time for each byte";
                site.case("put", bytes.to_string(), "ns", compared, &samples)
            });
            std::iter::once(static_case).chain(sizes).collect()
        }))
    }

    fn get(&self) -> Cases {
        let Self { world, site, repetitions } = self;
        let object = world.alloc(zeroed::<u8>(4 << 20))?;
        let from = object.on(self.other());
        Ok(self.alone(|| {
            let sizes = put::SIZES.iter().map(|&bytes| {
                let samples = perf::get::get(*world, from.index(..bytes), *repetitions);
                let compared = "a get, against memcpy out of the same bytes; time for each byte";
                site.case("get", bytes.to_string(), "ns", compared, &samples)
            });
            sizes.collect()
        }))
    }

    fn lookup(&self, partitions: usize) -> Cases {
        let mut cases = self.lookup_of::<u8>(partitions)?;
        cases.extend(self.lookup_of::<u64>(partitions)?);
        cases.extend(self.lookup_of::<[u64; 8]>(partitions)?);
        cases.extend(self.lookup_of::<[u64; 64]>(partitions)?);
        cases.extend(self.lookup_of::<[u64; 512]>(partitions)?);
        cases.sort_by_key(|case| case.case.starts_with("raw"));
        Ok(cases)
    }

    fn lookup_of<T: shmem::PlainData>(&self, partitions: usize) -> Cases {
        let Self { world, site, repetitions } = self;
        let buffers = Buffers::<T>::allocate(world, partitions)?;
        let cases = self.alone(|| {
            let case = |kind, samples| {
                let name = format!("{kind}/{partitions}/{}", size_of::<T>());
                let compared = "puts to random buffers in a partition each, against the same in one partition";
                site.case("lookup", name, "ns", compared, &samples)
            };
            vec![
                case("typed", lookup::typed(world, &buffers, self.other(), *repetitions)),
                case("raw", lookup::raw(world, &buffers, self.other(), *repetitions)),
            ]
        });
        buffers.free(world)?;
        Ok(cases)
    }

    fn published(&self, partitions: usize) -> Cases {
        let Self { world, site, repetitions } = self;
        let mut cases = Vec::new();
        for operation in Operation::ALL {
            let samples = lookup::published(world, partitions, operation, self.other(), *repetitions)?;
            if world.my_pe() == 0 {
                let name = format!("{}/{partitions}/8", operation.name());
                let compared = "10000 operations on buffers of random partitions, then quiet, against one buffer";
                cases.push(site.case("lookup-published", name, "ns", compared, &samples));
            }
        }
        Ok(cases)
    }

    fn barrier(&self) -> Cases {
        let Self { world, site, repetitions } = self;
        let words = world.alloc(zeroed::<u64>(barrier::LIMIT_WORDS))?;
        let words = words.on(world.pe(0)?);
        let (samples, compared) = if site.pes == 2 && !site.shared_cores {
            let samples = barrier::against_round_trip(world, words, *repetitions);
            (samples, "barrier_all, against a round trip of a cache line between the two")
        } else {
            let samples = barrier::against_futex(world, words, *repetitions);
            (samples, "barrier_all, against a plain futex barrier of as many processes")
        };
        Ok(vec![site.case("barrier", site.pes.to_string(), "ns", compared, &samples)])
    }

    fn alloc(&self) -> Cases {
        let Self { world, site, repetitions } = self;
        let of_size = |&bytes| {
            let samples = alloc::alloc(world, bytes, *repetitions)?;
            let compared = "allocating and freeing bytes, against two barriers";
            Ok(site.case("alloc", bytes.to_string(), "ns", compared, &samples))
        };
        alloc::SIZES.iter().map(of_size).collect()
    }
}
