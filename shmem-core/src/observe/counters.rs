//! Counts of the calls, bytes and time of operations.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{Call, Family};
use crate::strided::Method;

const FAMILIES: usize = Family::ALL.len();

/// Counts the calls of one PE, in all its threads.
pub struct Counters {
    families: [[AtomicU64; 3]; FAMILIES],
    ways: [AtomicU64; Method::WAYS.len()],
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            families: [const { [const { AtomicU64::new(0) }; 3] }; FAMILIES],
            ways: [const { AtomicU64::new(0) }; Method::WAYS.len()],
        }
    }
}

impl Counters {
    /// Counts a call that took this long.
    pub fn count(&self, call: &Call<'_>, nanoseconds: u64) {
        let [calls, bytes, time] = &self.families[call.family as usize];
        calls.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(call.bytes as u64, Ordering::Relaxed);
        time.fetch_add(nanoseconds, Ordering::Relaxed);
        if let Some(way) = call.plan.and_then(|plan| plan.method().way()) {
            self.ways[way].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the counts so far.
    pub fn now(&self) -> Statistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            families: self.families.each_ref().map(|counters| {
                let [calls, bytes, nanoseconds] = counters.each_ref().map(read);
                Tally { calls, bytes, nanoseconds }
            }),
            ways: self.ways.each_ref().map(read),
        }
    }
}

/// Totals over all calls of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// Bytes read or written; of collectives, bytes of this PE's arguments.
    pub bytes: u64,
    /// Nanoseconds in calls, as seen by the caller.
    pub nanoseconds: u64,
}

/// Totals of one PE's operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    families: [Tally; FAMILIES],
    ways: [u64; Method::WAYS.len()],
}

impl Statistics {
    /// Totals of an operation.
    pub fn of(&self, family: Family) -> Tally {
        self.families[family as usize]
    }

    /// The called operations, in the order of [`Family::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Family, Tally)> {
        Family::ALL.iter().map(|family| (*family, self.of(*family))).filter(|(_, tally)| tally.calls > 0)
    }

    /// Strided transfers by how they were carried out: `copies` were contiguous; `putmem` is Algorithm 1,
    /// `columns` Algorithm 2, the others are kernels.
    pub fn ways(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Method::WAYS.into_iter().zip(self.ways).filter(|(_, transfers)| *transfers > 0)
    }

    /// Encodes for another PE's [`from_words`](Self::from_words).
    pub fn to_words(&self) -> Vec<u64> {
        let families = self.families.iter().flat_map(|tally| [tally.calls, tally.bytes, tally.nanoseconds]);
        families.chain(self.ways).collect()
    }

    /// Decodes words of [`to_words`](Self::to_words); `None` if their number is wrong.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (families, ways) = words.split_at_checked(3 * FAMILIES)?;
        let (families, _) = families.as_chunks();
        let families = core::array::from_fn(|family| {
            let [calls, bytes, nanoseconds] = families[family];
            Tally { calls, bytes, nanoseconds }
        });
        Some(Self { families, ways: ways.try_into().ok()? })
    }
}
