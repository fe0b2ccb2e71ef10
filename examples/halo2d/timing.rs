//! How long the exchanges took.

use std::fmt;

use shmem::strided::Algorithm;

/// How the edges are exchanged: into the frames by an algorithm, or by a halo.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Algorithm(Algorithm),
    Halo,
}

impl Way {
    pub(crate) const ALL: [Self; Algorithm::ALL.len() + 1] = {
        let mut all = [Self::Halo; Algorithm::ALL.len() + 1];
        let mut at = 0;
        while at < Algorithm::ALL.len() {
            all[at] = Self::Algorithm(Algorithm::ALL[at]);
            at += 1;
        }
        all
    };

    fn name(self) -> &'static str {
        match self {
            Self::Algorithm(algorithm) => algorithm.name(),
            Self::Halo => "halo",
        }
    }
}

/// Seconds of an exchange in each way, round by round.
#[derive(Debug, Default)]
pub(crate) struct Times {
    rounds: Vec<[f64; Way::ALL.len()]>,
}

impl Times {
    pub(crate) fn push(&mut self, round: [f64; Way::ALL.len()]) {
        self.rounds.push(round);
    }

    /// The share of the values that `of` gives for each round which is at most the result.
    fn quantile(&self, share: f64, of: impl Fn(&[f64; Way::ALL.len()]) -> f64) -> f64 {
        let mut values: Vec<f64> = self.rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[((values.len() - 1) as f64 * share).round() as usize]
    }
}

/// A line for each way: the median of its times, the quarters around it, and how many times as fast
/// as Algorithm 1 it was in the same round, in the median.
impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "algorithm      median         p25         p75   faster than 1")?;
        for (at, way) in Way::ALL.into_iter().enumerate() {
            let [median, p25, p75] =
                [0.5, 0.25, 0.75].map(|share| self.quantile(share, |round| round[at]) * 1e6);
            let faster = self.quantile(0.5, |round| round[0] / round[at]);
            let name = way.name();
            writeln!(f, "{name:<9}{median:>9.1} us{p25:>9.1} us{p75:>9.1} us{faster:>15.2}x")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_one_by_one() {
        let mut times = Times::default();
        // The machine was busy in the second round.
        for unit in [1e-6, 1e-3, 1e-6] {
            let round = [4.0, 2.0, 4.0, 1.0, 8.0].map(|time| time * unit);
            times.push(round);
        }
        assert_eq!(
            times.to_string(),
            "algorithm      median         p25         p75   faster than 1\n\
             1              4.0 us      4.0 us   4000.0 us           1.00x\n\
             2              2.0 us      2.0 us   2000.0 us           2.00x\n\
             3              4.0 us      4.0 us   4000.0 us           1.00x\n\
             auto           1.0 us      1.0 us   1000.0 us           4.00x\n\
             halo           8.0 us      8.0 us   8000.0 us           0.50x\n"
        );
    }
}
