//! What it costs to complete one of many contexts.

use std::time::Instant;

use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::{NonBlocking, Order, Stores};

use super::operation::LESS;
use super::{Pair, State};
use crate::samples::Samples;

/// Numbers of contexts that have operations under way.
pub const CONTEXTS: [usize; 5] = [1, 2, 4, 8, 16];

/// Sizes of their operations, in bytes: of those that are counted together where some are, and of those that are not.
pub const SIZES: [usize; 2] = [8, 64 << 10];

/// Operations of each context.
const IN_FLIGHT: usize = 4;

/// Quiets in one sample; each context is the one in turn.
const ROUNDS: usize = 16_usize.div_ceil(LESS);

impl<L: ThreadLevel> Pair<'_, L>
where
    World<L>: Stores,
{
    /// All contexts start non-blocking puts, then one of them is completed, each in turn. The limit is that all of
    /// them are. Microseconds of the quiet, or of all of them.
    ///
    /// # Panics
    ///
    /// If the pair has no room for what is put, or the provider fails.
    pub fn one_against_all<I: Stores>(&self, contexts: &[I], bytes: usize, repetitions: usize) -> Samples {
        self.ready(State::Asleep);
        let sample = |all: bool| {
            let mut time = 0.0;
            for one in (0..ROUNDS).map(|round| &contexts[round % contexts.len()]) {
                self.start(contexts, bytes);
                let start = Instant::now();
                one.quiet();
                if all {
                    contexts.iter().for_each(Order::quiet);
                }
                time += start.elapsed().as_secs_f64();
                contexts.iter().for_each(Order::quiet);
            }
            1e6 * time / ROUNDS as f64
        };
        Samples::alternate(repetitions, || sample(false), || sample(true))
    }

    fn start<I: Stores>(&self, contexts: &[I], bytes: usize) {
        let here = self.here();
        for (k, range) in (0..contexts.len() * IN_FLIGHT).map(|k| (k, k * bytes..(k + 1) * bytes)) {
            contexts[k / IN_FLIGHT].put_from(self.place().index(range.clone()), here.index(range));
        }
    }
}
