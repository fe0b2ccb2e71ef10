//! Errors of heaps.

use shmem_grammar::{short_size, show_size};

use crate::partition::{PARTITION_VARIABLE, SIZE_VARIABLE};
use crate::text::Text;

/// The error of a full heap, an invalid alignment, or a block that cannot be freed or resized. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum HeapError {
    #[error(
        "no room for {} aligned to {align} in partition `{name}`: its heap has {}, of which {} are free, {} of them in one piece; {}",
        show_size(*.bytes as u64), show_size(*.size as u64), show_size(*.free as u64), show_size(*.largest_free as u64),
        remedy(*.partition, *.enough)
    )]
    Exhausted {
        partition: u32,
        name: Text<32>,
        bytes: usize,
        align: usize,
        size: usize,
        free: usize,
        largest_free: usize,
        /// Size of the partition, in bytes, that would suffice; `None` on overflow.
        enough: Option<usize>,
    },
    #[error("{align} is not an alignment: give a power of two, at most {}", show_size(super::MAX_ALIGN as u64))]
    Alignment { align: usize },
    /// There is no such block, it has a name or another owner, this PE has not dropped it, or the range to reserve is not free.
    #[error("{0}")]
    Block(String),
}

impl HeapError {
    /// Returns the error that `operation` is not allowed on allocation number `id`, because that has a name.
    pub fn named(operation: &str, id: u64) -> Self {
        Self::Block(format!(
            "`{operation}` of allocation #{id}: it has a name, under which a later job finds it; remove the name instead"
        ))
    }

    /// Returns the environment setting that would make the heap large enough; `None` if there is none.
    pub fn setting(&self) -> Option<String> {
        let Self::Exhausted { partition, enough, .. } = self else { return None };
        Some(setting(*partition, (*enough)? as u64))
    }
}

fn remedy(partition: u32, enough: Option<usize>) -> String {
    let Some(enough) = enough else { return "no partition has as many".to_owned() };
    format!(
        "give the partition at least {} in the program (`partitions!`, `create_partition`), or set {}",
        short_size(rounded_up(enough as u64)),
        setting(partition, enough as u64)
    )
}

/// Returns the environment setting that gives a partition at least `bytes` bytes.
pub(super) fn setting(partition: u32, bytes: u64) -> String {
    let size = short_size(rounded_up(bytes));
    match partition {
        1 => format!("{SIZE_VARIABLE}={size} (or {PARTITION_VARIABLE}1=SIZE={size})"),
        id => format!("{PARTITION_VARIABLE}{id}=SIZE={size}"),
    }
}

/// Rounds `bytes` up to whole mebibytes, or to whole kibibytes below one mebibyte.
fn rounded_up(bytes: u64) -> u64 {
    let unit = if bytes >= 1 << 20 { 1 << 20 } else { 1 << 10 };
    bytes.checked_next_multiple_of(unit).unwrap_or(bytes)
}
