//! Cost model of messages: LogGP, reduced to three numbers that are measured between two PEs.
//!
//! A transfer of `n` messages that are completed together needs `alpha + (n - 1) * gap + bytes * beta`. Here `alpha` is
//! a round trip, `gap` the sender's time for each further message, and `beta` the time of each byte.

use shmem_core::transport::ofi::strided::Row;

/// The parameters of the model, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Time of a put of 8 bytes and the quiet after it.
    pub alpha: f64,
    /// Time that each further put adds.
    pub gap: f64,
    /// Time that each byte adds.
    pub beta: f64,
}

impl From<Row> for Model {
    fn from(Row { latency, operation, byte, .. }: Row) -> Self {
        let [alpha, gap, beta] =
            [latency.saturating_add(operation), operation, byte].map(|cost| cost as f64 / 1e3);
        Self { alpha, gap, beta }
    }
}

impl Model {
    pub(crate) const FREE: Self = Self { alpha: 0.0, gap: 0.0, beta: 0.0 };

    /// Returns the time of `messages` messages with `bytes` bytes in all, completed together.
    pub fn messages(&self, messages: usize, bytes: usize) -> f64 {
        self.alpha + messages.saturating_sub(1) as f64 * self.gap + bytes as f64 * self.beta
    }
}
