//! What the PEs of a host are started from: all that the launcher next to them must be told.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::Output;
use super::output::Kind;
use crate::env::Bind;

/// A job, as the launcher on one of its hosts sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) program: OsString,
    /// What the PEs are told that they are called.
    pub(crate) arg0: OsString,
    pub(crate) args: Vec<OsString>,
    /// Variables for the PEs beside those of their launcher, and those to be taken from them.
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    /// Where the PEs are to run; `None`: where their launcher does.
    pub(crate) directory: Option<OsString>,
    /// The job's random number.
    pub(crate) number: u64,
    /// The host of each PE.
    pub(crate) hosts: Vec<u32>,
    /// Which of the hosts this one is.
    pub(crate) host: u32,
    /// Whether all of them are this one in truth.
    pub(crate) pretends: bool,
    #[serde(with = "Binding")]
    pub(crate) bind: Bind,
    pub(crate) output: Output,
    /// The streams of each PE that come to the launcher, by the pipes that they come through.
    pub(crate) pipes: Vec<Vec<Kind>>,
    /// The PE that runs under the debugger.
    pub(crate) debugger: Option<usize>,
    pub(crate) attach_wait: bool,
}

impl Description {
    /// The PEs of this host, in the order of their numbers.
    pub(crate) fn pes(&self) -> Vec<usize> {
        (0..self.hosts.len()).filter(|&pe| self.hosts[pe] == self.host).collect()
    }

    /// The PEs that share the CPUs of this machine, in the order of their numbers.
    pub(crate) fn pes_of_the_machine(&self) -> Vec<usize> {
        if self.pretends { (0..self.hosts.len()).collect() } else { self.pes() }
    }
}

/// [`Bind`], on its way.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Bind")]
enum Binding {
    Core,
    Numa,
    None,
    Share,
}
