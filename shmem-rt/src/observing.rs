//! What a program can ask of its operations while it runs.

use shmem_core::observe::Statistics;
use shmem_core::transport::Traffic;
use shmem_launch::bootstrap::Exchanged;

use crate::job::Job;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// What this PE's operations did so far; none, if nobody counts (`SHMEM_STATS`).
    pub fn statistics(&self) -> Option<Statistics> {
        self.job().observers.as_ref()?.statistics()
    }

    /// What this PE has sent to, and got from, each PE on another node so far, by number, that of collectives
    /// included; none, if nobody counts (`SHMEM_STATS`).
    pub fn traffic(&self) -> Option<Vec<Traffic>> {
        let Job { network, site, settings, .. } = &**self.job();
        let nothing = || settings.stats.then(|| vec![Traffic::default(); site.pes().len()]);
        network.counted.as_ref().map(|counted| counted.traffic()).or_else(nothing)
    }

    /// What this PE has exchanged with the others by way of the launcher so far: what its start has cost them.
    pub fn exchanged(&self) -> Exchanged {
        self.job().bootstrap.exchanged()
    }
}
