//! What goes on beside the program: a step at a time, whenever the PE waits for something.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::exclusion::Mutex;

/// The longest sleep of a thread while the PE has works. The event that a work waits for need not wake a thread that sleeps for
/// something else, and another thread may have held the list when this one looked last.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// The result of one look at a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// There was nothing to do.
    Nothing,
    /// Something was done.
    Some,
    /// There will be nothing to do any more.
    Last,
}

/// An operation that goes on beside the program, such as a started collective. It never waits.
///
/// # Safety
///
/// [`go_on`](Self::go_on) must not unwind, nor begin another work. Whoever waits goes on with works, in a meeting as well: who left
/// that by unwinding would be counted there all the same, come to the next one alone, and write what others read.
pub unsafe trait Work: Send + Sync {
    /// Does all that can be done now.
    fn go_on(&self) -> WorkStatus;
}

/// The works of a PE.
#[derive(Default)]
pub(super) struct Works {
    count: AtomicUsize,
    list: Mutex<Vec<Arc<dyn Work>>>,
}

impl Works {
    /// Adds one.
    pub(super) fn begin(&self, work: Arc<dyn Work>) {
        let mut list = self.list.lock();
        list.push(work);
        self.count.store(list.len(), Ordering::Release);
    }

    /// Whether there are any.
    #[inline(always)]
    pub(super) fn are_any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// Goes on with all, unless another thread is at it. Whether anything was done.
    #[cold]
    pub(super) fn go_on(&self) -> bool {
        let Some(mut list) = self.list.try_lock() else { return false };
        let mut moved = false;
        list.retain(|work| {
            let step = work.go_on();
            moved |= step != WorkStatus::Nothing;
            step != WorkStatus::Last
        });
        self.count.store(list.len(), Ordering::Release);
        moved
    }
}
