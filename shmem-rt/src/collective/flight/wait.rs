use shmem_core::context::Endpoint;
use shmem_core::system::Activity;
use shmem_core::text::Text;

use crate::group::{END, Team};

impl Team {
    /// Waits until nothing that the team has started goes on.
    pub(crate) fn land(&self, endpoint: &Endpoint) {
        let activity = Activity { operation: Text::head("destroy"), ..Activity::NONE };
        wait_until(endpoint, || self.uses().has_landed(), || activity);
    }
}

/// Waits until nothing that any team of this PE has started goes on, before the program ends.
pub(crate) fn land_all(endpoint: &Endpoint) {
    let activity = Activity { operation: Text::head(END), ..Activity::NONE };
    wait_until(endpoint, || !endpoint.waiting().has_work(), || activity);
}

/// Waits until works of this PE have come somewhere.
pub(super) fn wait_until(endpoint: &Endpoint, done: impl FnMut() -> bool, activity: impl Fn() -> Activity) {
    // SAFETY: its bell is listened to, as by everybody who waits for a word of this PE.
    let bell = &unsafe { endpoint.system() }.doorbell;
    endpoint.waiting().until(endpoint, done, |timeout, done| bell.watch(timeout, done), activity);
}
