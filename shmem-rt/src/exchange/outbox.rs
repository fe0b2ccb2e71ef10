//! What handlers send.

use std::collections::VecDeque;
use std::fmt;

use shmem_core::pe::Pe;
use shmem_core::text::counted;

/// Where the handler of [`Exchange::react`](crate::Exchange::react) puts what it sends. It takes as much as it is given, in memory
/// of this PE; what is in it goes before further items of the loop.
pub struct Outbox<T> {
    items: VecDeque<(Pe, T)>,
}

impl<T> Outbox<T> {
    pub(super) fn new() -> Self {
        Self { items: VecDeque::new() }
    }

    /// Sends an item.
    pub fn push(&mut self, to: Pe, item: T) {
        self.items.push_back((to, item));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn pop(&mut self) -> Option<(Pe, T)> {
        self.items.pop_front()
    }
}

impl<T> fmt::Debug for Outbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outbox ({})", counted(self.items.len(), "item"))
    }
}
