//! What it costs to know that operations of contexts are complete.

use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::{NonBlocking, Stores};

use super::Pair;
use super::operation::LESS;
use crate::samples::{Samples, nanoseconds_each};

/// Sizes of operations, in bytes, where they are complete at once.
pub const SIZES: [usize; 6] = [8, 64, 512, 4 << 10, 64 << 10, 1 << 20];
/// The same over a network.
pub const FAR_SIZES: [usize; 3] = [8, 4 << 10, 64 << 10];

/// Contexts of a domain, which are used in turn.
pub const CONTEXTS: usize = 4;

/// Operations of a context between two quiets, and the most bytes of them.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 2 << 20;

impl<L: ThreadLevel> Pair<'_, L>
where
    World<L>: Stores,
{
    /// Puts of `bytes` bytes through contexts in turn, a batch and its quiet through each, against the same by the bare program,
    /// which has one endpoint and its counter: nanoseconds for each put. `alone`: a batch is one put. Each sample is of
    /// `rounds` turns. The other PE has been told to sleep.
    ///
    /// # Panics
    ///
    /// If the pair has no room for what is put, or the provider fails.
    pub fn contexts_against_bare<I: Stores>(
        &self,
        contexts: &[I],
        (bytes, alone): (usize, bool),
        rounds: usize,
        repetitions: usize,
    ) -> Samples {
        let batch = if alone { 1 } else { BATCH.min(BATCH_BYTES / bytes).max(1) };
        let rounds = rounds.div_ceil(LESS);
        let own = vec![1_u8; bytes];
        let place = self.place().index(..bytes);
        // The end of a scope is the quiet of its context.
        let cost = || {
            nanoseconds_each(rounds * contexts.len() * batch, || {
                for _ in 0..rounds {
                    contexts.iter().for_each(|context| {
                        context.scope(|scope| (0..batch).for_each(|_| scope.put(place, &own)))
                    });
                }
            })
        };
        let limit = || {
            nanoseconds_each(rounds * contexts.len() * batch, || {
                for _ in 0..rounds * contexts.len() {
                    (0..batch).for_each(|_| self.lane().put(&self.peer(), 0, 0, bytes));
                    self.lane().quiet();
                }
            })
        };
        Samples::alternate(repetitions, cost, limit)
    }
}
