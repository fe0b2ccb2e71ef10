//! Samples of a case: pairs of times, and their statistics.
//!
//! An operation and its baseline are measured in turn (A B A B ..). The result is the median of the ratios of all pairs. A
//! disturbance of a whole pair cancels in its ratio. If only one of the two is disturbed, in some pairs, the median does not
//! change.

use std::time::Instant;

use serde::{Deserialize, Serialize};

pub(crate) const FEWEST: usize = 11;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Samples(pub(crate) Vec<(f64, f64)>);

impl Samples {
    /// Takes `repetitions` pairs, after a first pair that is left out, because it touches pages for the first time.
    pub(crate) fn of(repetitions: usize, mut pair: impl FnMut() -> (f64, f64)) -> Self {
        pair();
        (0..repetitions).map(|_| pair()).collect()
    }

    pub(crate) fn tried<E>(
        repetitions: usize,
        mut pair: impl FnMut() -> Result<(f64, f64), E>,
    ) -> Result<Self, E> {
        (0..repetitions).map(|_| pair()).collect()
    }

    /// Returns the quartiles of a number that is computed from each pair.
    pub(crate) fn quarters(&self, number: impl Fn(f64, f64) -> f64) -> [f64; 3] {
        quantiles(self.0.iter().map(|&(cost, limit)| number(cost, limit)).collect(), [0.25, 0.5, 0.75])
    }

    pub(crate) fn ratio(&self) -> [f64; 3] {
        self.quarters(|cost, limit| cost / limit)
    }

    pub(crate) fn geometric_mean(&self, number: impl Fn(f64, f64) -> f64) -> f64 {
        let logarithms = self.0.iter().map(|&(cost, limit)| number(cost, limit).ln());
        (logarithms.sum::<f64>() / self.0.len() as f64).exp()
    }

    pub(crate) fn cost_at(&self, part: f64) -> f64 {
        quantiles(self.0.iter().map(|pair| pair.0).collect(), [part])[0]
    }
}

impl FromIterator<(f64, f64)> for Samples {
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// Returns quantiles of numbers (0.5 is the median), with linear interpolation.
fn quantiles<const N: usize>(mut numbers: Vec<f64>, parts: [f64; N]) -> [f64; N] {
    assert!(!numbers.is_empty(), "no samples were taken");
    numbers.sort_by(f64::total_cmp);
    parts.map(|part| {
        let place = part * (numbers.len() - 1) as f64;
        let (below, above) = (numbers[place.floor() as usize], numbers[place.ceil() as usize]);
        below + (above - below) * place.fract()
    })
}

pub(crate) fn median(numbers: Vec<f64>) -> f64 {
    quantiles(numbers, [0.5])[0]
}

/// Runs `body`, which performs `operations` operations. Returns the nanoseconds of one operation.
#[inline]
pub(crate) fn nanoseconds_each(operations: usize, body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    start.elapsed().as_nanos() as f64 / operations as f64
}

#[inline]
pub(crate) fn each(times: usize, mut call: impl FnMut()) -> f64 {
    numbered(times as u64, |_| call())
}

/// Calls `call` with each number less than `times`. Returns the nanoseconds of one call.
#[inline]
pub(crate) fn numbered(times: u64, call: impl FnMut(u64)) -> f64 {
    nanoseconds_each(times as usize, || (0..times).for_each(call))
}

pub(crate) fn milliseconds<R>(body: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = body();
    (start.elapsed().as_secs_f64() * 1e3, result)
}
