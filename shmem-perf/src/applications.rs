//! Whole applications: examples of the library, each by all PEs and by one process alone.
//!
//! They are programs of their own, and measure themselves: asked for `--times`, an example solves its problem by all
//! PEs and by plain code on PE 0, in turn, and prints a line for each pair. Here is which of them there are, which
//! problems they are given, where their programs are found, and how the lines are read.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::jobs::{Job, JobError};
use super::samples::Samples;
use shmem::launch::Bind;

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
    /// Its program is neither there nor can it be built.
    #[error(
        "the program {0} is not beside this one: `cargo build --release -p shmem-examples` in the sources builds it"
    )]
    Missing(PathBuf),
    /// Its program is not there, and its build has failed.
    #[error("`cargo build -p shmem-examples` has failed: {0}")]
    Build(String),
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
    pub const ALL: [Self; 4] = [Self::Heat2d, Self::Halo2d, Self::Gups, Self::Isx];

    /// The name of its program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Heat2d => "heat2d",
            Self::Halo2d => "halo2d",
            Self::Gups => "gups",
            Self::Isx => "isx",
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
        }
    }

    /// The application and the problem of a case, `gups/2^24`, of so many PEs.
    pub fn of(case: &str, pes: usize) -> Option<(Self, Problem)> {
        let (name, problem) = case.split_once('/')?;
        let application = Self::ALL.into_iter().find(|application| application.name() == name)?;
        let extents = [Extent::Whole, Extent::Quick, Extent::Least].into_iter();
        let mut problems = extents.flat_map(|extent| application.problems(extent, pes));
        Some((application, problems.find(|one| one.name == problem)?))
    }

    /// Milliseconds in which all PEs solve a problem, against those of one process alone.
    ///
    /// # Errors
    ///
    /// If the program is not there, or its job fails.
    pub fn measure(self, problem: &Problem, pes: usize, pairs: usize) -> Result<Samples, ApplicationError> {
        let program = self.program()?;
        let mut args = problem.args.clone();
        args.extend(["--times".into(), pairs.to_string()]);
        let input = problem.field.map(Input::write).transpose()?;
        if let Some(input) = &input {
            args.extend(["--input".into(), input.0.to_string_lossy().into_owned()]);
        }
        // Programs do not keep their PEs on cores.
        let job = Job { pes, args, variables: Vec::new(), bind: Bind::Core, hosts: None };
        let printed = job.run_program(&program)?.results;
        let samples = read(&printed).filter(|samples| samples.len() == pairs);
        samples.ok_or_else(|| ApplicationError::Printed { program: self.name(), pairs, found: printed })
    }

    /// Its program: beside this one, where a build leaves them all; built if it is not there and the sources are.
    fn program(self) -> Result<PathBuf, ApplicationError> {
        let this = std::env::current_exe().map_err(JobError::Program)?;
        let program = this.with_file_name(self.name());
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("Cargo.toml");
        if !program.is_file() && sources.is_file() {
            build(&this, &sources)?;
        }
        if program.is_file() { Ok(program) } else { Err(ApplicationError::Missing(program)) }
    }
}

/// Builds the examples into the directory of a program.
fn build(this: &Path, sources: &Path) -> Result<(), ApplicationError> {
    // target/release/shmem-perf
    let Some(target) = this.ancestors().nth(2) else { return Ok(()) };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "-p", "shmem-examples", "--bins", "--manifest-path"]).arg(sources);
    build.args((!cfg!(debug_assertions)).then_some("--release")).env("CARGO_TARGET_DIR", target);
    let output = build.output().map_err(|error| ApplicationError::Build(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(ApplicationError::Build(said.trim().to_owned())) }
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

/// A field in a file, which goes away with this.
struct Input(PathBuf);

impl Input {
    /// A NumPy array of bytes.
    fn write([rows, columns]: [usize; 2]) -> Result<Self, ApplicationError> {
        let file = std::env::temp_dir().join(format!("shmem-perf-{}.npy", std::process::id()));
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{header:117}\n").bytes());
        bytes.extend((0..rows * columns).map(|cell| (cell * cell % 251) as u8));
        match std::fs::write(&file, bytes) {
            Ok(()) => Ok(Self(file)),
            Err(error) => Err(ApplicationError::Input(file, error)),
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // What is left lies among temporary files.
        let _ = std::fs::remove_file(&self.0);
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
    fn a_case_leads_to_its_problem() {
        let of = |case| Application::of(case, 3).map(|(application, problem)| (application, problem.bytes));
        assert_eq!(of("gups/2^24"), Some((Application::Gups, 128 << 20)));
        assert_eq!(of("heat2d/3072x1024"), Some((Application::Heat2d, 48 << 20)));
        assert_eq!((of("isx/2^99"), of("lu/2^18"), of("isx")), (None, None, None));
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
