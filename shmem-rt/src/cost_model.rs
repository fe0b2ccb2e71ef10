//! Cost model of messages, a form of LogGP with three numbers, measured between two PEs.
//!
//! A transfer of `n` messages that are completed together takes `alpha + (n - 1) * gap + bytes * beta`: a round trip, the sender's
//! time for each further message, and the time of each byte.

use shmem_core::transport::ofi::strided::Row;

/// The parameters, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Time of a put of 8 bytes and its quiet.
    pub alpha: f64,
    /// Time of each further put.
    pub gap: f64,
    /// Time of each byte.
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

    /// Time of messages with `bytes` bytes in all that are completed together.
    pub fn messages(&self, messages: usize, bytes: usize) -> f64 {
        self.alpha + messages.saturating_sub(1) as f64 * self.gap + bytes as f64 * self.beta
    }
}
