//! What happens when no PE of a job can go on: the job ends, and says who waits where.
//!
//! How it is found out stands in [`shmem_core::context::Watch`]. Here is what counts: a job of several nodes may be
//! woken through the network, and the threads of one process that are PEs are not told apart by the kernel, so
//! neither is watched.

use std::sync::Arc;

use shmem_core::context::Watch;
use shmem_core::system::{PeRecord, SystemArea};
use shmem_launch::bootstrap::Bootstrap;

use crate::observe::Observers;
use crate::process;
use crate::report::{self, Peer};

/// The PEs of this node.
#[derive(Clone)]
pub(crate) struct Neighbours {
    /// The number of each, and the address of its slot.
    places: Arc<[(usize, usize)]>,
    /// Which of them is the calling PE.
    me: usize,
}

impl Neighbours {
    /// # Safety
    ///
    /// The slots are mapped as long as the value and its copies are used.
    pub(crate) unsafe fn new(places: &[(usize, usize)], me: usize) -> Self {
        Self { places: places.into(), me }
    }

    /// What each says of itself.
    pub(crate) fn peers(&self) -> impl Iterator<Item = Peer<'_>> + Clone {
        (0..self.places.len()).map(|at| Peer { number: self.places[at].0, record: self.record(at) })
    }

    /// Whether another of them waited last on the CPU of the calling thread, which waits now.
    pub(crate) fn share_cpu(&self) -> bool {
        // SAFETY: the slot is mapped (`new`), and begins with a system area, which is shared by atomics. Only its table of
        // CPUs is used, on which nothing rests.
        let cpus = &unsafe { &*(self.places[0].1 as *const SystemArea) }.cpus;
        cpus.is_shared(self.me, self.places.len(), rustix::thread::sched_getcpu())
    }

    fn record(&self, at: usize) -> &PeRecord {
        // SAFETY: a slot is mapped (`new`), and begins with a system area, which is shared by atomics. Only its
        // record is used, as the thread that waits does.
        &unsafe { &*(self.places[at].1 as *const SystemArea) }.record
    }
}

/// Looks on while PEs of one node sleep.
pub(crate) struct Guard {
    pub(crate) neighbours: Neighbours,
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) observers: Option<Arc<Observers>>,
}

impl Watch for Guard {
    fn pes(&self) -> usize {
        self.neighbours.places.len()
    }

    fn me(&self) -> usize {
        self.neighbours.me
    }

    fn record(&self, pe: usize) -> &PeRecord {
        self.neighbours.record(pe)
    }

    fn is_closed(&self, sleeping: usize) -> bool {
        process::is_closed(sleeping)
    }

    fn stand(&self) {
        if let Some(observers) = &self.observers {
            observers.save();
        }
        self.bootstrap.abort(1, &report::standstill(self.neighbours.peers()))
    }
}
