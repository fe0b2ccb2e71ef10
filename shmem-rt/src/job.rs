//! What one PE knows and owns of a running job, whoever holds it: the world, a team, a dropped
//! handle on its way to be reclaimed.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use shmem_core::context::Resource;
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Ledger, Released};
use shmem_core::memory::{Arena, Machine};
use shmem_core::object::Extent;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::segment::Segments;
use shmem_core::topology::Topology;
use shmem_core::transport::{CountedTransport, Transport};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::Settings;

use crate::observe::Observers;
use crate::state::holdings::Holdings;
use crate::state::indexes::Indexes;
use crate::state::later::Later;
use crate::state::partitions::Partitions;
use crate::state::room::Room;
use crate::state::shelf::Shelf;
use crate::state::threads::Threads;

/// One PE's part of a running job.
pub(crate) struct Job {
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) settings: Settings,
    /// Who is told of operations, if anybody.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Calls that have been warned about.
    pub(crate) warned: Mutex<HashSet<(&'static str, u32)>>,
    pub(crate) site: Site,
    pub(crate) contexts: Contexts,
    pub(crate) teams: Teams,
    pub(crate) network: Network,
    /// The last field: memory is unmapped when nothing is left that could reach it.
    pub(crate) memory: Memory,
}

/// Which PEs there are, and where the calling one runs.
pub(crate) struct Site {
    /// Shared with the team of all PEs and with grids.
    pub(crate) pes: Arc<[Pe]>,
    /// This PE's slot in the arena.
    pub(crate) slot: usize,
    /// CPUs of this node for each of its PEs.
    pub(crate) cpus_per_pe: usize,
    /// The CPUs of each PE on this host; empty: not known.
    pub(crate) cpus: Vec<Vec<usize>>,
    /// The nodes of this machine, once somebody has asked: later than the start, because a program may bind itself
    /// to CPUs first.
    pub(crate) topology: OnceLock<Topology>,
    /// The most nodes on which a PE has CPUs, once an array was made.
    pub(crate) most_homes: OnceLock<usize>,
}

/// Which contexts there are.
pub(crate) struct Contexts {
    /// Who has what of the resource.
    pub(crate) holdings: Mutex<Holdings>,
    pub(crate) threads: Mutex<Threads>,
}

/// Which teams there are.
pub(crate) struct Teams {
    /// Which ones this PE is in.
    pub(crate) indexes: Mutex<Indexes>,
    /// Which parts of its memory of teams are free.
    pub(crate) room: Mutex<Room>,
}

/// How operations reach other PEs.
pub(crate) struct Network {
    /// What endpoints are made of.
    pub(crate) resource: Box<dyn Resource>,
    /// Name of the way to PEs on other nodes, or of shared memory.
    pub(crate) transport: &'static str,
    /// What it was chosen to be, and what that has cost, in words.
    pub(crate) fabric: Option<String>,
    /// The way to PEs on other nodes, if there are any.
    pub(crate) far: Option<Arc<dyn Transport>>,
    /// The same, if what goes there is counted.
    pub(crate) counted: Option<Arc<CountedTransport>>,
}

/// What there is of symmetric memory, and in it.
pub(crate) struct Memory {
    pub(crate) partitions: RwLock<Partitions>,
    /// Extent and name of each static.
    pub(crate) statics: Arc<[(Extent, String)]>,
    pub(crate) ledger: Mutex<Ledger>,
    pub(crate) released: Arc<Released>,
    /// Partitions that outlive the job.
    pub(crate) shelves: Mutex<Vec<Shelf>>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) later: Mutex<Later>,
    /// Keeps the memory mapped. The last field of the last one.
    pub(crate) arena: Arc<Arena>,
}

impl Job {
    /// Ends the job on all PEs, with a message of this one.
    pub(crate) fn abort(&self, code: i32, message: &str) -> ! {
        if let Some(observers) = &self.observers {
            observers.save();
        }
        self.bootstrap.abort(code, message)
    }

    /// Completes what every endpoint of this PE has started, forgotten contexts included.
    #[inline]
    pub(crate) fn quiet_all(&self) {
        self.network.resource.quiet_all();
    }

    /// What lies at an extent: the name of a static, that it is a part of one, what a team has allocated and where, or the
    /// number of a heap object.
    pub(crate) fn name_of(&self, extent: Extent) -> String {
        let statics = &self.memory.statics;
        if let Some((_, name)) = statics.iter().find(|(there, _)| *there == extent) {
            return name.clone();
        }
        if let Some((_, name)) = statics.iter().find(|(there, _)| there.overlaps(extent)) {
            return format!("a part of {name}");
        }
        if let Some(name) = self.teams.room.lock().name_of(extent.offset) {
            return name.to_owned();
        }
        match self.memory.ledger.lock().find(extent.offset) {
            Some(allocation) => format!("heap object #{}", allocation.id),
            None => format!("{} at offset {:#x}", show_size(extent.bytes as u64), extent.offset),
        }
    }

    /// Whether nothing has been said about this call yet.
    pub(crate) fn first_time_at(&self, location: &'static Location<'static>) -> bool {
        self.warned.lock().insert((location.file(), location.line()))
    }
}

impl Site {
    pub(crate) fn topology(&self) -> &Topology {
        self.topology.get_or_init(|| Machine::default().topology())
    }

    /// Bytes of a base page.
    #[expect(clippy::unused_self, reason = "that of the machine on which the job runs")]
    pub(crate) fn base_page(&self) -> usize {
        rustix::param::page_size()
    }
}
