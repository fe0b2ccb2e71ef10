//! How blocks go to another node: in messages, or one by one.
//!
//! * **Messages**: packed, carried out by the target's [engine](super::engine). One operation whatever the
//!   number of blocks, but every byte is copied once more on both sides, and the target's processor has to
//!   do it.
//! * **One by one**: an operation for each block, as a program without strided transfers would do it.
//!
//! Which is fastest is predicted by a [cost model](Row) of a few numbers for each provider, compiled in for
//! those that are known; `shmem-perf calibrate` measures them where a job runs. The sender chooses for itself:
//! both write the same bytes.
//!
//! Source of the model: LogGP (Alexandrov et al., 1995), with packing and pieces beside its messages.

mod row;

use std::sync::OnceLock;

use super::engine::Limits;
use super::provider::Known;

pub use row::{Blocks, Row, Way};

/// The limits of the engine over a provider, if it allows for as much.
pub fn limits_of(provider: &str) -> Limits {
    Known::about(provider).limits
}

static MEASURED: OnceLock<Vec<(String, Row)>> = OnceLock::new();

/// Makes rows that were measured count for the rest of the process, by the names of their providers. Only the
/// first call does; before it, and for other providers, what is compiled in counts.
pub fn install(rows: Vec<(String, Row)>) {
    // Threads that stand for PEs all bring the same.
    _ = MEASURED.set(rows);
}

/// The row that counts for a provider.
pub fn row_of(provider: &str) -> Row {
    let measured = MEASURED.get().and_then(|rows| rows.iter().find(|(name, _)| name == provider));
    measured.map_or_else(|| Row::of(provider), |&(_, row)| row)
}
