//! Allocations whose handles this PE has dropped, waiting for the others.

use std::sync::Mutex;

/// Numbers of allocations that this PE no longer uses. `Drop` of a handle pushes here and does
/// nothing else; collective operations drain what every PE has pushed.
#[derive(Debug, Default)]
pub struct Released(Mutex<Vec<u64>>);

impl Released {
    /// Queues an allocation.
    pub fn push(&self, id: u64) {
        self.lock().push(id);
    }

    /// Looks at what is queued, and may take some out.
    pub fn with<R>(&self, f: impl FnOnce(&mut Vec<u64>) -> R) -> R {
        f(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
