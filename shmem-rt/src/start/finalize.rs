//! A PE leaves its job when its world is dropped.

use shmem_core::context::Initiator as _;
use shmem_core::observe::Family;
use shmem_core::system_area::Stage;
use shmem_core::transport::Traffic;

use crate::collective::land_all;
use crate::group::{END, Operation};
use crate::job::Job;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> Drop for World<L> {
    /// Leaves the job together with all PEs, unless `leave` was called before. If the PE is panicking, or the process
    /// ends inside a phase or a collective, it only returns: the exit of the process then ends the job.
    fn drop(&mut self) {
        let (job, endpoint) = (self.job(), self.endpoint());
        let is_inside = || endpoint.is_shut() || job.teams.indexes.lock().are_entered();
        if std::thread::panicking() || is_inside() {
            return;
        }
        // SAFETY: the record is only read.
        if unsafe { endpoint.system() }.record.stage() != Stage::Finished {
            // SAFETY: the world is being dropped. Tokens borrow the world, so no operation is in progress, and none can begin.
            unsafe { leave(self) };
        }
    }
}

/// Leaves the job together with all PEs.
///
/// # Safety
///
/// No operation of this process may be in progress, and none may begin afterwards.
pub(crate) unsafe fn leave<L: ThreadLevel>(world: &World<L>) {
    let (job, endpoint) = (world.job(), world.endpoint());
    job.quiet_all();
    land_all(endpoint);
    world.team().meet_once(endpoint, Operation::named(Family::TeamSync, END), None);
    if let Some(observers) = &job.observers {
        let strangers = job.network.far.as_ref().map_or(0, |far| far.strangers());
        let concluded = observers.conclude(traffic(job), strangers, job.bootstrap.as_ref());
        concluded.unwrap_or_else(|error| job.abort(1, &error.to_string()));
    }
    // SAFETY: only the record of this PE is changed, by the record's own methods, which keep its protocol.
    unsafe { endpoint.system() }.record.set_stage(Stage::Finished);
    if let Some(transport) = &job.network.far {
        // A PE may close its end of a connection only after the messages of the last barrier are acknowledged.
        job.quiet_all();
        job.quiet_own();
        // An error is ignored, because the job ends anyway if the launcher has ended.
        let _ = job.bootstrap.fence();
        // SAFETY: all PEs have passed the barrier and were quiet afterwards, and they begin no operation (caller).
        unsafe { transport.finish() };
    }
    job.bootstrap.finish();
}

/// Returns the sum of this PE's operations on PEs of other nodes, and of their bytes in both directions.
fn traffic(job: &Job) -> Traffic {
    let all = job.network.counted.iter().flat_map(|counted| counted.traffic());
    all.fold(Traffic::default(), |sum, one| Traffic {
        operations: sum.operations + one.operations,
        bytes: sum.bytes + one.bytes,
    })
}
