//! Whole applications: examples of the library, each by all PEs and by one process alone.
//!
//! They are programs of their own, and measure themselves: asked for `--times`, an example solves its problem by all
//! PEs and by plain code on PE 0, in turn, and prints a line for each pair. Here is which of them there are, which
//! problems they are given, where their programs are found, and how the lines are read.

use std::io;
use std::path::PathBuf;

use serde::Deserialize;
use shmem::launch::Bind;

use crate::bench::{self, Bench, Records};
use crate::case::{Record, Site};
use crate::jobs::{Asked, JobError};
use crate::measure::form::{Measure, again, cases};
use crate::measure::processes;
use crate::measure::processes::Work;
use crate::name::{listed, names};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::scratch::Scratch;
use crate::sources::{self, Missing};
use crate::task::{Done, Task};

/// What examples gain, and what the machine does.
pub const MEASURE: Measure = Measure {
    name: "applications",
    about: "Examples (heat2d, halo2d, gups, isx, histogram, index-gather) by as many PEs as have a core each, four at most, against plain code of one \
            process; and what as many processes gain that only copy memory, or change random words. A minute with \
            `--repetitions 11`",
    run: |runner, _| {
        machine(runner)?;
        Application::ALL.into_iter().try_for_each(|example| measure(runner, example, Extent::Whole))
    },
    usual: false,
    tasks: &[PROCESSES],
    cases: &[
        cases(
            &["application"],
            "example/problem",
            "heat2d, halo2d, gups, isx, histogram, index-gather by all PEs, four at most",
            "plain Rust code of one process for the same problem, without the library",
        ),
        cases(
            &["processes"],
            "work/bytes",
            "`memcpy`, and exclusive ors of random words, by all PEs, each in memory of its own; the same by the processor's \
             atomic operations in one table. Nobody waits for anybody",
            "one process that does the work of all, without atomic operations",
        ),
    ],
    again: again::<Name>,
    ..Measure::PLAIN
};

const PROCESSES: Task =
    Task { name: "processes", pe: |_, repetitions| bench::run(repetitions, of_processes) };

names! {
    Application(example: Application, problem: String) = "application": [example / problem];
    Processes(work: Work, bytes: usize) = "processes": [work / bytes];
}

listed!(Application, Application::ALL);
listed!(Work, Work::ALL);

/// Bytes that caches hold, and bytes that they do not.
const SIZES: [usize; 2] = if cfg!(debug_assertions) { [1 << 10, 1 << 12] } else { [1 << 22, 1 << 27] };

/// More PEs say how an example scales, not what it costs.
const MOST_PES: usize = 4;

/// As many PEs as have a core each.
fn pes() -> io::Result<usize> {
    Ok(std::thread::available_parallelism()?.get().min(MOST_PES))
}

/// What machines do that stands beside an example.
pub(crate) fn work_like(application: Application) -> Work {
    match application {
        Application::Gups | Application::Histogram => Work::SharedUpdate,
        Application::IndexGather => Work::Update,
        _ => Work::Copy,
    }
}

/// Measures an example.
pub(crate) fn measure(runner: &mut Runner, application: Application, extent: Extent) -> Done {
    // Figures of a build without optimisation are nobody's: there it is shown that the measure works.
    let extent = if cfg!(debug_assertions) { Extent::Least } else { extent };
    let pes = pes()?;
    for problem in application.problems(extent, pes) {
        let samples = application.measure(&problem, pes, runner.repetitions)?;
        let name = Name::Application(application, problem.name);
        let compared = "an example by all PEs, against plain code of one process alone";
        runner.show(vec![Record::new(&Site::near(pes), &name, "ms", compared, samples)]);
    }
    Ok(())
}

/// Measures what the machine gains by as many processes.
pub(crate) fn machine(runner: &mut Runner) -> Done {
    // Behind the statics of this program.
    let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (SIZES[1] + (4 << 20)).to_string());
    runner.repeat(&runner.job(&PROCESSES, pes()?, &[heap]))
}

fn of_processes(bench: &Bench<'_>) -> Records {
    let shared = bench.world.alloc(shmem::zeroed(SIZES[1] / size_of::<u64>() / bench.world.n_pes()))?;
    let mut records = Vec::new();
    for (work, bytes) in Work::ALL.into_iter().flat_map(|work| SIZES.map(|bytes| (work, bytes))) {
        let samples = processes::against_one(bench.world, work, bytes, &shared, bench.repetitions);
        records.push(bench.record_in("ms", &Name::Processes(work, bytes), work.compared(), samples));
    }
    Ok(records)
}

/// An example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Application {
    /// A stencil on two grids, whose edges travel while cells are relaxed.
    Heat2d,
    /// A stencil in place, in a periodic field.
    Halo2d,
    /// RandomAccess of the HPC Challenge benchmarks.
    Gups,
    /// The integer sort ISx.
    Isx,
    /// Additions to bins at random, in lists.
    Histogram,
    /// Reads of a table at random, by one list.
    IndexGather,
}

