//! A job inside one process: every PE is a thread.
//!
//! This is the test transport's home. Nothing here is fast; it exists so that every operation takes
//! the path that a network will take, over a transport that delays and reorders what it may.
//!
//! Every PE is alone on its node, unless a pattern puts several on one (`SHMRUN_HOSTS_AS`, see [`HostsAs`]).
//! Those reach each other as processes do: each PE has an arena of its own, into which it maps the memory of
//! its neighbours.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use shmem_core::memory::{Arena, Machine, Mine};
use shmem_core::pe::Pe;
use shmem_core::transport::loopback::Network;
use shmem_core::transport::target::Target;

use crate::bootstrap::Bootstrap;
use crate::entry::{self, Outcome};
use crate::env::Settings;
use crate::error::{Error, Result};
use crate::launch::{HOSTS_AS, HostsAs};
use crate::persistent;
use crate::start::{Members, Plan, assemble};
use crate::thread::ThreadLevel;
use crate::world::World;

/// Runs `body` as `pes` PEs, each a thread of this process.
///
/// # Errors
///
/// If the job cannot be brought up.
pub(crate) fn run<L: ThreadLevel, R: Outcome>(pes: usize, body: fn(&mut World<L>) -> R) -> Result<()> {
    let nodes = Nodes(hosts(pes)?);
    let plan = || Plan::make(Settings::from_process()?);
    let first = plan()?;
    let mut files = persistent::open_all(&first, pes)?;
    let (mut arenas, mut memory) = (Vec::new(), Vec::new());
    for (pe, files) in files.iter().enumerate() {
        let arena = Arena::reserve(first.layout.clone(), nodes.neighbours(pe).count(), Machine::default())?;
        memory.push(arena.create_with(nodes.slot(pe), files)?);
        first.place_statics(arena.place(nodes.slot(pe)), files);
        arenas.push(Arc::new(arena));
    }
    for (pe, arena) in arenas.iter().enumerate() {
        for other in nodes.neighbours(pe).filter(|other| *other != pe) {
            let theirs: &Mine = &memory[other];
            let descriptors = theirs.descriptors.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>();
            arena.attach(nodes.slot(other), descriptors.map_err(lost)?, &theirs.pieces)?;
        }
    }
    let grants: Vec<_> = memory.into_iter().map(|mine| mine.grants).collect();
    let bytes = first.layout.bytes();
    let places = arenas.iter().enumerate().map(|(pe, arena)| arena.place(nodes.slot(pe)));
    // SAFETY: `create_with` has mapped each place, and the arenas live as long as the threads below.
    let targets = places.map(|place| unsafe { Target::new(place, bytes) }).collect();
    let seed = std::env::var("SHMRUN_LOOPBACK_SEED").ok().and_then(|s| s.parse().ok());
    let network = Network::new(targets, seed.unwrap_or_else(|| u64::from(std::process::id())));
    let shared = Arc::new(Shared::new(nodes.clone()));
    // All nodes share this process's cores.
    let has_cores = pes <= std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for me in 0..pes {
            let (plan, arena, grants) = (plan()?, Arc::clone(&arenas[me]), grants.clone());
            let files = std::mem::take(&mut files[me]);
            let bootstrap = Arc::new(Threads { shared: Arc::clone(&shared), me });
            let transport = Arc::new(network.transport(me));
            let (nodes, hosts) = (nodes.clone(), bootstrap.hosts());
            let cores = if has_cores { nodes.neighbours(me).count() } else { 0 };
            let body = move || {
                let numbers = (0..pes)
                    .map(|number| {
                        let is_near = hosts[number] == hosts[me];
                        let slot = if is_near { nodes.slot(number) as u32 } else { Pe::OFF_NODE };
                        // SAFETY: PE `number` is one of the threads, and those of this node take the
                        // slots of the arena in the order of their numbers.
                        unsafe { Pe::new(number as u32, slot) }
                    })
                    .collect();
                let cpus = vec![Vec::new(); nodes.neighbours(me).count()];
                let members = Members { pes: numbers, hosts: &hosts, cores, cpus, files, fabric: None };
                let mut world = assemble::<L>(plan, bootstrap, arena, members, grants, Some(transport));
                entry::run_body(&mut world, body);
            };
            let thread = std::thread::Builder::new().name(format!("PE {me}"));
            let spawned = thread.spawn_scoped(scope, move || {
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err() {
                    // The others may be waiting for this PE for ever.
                    std::process::exit(101);
                }
            });
            spawned.map_err(lost)?;
        }
        Ok(())
    })
}

