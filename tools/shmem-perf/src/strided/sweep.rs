//! Many layouts: where is the library slower than a loop of puts?

use shmem_core::context::Stores;

use super::cases::transfers;
use super::sides::{Direction, Sides};
use super::spread::Spread;
use crate::samples::{Quartiles, nanoseconds_each};

/// Bytes of each side.
pub const ROOM: usize = 16 << 20;

/// Layouts that are drawn at random.
pub const DRAWN: usize = 100;

/// How often a layout that came out slow is measured again, alone.
pub const AGAIN: usize = 3;

/// A layout and its direction.
pub type Point = (Spread, Direction);

/// The layouts that are the same on every run: block sizes by gaps by spans, the same distance on both
/// sides, packed and unpacked, and powers of two.
pub fn grid() -> Vec<Point> {
    let mut points = Vec::new();
    for span in [16 << 10, 256 << 10, 4 << 20] {
        for block in [4, 8, 16, 24, 32, 64, 128, 256, 512, 1024, 4096] {
            for gap in [4, 16, 64, 256, 1024, 4096] {
                let stride = block + gap;
                points.push((Spread::within(block, stride, stride, span), Direction::Put));
                if gap <= 256 {
                    points.push((Spread::within(block, block, stride, span), Direction::Get));
                    points.push((Spread::within(block, stride, block, span), Direction::Put));
                }
            }
        }
    }
    for span in [256 << 10, 4 << 20] {
        for block in [8, 32, 64, 256, 1024] {
            for stride in [64, 256, 1024, 2048, 4096, 8192].into_iter().filter(|stride| *stride > block) {
                points.push((Spread::within(block, stride, stride, span), Direction::Put));
            }
        }
    }
    points.retain(|(spread, _)| spread.count > 1);
    points
}

/// `count` layouts drawn at random: the same for the same seed.
pub fn drawn(count: usize, seed: u64) -> Vec<Point> {
    let mut dice = Dice(seed);
    let mut points = Vec::new();
    while points.len() < count {
        let block = match dice.below(3) {
            0 => 1 << dice.below(13),
            1 => 4 * (1 + dice.below(64)),
            _ => 1 + dice.below(600),
        };
        let gap = |dice: &mut Dice| match dice.below(4) {
            0 => 0,
            1 => 8 * dice.below(16),
            2 => (1_usize << dice.below(14)).saturating_sub(block),
            _ => dice.below(9000),
        };
        let (to, from) = (block + gap(&mut dice), block + gap(&mut dice));
        let from = if dice.below(2) == 0 { to } else { from };
        let span = (16 << 10) << (2 * dice.below(5));
        let direction = if dice.below(3) == 0 { Direction::Get } else { Direction::Put };
        let spread = Spread::within(block, to, from, span);
        if spread.count > 1 && (to > block || from > block) {
            points.push((spread, direction));
        }
    }
    points
}

/// Cost of the library over that of a loop of puts: the median of `repetitions` pairs, taken in turn.
pub fn against_loop_of_puts<I: Stores>(
    sides: &mut Sides<'_, I>,
    (spread, direction): &Point,
    repetitions: usize,
) -> f64 {
    let count = transfers(spread);
    let mut round = || {
        sides.routine(spread, *direction);
        let ours = nanoseconds_each(count, || (0..count).for_each(|_| sides.routine(spread, *direction)));
        sides.loop_of_puts(spread, *direction);
        let puts = nanoseconds_each(count, || {
            (0..count).for_each(|_| sides.loop_of_puts(spread, *direction));
        });
        ours / puts
    };
    round();
    Quartiles::of((0..repetitions).map(|_| round()).collect()).median
}

/// Numbers that look random: SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_layouts_and_all_fit() {
        let all: Vec<Point> = grid().into_iter().chain(drawn(DRAWN, 7)).collect();
        assert!(all.len() >= 500, "{}", all.len());
        for (spread, _) in all {
            assert!(spread.to >= spread.block && spread.from >= spread.block, "{spread}");
            assert!(spread.hull() <= ROOM, "{spread}");
        }
    }

    #[test]
    fn a_seed_draws_the_same_again_and_another_others() {
        assert_eq!(drawn(20, 1), drawn(20, 1));
        assert_ne!(drawn(20, 1), drawn(20, 2));
        assert_eq!(drawn(20, 1), drawn(30, 1)[..20]);
    }
}
