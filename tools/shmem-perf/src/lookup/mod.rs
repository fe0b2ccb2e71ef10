//! What the number of partitions costs.
//!
//! An implementation that looks for the segment of an address pays for every segment it has. There are two forms:
//!
//! * The **published** one compares operations on buffers of random partitions, one in each, with operations on one
//!   buffer. There the number of buffers changes, too, and with it what the caches do.
//! * The **fair** one uses as many buffers at the same distances twice: each in a partition of its own, and all in
//!   one partition. So it shows lookup, and nothing else. Distances matter more than any lookup: buffers at
//!   equal places of their pages meet in one cache set, wherever they came from.
//!
//! ```text
//! buffers    buffers apart, and together at the same distances
//! fair       the fair form         published    the published form
//! ```
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), section 5.

mod buffers;
mod fair;
mod published;

pub use buffers::Buffers;
pub use fair::{fetch_add, raw, typed};
pub use published::{published, published_fetch_add};
use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::partition::PARTITION_VARIABLE;

/// Numbers of partitions that are compared with one.
pub const PARTITIONS: [usize; 3] = [7, 8, 127];

/// Sizes of transfers that show lookup most, in bytes.
pub const SIZES: [usize; 5] = [1, 8, 64, 512, 4096];

/// Sizes of the OSU micro-benchmarks, in bytes: powers of two.
pub const OSU_SIZES: [usize; 21] = {
    let mut sizes = [1; 21];
    let mut i = 1;
    while i < sizes.len() {
        sizes[i] = 2 * sizes[i - 1];
        i += 1;
    }
    sizes
};

/// The most bytes of a buffer.
pub const MOST_BYTES: usize = OSU_SIZES[OSU_SIZES.len() - 1];

/// Partitions start on multiples of it, and have room for the largest buffer.
const REGION: usize = 2 << 20;

/// Operations before a quiet, as published.
const PUBLISHED: usize = 10_000;

/// Operations over a network: a hundred take as long as a million stores.
const FAR: usize = 200;

/// How much less is measured where figures do not count: tests want to see that all of it works.
const LESS: usize = if cfg!(debug_assertions) { 50 } else { 1 };

/// Operations of `bytes` bytes in one sample: those of the publication, or fewer that move some ten megabytes.
fn operations<L: ThreadLevel>(world: &World<L>, bytes: usize) -> usize {
    let is_near = world.pes().iter().all(|pe| pe.on_node().is_some());
    let most = if is_near { PUBLISHED } else { FAR } / LESS;
    ((64 << 20) / bytes / LESS).clamp(most / 40, most)
}

/// The variables that give a job `n` partitions, with the IDs 1 to `n`, the last of which has room
/// for [`Buffers`]. Little is kept for later segments: the more there is, the further apart
/// partitions start.
pub fn variables(n: usize) -> Vec<(String, String)> {
    let size = |id| if id == n { 2 * REGION * (n + 2) } else { REGION / 4 * 3 };
    (1..=n)
        .map(|id| (format!("{PARTITION_VARIABLE}{id}"), format!("SIZE={}", size(id))))
        .chain([("SHMEM_LATER_SIZE".into(), "2M".into())])
        .collect()
}

/// What is done with buffers whose segment is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// `putmem`.
    Put,
    /// `getmem`.
    Get,
}

impl Transfer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Put, Self::Get];

    /// Its name in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
        }
    }
}
