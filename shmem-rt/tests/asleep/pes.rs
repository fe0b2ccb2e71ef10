//! Waits until another PE sleeps.

use shmem::prelude::*;
use shmem::thread::ThreadLevel;

use super::asleep::{PAUSE, Thread};

/// The thread of each PE that is about to wait.
#[symmetric]
static THREADS: [Atomic<u64>; 16];

/// Notifies another PE, which calls [`wait_for`], that this thread is about to wait.
pub(crate) fn go<L: ThreadLevel>(world: &World<L>, there: Pe) {
    world.set(THREADS.on(there).index(world.my_pe()), Thread::current().0);
}

/// Blocks until the thread of a PE that has called [`go`] sleeps.
pub(crate) fn wait_for<L: ThreadLevel>(world: &World<L>, pe: Pe) {
    let mine = THREADS.on(world.me()).index(pe.number());
    let mut thread = 0;
    while thread == 0 {
        thread = world.swap(mine, 0);
        std::thread::sleep(PAUSE);
    }
    Thread(thread).wait_until_asleep();
}
