//! Jobs of process managers: `mpirun`, `prterun` and `srun --mpi=pmix` by [PMIx](super::pmix); MPICH's `mpiexec`, Flux and
//! `srun --mpi=pmi2` by [PMI-1](super::pmi).
//!
//! A process manager knows the processes of the job and their hosts, and passes bytes between them. It passes no file descriptors,
//! and each of its operations costs every PE a round trip to its launcher. So the PEs of a host have sockets of their own, and only
//! the first PE of each host exchanges values by the process manager:
//!
//! ```text
//! PEs of a host      [`Served`]          as under `shmrun`: values at a fence, shared descriptors
//! their first PE     [`Host`]            serves all PEs of the host, and exchanges their values with the other first PEs
//! first PEs          [`ProcessManager`]  one value for each host, and a fence, which all PEs of the job call
//! ```
//!
//! A host's PEs connect to the first one at the start ([`host_rendezvous`]). Both ends of a connection watch each other
//! ([`Watch`]), because `srun` without `--kill-on-bad-exit` does not end a job in which a process dies.

mod host;
mod host_rendezvous;
mod watch;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use shmem_core::process_exit;
use shmem_core::run_length::EqualRun;

use super::exchange_client::{Exchange, Served, owned};
use super::interface::Bootstrap;
use super::pe_claim::Claim;
use super::process_manager::{ProcessManager, numbered, unknown};
use super::{pmi, pmix};
use crate::diagnostics::say;
use host::Host;
use host_rendezvous::FIRST;
use watch::Watch;

/// Time that a PE delays its end, while another PE of its host reports why the job ends.
const REPORT_TIME: Duration = Duration::from_millis(200);

/// A PE of a job that a process manager has started.
pub struct Managed {
    manager: Arc<dyn ProcessManager>,
    number: usize,
    hosts: EqualRun<u32>,
    /// Whether each PE counts as alone on its host, and shares no memory with others.
    is_apart: bool,
    /// A [`Host`] in the first PE of a host, and a [`Served`] in the others.
    exchange: Box<dyn Exchange>,
    watch: Arc<Watch>,
    _claim: Option<Claim>,
}

impl Managed {
    /// Joins the job of the process manager that started this process. Returns `None` if no PMI-1 or PMIx launcher did. `libpmix`
    /// is a file of libpmix to use in place of the system's.
    ///
    /// # Errors
    ///
    /// If libpmix cannot be loaded, the launcher does not answer or does not know the hosts, the PEs of this host cannot connect,
    /// or another process has claimed this PE.
    ///
    /// # Safety
    ///
    /// As [`bootstrap::connect`](super::connect).
    pub unsafe fn connect(libpmix: Option<&str>) -> io::Result<Option<Self>> {
        // Joins the innermost launcher. If the parent process made the PMI socket, that is the PMI launcher. Otherwise PMIx is
        // tried first: a process of `mpirun` in a job of `srun --mpi=pmi2` may have inherited the PMI socket of the outer job.
        let by_pmi = || {
            // SAFETY: the caller keeps this function's contract.
            let joined = unsafe { pmi::Client::connect() }?;
            joined.map(|(client, claim)| Self::join(Arc::new(client), claim)).transpose()
        };
        // SAFETY: the caller keeps this function's contract.
        if unsafe { pmi::is_of_the_parent() } {
            return by_pmi();
        }
        // SAFETY: the caller keeps this function's contract.
        match unsafe { pmix::connect(libpmix) }? {
            Some((client, claim)) => Self::join(Arc::new(client), claim).map(Some),
            None => by_pmi(),
        }
    }

    /// Joins the job of `manager`.
    ///
    /// # Errors
    ///
    /// If the manager fails, or the PEs of this host cannot connect.
    ///
    /// # Safety
    ///
    /// As [`bootstrap::connect`](super::connect). `manager` must return the right number of processes and a different number for
    /// each process, a get must return the value that was put, and a fence must wait for all processes.
    pub unsafe fn by(manager: impl ProcessManager + 'static) -> io::Result<Self> {
        if manager.number() >= manager.count() {
            return Err(unknown(format!("process {} of {}", manager.number(), manager.count())));
        }
        Self::join(Arc::new(manager), None)
    }

    fn join(manager: Arc<dyn ProcessManager>, claim: Option<Claim>) -> io::Result<Self> {
        let (number, hosts) = (manager.number(), numbered(manager.hosts()?));
        if hosts.len() != manager.count() {
            return Err(unknown(format!("hosts of {} processes of {}", hosts.len(), manager.count())));
        }
        let here = hosts[number];
        let neighbours: Vec<usize> = (0..hosts.len()).filter(|pe| hosts[*pe] == here).collect();
        let met = host_rendezvous::meet(&*manager, number, &neighbours, &hosts)?;
        let channels = met.channels.clone();
        let exchange: Box<dyn Exchange> = match met.channels.get(&neighbours[0]) {
            Some(first) => {
                // In a job on one host, the first PE completes fences by itself, without the manager.
                let fences = hosts.iter().any(|host| *host != here).then(|| Arc::clone(&manager));
                Box::new(Served::new(Arc::clone(first), number, neighbours, FIRST, fences))
            }
            None => {
                let first_of = |host| hosts.iter().position(|h| *h == host).unwrap_or_default();
                let firsts = (0..=hosts.iter().copied().max().unwrap_or_default()).map(first_of).collect();
                Box::new(Host::new(Arc::clone(&manager), number, met.channels, firsts))
            }
        };
        let watch = Watch::new(Arc::clone(&manager), here, channels, met.voice)?;
        let hosts = hosts.into_iter().collect();
        Ok(Self { manager, number, hosts, is_apart: false, exchange, watch, _claim: claim })
    }
}

impl Bootstrap for Managed {
    fn name(&self) -> &'static str {
        self.manager.name()
    }

    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.hosts.len()
    }

    fn hosts(&self) -> Vec<u32> {
        if self.is_apart { (0..self.count() as u32).collect() } else { self.hosts.iter().copied().collect() }
    }

    fn keep_apart(&mut self) {
        self.is_apart = true;
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        self.exchange.put(key, value)
    }

    fn fence(&self) -> io::Result<()> {
        self.exchange.fence()
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        self.exchange.get(pe, key)
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        if self.is_apart { Ok(vec![owned(descriptors)?]) } else { self.exchange.share(descriptors) }
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        // Not in the closure below, whose time `process_exit::end` limits.
        self.watch.await_turn();
        process_exit::end(code, || {
            if !self.watch.may_report() {
                std::thread::sleep(REPORT_TIME);
            } else if !message.is_empty() {
                say(&format!("PE {} ended the job with code {code}: {message}", self.number));
            }
            self.manager.abort(code);
        })
    }

    fn finish(&self) {
        self.watch.leave();
        self.manager.leave();
    }
}
