//! How many transfers went which way, in this process.
//!
//! Counting costs an atomic addition for each transfer, so it exists only with the feature `statistics`.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use super::kernel::Kernel;
use super::plan::{Method, Plan};

/// The ways that are told apart.
const WAYS: [&str; 10] = [
    "copies",
    "putmem",
    "columns",
    "rows",
    "throttled",
    "streamed",
    "library",
    "string",
    "spans",
    "shuffles",
];

static TRANSFERS: [AtomicU64; WAYS.len()] = [const { AtomicU64::new(0) }; WAYS.len()];

/// Counts a transfer.
#[inline]
pub(crate) fn count(plan: &Plan) {
    let way = match plan.method() {
        Method::Nothing => return,
        Method::Contiguous => 0,
        Method::Putmem => 1,
        Method::Columns(_) => 2,
        Method::Kernel(Kernel::Rows) => 3,
        Method::Kernel(Kernel::Throttled(_)) => 4,
        Method::Kernel(Kernel::Stream) => 5,
        Method::Kernel(Kernel::Library) => 6,
        Method::Kernel(Kernel::StringMove) => 7,
        Method::Kernel(Kernel::Span) => 8,
        Method::Kernel(Kernel::Shuffle) => 9,
    };
    TRANSFERS[way].fetch_add(1, Ordering::Relaxed);
}

/// Strided transfers of this process so far, by how they were carried out.
///
/// `copies` were contiguous; `putmem` is Algorithm 1, `columns` Algorithm 2, the others are kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    counts: [u64; WAYS.len()],
}

impl Statistics {
    /// What has been counted.
    pub fn now() -> Self {
        Self { counts: core::array::from_fn(|way| TRANSFERS[way].load(Ordering::Relaxed)) }
    }

    /// Ways and numbers of transfers.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        WAYS.into_iter().zip(self.counts)
    }

    /// Transfers that went the way of this name; none of a name that is not one.
    pub fn count(&self, way: &str) -> u64 {
        self.iter().find(|(name, _)| *name == way).map_or(0, |(_, count)| count)
    }
}

/// `strided: 3 copies, 12 rows`
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("strided:")?;
        let mut lead = " ";
        for (way, count) in self.iter().filter(|(_, count)| *count > 0) {
            write!(f, "{lead}{count} {way}")?;
            lead = ", ";
        }
        if lead == " " { f.write_str(" none") } else { Ok(()) }
    }
}
