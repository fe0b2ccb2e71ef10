//! A job inside one process: every PE is a thread, and all others are off its node.
//!
//! This is the test transport's home. Nothing here is fast; it exists so that every operation takes
//! the path that a network will take, over a transport that delays and reorders what it may.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use shmem_core::memory::{Arena, Machine};
use shmem_core::pe::Pe;
use shmem_core::transport::loopback::Network;
use shmem_core::transport::target::Target;

use crate::bootstrap::Bootstrap;
use crate::entry::{self, Outcome};
use crate::env::Settings;
use crate::error::Result;
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
    let plan = || Plan::make(Settings::from_process()?);
    let first = plan()?;
    let arena = Arena::reserve(first.layout.clone(), pes, Machine::default())?;
    let mut grants = Vec::new();
    let mut files = persistent::open_all(&first, pes)?;
    for (slot, files) in files.iter().enumerate() {
        grants.push(arena.create_with(slot, files)?.grants);
        first.place_statics(arena.place(slot), files);
    }
    let arena = Arc::new(arena);
    let bytes = first.layout.bytes();
    // SAFETY: `create` has mapped each slot, and the arena lives as long as the threads below.
    let targets = (0..pes).map(|slot| unsafe { Target::new(arena.place(slot), bytes) }).collect();
    let seed = std::env::var("SHMRUN_LOOPBACK_SEED").ok().and_then(|s| s.parse().ok());
    let network = Network::new(targets, seed.unwrap_or_else(|| u64::from(std::process::id())));
    let shared = Arc::new(Shared { values: Mutex::default(), barrier: Barrier::new(pes), pes });
    // Every PE is alone on its node, but they share this process's cores.
    let cores = usize::from(pes <= std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for me in 0..pes {
            let (plan, arena, grants) = (plan()?, Arc::clone(&arena), grants.clone());
            let files = std::mem::take(&mut files[me]);
            let bootstrap = Arc::new(Threads { shared: Arc::clone(&shared), me });
            let transport = Arc::new(network.transport(me));
            let body = move || {
                let numbers = (0..pes)
                    .map(|number| {
                        let slot = if number == me { me as u32 } else { Pe::OFF_NODE };
                        // SAFETY: PE `number` is one of the threads; only our own place is reached
                        // through the arena.
                        unsafe { Pe::new(number as u32, slot) }
                    })
                    .collect();
                let hosts = bootstrap.hosts();
                let cpus = vec![Vec::new(); pes];
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
            spawned.map_err(|error| crate::Error::Launcher(error.to_string()))?;
        }
        Ok(())
    })
}

struct Shared {
    values: Mutex<HashMap<(usize, String), Vec<u8>>>,
    barrier: Barrier,
    pes: usize,
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
        self.shared.pes
    }

    fn hosts(&self) -> Vec<u32> {
        (0..self.shared.pes as u32).collect()
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
        let own = descriptors.iter().map(|d| d.try_clone_to_owned()).collect::<io::Result<_>>()?;
        Ok(vec![own])
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
        let shared = Arc::new(Shared { values: Mutex::default(), barrier: Barrier::new(PES), pes: PES });
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
