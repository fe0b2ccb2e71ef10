//! A job inside one process: every PE is a thread.
//!
//! This is the test transport's home. Nothing here is fast; it exists so that every operation takes
//! the path that a network will take, over a transport that delays and reorders what it may.
//!
//! Every PE is alone on its node, or consecutive ones are together on one (`SHMRUN_LOOPBACK_NODE` says how
//! many). Those reach each other as processes do: each PE has an arena of its own, into which it maps the
//! memory of its neighbours.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
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
use crate::persistent;
use crate::start::{Members, Plan, assemble};
use crate::thread::ThreadLevel;
use crate::world::World;

/// Variable that says how many consecutive PEs are on a node: 1, unless it says otherwise.
const NODE: &str = "SHMRUN_LOOPBACK_NODE";

/// Runs `body` as `pes` PEs, each a thread of this process.
///
/// # Errors
///
/// If the job cannot be brought up.
pub(crate) fn run<L: ThreadLevel, R: Outcome>(pes: usize, body: fn(&mut World<L>) -> R) -> Result<()> {
    let nodes = Nodes { pes, each: pes_of_a_node()? };
    let plan = || Plan::make(Settings::from_process()?);
    let first = plan()?;
    let mut files = persistent::open_all(&first, pes)?;
    let (mut arenas, mut memory) = (Vec::new(), Vec::new());
    for (pe, files) in files.iter().enumerate() {
        let arena = Arena::reserve(first.layout.clone(), nodes.neighbours(pe).len(), Machine::default())?;
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
    let shared = Arc::new(Shared::new(nodes));
    // All nodes share this process's cores.
    let has_cores = pes <= std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for me in 0..pes {
            let (plan, arena, grants) = (plan()?, Arc::clone(&arenas[me]), grants.clone());
            let files = std::mem::take(&mut files[me]);
            let bootstrap = Arc::new(Threads { shared: Arc::clone(&shared), me });
            let transport = Arc::new(network.transport(me));
            let cores = if has_cores { nodes.neighbours(me).len() } else { 0 };
            let body = move || {
                let numbers = (0..pes)
                    .map(|number| {
                        let is_near = nodes.node(number) == nodes.node(me);
                        let slot = if is_near { nodes.slot(number) as u32 } else { Pe::OFF_NODE };
                        // SAFETY: PE `number` is one of the threads, and those of this node take the
                        // slots of the arena in the order of their numbers.
                        unsafe { Pe::new(number as u32, slot) }
                    })
                    .collect();
                let hosts = bootstrap.hosts();
                let cpus = vec![Vec::new(); nodes.neighbours(me).len()];
                let members = Members { pes: numbers, hosts: &hosts, cores, cpus, files };
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

fn pes_of_a_node() -> Result<usize> {
    let Some(text) = std::env::var_os(NODE) else { return Ok(1) };
    let number = text.to_str().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| {
        Error::Launcher(format!("{NODE}=`{}` is no number of PEs, which is 1 or more", text.display()))
    })
}

fn lost(error: io::Error) -> Error {
    Error::Launcher(error.to_string())
}

/// Which PEs are together.
#[derive(Clone, Copy)]
struct Nodes {
    pes: usize,
    /// PEs on each node; the last one may have fewer.
    each: usize,
}

impl Nodes {
    fn node(self, pe: usize) -> usize {
        pe / self.each
    }

    /// Which of its node's PEs one is.
    fn slot(self, pe: usize) -> usize {
        pe % self.each
    }

    /// The PEs of a PE's node, itself included.
    fn neighbours(self, pe: usize) -> Range<usize> {
        let first = self.node(pe) * self.each;
        first..(first + self.each).min(self.pes)
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
        let descriptors = Mutex::new((0..nodes.pes).map(|_| Vec::new()).collect());
        Self { values: Mutex::default(), descriptors, barrier: Barrier::new(nodes.pes), nodes }
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
        self.shared.nodes.pes
    }

    fn hosts(&self) -> Vec<u32> {
        (0..self.count()).map(|pe| self.shared.nodes.node(pe) as u32).collect()
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
        let shared = Arc::new(Shared::new(Nodes { pes: PES, each: 2 }));
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
