//! Works: operations that progress in the background, a step at a time, whenever the PE waits.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::exclusion::Mutex;

/// Longest sleep of a thread while the PE has works, because the event that a work waits for may wake no thread, and another thread may
/// have held the list when this thread tried.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// The result of one step of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// No progress was possible.
    Nothing,
    /// Made progress.
    Some,
    /// Work over.
    Last,
}

/// A background operation, such as a started collective. It never waits.
///
/// # Safety
///
/// [`go_on`](Self::go_on) must not unwind, nor begin another work. Waits of barriers call it as well, and a PE that left a barrier by
/// unwinding would still be counted there, enter the next one alone, and write memory that others read.
pub unsafe trait Work: Send + Sync {
    /// Makes all progress that is possible now.
    fn go_on(&self) -> WorkStatus;
}

#[derive(Default)]
pub(super) struct Works {
    count: AtomicUsize,
    list: Mutex<Vec<Arc<dyn Work>>>,
}

impl Works {
    pub(super) fn begin(&self, work: Arc<dyn Work>) {
        let mut list = self.list.lock();
        list.push(work);
        self.count.store(list.len(), Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn are_any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// Progresses all works, unless another thread does. Says whether any made progress.
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
