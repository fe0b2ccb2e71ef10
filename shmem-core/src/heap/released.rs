//! Allocations whose handles this PE has dropped, waiting for the others.

use crate::primitive::{Mutex, mutant};

/// Numbers of allocations that this PE no longer uses. `Drop` of a handle pushes here and does
/// nothing else, from any thread; the [`Ledger`](super::Ledger) takes them out when the PEs are about
/// to agree on what all of them have dropped.
#[derive(Debug, Default)]
pub struct Released(Mutex<Vec<u64>>);

impl Released {
    /// Queues an allocation.
    pub fn push(&self, id: u64) {
        self.0.lock().push(id);
    }

    /// Takes out all that is queued.
    pub fn take(&self) -> Vec<u64> {
        if mutant("released-two-steps") {
            let copy = self.0.lock().clone();
            self.0.lock().clear();
            return copy;
        }
        core::mem::take(&mut *self.0.lock())
    }
}
