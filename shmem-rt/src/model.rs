//! What messages cost by a model of three numbers, which are measured between two PEs.
//!
//! A transfer of `n` messages that are waited for together takes `alpha + (n - 1) * gap + bytes * beta`:
//! a latency, there and back; what each further message costs whoever sends it; and the time of a byte.

use shmem_core::transport::ofi::strided::Row;

/// The three numbers, in nanoseconds: of a round trip, of a message, of a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// A put of 8 bytes and its quiet.
    pub alpha: f64,
    /// A put of 8 bytes among many.
    pub gap: f64,
    /// A byte among many.
    pub beta: f64,
}

/// What is known of a provider, of a target that polls.
impl From<Row> for Model {
    fn from(Row { latency, operation, byte, .. }: Row) -> Self {
        let [alpha, gap, beta] =
            [latency.saturating_add(operation), operation, byte].map(|cost| cost as f64 / 1e3);
        Self { alpha, gap, beta }
    }
}

impl Model {
    /// Of messages that cost nothing.
    pub(crate) const FREE: Self = Self { alpha: 0.0, gap: 0.0, beta: 0.0 };

    /// Messages of `bytes` bytes in all that are waited for together.
    pub fn messages(&self, messages: usize, bytes: usize) -> f64 {
        self.alpha + messages.saturating_sub(1) as f64 * self.gap + bytes as f64 * self.beta
    }
}