/// The node of each PE.
fn hosts(pes: usize) -> Result<Vec<u32>> {
    let pattern = std::env::var(HOSTS_AS).unwrap_or_else(|_| "*x1".to_owned());
    let hosts = pattern.parse::<HostsAs>().and_then(|pattern| pattern.hosts(pes));
    hosts.map_err(|error| Error::Launcher(format!("{HOSTS_AS}: {error}")))
}

fn lost(error: io::Error) -> Error {
    Error::Launcher(error.to_string())
}

/// The node of each PE.
#[derive(Clone)]
struct Nodes(Vec<u32>);

impl Nodes {
    /// The PEs of a PE's node, itself included, in order.
    fn neighbours(&self, pe: usize) -> impl Iterator<Item = usize> + '_ {
        let node = self.0[pe];
        self.0.iter().enumerate().filter(move |(_, other)| **other == node).map(|(other, _)| other)
    }

    /// Which of its node's PEs one is.
    fn slot(&self, pe: usize) -> usize {
        self.neighbours(pe).take_while(|other| *other < pe).count()
    }
}

struct Shared {
    values: Mutex<HashMap<(usize, String), Vec<u8>>>,
    /// What each PE gives its neighbours, while they share.
    descriptors: Mutex<Vec<Vec<OwnedFd>>>,
    barrier: Barrier,
    nodes: Nodes,
}

impl Shared {
    fn new(nodes: Nodes) -> Self {
        let (descriptors, pes) = (nodes.0.iter().map(|_| Vec::new()).collect(), nodes.0.len());
        let descriptors = Mutex::new(descriptors);
        Self { values: Mutex::default(), descriptors, barrier: Barrier::new(pes), nodes }
    }
}

/// The bootstrap of threads.
struct Threads {
    shared: Arc<Shared>,
    me: usize,
}

impl Bootstrap for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn number(&self) -> usize {
        self.me
    }

    fn count(&self) -> usize {
        self.shared.nodes.0.len()
    }

    fn hosts(&self) -> Vec<u32> {
        self.shared.nodes.0.clone()
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let mut values = self.shared.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert((self.me, key.to_owned()), value.to_vec());
        Ok(())
    }

    fn fence(&self) -> io::Result<()> {
        self.shared.barrier.wait();
        Ok(())
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let values = self.shared.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.get(&(pe, key.to_owned())).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        let Shared { descriptors: given, barrier, nodes, .. } = &*self.shared;
        let given = || given.lock().unwrap_or_else(PoisonError::into_inner);
        let own = descriptors.iter().map(|d| d.try_clone_to_owned()).collect::<io::Result<_>>();
        // Whatever it was: the others wait.
        let failed = own.map(|own| given()[self.me] = own);
        barrier.wait();
        let copy = |pe: usize| given()[pe].iter().map(OwnedFd::try_clone).collect::<io::Result<_>>();
        let copies = nodes.neighbours(self.me).map(copy).collect();
        barrier.wait();
        given()[self.me].clear();
        failed.and(copies)
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        eprintln!("shmem: PE {} ends the job: {message}", self.me);
        std::process::exit(code)
    }

    fn finish(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_length_are_exchanged() {
        const PES: usize = 3;
        let shared = Arc::new(Shared::new(Nodes(vec![0, 1, 0])));
        // Longer than a launcher carries at once, different on each PE, empty on one.
        let said = |pe: usize| vec![pe as u8; pe * 50_000];
        std::thread::scope(|scope| {
            for me in 0..PES {
                let shared = Arc::clone(&shared);
                scope.spawn(move || {
                    let all = Threads { shared, me }.exchange("key", &said(me)).unwrap();
                    assert_eq!(all, (0..PES).map(said).collect::<Vec<_>>());
                });
            }
        });
    }
}
