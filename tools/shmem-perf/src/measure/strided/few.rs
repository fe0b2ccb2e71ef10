//! A few large blocks, some KiB apart: a handful of copies, beside which all that is asked and chosen before
//! the first one would be felt; and blocks at a distance of 4 KiB, of which the low bits of addresses are the same on both
//! sides, but for half a line.

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

/// The same of blocks that begin 4 KiB apart, or follow each other there.
const ALIASED: [(usize, usize, usize); 5] =
    [(4, 64, 4032), (4, 1024, 3072), (16, 512, 3584), (64, 64, 4032), (32, 4096, 4096)];

/// Bytes by which what is written lies behind what is read, in pages.
const BEHIND: usize = 32;

/// Transfers in one sample, of one block.
const TIMES: usize = if cfg!(debug_assertions) { 32 } else { 2048 };

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Name> {
    FEW.into_iter().map(|(count, block, gap)| Name::Few(count, block, gap))
}

/// Those whose sides look alike.
pub(super) fn all_aliased() -> impl Iterator<Item = Name> {
    ALIASED.into_iter().map(|(count, block, gap)| Name::Aliased(count, block, gap))
}

impl Bench<'_> {
    /// A few large blocks by `iputmem`, on each of two sides.
    pub(super) fn few_blocks<'t, I: Stores + 't>(&self, sides: impl Fn() -> Sides<'t, I>) -> Vec<Record> {
        let (mut apart, mut alike) = (sides().skewed(1024), sides().followed(BEHIND));
        let few = FEW.map(|(count, block, gap)| {
            let compared = "a few blocks by iputmem, against a loop of puts";
            let samples = self.blocks(&mut apart, &Spread::even(block, count, block + gap));
            self.record(&Name::Few(count, block, gap), compared, samples)
        });
        let aliased = ALIASED.map(|(count, block, gap)| {
            let compared = "a few blocks by iputmem, at places that look like those that are read next, against a loop of puts";
            let samples = self.blocks(&mut alike, &Spread::even(block, count, block + gap));
            self.record(&Name::Aliased(count, block, gap), compared, samples)
        });
        few.into_iter().chain(aliased).collect()
    }

    fn blocks<I: Stores>(&self, sides: &mut Sides<'_, I>, spread: &Spread) -> Samples {
        let times = (TIMES / spread.count).max(1);
        let mut samples = Samples::new();
        for round in 0..=self.repetitions {
            sides.routine(spread, Direction::Put);
            let ours = nanoseconds_each(times, || {
                (0..times).for_each(|_| sides.routine(spread, Direction::Put));
            });
            sides.loop_of_puts(spread, Direction::Put);
            let puts = nanoseconds_each(times, || {
                (0..times).for_each(|_| sides.loop_of_puts(spread, Direction::Put));
            });
            if round > 0 {
                samples.push(ours, puts);
            }
        }
        samples
    }
}