/// How large problems are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One that caches hold, and one that they do not.
    Whole,
    /// One, for a few seconds.
    Quick,
    /// The smallest, to see that all works.
    Least,
}

/// What an application is given to solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its size, in the words of its field.
    pub name: String,
    /// Bytes that it moves through again and again.
    pub bytes: usize,
    args: Vec<String>,
    /// Rows and columns of a field that it reads from a file.
    field: Option<[usize; 2]>,
}

/// An application that could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplicationError {
    /// Its program is not there.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Its job has failed.
    #[error(transparent)]
    Job(#[from] JobError),
    /// It has printed something else than times.
    #[error("{program} has printed {found:?} instead of {pairs} pairs of times")]
    Printed {
        /// The program.
        program: &'static str,
        /// How many pairs it was asked for.
        pairs: usize,
        /// What it has printed.
        found: String,
    },
    /// There is no place for its input.
    #[error("{0} cannot be written: {1}")]
    Input(PathBuf, io::Error),
}

impl Application {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Heat2d, Self::Halo2d, Self::Gups, Self::Isx, Self::Histogram, Self::IndexGather];

    /// The name of its program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Heat2d => "heat2d",
            Self::Halo2d => "halo2d",
            Self::Gups => "gups",
            Self::Isx => "isx",
            Self::Histogram => "histogram",
            Self::IndexGather => "index-gather",
        }
    }

    /// The problems that so many PEs are given.
    pub fn problems(self, extent: Extent, pes: usize) -> Vec<Problem> {
        use Extent::{Least, Quick, Whole};
        match (self, extent) {
            // A PE has room for 1024 x 1024 cells.
            (Self::Heat2d, Whole) => vec![heat2d([512, 512], 200), heat2d([1024 * pes, 1024], 20)],
            (Self::Heat2d, Quick) => vec![heat2d([1024 * pes, 1024], 10)],
            (Self::Heat2d, Least) => vec![heat2d([16, 16], 2)],
            (Self::Halo2d, Whole) => vec![halo2d(512, 200), halo2d(4096, 5)],
            (Self::Halo2d, Quick) => vec![halo2d(2048, 4)],
            (Self::Halo2d, Least) => vec![halo2d(16, 2)],
            (Self::Gups, Whole) => vec![gups(17, 16), gups(24, 1)],
            (Self::Gups, Quick) => vec![gups(21, 1)],
            (Self::Gups, Least) => vec![gups(6, 1)],
            (Self::Isx, Whole) => vec![isx(18), isx(24)],
            (Self::Isx, Quick) => vec![isx(21)],
            (Self::Isx, Least) => vec![isx(8)],
            (Self::Histogram, Whole) => vec![histogram(17), histogram(24)],
            (Self::Histogram, Quick) => vec![histogram(21)],
            (Self::Histogram, Least) => vec![histogram(6)],
            (Self::IndexGather, Whole) => vec![index_gather(17, pes), index_gather(24, pes)],
            (Self::IndexGather, Quick) => vec![index_gather(21, pes)],
            (Self::IndexGather, Least) => vec![index_gather(6, pes)],
        }
    }

    /// Its problem of a name, of so many PEs.
    pub fn problem(self, name: &str, pes: usize) -> Option<Problem> {
        let extents = [Extent::Whole, Extent::Quick, Extent::Least].into_iter();
        let mut problems = extents.flat_map(|extent| self.problems(extent, pes));
        problems.find(|problem| problem.name == name)
    }

    /// Milliseconds in which all PEs solve a problem, against those of one process alone.
    ///
    /// # Errors
    ///
    /// If the program is not there, or its job fails.
    pub fn measure(self, problem: &Problem, pes: usize, pairs: usize) -> Result<Samples, ApplicationError> {
        let program = sources::built(self.name(), &["-p", "shmem-examples", "--bins"])?;
        let mut args = problem.args.clone();
        args.extend(["--times".into(), pairs.to_string()]);
        let input = problem.field.map(Input::write).transpose()?;
        if let Some(input) = &input {
            args.extend(["--input".into(), input.file.to_string_lossy().into_owned()]);
        }
        // Beside what a program has in partitions of its own.
        let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), (problem.bytes + (64 << 20)).to_string());
        // Programs do not keep their PEs on cores.
        let job = Asked { pes, args, variables: vec![heap], bind: Bind::Core, hosts: None };
        let printed = job.run_program(&program)?.results;
        let samples = read(&printed).filter(|samples| samples.len() == pairs);
        samples.ok_or_else(|| ApplicationError::Printed { program: self.name(), pairs, found: printed })
    }
}

