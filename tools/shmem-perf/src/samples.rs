//! What a measure returns: pairs of times, and what they say.
//!
//! A time on a shared machine means little; a ratio to something known, measured at the same moment,
//! means much. So every measure takes its own time and the limit's in turn (A B A B ..), keeps them
//! as pairs, and reports the median of the ratios of the pairs. A disturbance that covers a whole
//! pair falls out of the ratio; one that hits half a pair falls out of the median.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Fewest pairs that a measure takes.
pub const FEWEST: usize = 11;

/// Pairs of what something cost and what its limit cost, in the order they were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    pairs: Vec<(f64, f64)>,
}

/// The middle of a list of numbers, and the quarters around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter of the numbers is not above it.
    pub p25: f64,
    /// Half of the numbers are not above it.
    pub median: f64,
    /// Three quarters of the numbers are not above it.
    pub p75: f64,
}

impl Samples {
    /// No pairs.
    pub const fn new() -> Self {
        Self { pairs: Vec::new() }
    }

    /// Takes `repetitions` pairs, in turn; each closure gives the cost of one operation. Both run
    /// once before that, so that no pair pays for first touches.
    pub fn alternate(
        repetitions: usize,
        mut cost: impl FnMut() -> f64,
        mut limit: impl FnMut() -> f64,
    ) -> Self {
        cost();
        limit();
        let mut samples = Self::new();
        for _ in 0..repetitions {
            let cost = cost();
            samples.push(cost, limit());
        }
        samples
    }

    /// Adds a pair.
    pub fn push(&mut self, cost: f64, limit: f64) {
        self.pairs.push((cost, limit));
    }

    /// Adds the pairs of another run of the same measure.
    pub fn append(&mut self, other: &Self) {
        self.pairs.extend_from_slice(&other.pairs);
    }

    /// The same with what something cost as the limit, and the limit as what is measured.
    #[must_use]
    pub fn turned(&self) -> Self {
        Self { pairs: self.pairs.iter().map(|&(cost, limit)| (limit, cost)).collect() }
    }

    /// The pairs: what it cost, and what the limit cost.
    pub fn pairs(&self) -> &[(f64, f64)] {
        &self.pairs
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// What it cost.
    ///
    /// # Panics
    ///
    /// If there are no pairs.
    pub fn cost(&self) -> Quartiles {
        self.quartiles(|(cost, _)| cost)
    }

    /// What the limit cost.
    ///
    /// # Panics
    ///
    /// If there are no pairs.
    pub fn limit(&self) -> Quartiles {
        self.quartiles(|(_, limit)| limit)
    }

    /// The cost over the limit's cost, pair by pair.
    ///
    /// # Panics
    ///
    /// If there are no pairs.
    pub fn ratio(&self) -> Quartiles {
        self.quartiles(|(cost, limit)| cost / limit)
    }

    /// The cost beyond the limit's cost, pair by pair.
    ///
    /// # Panics
    ///
    /// If there are no pairs.
    pub fn difference(&self) -> Quartiles {
        self.quartiles(|(cost, limit)| cost - limit)
    }

    /// Geometric means of the cost, of the limit's, and of cost over limit.
    pub fn geometric_means(&self) -> (f64, f64, f64) {
        let mean = |of: fn(&(f64, f64)) -> f64| {
            (self.pairs.iter().map(|pair| of(pair).ln()).sum::<f64>() / self.len() as f64).exp()
        };
        (mean(|pair| pair.0), mean(|pair| pair.1), mean(|pair| pair.0 / pair.1))
    }

    /// The cost that a part of all costs is not above.
    ///
    /// # Panics
    ///
    /// If there are no pairs.
    pub fn cost_at(&self, part: f64) -> f64 {
        Quartiles::at(&Quartiles::sorted(self.pairs.iter().map(|pair| pair.0).collect()), part)
    }

    fn quartiles(&self, number: impl Fn((f64, f64)) -> f64) -> Quartiles {
        Quartiles::of(self.pairs.iter().map(|&pair| number(pair)).collect())
    }
}

impl Quartiles {
    /// The quartiles of some numbers; between two of them, on the straight line.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn of(numbers: Vec<f64>) -> Self {
        let numbers = Self::sorted(numbers);
        let at = |part| Self::at(&numbers, part);
        Self { p25: at(0.25), median: at(0.5), p75: at(0.75) }
    }

    fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
        assert!(!numbers.is_empty(), "no samples were taken");
        numbers.sort_by(f64::total_cmp);
        numbers
    }

    /// The number that a part of the sorted ones is not above.
    fn at(sorted: &[f64], part: f64) -> f64 {
        let place = part * (sorted.len() - 1) as f64;
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        below + (above - below) * place.fract()
    }
}

/// Nanoseconds of one of the `operations` that `body` does.
#[inline]
pub fn nanoseconds_each(operations: usize, body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    start.elapsed().as_nanos() as f64 / operations as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quartiles_lie_where_the_definition_puts_them() {
        let of = |numbers: &[f64]| Quartiles::of(numbers.to_vec());
        assert_eq!(of(&[5.0]), Quartiles { p25: 5.0, median: 5.0, p75: 5.0 });
        assert_eq!(of(&[4.0, 1.0, 3.0, 2.0, 5.0]), Quartiles { p25: 2.0, median: 3.0, p75: 4.0 });
        assert_eq!(of(&[10.0, 20.0, 40.0, 30.0]), Quartiles { p25: 17.5, median: 25.0, p75: 32.5 });
    }

    #[test]
    fn a_machine_that_slows_down_does_not_change_the_ratio() {
        let mut samples = Samples::new();
        for slowness in 1..=20 {
            samples.push(f64::from(3 * slowness), f64::from(2 * slowness));
        }
        // Pairs of which one half was disturbed.
        for _ in 0..5 {
            samples.push(1e6, 2.0);
        }
        assert_eq!(samples.ratio().median, 1.5);
        assert_ne!(samples.cost().median / samples.limit().median, 1.5, "unpaired, it does");
    }

    #[test]
    fn means_over_layouts_are_geometric() {
        let mut samples = Samples::new();
        for (cost, limit) in [(1.0, 1.0), (2.0, 1.0), (4.0, 8.0)] {
            samples.push(cost, limit);
        }
        let (cost, limit, ratio) = samples.geometric_means();
        for (found, expected) in [(cost, 2.0), (limit, 2.0), (ratio, 1.0)] {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        assert_eq!([0.0, 0.5, 0.75, 1.0].map(|part| samples.cost_at(part)), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn pairs_are_taken_in_turn_behind_a_warm_up() {
        let order = std::cell::RefCell::new(String::new());
        let say = |c, time| {
            order.borrow_mut().push(c);
            time
        };
        let samples = Samples::alternate(3, || say('a', 6.0), || say('b', 2.0));
        assert_eq!(*order.borrow(), "abababab");
        assert_eq!((samples.len(), samples.ratio().median, samples.difference().median), (3, 3.0, 4.0));
    }

    proptest! {
        #[test]
        fn half_of_the_numbers_lie_on_each_side_of_the_median(
            numbers in proptest::collection::vec(-1e9..1e9, 1..50_usize),
        ) {
            let Quartiles { p25, median, p75 } = Quartiles::of(numbers.clone());
            prop_assert!(p25 <= median && median <= p75);
            let not_above = |limit: f64| numbers.iter().filter(|&&x| x <= limit).count();
            let not_below = |limit: f64| numbers.iter().filter(|&&x| x >= limit).count();
            prop_assert!(2 * not_above(median) >= numbers.len() && 2 * not_below(median) >= numbers.len());
            prop_assert!(4 * not_above(p25) >= numbers.len() && 4 * not_below(p75) >= numbers.len());
        }
    }
}
