//! What one PE knows and owns of a running job, whoever holds it: the world, a team, a dropped
//! handle on its way to be reclaimed.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shmem_core::context::{Endpoint, Resource};
use shmem_core::heap::{Ledger, Released};
use shmem_core::memory::{Arena, Machine, MemoryError, Request};
use shmem_core::object::Extent;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::segment::Segments;
use shmem_core::system::Stage;
use shmem_core::topology::Topology;
use shmem_core::transport::{Counted, Transport};

use crate::array::may_ask;
use crate::bootstrap::Bootstrap;
use crate::context::{Holdings, Threads};
use crate::env::Settings;
use crate::observe::Observers;
use crate::partitions::Partitions;
use crate::persistent::Shelf;
use crate::segments::Later;
use crate::team::{Indexes, Room};

/// One PE's part of a running job.
pub(crate) struct Job {
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) settings: Settings,
    pub(crate) pes: Vec<Pe>,
    /// CPUs of this node for each of its PEs.
    pub(crate) cpus_per_pe: usize,
    pub(crate) partitions: RwLock<Partitions>,
    /// The nodes of this machine, once somebody has asked: later than the start, because a program may bind itself
    /// to CPUs first.
    pub(crate) topology: OnceLock<Topology>,
    /// The CPUs of each PE on this host; empty: not known.
    pub(crate) cpus: Vec<Vec<usize>>,
    /// The most nodes on which a PE has CPUs, once an array was made.
    pub(crate) most_homes: OnceLock<usize>,
    /// Extent and name of each static.
    pub(crate) statics: Arc<[(Extent, String)]>,
    pub(crate) resource: Box<dyn Resource>,
    /// Who is told of operations, if anybody.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Who has what of it.
    pub(crate) holdings: Mutex<Holdings>,
    pub(crate) threads: Mutex<Threads>,
    /// Name of the way to PEs on other nodes, or of shared memory.
    pub(crate) transport: &'static str,
    /// What it was chosen to be, and what that has cost, in words.
    pub(crate) fabric: Option<String>,
    /// Which teams this PE is in.
    pub(crate) indexes: Mutex<Indexes>,
    /// Which parts of its memory of teams are free.
    pub(crate) room: Mutex<Room>,
    pub(crate) released: Arc<Released>,
    pub(crate) ledger: Mutex<Ledger>,
    /// Partitions that outlive the job.
    pub(crate) shelves: Mutex<Vec<Shelf>>,
    /// Calls that have been warned about.
    pub(crate) warned: Mutex<HashSet<(&'static str, u32)>>,
    /// This PE's place in it.
    pub(crate) slot: usize,
    pub(crate) segments: Arc<Segments>,
    /// The way to PEs on other nodes, if there are any.
    pub(crate) far: Option<Arc<dyn Transport>>,
    /// The same, if what goes there is counted.
    pub(crate) counted: Option<Arc<Counted>>,
    pub(crate) later: Mutex<Later>,
    /// Keeps the memory mapped. The last field: it is unmapped when nothing is left that could reach it.
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
        self.resource.quiet_all();
    }

    /// What lies at an extent: the name of a static, or the number of a heap object.
    pub(crate) fn name_of(&self, extent: Extent) -> String {
        if let Some((_, name)) = self.statics.iter().find(|(there, _)| *there == extent) {
            return name.clone();
        }
        match self.ledger().find(extent.offset) {
            Some(allocation) => format!("heap object #{}", allocation.id),
            None => format!("{} at offset {:#x}", show_size(extent.bytes as u64), extent.offset),
        }
    }

    /// Whether nothing has been said about this call yet.
    pub(crate) fn first_time_at(&self, location: &'static Location<'static>) -> bool {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        warned.insert((location.file(), location.line()))
    }

    pub(crate) fn holdings(&self) -> MutexGuard<'_, Holdings> {
        self.holdings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn shelves(&self) -> MutexGuard<'_, Vec<Shelf>> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn indexes(&self) -> MutexGuard<'_, Indexes> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn partitions(&self) -> RwLockReadGuard<'_, Partitions> {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn partitions_mut(&self) -> RwLockWriteGuard<'_, Partitions> {
        self.partitions.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that this host has what all its PEs ask of memory at the same time. Memory of one node is asked
    /// for by those PEs that have it next to them.
    pub(crate) fn check_later(&self, request: &Request) -> Result<(), MemoryError> {
        let placement = &request.placement;
        let asks = |cpus: &&Vec<usize>| may_ask(self.topology(), cpus, &placement.nodes, placement.kind);
        self.arena.check_later(request, self.cpus.iter().filter(asks).count())
    }

    pub(crate) fn topology(&self) -> &Topology {
        self.topology.get_or_init(|| Machine::default().topology())
    }

    /// Bytes of a base page.
    #[expect(clippy::unused_self, reason = "that of the machine on which the job runs")]
    pub(crate) fn base_page(&self) -> usize {
        rustix::param::page_size()
    }

    pub(crate) fn later(&self) -> MutexGuard<'_, Later> {
        self.later.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves the job in order.
    pub(crate) fn finish(&self, endpoint: &Endpoint) {
        // SAFETY: the record of this PE, told what it is meant for.
        unsafe { endpoint.system() }.record.set_stage(Stage::Finished);
        if let Some(transport) = &self.far {
            // What the last barrier has sent is acknowledged before anybody's end of a connection closes.
            self.quiet_all();
            // If the launcher is gone, so is the job.
            let _ = self.bootstrap.fence();
            transport.finish();
        }
        self.bootstrap.finish();
    }
}
