//! Jobs of a tool that measures itself: it starts its own program as PEs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use shmem::launch::{Bind, Launch, LaunchError};

use super::hosts::Hosts;
use super::peers::Programs;

/// A job that could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The program does not know where it lies.
    #[error("the file of this program is not known: {0}")]
    Program(io::Error),
    /// The job could not be started.
    #[error("the PEs could not be started: {0}")]
    Launch(#[from] LaunchError),
    /// The programs that a job is compared with could not be started.
    #[error("programs to compare with could not be started: {0}")]
    Baseline(io::Error),
    /// The host that a job is started from cannot be entered.
    #[error("the first host cannot be entered: {0}")]
    Host(io::Error),
    /// The job did not end in order.
    #[error("the job of {pes} PEs for `{what}` ended with code {code}\n{report}")]
    Failed {
        /// What it was for.
        what: String,
        /// Number of PEs.
        pes: usize,
        /// Its exit code.
        code: u8,
        /// What was said about that.
        report: String,
    },
}

/// What a job has printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// PE 0, to its standard output.
    pub results: String,
    /// All PEs, to their standard errors.
    pub remarks: String,
}

/// A job of this program, as it is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Number of PEs.
    pub pes: usize,
    /// Arguments for each PE.
    pub args: Vec<String>,
    /// Variables of their environment. What else the environment says about partitions does not
    /// count: measures would differ from place to place.
    pub variables: Vec<(String, String)>,
    /// How PEs are bound to CPUs.
    pub bind: Bind,
    /// Where it runs; not said: on this host.
    pub hosts: Option<Arc<Hosts>>,
}

impl Asked {
    /// With so many partitions, as its PEs are told.
    pub(crate) fn partitions(self, partitions: usize) -> Self {
        self.told("--partitions", partitions)
    }

    /// With transfers of these sizes, in bytes.
    pub(crate) fn sizes(self, sizes: &[usize]) -> Self {
        self.told("--sizes", list(sizes))
    }

    /// With these numbers of threads.
    pub(crate) fn threads(self, threads: &[usize]) -> Self {
        self.told("--threads", list(threads))
    }

    /// With random layouts drawn by a number.
    pub(crate) fn seed(self, seed: u64) -> Self {
        self.told("--seed", seed)
    }

    /// With so much to be moved, or so many layouts, at most.
    pub(crate) fn most(self, most: usize) -> Self {
        self.told("--most", most)
    }

    /// With arrays that are smaller by a power of two.
    pub(crate) fn scale(self, scale: u32) -> Self {
        self.told("--scale", scale)
    }

    /// Beside the programs of other libraries.
    pub(crate) fn beside(self, programs: &Programs) -> Self {
        self.told("--peers", programs.directory().display())
    }

    fn told(mut self, name: &str, value: impl ToString) -> Self {
        self.args.extend([name.to_owned(), value.to_string()]);
        self
    }

    /// The same job, elsewhere.
    #[must_use]
    pub fn on(self, hosts: &Arc<Hosts>) -> Self {
        Self { hosts: Some(Arc::clone(hosts)), ..self }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or a PE fails.
    pub fn run(&self) -> Result<Printed, JobError> {
        let program = std::env::current_exe().map_err(JobError::Program)?;
        self.launch(Launch::new(program, self.pes))
    }

    /// The same of another program.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_program(&self, program: &Path) -> Result<Printed, JobError> {
        self.launch(Launch::new(program, self.pes))
    }

    fn launch(&self, launch: Launch) -> Result<Printed, JobError> {
        let mut launch = launch.args(&self.args).bind(self.bind).capture_output();
        for name in partitions_of_environment() {
            launch = launch.env_remove(name);
        }
        // Nobody is warned of PEs that wait while another one is measured, or of strides that are meant.
        launch = launch.env("SHMEM_WAIT_WARN", "0").env("SHMEM_STRIDED_ADVICE", "0");
        for (name, value) in &self.variables {
            launch = launch.env(name, value);
        }
        let outcome = match &self.hosts {
            Some(hosts) => hosts.run(launch, self.pes)?,
            None => launch.run()?,
        };
        let remarks: Vec<u8> = outcome.outputs.iter().flat_map(|printed| printed.err.clone()).collect();
        let remarks = String::from_utf8_lossy(&remarks).into_owned();
        if outcome.code != 0 {
            return Err(JobError::Failed {
                what: self.args.join(" "),
                pes: self.pes,
                code: outcome.code,
                report: format!("{remarks}{}", outcome.report).trim_end().to_owned(),
            });
        }
        let results = outcome.outputs.first().map_or_else(Default::default, |printed| printed.out.clone());
        Ok(Printed { results: String::from_utf8_lossy(&results).into_owned(), remarks })
    }
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Names of the variables by which this process's environment asks for partitions.
pub(crate) fn partitions_of_environment() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| is_of_partitions(name))
}

fn is_of_partitions(name: &OsStr) -> bool {
    [&b"SHMEM_SYMMETRIC_"[..], b"SMA_SYMMETRIC_"].iter().any(|prefix| name.as_bytes().starts_with(prefix))
}
