//! Background operations ([`Work`]), which progress step by step whenever the PE waits.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::exclusion::Mutex;

/// Longest sleep of a thread while the PE has a [`Work`]. It is short, because the event that the work waits for may wake no
/// thread, and because a thread that finds another thread in [`Works::go_on`] must try again: the other may stop calling it at any
/// time.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// The result of one step of a [`Work`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStatus {
    /// No progress was possible.
    Nothing,
    /// The step made progress.
    Some,
    /// The work is over.
    Last,
}

/// A background operation, such as a started collective. Its steps never block.
///
/// # Safety
///
/// [`go_on`](Self::go_on) must not unwind, nor begin another work. Waits in barriers call it: if a PE left a barrier by unwinding,
/// it would still be counted there, enter the next barrier alone, and write memory that other PEs read.
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

    /// Progresses all works, unless another thread is doing so. Returns whether any work made progress.
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
