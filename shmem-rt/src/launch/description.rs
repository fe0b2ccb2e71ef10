//! What the PEs of a host are started from: all that the launcher next to them must be told.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

use super::bind::Bind;
use super::error::LaunchError;
use super::spawn::{Before, Spawner};
use super::{Output, program, say};

/// A job, as the launcher on one of its hosts sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    /// Variables for the PEs beside those of their launcher, and those to be taken from them.
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    /// Where the PEs are to run; `None`: where their launcher does.
    pub(crate) directory: Option<PathBuf>,
    /// The job's random number.
    pub(crate) number: u64,
    /// The host of each PE.
    pub(crate) hosts: Vec<u32>,
    /// Which of the hosts this one is.
    pub(crate) host: u32,
    pub(crate) bind: Bind,
    pub(crate) output: Output,
    /// The PE that runs under the debugger.
    pub(crate) debugger: Option<usize>,
    pub(crate) attach_wait: bool,
}

impl Description {
    /// The PEs of this host, in the order of their numbers.
    pub(crate) fn pes(&self) -> Vec<usize> {
        (0..self.hosts.len()).filter(|&pe| self.hosts[pe] == self.host).collect()
    }

    /// What starts them: finds the program and the CPUs.
    ///
    /// # Errors
    ///
    /// If this host has no such program, or does not say which CPUs it has.
    pub(crate) fn spawner(self, before: Before) -> Result<Spawner, LaunchError> {
        let path = self.path();
        let program = program::find(&self.program, path.as_deref())?;
        let debugger = self.debugger.filter(|pe| self.pes().contains(pe));
        let gdb = debugger.map(|_| program::find(OsStr::new("gdb"), path.as_deref())).transpose();
        let debugger = gdb.map_err(|_| LaunchError::NoDebugger)?;
        let binding = self.bind.binding(self.pes().len()).map_err(LaunchError::Bind)?;
        if let Some(remark) = &binding.remark
            && self.output != Output::Capture
        {
            say(remark);
        }
        Ok(Spawner { description: self, program, debugger, cpus: binding.sets, before })
    }

    /// Where programs are looked for: as the PEs would.
    fn path(&self) -> Option<OsString> {
        let set = self.environment.iter().rev().find(|(key, _)| key == "PATH");
        set.map_or_else(|| std::env::var_os("PATH"), |(_, value)| value.clone())
    }
}

/// A random number.
///
/// # Errors
///
/// If the kernel has none.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}
