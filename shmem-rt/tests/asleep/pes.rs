//! A PE that knows that another one has come to where it waits.

use shmem::prelude::*;
use shmem::thread::ThreadLevel;

use super::asleep::{PAUSE, Thread};

/// Which thread of a PE is about to wait, on the PE that wants to know.
#[symmetric]
static THREADS: [Atomic<u64>; 16];

/// Says that the calling thread goes where it has to wait, to a PE that calls [`wait_for`].
pub(crate) fn go<L: ThreadLevel>(world: &World<L>, there: Pe) {
    world.set(THREADS.on(there).index(world.my_pe()), Thread::current().0);
}

/// Returns when a PE that says [`go`] to this one sleeps.
pub(crate) fn wait_for<L: ThreadLevel>(world: &World<L>, pe: Pe) {
    let mine = THREADS.on(world.me()).index(pe.number());
    let mut thread = 0;
    while thread == 0 {
        thread = world.swap(mine, 0);
        std::thread::sleep(PAUSE);
    }
    Thread(thread).wait_until_asleep();
}
