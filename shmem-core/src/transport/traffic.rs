//! What a transport was given to do, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Operations on memory of other PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Operations; data and the signal behind it are one.
    pub messages: u64,
    /// Bytes that they write, change or read there.
    pub bytes: u64,
}

impl Traffic {
    /// What has come to it since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self { messages: self.messages - before.messages, bytes: self.bytes - before.bytes }
    }
}

/// Counts the operations of one PE.
#[derive(Debug, Default)]
pub(super) struct Counter {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Counter {
    /// One operation of so many bytes.
    pub(super) fn count(&self, bytes: usize) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// All so far.
    pub(super) fn traffic(&self) -> Traffic {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic { messages: of(&self.messages), bytes: of(&self.bytes) }
    }
}
