//! A job inside one process: every PE is a thread.
//!
//! This is the test transport's home. Nothing here is fast; it exists so that every operation takes
//! the path that a network will take, over a transport that delays and reorders what it may.
//!
//! Every PE is alone on its node, unless a pattern puts several on one (`SHMRUN_HOSTS_AS`, see [`HostsAs`]).
//! Those reach each other as processes do: each PE has an arena of its own, into which it maps the memory of
//! the others on its node. Values can go from one PE to another here by other ways than messages. So each [`Pe`] carries who has
//! it, teams, contexts and halos know whose they are, and operations refuse those of others.

mod nodes;
mod threads;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use shmem_core::exit;
use shmem_core::memory::{Arena, Machine, Mine, PeList};
use shmem_core::pe::Pe;
use shmem_core::transport::loopback::Network;
use shmem_core::transport::target::Target;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::Settings;
use shmem_launch::launch::report::Standing;
use shmem_launch::launch::{self, HOSTS_AS, HostsAs};
use shmem_launch::say::say;

use self::nodes::Nodes;
use self::threads::{Shared, Threads};
use crate::error::{Error, Result};
use crate::grants::by_partition;
use crate::members::Directory;
use crate::persistent;
use crate::setup::Setup;
use crate::standstill::Neighbours;
use crate::start::{JobPes, assemble};
use crate::thread::ThreadLevel;
use crate::world::World;

/// The exit code of a process whose PEs have run for longer than they may.
pub(crate) const TIMED_OUT: u8 = 124;

/// Runs `body` as `pes` PEs, each a thread of this process. If they run for longer than `limit`, the process says
/// what each of them does, and ends.
///
/// # Errors
///
/// If the job cannot be brought up.
pub(crate) fn run<L: ThreadLevel>(
    pes: usize,
    limit: Option<Duration>,
    body: impl Fn(&mut World<L>) + Sync,
) -> Result<()> {
    let nodes = Nodes(hosts(pes)?);
    let setup = || Setup::make(Settings::from_process()?);
    let first = setup()?;
    let mut files = persistent::open_all(&first, pes)?;
    let (mut arenas, mut memory) = (Vec::new(), Vec::new());
    for (pe, files) in files.iter().enumerate() {
        let (layout, slots) = (first.layout.clone(), nodes.neighbours(pe).count());
        let arena = Arena::reserve_for(nodes.slot(pe), layout, slots, Machine::default())?;
        memory.push(arena.create_with(nodes.slot(pe), files)?);
        first.place_statics(arena.start_of(nodes.slot(pe)), files);
        arenas.push(Arc::new(arena));
    }
    for (pe, arena) in arenas.iter().enumerate() {
        for other in nodes.neighbours(pe).filter(|other| *other != pe) {
            let theirs: &Mine = &memory[other];
            let descriptors = theirs.descriptors.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>();
            arena.attach(nodes.slot(other), descriptors.map_err(Error::launcher)?, &theirs.pieces)?;
        }
    }
    let grants = memory.into_iter().map(|mine| mine.grants).collect();
    let grants = by_partition(first.table.specs().len(), &grants);
    let bytes = first.layout.bytes();
    let places = arenas.iter().enumerate().map(|(pe, arena)| arena.start_of(nodes.slot(pe)));
    // SAFETY: `create_with` has mapped each slot, and the arenas live as long as the threads below.
    let targets = places.map(|place| unsafe { Target::new(place, bytes) }).collect();
    let seed = std::env::var("SHMRUN_LOOPBACK_SEED").ok().and_then(|s| s.parse().ok());
    let network = Network::new(targets, seed.unwrap_or_else(|| u64::from(std::process::id())));
    let shared = Arc::new(Shared::new(nodes.clone()));
    // All nodes share this process's cores.
    let has_cores = pes <= std::thread::available_parallelism().map_or(1, usize::from);
    let places: Vec<_> = (0..pes).map(|pe| (pe, arenas[pe].start_of(nodes.slot(pe)) as usize)).collect();
    // SAFETY: the slots of the PEs, which the arenas map; these live longer than the threads below.
    let neighbours = unsafe { Neighbours::new(&places, 0) };
    let (over, is_over) = mpsc::channel::<()>();
    let program = &body;
    std::thread::scope(|scope| {
        // Gone when all PEs have ended, or one could not be started.
        let over = Arc::new(over);
        if let Some(limit) = limit {
            scope.spawn(move || {
                if is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    end_late(limit, &neighbours);
                }
            });
        }
        for me in 0..pes {
            let over = Arc::clone(&over);
            let (setup, arena, grants) = (setup()?, Arc::clone(&arenas[me]), grants.clone());
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
                        let pe = unsafe { Pe::new(number as u32, slot) };
                        // SAFETY: all PEs that this one has, and it has none yet.
                        unsafe { pe.seen_by(me as u32) }
                    })
                    .collect();
                let cpus = nodes.neighbours(me).map(|_| Vec::new()).collect();
                let directory = Arc::new(Directory::new(PeList::new(numbers), &hosts));
                let members = JobPes { directory, cores, cpus, files, fabric: None };
                let mut world = assemble::<L>(setup, bootstrap, arena, members, grants, Some(transport));
                program(&mut world);
            };
            let thread = std::thread::Builder::new().name(format!("PE {me}"));
            let spawned = thread.spawn_scoped(scope, move || {
                let _over = over;
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err() {
                    // The others may be waiting for this PE for ever.
                    exit::end(101, || ());
                }
            });
            spawned.map_err(Error::launcher)?;
        }
        Ok(())
    })
}

/// Ends a job that takes too long, and says where its PEs are.
fn end_late(limit: Duration, neighbours: &Neighbours) -> ! {
    let all: Vec<_> = neighbours
        .peers()
        .map(|peer| (peer.number, Standing::Inside(launch::record::describe(peer.record))))
        .collect();
    let clauses = launch::report::standings(&all).join("\n  ");
    let text = format!("shmem: the job has run for the {limit:?} it was given\n  {clauses}");
    exit::end(TIMED_OUT.into(), || say(&text))
}

/// The node of each PE.
fn hosts(pes: usize) -> Result<Vec<u32>> {
    let pattern = std::env::var(HOSTS_AS).unwrap_or_else(|_| "*x1".to_owned());
    let hosts = pattern.parse::<HostsAs>().and_then(|pattern| pattern.hosts(pes));
    hosts.map_err(|error| Error::launcher(format!("{HOSTS_AS}: {error}")))
}
