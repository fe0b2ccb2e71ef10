//! Counts of the calls, bytes and time of operations.

use core::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::{Call, Family};

const FAMILIES: usize = Family::ALL.len();

/// Counters of the calls of one PE, in all its threads.
pub struct Counters([[AtomicU64; 3]; FAMILIES]);

impl Default for Counters {
    fn default() -> Self {
        Self([const { [const { AtomicU64::new(0) }; 3] }; FAMILIES])
    }
}

impl Counters {
    /// Counts a call that took `nanoseconds`.
    pub fn count(&self, call: &Call<'_>, nanoseconds: u64) {
        let [calls, bytes, time] = &self.0[call.family as usize];
        calls.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(call.bytes as u64, Ordering::Relaxed);
        time.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Returns the counts so far.
    pub fn now(&self) -> Statistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = |[calls, bytes, nanoseconds]: [u64; 3]| OperationCounts { calls, bytes, nanoseconds };
        Statistics(self.0.iter().map(|counters| counts(counters.each_ref().map(read))).collect())
    }
}

/// Totals over all calls of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCounts {
    /// Number of calls.
    pub calls: u64,
    /// Bytes read or written; for collectives, bytes of this PE's arguments.
    pub bytes: u64,
    /// Nanoseconds from begin to end, summed over all calls.
    pub nanoseconds: u64,
}

/// Totals of one PE's operations, in the order of [`Family::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics(Vec<OperationCounts>);

impl Statistics {
    /// Returns the totals of an operation.
    pub fn of(&self, family: Family) -> OperationCounts {
        self.0.get(family as usize).copied().unwrap_or_default()
    }

    /// Returns the operations that were called, with their totals, in the order of [`Family::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Family, OperationCounts)> {
        Family::ALL.iter().map(|family| (*family, self.of(*family))).filter(|(_, counts)| counts.calls > 0)
    }
}
