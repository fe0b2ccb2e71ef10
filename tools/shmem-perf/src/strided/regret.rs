//! How far what is chosen is from the best of all there is.
//!
//! For every layout all methods are timed in turn, each the median of its samples; the regret of a choice
//! is the time of the method it chooses over that of the fastest.

use shmem_core::context::Stores;
use shmem_core::strided::{Algorithm, Kernel, Method, Pattern, Plan, Thresholds};

use super::cases::transfers;
use super::sides::Sides;
use super::spread::Spread;
use super::sweep::{self, Point};
use crate::samples::{Quartiles, nanoseconds_each};

/// Bytes of each side: the published table was measured with 64 MiB.
pub const ROOM: usize = (64 << 20) + (64 << 10);

/// Every way to move a pattern, whatever would be chosen.
pub const METHODS: [Method; 10] = [
    Method::Putmem,
    Method::Kernel(Kernel::Rows),
    Method::Kernel(Kernel::Throttled(1)),
    Method::Kernel(Kernel::Throttled(2)),
    Method::Kernel(Kernel::Throttled(4)),
    Method::Kernel(Kernel::Throttled(8)),
    Method::Kernel(Kernel::Throttled(16)),
    Method::Kernel(Kernel::Stream),
    Method::Kernel(Kernel::Span),
    Method::Kernel(Kernel::Shuffle),
];

/// The published blocks and gaps, in spans from a first-level cache to the published 64 MiB.
pub fn grid() -> Vec<Point> {
    let mut points = Vec::new();
    for span in [16 << 10, 256 << 10, 4 << 20, 64 << 20] {
        for (block, _) in shmem_core::strided::PUBLISHED {
            for gap in shmem_core::strided::GAPS {
                let stride = block + gap;
                points.push((Spread::within(block, stride, stride, span), super::Direction::Put));
            }
        }
    }
    points.retain(|(spread, _)| spread.count > 1);
    points
}

/// A few of the grid: every seventh of those that fit into caches, where choices differ most.
pub fn sample() -> Vec<Point> {
    let fits = |(spread, _): &Point| spread.hull() <= 256 << 10;
    grid().into_iter().filter(fits).step_by(7).collect()
}

/// Layouts drawn at random.
pub fn random(seed: u64) -> Vec<Point> {
    sweep::drawn(sweep::DRAWN, seed)
}

/// At most so many of some layouts, taken evenly from all of them.
pub fn thinned(points: Vec<Point>, most: usize) -> Vec<Point> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.into_iter().step_by(step).collect()
}

/// Regret of each policy at one layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regrets {
    /// Of what is chosen here.
    pub auto: f64,
    /// Of Algorithm 1, always.
    pub one: f64,
    /// Of Algorithm 2, always.
    pub two: f64,
    /// Of the published table.
    pub published: f64,
    /// Of the better of Algorithms 1 and 2, which no table can beat.
    pub ideal: f64,
}

/// Times all methods at a layout.
pub fn regrets<I: Stores>(
    sides: &mut Sides<'_, I>,
    (spread, direction): &Point,
    thresholds: &Thresholds,
    repetitions: usize,
) -> Regrets {
    let pattern = Pattern::blocks(spread.block, spread.count, spread.to, spread.from);
    let by = |algorithm| {
        Plan::of(pattern, 1 << (spread.to | spread.from).trailing_zeros().min(6), algorithm, thresholds)
    };
    let (auto, two, three) = (by(Algorithm::Auto), by(Algorithm::Two), by(Algorithm::Three));
    let mut plans = vec![auto, by(Algorithm::One), two];
    plans.extend(METHODS.map(|method| Plan::by(pattern, method)));
    plans.dedup();
    let count = transfers(spread);
    let mut times = vec![Vec::new(); plans.len()];
    for round in 0..=repetitions {
        for (plan, times) in plans.iter().zip(&mut times) {
            // What the one before left in the caches, or did not, is not this one's.
            sides.planned(plan, *direction);
            let time = nanoseconds_each(count, || {
                (0..count).for_each(|_| sides.planned(plan, *direction));
            });
            if round > 0 {
                times.push(time);
            }
        }
    }
    // One plan that stands there twice counts with all its samples.
    let time = |wanted: &Plan| {
        let all = plans.iter().zip(&times).filter(|(plan, _)| *plan == wanted);
        Quartiles::of(all.flat_map(|(_, times)| times.iter().copied()).collect()).median
    };
    let best = plans.iter().map(&time).fold(f64::INFINITY, f64::min);
    let over_best = |plan: &Plan| time(plan) / best;
    let (one, two) = (over_best(&by(Algorithm::One)), over_best(&two));
    Regrets { auto: over_best(&auto), one, two, published: over_best(&three), ideal: one.min(two) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_layouts_are_taken_evenly() {
        let all = grid();
        assert_eq!(thinned(all.clone(), usize::MAX), all);
        for most in [1, 7, 12, all.len()] {
            let some = thinned(all.clone(), most);
            assert!(!some.is_empty() && some.len() <= most && 2 * some.len() > most.min(all.len()), "{most}");
        }
        let spans = thinned(all, 12).iter().map(|(spread, _)| spread.hull()).max();
        assert!(spans > Some(32 << 20), "large ones, too: {spans:?}");
    }
}
