//! What launchers on different hosts say to each other, as [`codec`](crate::codec) writes it: [`Order`]s to the one that has PEs,
//! [`Event`]s from it.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::Output;
use super::output::Kind;
use super::rendezvous::portions;
use super::report::{Notice, Standing};
use super::wire::{MAX_PACKET, Value};
use crate::codec::{self, Malformed, Message};
use crate::env::Bind;

/// Most bytes of a message.
pub(super) const MAX_MESSAGE: usize = 32 << 20;

/// What has happened on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A process has joined as the PE.
    Joined { pe: usize, pid: u32 },
    /// What the host's PEs have put before a fence; `last`: all of them are there.
    Fenced { values: Vec<Value>, last: bool },
    /// A PE has printed.
    Printed {
        pe: usize,
        kind: Kind,
        #[serde(serialize_with = "codec::whole", deserialize_with = "codec::bytes::<_, MAX_MESSAGE>")]
        bytes: Vec<u8>,
    },
    /// A PE ends the job.
    Aborted { pe: usize, code: i32, message: String },
    /// A PE cannot go on, because another one or its host seems to be lost.
    Suspected { pe: usize, message: String },
    /// A PE has left the job in order.
    Finished { pe: usize },
    /// A PE has ended as it should not.
    Died(Notice),
    /// A PE has ended without ever having joined, which may be in order.
    StayedAway(Notice),
    /// No process of the PE runs any more.
    Over { pe: usize },
    /// A PE and the launcher do not understand each other.
    Broken { pe: usize, what: String },
    /// What each PE does: the answer to [`Order::Look`].
    Standings(Vec<(usize, Standing)>),
    /// The PEs could not be started.
    Failed { what: String, code: u8 },
    /// Something that the user should know.
    Remarked { what: String },
}

/// What is to happen on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Starts the PEs.
    Start(Box<Description>),
    /// A packet for every PE; `last`: the fence is over.
    Deliver {
        #[serde(serialize_with = "codec::whole", deserialize_with = "codec::bytes::<_, MAX_PACKET>")]
        packet: Vec<u8>,
        last: bool,
    },
    /// A signal for all PEs but one.
    Signal { signal: i32, except: Option<usize> },
    /// Asks what each PE does.
    Look,
    /// Nobody reads what the PE prints there.
    Close { pe: usize, kind: Kind },
    /// There is no room for what PEs print there, or there is again.
    Hold { kind: Kind, held: bool },
    /// The job is over.
    End,
}

impl Message for Order {}

impl Order {
    pub(super) fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    pub(super) fn decode(message: &[u8]) -> Result<Self, Malformed> {
        codec::decode(message)
    }
}

impl Message for Event {}

impl Event {
    /// As one message, or as several where there is no bound to its length.
    pub(super) fn encode(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Fenced { values, .. } => {
                let portions = portions(values.clone()).into_iter();
                portions.map(|(values, last)| codec::encode(&Self::Fenced { values, last })).collect()
            }
            one => vec![codec::encode(one)],
        }
    }

    pub(super) fn decode(message: &[u8]) -> Result<Self, Malformed> {
        codec::decode(message)
    }

    /// The PEs it is about.
    pub(super) fn pes(&self) -> Vec<usize> {
        match self {
            Self::Joined { pe, .. }
            | Self::Printed { pe, .. }
            | Self::Aborted { pe, .. }
            | Self::Suspected { pe, .. }
            | Self::Finished { pe }
            | Self::Over { pe }
            | Self::Broken { pe, .. } => vec![*pe],
            Self::Died(notice) | Self::StayedAway(notice) => vec![notice.pe],
            Self::Fenced { values, .. } => values.iter().map(|value| value.pe as usize).collect(),
            Self::Standings(standings) => standings.iter().map(|(pe, _)| *pe).collect(),
            Self::Failed { .. } | Self::Remarked { .. } => Vec::new(),
        }
    }
}

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

#[cfg(test)]
mod tests;
