//! A few large blocks, some KiB apart: a handful of copies, beside which all that is asked and chosen before
//! the first one would be felt.

use shmem_core::context::Stores;

use super::Name;
use crate::bench::Bench;
use crate::case::Record;
use crate::samples::{Samples, nanoseconds_each};
use crate::strided::{Direction, Sides, Spread};

/// Blocks, bytes of each, and bytes between two of them.
const FEW: [(usize, usize, usize); 9] = [
    (3, 256, 4096),
    (4, 24, 4096),
    (4, 128, 4096),
    (4, 256, 4096),
    (4, 512, 4096),
    (4, 1024, 4096),
    (15, 1024, 4),
    (32, 4096, 64),
    (32, 4096, 4096),
];

/// Transfers in one sample, of one block.
const TIMES: usize = if cfg!(debug_assertions) { 32 } else { 2048 };

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Name> {
    FEW.into_iter().map(|(count, block, gap)| Name::Few(count, block, gap))
}

impl Bench<'_> {
    /// A few large blocks by `iputmem`.
    pub(super) fn few_blocks<I: Stores>(&self, sides: &mut Sides<'_, I>) -> Vec<Record> {
        let compared = "a few blocks by iputmem, against a loop of puts";
        FEW.into_iter()
            .map(|(count, block, gap)| {
                let spread = Spread::even(block, count, block + gap);
                let times = (TIMES / count).max(1);
                let mut samples = Samples::new();
                for round in 0..=self.repetitions {
                    sides.routine(&spread, Direction::Put);
                    let ours = nanoseconds_each(times, || {
                        (0..times).for_each(|_| sides.routine(&spread, Direction::Put));
                    });
                    sides.loop_of_puts(&spread, Direction::Put);
                    let puts = nanoseconds_each(times, || {
                        (0..times).for_each(|_| sides.loop_of_puts(&spread, Direction::Put));
                    });
                    if round > 0 {
                        samples.push(ours, puts);
                    }
                }
                self.record(&Name::Few(count, block, gap), compared, samples)
            })
            .collect()
    }
}
