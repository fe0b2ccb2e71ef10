//! What a PE knows of its job, and its end.

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

/// Completes what all contexts of this PE have started.
pub fn quiet_all<L: ThreadLevel>(world: &World<L>) {
    world.job().quiet_all();
}
