//! Jobs of launchers that speak PMIx: `mpirun`, `prterun`, `srun --mpi=pmix`.
//!
//! PMIx says who is in the job and on which host, and passes bytes between processes. It passes no descriptors, and
//! each of its steps costs every PE a conversation with its launcher. So the PEs of a host do what they do together
//! among themselves, over sockets of their own, and only the first PE of each host speaks for it:
//!
//! ```text
//! PEs of a host      [`Steps`]  as under `shmrun`: values at a fence, descriptors handed round
//! their first PE     [`Host`]   serves them, itself among them, and exchanges their values with the other hosts' first
//! first PEs          [`Client`] one value per host, and a fence, in which PMIx wants all PEs
//! ```
//!
//! They find each other once, at the start ([`door`]), and from then on each notices the other's death ([`Watch`]):
//! `mpirun` ends a job in which a process dies, `srun` does so only with `--kill-on-bad-exit`.

mod bindings;
mod claim;
mod client;
mod door;
mod host;
#[cfg(test)]
mod layout;
mod library;
mod watch;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use shmem_core::alike::Alike;
use shmem_core::exit;

use super::launcher::Bootstrap;
use super::steps::Steps;
use crate::say::say;
use bindings::{PMIX_HOSTNAME, PMIX_JOB_SIZE, PMIX_LOCAL_PEERS, PMIX_NODEID};
use claim::{Claim, NAMESPACE};
use client::{Client, Fact};
use door::FIRST;
use host::Host;
use library::Library;
use watch::Watch;

/// How long a PE that takes another one to be lost waits for somebody who knows more.
const SUSPECT: Duration = Duration::from_secs(1);

/// A PE of a launcher that speaks PMIx.
pub struct Pmix {
    client: Arc<Client>,
    number: usize,
    hosts: Alike<u32>,
    role: Role,
    watch: Watch,
    _claim: Option<Claim>,
}

/// How a PE takes part in what all do together.
enum Role {
    /// It speaks for its host.
    First(Host),
    /// It speaks to who does.
    Other(Steps),
}

impl Pmix {
    /// Joins the job of the launcher that started this process; `None` if none that speaks PMIx has.
    ///
    /// # Errors
    ///
    /// If libpmix cannot be loaded, the launcher does not say who is where, or the PEs of this host do not find
    /// each other, or if another process is the PE already.
    ///
    /// # Safety
    ///
    /// As [`bootstrap::connect`](super::connect).
    pub unsafe fn connect(library: Option<&str>) -> io::Result<Option<Self>> {
        if std::env::var_os(NAMESPACE).is_none() {
            return Ok(None);
        }
        let claim = Claim::of_environment()?;
        // SAFETY: the caller's promise.
        let library = unsafe { Library::load(library) }.map_err(io::Error::other)?;
        let Some(client) = Client::connect(library)? else { return Ok(None) };
        let number = client.rank() as usize;
        let hosts = hosts(&client)?;
        let here = hosts[number];
        let neighbours: Vec<usize> = (0..hosts.len()).filter(|pe| hosts[*pe] == here).collect();
        let met = door::meet(&client, number, &neighbours, &hosts)?;
        let client = Arc::new(client);
        let role = match met.channels {
            door::Channels::First(channels) => {
                let first_of = |host| hosts.iter().position(|h| *h == host).unwrap_or_default();
                let firsts = (0..=hosts.iter().copied().max().unwrap_or_default()).map(first_of).collect();
                Role::First(Host::new(Arc::clone(&client), number, channels, firsts))
            }
            door::Channels::Other(channel) => Role::Other(Steps::new(channel, number, neighbours, FIRST)),
        };
        let watch = Watch::new(Arc::clone(&client), here, met.lifelines, met.voice)?;
        let hosts = hosts.into_iter().collect();
        Ok(Some(Self { client, number, hosts, role, watch, _claim: claim }))
    }
}

impl Bootstrap for Pmix {
    fn name(&self) -> &'static str {
        "PMIx"
    }

    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.hosts.len()
    }

    fn hosts(&self) -> Vec<u32> {
        self.hosts.iter().copied().collect()
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        drop(self.client.stay()?);
        match &self.role {
            Role::First(host) => host.put(key, value),
            Role::Other(steps) => steps.put(key, value),
        }
    }

    fn fence(&self) -> io::Result<()> {
        drop(self.client.stay()?);
        match &self.role {
            Role::First(host) => host.fence(),
            Role::Other(steps) => steps.fence(|| match self.hosts.values() == [0] {
                true => Ok(()),
                false => self.client.fence(),
            }),
        }
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        match &self.role {
            Role::First(host) => host.get(pe, key),
            Role::Other(steps) => steps.get(pe, key),
        }
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        drop(self.client.stay()?);
        match &self.role {
            Role::First(host) => host.share(descriptors),
            Role::Other(steps) => steps.share(descriptors),
        }
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        exit::end(code, || {
            self.watch.await_turn();
            if self.watch.may_speak() && !message.is_empty() {
                say(&format!("PE {} ended the job with code {code}: {message}", self.number));
            }
            self.client.abort(code);
        })
    }

    fn suspect(&self, message: &str) -> ! {
        std::thread::sleep(SUSPECT);
        self.abort(1, message)
    }

    fn finish(&self) {
        self.watch.leave();
        self.client.leave();
    }
}

/// The host of each PE, numbered in the order of their first PEs.
fn hosts(client: &Client) -> io::Result<Vec<u32>> {
    let count = match client.of_job(PMIX_JOB_SIZE)? {
        Fact::Number(count) if (1..=u64::from(u32::MAX)).contains(&count) => count as u32,
        other => return Err(unknown(format!("{other:?} processes"))),
    };
    if client.rank() >= count {
        return Err(unknown(format!("process {} of {count}", client.rank())));
    }
    if count == 1 {
        return Ok(vec![0]);
    }
    let mut names: Vec<Fact> = Vec::new();
    let mut hosts = Vec::with_capacity(count as usize);
    for rank in 0..count {
        let host =
            client.of_process(rank, PMIX_NODEID).or_else(|_| client.of_process(rank, PMIX_HOSTNAME))?;
        let position = names.iter().position(|name| *name == host).unwrap_or(names.len());
        if position == names.len() {
            names.push(host);
        }
        hosts.push(position as u32);
    }
    // What the launcher says of this host in another way must be the same: memory is shared on its word.
    if let Ok(Fact::Text(peers)) = client.of_job(PMIX_LOCAL_PEERS) {
        let here = hosts[client.rank() as usize];
        let same: Vec<u32> = (0..count).filter(|rank| hosts[*rank as usize] == here).collect();
        if in_order(&peers).as_ref() != Some(&same) {
            return Err(unknown(format!("the PEs of this host are {peers} and {same:?}")));
        }
    }
    Ok(hosts)
}

/// The numbers of a list, which PRRTE 3 gives in any order.
fn in_order(list: &str) -> Option<Vec<u32>> {
    let mut numbers =
        list.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<u32>>>()?;
    numbers.sort_unstable();
    Some(numbers)
}

fn unknown(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the launcher does not say who is where: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_a_host_are_told_in_any_order() {
        assert_eq!(in_order("0,2,1,10"), Some(vec![0, 1, 2, 10]));
        assert_eq!(in_order("7"), Some(vec![7]));
        assert_eq!([in_order(""), in_order("0,x")], [None, None]);
    }
}
