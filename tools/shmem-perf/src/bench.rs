//! One PE of a job: what measures have in common inside.

use std::path::Path;

use shmem::prelude::*;
use shmem::thread::{Single, ThreadLevel};

use crate::affinity;
use crate::case::{Record, Site};
use crate::peers::{Missing, Peer, PeerError, Programs, Running};
use crate::samples::Samples;
use crate::task::{Done, Given};

/// What measures need, inside a PE.
pub(crate) struct Bench<'w> {
    pub(crate) world: &'w World,
    pub(crate) site: Site,
    pub(crate) repetitions: usize,
    pub(crate) given: &'w Given,
    /// The programs of other libraries that run beside PE 0.
    pub(crate) beside: Vec<Running>,
}

pub(crate) type Records = std::result::Result<Vec<Record>, Box<dyn std::error::Error>>;

/// A PE that takes a core for itself, where there are enough.
pub(crate) fn run(
    given: &Given,
    repetitions: usize,
    measure: impl FnOnce(&mut Bench<'_>) -> Records,
) -> Done {
    let world = shmem::init::<Single>()?;
    // They take cores of their own accord, and could not once this process has taken one.
    let directory = given.peers.as_deref().filter(|_| world.my_pe() == 0);
    let beside = directory.map(start).unwrap_or_default();
    let is_near = world.pes().iter().all(|pe| pe.on_node().is_some());
    // Far away, threads that do what has come need cores, too.
    let cores = match is_near {
        true => affinity::take(world.my_pe(), world.n_pes())?,
        false => affinity::allowed()?.len(),
    };
    let site = Site::of(&world, cores);
    let records = measure(&mut Bench { world: &world, site, repetitions, given, beside })?;
    print(&world, &records)
}

/// Starts those whose programs are in a directory. Who does not start is said.
fn start(directory: &Path) -> Vec<Running> {
    let running = |&peer: &Peer| {
        Running::start(peer, directory).unwrap_or_else(|reason| {
            lose(directory, peer, reason);
            None
        })
    };
    Peer::ALL.iter().filter_map(running).collect()
}

/// Says that there will be no more of a peer, neither in this job nor in later ones.
fn lose(directory: &Path, peer: Peer, reason: PeerError) {
    eprintln!("shmem-perf: {}", Missing { peer, reason });
    Programs::forget(peer, directory);
}

/// PE 0 prints for the tool.
pub(crate) fn print<L: ThreadLevel>(world: &World<L>, records: &[Record]) -> Done {
    if world.my_pe() == 0 {
        for record in records {
            println!("{}", serde_json::to_string(&record)?);
        }
    }
    Ok(())
}

impl Bench<'_> {
    /// What was measured in nanoseconds: a case of a measure, `put 4096`.
    pub(crate) fn record(&self, name: &str, compared: &str, samples: Samples) -> Record {
        self.record_in("ns", name, compared, samples)
    }

    /// The same in another unit.
    pub(crate) fn record_in(&self, unit: &str, name: &str, compared: &str, samples: Samples) -> Record {
        Record::new(&self.site, name, unit, compared, samples)
    }

    /// The PE that is written and read.
    pub(crate) fn other(&self) -> Pe {
        self.world.ring_neighbours().1
    }

    /// Runs `measure` on PE 0 while the others sleep.
    pub(crate) fn alone<R: Default>(&self, measure: impl FnOnce() -> R) -> R {
        self.world.barrier_all();
        let records = if self.world.my_pe() == 0 { measure() } else { R::default() };
        self.world.barrier_all();
        records
    }

    /// Runs `measure` on PE 0 while the others sleep in their own code: updates would wake those that wait in the library.
    /// `done` is zero to begin with.
    pub(crate) fn absent<R: Default>(&self, done: &SymBox<u64>, measure: impl FnOnce() -> R) -> R {
        let world = self.world;
        let next = done.here(world).load() + 1;
        world.barrier_all();
        let mut records = R::default();
        if world.my_pe() == 0 {
            records = measure();
            world.pes().iter().for_each(|pe| world.p(done.on(pe), next));
        }
        while done.here(world).load() < next {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        records
    }

    /// Says why there is no case of a peer; that there will be no more of it if it will not answer.
    pub(crate) fn fail(&mut self, name: &str, peer: Peer, reason: PeerError) {
        if !reason.is_final() {
            return eprintln!("shmem-perf: {name}: {reason}");
        }
        self.beside.retain(|running| running.peer() != peer);
        if let Some(directory) = &self.given.peers {
            lose(directory, peer, reason);
        }
    }
}
