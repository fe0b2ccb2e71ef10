//! Jobs of a tool that measures itself: it starts its own program as PEs.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use shmem::launch::{Bind, Launch};

use crate::hosts::Hosts;

/// A job of this program, as it is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) pes: usize,
    pub(crate) args: Vec<String>,
    /// Variables of their environment. What else the environment says about partitions does not
    /// count: measures would differ from place to place.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) bind: Bind,
    /// Where it runs; not said: on this host.
    pub(crate) hosts: Option<Arc<Hosts>>,
}

impl Asked {
    pub(crate) fn with<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.variables.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    pub(crate) fn heap(self, bytes: usize) -> Self {
        self.with([("SHMEM_SYMMETRIC_SIZE", bytes.to_string())])
    }

    /// Runs it to its end: what PE 0 has printed to its standard output, and all PEs to their standard errors.
    pub(crate) fn run(&self) -> Result<[String; 2], Box<dyn Error>> {
        self.run_program(&std::env::current_exe()?)
    }

    /// The same of another program.
    pub(crate) fn run_program(&self, program: &Path) -> Result<[String; 2], Box<dyn Error>> {
        let launch = Launch::new(program, self.pes).args(&self.args).bind(self.bind).capture_output();
        let launch = partitions_of_environment().fold(launch, Launch::env_remove);
        // Nobody is warned of PEs that wait while another one is measured, or of strides that are meant.
        let launch = launch.env("SHMEM_WAIT_WARN", "0").env("SHMEM_STRIDED_ADVICE", "0");
        let launch = self.variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
        let outcome = match &self.hosts {
            Some(hosts) => hosts.run(launch, self.pes)?,
            None => launch.run()?,
        };
        let remarks: Vec<u8> = outcome.outputs.iter().flat_map(|printed| printed.err.clone()).collect();
        let remarks = String::from_utf8_lossy(&remarks).into_owned();
        if outcome.code != 0 {
            let report = format!("{remarks}{}", outcome.report);
            let (pes, what, code, report) = (self.pes, self.args.join(" "), outcome.code, report.trim_end());
            return Err(format!("the job of {pes} PEs for `{what}` ended with code {code}\n{report}").into());
        }
        let results = outcome.outputs.first().map_or(&[][..], |printed| &printed.out);
        Ok([String::from_utf8_lossy(results).into_owned(), remarks])
    }
}

/// Names of the variables by which this process's environment asks for partitions.
pub(crate) fn partitions_of_environment() -> impl Iterator<Item = OsString> {
    let is_of_partitions = |name: &OsStr| {
        [&b"SHMEM_SYMMETRIC_"[..], b"SMA_SYMMETRIC_"].iter().any(|prefix| name.as_bytes().starts_with(prefix))
    };
    std::env::vars_os().map(|(name, _)| name).filter(move |name| is_of_partitions(name))
}
