//! What a PE knows of its job, and its end.

use shmem_core::heap::Owner;
use shmem_launch::env::Settings;

use crate::thread::ThreadLevel;
use crate::world::World;

/// Ends the job on all PEs, with a message of this one. Of an empty message and code 0, nothing is said.
pub fn abort<L: ThreadLevel>(world: &World<L>, code: i32, message: &str) -> ! {
    world.job().abort(code, message)
}

/// What the environment says.
pub fn settings<L: ThreadLevel>(world: &World<L>) -> &Settings {
    &world.job().settings
}

/// Gives back what is owned by its address on all heaps.
///
/// # Safety
///
/// Every PE does so between the same two collectives, and nobody uses such memory any more.
pub unsafe fn free_all<L: ThreadLevel>(world: &World<L>) {
    let mut ledger = world.job().memory.ledger.lock();
    let owned = ledger.allocations().filter(|one| one.owner == Owner::Address);
    let ids: Vec<u64> = owned.map(|one| one.id).collect();
    for id in ids {
        ledger.free(id).unwrap_or_else(|error| unreachable!("it is allocated: {error}"));
    }
}

/// Completes what all contexts of this PE have started.
pub fn quiet_all<L: ThreadLevel>(world: &World<L>) {
    world.job().quiet_all();
}
