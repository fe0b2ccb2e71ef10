//! Measures the thresholds of this machine.
//!
//! Each threshold is found by itself, the others as compiled in: two ways to move the same blocks are timed
//! in turn for sizes in ascending order, and the threshold is the size from which on the one that it
//! switches to stays faster. A way that is never clearly faster is switched off. All of it takes about a
//! second.

use shmem_core::context::Stores;
use shmem_core::strided::{Kernel, Method, Pattern, Plan, Thresholds};

use super::cases::transfers;
use super::sides::{Direction, Sides};
use super::spread::Spread;
use crate::samples::{Quartiles, nanoseconds_each};

/// Bytes of each side.
pub const ROOM: usize = 26 << 20;

/// A way is faster if it takes less than this part of the other's time.
const CLEARLY: f64 = 0.97;

/// Pairs of samples for each comparison: an odd number.
const PAIRS: usize = 15;

/// Never, as a threshold in bytes.
const NEVER: usize = usize::MAX;

/// Finds the thresholds of this machine.
pub fn calibrate<I: Stores>(sides: &mut Sides<'_, I>) -> Thresholds {
    let default = Thresholds::default();
    let mut ratio = |spread: &Spread, way, other| time_over(sides, spread, way, other);

    let dense = from_size(&[256, 512, 1024, 2048, 4096, 16384], |row| {
        ratio(&Spread::even(8, row / 16, 16), Kernel::Span, Kernel::Rows).max(ratio(
            &Spread::even(4, row / 8, 8),
            Kernel::Span,
            Kernel::Rows,
        ))
    });
    // A row of 1024 doubles with two more of a frame.
    let far = best(|stores| match stores {
        0 => 0.0,
        _ => ratio(&Spread::even(8, 3072, 8208), Kernel::Throttled(stores), Kernel::Rows).ln(),
    });
    let pages = from_size(&[1024, 2048, 3072, 4096, 6144], |pages| {
        ratio(&Spread::even(8, pages / 2, 8208), Kernel::Throttled(far.max(1)), Kernel::Rows)
    });
    // Each block adds 512 bytes of lines to both sides. Below the first of these the lines are still in a
    // cache when their owner reads them, which is worth more than the put gains.
    let cache = from_size(&[8 << 20, 16 << 20, 32 << 20], |footprint| {
        ratio(&Spread::even(512, footprint / 1024, 576), Kernel::Stream, Kernel::Rows)
    });
    let last_level_cache = if cache == NEVER { default.last_level_cache } else { 2 * cache };
    let stream = from_size(&[128, 256, 512, 1024, 2048, 4096], |block| {
        let unaligned = Spread::within(block, block + 72, block + 72, ROOM - (64 << 10));
        ratio(&unaligned, Kernel::Stream, Kernel::Rows)
    });
    Thresholds { last_level_cache, stream, throttle: throttle(sides), pages, far, dense }
}

/// Layouts whose blocks fall into few sets.
const CROWDED: [Spread; 4] = [
    Spread::even(8, 1024, 8192),
    Spread::even(8, 1000, 1024),
    Spread { block: 8, count: 1024, to: 8192, from: 8 },
    Spread::even(32, 250, 1024),
];

/// How many idle stores make crowded blocks fastest, over all layouts.
fn throttle<I: Stores>(sides: &mut Sides<'_, I>) -> u8 {
    best(|stores| {
        let ratios = CROWDED.iter().map(|spread| {
            let pattern = Pattern::blocks(spread.block, spread.count, spread.to, spread.from);
            let thresholds = Thresholds { throttle: stores, ..Thresholds::DEFAULT };
            match shmem_core::strided::choose(&pattern, &thresholds) {
                Kernel::Rows => 0.0,
                braked => time_over(sides, spread, braked, Kernel::Rows).ln(),
            }
        });
        ratios.sum::<f64>()
    })
}

/// The number of idle stores that costs least.
fn best(cost: impl FnMut(u8) -> f64) -> u8 {
    let stores = [0, 2, 4, 8, 12, 16, 24];
    let costs = stores.map(cost);
    let least = (0..stores.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
    least.map_or(0, |least| stores[least])
}

/// The smallest size from which on `ratio` stays clearly below 1; [`NEVER`] if it does not at the largest.
fn from_size(sizes: &[usize], mut ratio: impl FnMut(usize) -> f64) -> usize {
    let slower = sizes.iter().rposition(|size| ratio(*size) >= CLEARLY);
    match slower {
        None => sizes[0],
        Some(last) => sizes.get(last + 1).copied().unwrap_or(NEVER),
    }
}

/// Time of a kernel over that of another: the median of pairs.
fn time_over<I: Stores>(sides: &mut Sides<'_, I>, spread: &Spread, way: Kernel, other: Kernel) -> f64 {
    let pattern = Pattern::blocks(spread.block, spread.count, spread.to, spread.from);
    let [way, other] = [way, other].map(|kernel| Plan::by(pattern, Method::Kernel(kernel)));
    let count = transfers(spread);
    let mut time =
        |plan| nanoseconds_each(count, || (0..count).for_each(|_| sides.planned(plan, Direction::Put)));
    time(&way);
    Quartiles::of((0..PAIRS).map(|_| time(&way) / time(&other)).collect()).median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_where_a_way_stays_faster() {
        let faster_from =
            |ratios: [f64; 4]| from_size(&[10, 20, 40, 80], |size| ratios[size.ilog2() as usize - 3]);
        assert_eq!(faster_from([0.5, 0.5, 0.5, 0.5]), 10);
        assert_eq!(faster_from([1.5, 0.5, 0.9, 0.5]), 20);
        assert_eq!(faster_from([0.5, 1.5, 0.9, 0.5]), 40, "faster for small ones is not enough");
        assert_eq!(faster_from([0.5, 0.5, 0.5, 0.99]), NEVER, "a little is not enough");
    }
}
