//! What a measure returns: pairs of times, and what they say.
//!
//! A time on a shared machine means little; a ratio to something known, measured at the same moment,
//! means much. So every measure takes its own time and the limit's in turn (A B A B ..), keeps them
//! as pairs, and reports the median of the ratios of the pairs. A disturbance that covers a whole
//! pair falls out of the ratio; one that hits half a pair falls out of the median.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Fewest pairs that a measure takes.
pub(crate) const FEWEST: usize = 11;

/// Pairs of what something cost and what its limit cost, in the order they were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Samples {
    pairs: Vec<(f64, f64)>,
}

/// The middle of a list of numbers, and the quarters around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quartiles {
    pub(crate) p25: f64,
    pub(crate) median: f64,
    pub(crate) p75: f64,
}

impl Samples {
    /// No pairs.
    pub(crate) const fn new() -> Self {
        Self { pairs: Vec::new() }
    }

    /// Takes `repetitions` pairs, in turn; each closure gives the cost of one operation. Both run
    /// once before that, so that no pair pays for first touches.
    pub(crate) fn alternate(
        repetitions: usize,
        mut cost: impl FnMut() -> f64,
        mut limit: impl FnMut() -> f64,
    ) -> Self {
        Self::of(repetitions, || (cost(), limit()))
    }

    /// Takes `repetitions` pairs, and one before that does not count.
    pub(crate) fn of(repetitions: usize, mut pair: impl FnMut() -> (f64, f64)) -> Self {
        pair();
        Self { pairs: (0..repetitions).map(|_| pair()).collect() }
    }

    /// Pairs, of which one may fail.
    pub(crate) fn tried<E>(
        repetitions: usize,
        pair: impl FnMut() -> Result<(f64, f64), E>,
    ) -> Result<Self, E> {
        let mut pair = pair;
        Ok(Self { pairs: (0..repetitions).map(|_| pair()).collect::<Result<_, E>>()? })
    }

    pub(crate) fn push(&mut self, cost: f64, limit: f64) {
        self.pairs.push((cost, limit));
    }

    /// Adds the pairs of another run of the same measure.
    pub(crate) fn append(&mut self, other: &Self) {
        self.pairs.extend_from_slice(&other.pairs);
    }

    /// Each pair made something else.
    pub(crate) fn map(&self, number: impl Fn(f64, f64) -> (f64, f64)) -> Self {
        Self { pairs: self.pairs.iter().map(|&(cost, limit)| number(cost, limit)).collect() }
    }

    /// What it cost, and what the limit cost.
    pub(crate) fn pairs(&self) -> &[(f64, f64)] {
        &self.pairs
    }

    pub(crate) fn cost(&self) -> Quartiles {
        self.quartiles(|(cost, _)| cost)
    }

    pub(crate) fn limit(&self) -> Quartiles {
        self.quartiles(|(_, limit)| limit)
    }

    /// The cost over the limit's cost, pair by pair.
    pub(crate) fn ratio(&self) -> Quartiles {
        self.quartiles(|(cost, limit)| cost / limit)
    }

    /// The cost beyond the limit's cost, pair by pair.
    pub(crate) fn difference(&self) -> Quartiles {
        self.quartiles(|(cost, limit)| cost - limit)
    }

    /// Geometric means of the cost, of the limit's, and of cost over limit.
    pub(crate) fn geometric_means(&self) -> (f64, f64, f64) {
        let mean = |of: fn(&(f64, f64)) -> f64| {
            (self.pairs.iter().map(|pair| of(pair).ln()).sum::<f64>() / self.pairs.len() as f64).exp()
        };
        (mean(|pair| pair.0), mean(|pair| pair.1), mean(|pair| pair.0 / pair.1))
    }

    /// The cost that a part of all costs is not above.
    pub(crate) fn cost_at(&self, part: f64) -> f64 {
        Quartiles::at(&Quartiles::sorted(self.pairs.iter().map(|pair| pair.0).collect()), part)
    }

    fn quartiles(&self, number: impl Fn((f64, f64)) -> f64) -> Quartiles {
        Quartiles::of(self.pairs.iter().map(|&pair| number(pair)).collect())
    }
}

impl Quartiles {
    /// The quartiles of some numbers; between two of them, on the straight line.
    pub(crate) fn of(numbers: Vec<f64>) -> Self {
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
pub(crate) fn nanoseconds_each(operations: usize, body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    start.elapsed().as_nanos() as f64 / operations as f64
}

/// Milliseconds that `body` takes.
pub(crate) fn milliseconds<R>(body: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = body();
    (start.elapsed().as_secs_f64() * 1e3, result)
}

#[cfg(test)]
mod tests {
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
        // The last ones are pairs of which one half was disturbed.
        let slowed = (1..=20).map(|slowness| (f64::from(3 * slowness), f64::from(2 * slowness)));
        let samples = Samples { pairs: slowed.chain([(1e6, 2.0); 5]).collect() };
        assert_eq!(samples.ratio().median, 1.5);
        assert_ne!(samples.cost().median / samples.limit().median, 1.5, "unpaired, it does");
    }

    #[test]
    fn means_over_layouts_are_geometric() {
        let samples = Samples { pairs: vec![(1.0, 1.0), (2.0, 1.0), (4.0, 8.0)] };
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
        assert_eq!(
            (samples.pairs().len(), samples.ratio().median, samples.difference().median),
            (3, 3.0, 4.0)
        );
    }
}
