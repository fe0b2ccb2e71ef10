//! Errors of heaps.

use shmem_grammar::{short_size, show_size};

use crate::partition::{PARTITION_VARIABLE, SIZE_VARIABLE};
use crate::text::Text;

/// A heap has no room, or a freed offset is no block. Sizes are in bytes; `id` is the number of an allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum HeapError {
    #[error(
        "no room for {} aligned to {align} in partition `{name}`: its heap has {}, of which {} are free, {} of them in one piece; {}",
        show_size(*.bytes as u64), cut_size(*.size), cut_size(*.free), cut_size(*.largest_free), remedy(*.partition, *.enough)
    )]
    Exhausted {
        partition: u32,
        name: Text<32>,
        bytes: usize,
        align: usize,
        size: usize,
        free: usize,
        largest_free: usize,
        /// Bytes of a partition that would be large enough; `None`: overflow.
        enough: Option<usize>,
    },
    #[error("{align} is not an alignment: give a power of two, at most {}", show_size(super::MAX_ALIGN as u64))]
    Alignment { align: usize },
    #[error("a block on a symmetric heap has at least one byte")]
    ZeroBytes,
    /// No block starts at the offset.
    #[error("`{operation}` of offset {offset:#x}{why}")]
    NotABlock { operation: &'static str, offset: usize, why: String },
    #[error(
        "`{operation}` of offset {offset:#x}: allocation #{id} belongs to a `SymBox`; drop the box, or give it to its own `free`"
    )]
    OwnedByHandle { operation: &'static str, offset: usize, id: u64 },
    #[error(
        "`{operation}` of allocation #{id}: it has a name, under which a later job finds it; remove the name instead"
    )]
    OwnedByName { operation: &'static str, id: u64 },
    /// An object of an earlier job overlaps a block.
    #[error("{} at offset {offset:#x} in partition `{name}` are not free", show_size(*.bytes as u64))]
    NotFree { offset: usize, bytes: usize, name: Text<32> },
    #[error("there is no allocation #{id}: it was freed before")]
    NoAllocation { id: u64 },
    #[error("allocation #{id} was to be reclaimed, but this PE has not dropped its handle")]
    StillUsed { id: u64 },
}

/// A size with at most three decimals of the largest unit, rounded down.
fn cut_size(bytes: usize) -> String {
    let Some(unit) = bytes.checked_ilog2().map(|log| log as usize / 10).filter(|unit| *unit > 0) else {
        return show_size(bytes as u64);
    };
    let unit = unit.min(4);
    let thousandths = (bytes as u128 * 1000) >> (10 * unit);
    let decimals = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    format!("{}{}", decimals.trim_end_matches('0').trim_end_matches('.'), ["K", "M", "G", "T"][unit - 1])
}

impl HeapError {
    /// The environment setting that would give enough room, if possible.
    pub fn setting(&self) -> Option<String> {
        let Self::Exhausted { partition, enough, .. } = self else { return None };
        Some(setting(*partition, &short_size(rounded_up((*enough)?))))
    }
}

fn remedy(partition: u32, enough: Option<usize>) -> String {
    let Some(enough) = enough else { return "no partition has as many".to_owned() };
    let size = short_size(rounded_up(enough));
    let setting = setting(partition, &size);
    format!(
        "give the partition at least {size} in the program (`partitions!`, `create_partition`), or set {setting}"
    )
}

/// The environment setting that gives a partition a size.
pub(super) fn setting(partition: u32, size: &str) -> String {
    match partition {
        1 => format!("{SIZE_VARIABLE}={size} (or {PARTITION_VARIABLE}1=SIZE={size})"),
        id => format!("{PARTITION_VARIABLE}{id}=SIZE={size}"),
    }
}

/// Bytes rounded up to whole mebibytes, or kibibytes if below one mebibyte.
fn rounded_up(bytes: usize) -> u64 {
    let bytes = bytes as u64;
    let unit = if bytes >> 20 != 0 {
        1 << 20
    } else if bytes >> 10 != 0 {
        1 << 10
    } else {
        1
    };
    bytes.checked_next_multiple_of(unit).unwrap_or(bytes)
}