fn heat2d([rows, columns]: [usize; 2], steps: usize) -> Problem {
    // The serial grids lie in small pages, and so do these.
    let args = ["--steps", &steps.to_string(), "--partition", "default"].map(str::to_owned).into();
    let (name, bytes) = (format!("{rows}x{columns}"), 2 * rows * columns * size_of::<f64>());
    Problem { name, bytes, args, field: Some([rows, columns]) }
}

fn halo2d(size: usize, steps: usize) -> Problem {
    let [size, steps] = [size, steps].map(|number| number.to_string());
    let args = ["--rows", &size, "--columns", &size, "--rounds", &steps].map(str::to_owned).into();
    let cells = size.parse::<usize>().map_or(0, |size| size * size);
    Problem { name: format!("{size}x{size}"), bytes: cells * size_of::<f64>(), args, field: None }
}

fn gups(log2: u32, rounds: usize) -> Problem {
    let args = ["--log2-table", &log2.to_string(), "--rounds", &rounds.to_string()].map(str::to_owned).into();
    Problem { name: format!("2^{log2}"), bytes: size_of::<u64>() << log2, args, field: None }
}

fn isx(log2: u32) -> Problem {
    let args = ["--keys".to_owned(), (1_u64 << log2).to_string()].into();
    // From one slice to another, and back.
    Problem { name: format!("2^{log2}"), bytes: (2 * size_of::<u32>()) << log2, args, field: None }
}

fn histogram(log2: u32) -> Problem {
    table(log2, ["--bins", &(1_u64 << log2).to_string(), "--samples", &READS.to_string()])
}

fn index_gather(log2: u32, pes: usize) -> Problem {
    let entries = (1_usize << log2).div_ceil(pes).to_string();
    table(log2, ["--entries", &entries, "--reads", &READS.to_string()])
}

/// Words of a table that are touched.
const READS: u32 = if cfg!(debug_assertions) { 1 << 8 } else { 1 << 21 };

fn table(log2: u32, args: [&str; 4]) -> Problem {
    let args = args.map(str::to_owned).into();
    Problem { name: format!("2^{log2}"), bytes: size_of::<u64>() << log2, args, field: None }
}

/// A field in a file, which goes away with this.
struct Input {
    file: PathBuf,
    _directory: Scratch,
}

impl Input {
    /// A NumPy array of bytes.
    fn write([rows, columns]: [usize; 2]) -> Result<Self, ApplicationError> {
        let directory =
            Scratch::new().map_err(|error| ApplicationError::Input(std::env::temp_dir(), error))?;
        let file = directory.path().join("field.npy");
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{header:117}\n").bytes());
        bytes.extend((0..rows * columns).map(|cell| (cell * cell % 251) as u8));
        match std::fs::write(&file, bytes) {
            Ok(()) => Ok(Self { file, _directory: directory }),
            Err(error) => Err(ApplicationError::Input(file, error)),
        }
    }
}

/// A line that an example prints.
#[derive(Deserialize)]
struct Pair {
    parallel: f64,
    serial: f64,
}

/// The pairs that an example has printed, in milliseconds; nothing if it has printed something else.
fn read(printed: &str) -> Option<Samples> {
    let mut samples = Samples::new();
    for line in printed.lines() {
        let Pair { parallel, serial } = serde_json::from_str(line).ok()?;
        samples.push(parallel / 1e6, serial / 1e6);
    }
    Some(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_times_are_pairs_of_milliseconds() {
        let printed = "{\"parallel\":2500000,\"serial\":5000000}\n{\"parallel\":1,\"serial\":2}\n";
        assert_eq!(read(printed).unwrap().pairs(), [(2.5, 5.0), (1e-6, 2e-6)]);
        assert_eq!(read("256 x 256 cells on 2 PEs"), None);
    }

    #[test]
    fn a_name_leads_to_its_problem() {
        let bytes = |application: Application, name| Some(application.problem(name, 3)?.bytes);
        assert_eq!(bytes(Application::Gups, "2^24"), Some(128 << 20));
        assert_eq!(bytes(Application::Heat2d, "3072x1024"), Some(48 << 20));
        assert_eq!(bytes(Application::Isx, "2^99"), None);
    }

    #[test]
    fn a_whole_measure_has_a_problem_that_caches_do_not_hold() {
        for application in Application::ALL {
            let problems = |extent| application.problems(extent, 2);
            let [small, large] = &problems(Extent::Whole)[..] else { panic!("{application:?}") };
            assert!(small.bytes <= 4 << 20 && large.bytes >= 32 << 20, "{application:?}");
            let [quick] = &problems(Extent::Quick)[..] else { panic!("{application:?}") };
            assert!(quick.bytes >= 16 << 20 && quick.bytes <= large.bytes, "{application:?}");
        }
    }
}
