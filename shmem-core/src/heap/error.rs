//! What can go wrong with a heap.

use core::num::NonZeroUsize;

use shmem_grammar::{short_size, show_size};

use crate::partition::{PARTITION_VARIABLE, SIZE_VARIABLE};
use crate::text::Text;

/// What a PE has dropped, and others still hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The PE's number.
    pub pe: usize,
    /// Bytes.
    pub bytes: usize,
}

/// A heap has no room, or what was given back is not one of its blocks. Sizes are in bytes; `id` is the number of an allocation;
/// `near`, `block` and `heaps` say in words what there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum HeapError {
    /// No free piece is large enough.
    #[error(
        "no room for {} aligned to {align} in partition `{name}`: its heap has {}, of which {} are free, {} of them in one piece{}; {}",
        show_size(*.bytes as u64), cut_size(*.size), cut_size(*.free), cut_size(*.largest_free),
        still_held(*.dropped), remedy(*.partition, *.short, *.enough)
    )]
    Exhausted {
        partition: u32,
        name: Text<32>,
        bytes: usize,
        align: usize,
        size: usize,
        free: usize,
        largest_free: usize,
        /// How many more bytes at the heap's end would have done.
        short: usize,
        /// How many bytes of the whole partition would have done, where its size is known.
        enough: Option<NonZeroUsize>,
        /// The PE that has dropped most of what others still hold; the same on all PEs.
        dropped: Option<Dropped>,
    },
    /// The alignment is not a power of two, or more than an address can have.
    #[error("{align} is not an alignment: give a power of two, at most {}", show_size(super::MAX_ALIGN as u64))]
    Alignment { align: usize },
    /// A block of no bytes.
    #[error("a block on a symmetric heap has at least one byte")]
    ZeroBytes,
    /// There is no block any more, or there never was one.
    #[error(
        "`{operation}` of offset {offset:#x} in partition `{name}`: that memory is free; it was freed before or never allocated ({near})"
    )]
    DoubleFree { operation: &'static str, offset: usize, name: Text<32>, near: String },
    /// The offset is not where the block starts.
    #[error(
        "`{operation}` of offset {offset:#x} in partition `{name}`: that is {} inside a block of {block}; give the address that the allocation returned",
        show_size(*.inside as u64)
    )]
    InsideBlock { operation: &'static str, offset: usize, name: Text<32>, inside: usize, block: String },
    /// The offset lies in no heap.
    #[error("`{operation}` of offset {offset:#x}: that is on no symmetric heap; heaps are {heaps}")]
    Foreign { operation: &'static str, offset: usize, heaps: String },
    /// An address was given back that a handle owns.
    #[error(
        "`{operation}` of offset {offset:#x}: allocation #{id} belongs to a `SymBox`; drop the box, or give it to its own `free`"
    )]
    OwnedByHandle { operation: &'static str, offset: usize, id: u64 },
    /// An object was given back that has a name.
    #[error(
        "`{operation}` of allocation #{id}: it has a name, under which a later job finds it; remove the name instead"
    )]
    OwnedByName { operation: &'static str, id: u64 },
    /// What was there before overlaps something else.
    #[error("{} at offset {offset:#x} in partition `{name}` are not free", show_size(*.bytes as u64))]
    NotFree { offset: usize, bytes: usize, name: Text<32> },
    /// No allocation has this number now.
    #[error("there is no allocation #{id}: it was freed before")]
    NoAllocation { id: u64 },
    /// Agreement on an allocation that this PE still uses.
    #[error("allocation #{id} was to be reclaimed, but this PE has not dropped its handle")]
    StillUsed { id: u64 },
}

/// What there is, for a reader: at most three decimals of the largest unit, and never more than there is.
fn cut_size(bytes: usize) -> String {
    let Some(unit) = bytes.checked_ilog2().map(|log| log as usize / 10).filter(|unit| *unit > 0) else {
        return show_size(bytes as u64);
    };
    let unit = unit.min(4);
    let thousandths = (bytes as u128 * 1000) >> (10 * unit);
    let decimals = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    format!("{}{}", decimals.trim_end_matches('0').trim_end_matches('.'), ["K", "M", "G", "T"][unit - 1])
}

/// The environment variable that sizes a partition.
pub(super) fn variable(partition: u32) -> String {
    match partition {
        1 => format!("{SIZE_VARIABLE} (or {PARTITION_VARIABLE}1=SIZE=..)"),
        id => format!("{PARTITION_VARIABLE}{id}=SIZE=.."),
    }
}

impl HeapError {
    /// The variable of the environment with the size of a partition in which there would have been room, if it is known.
    pub fn setting(&self) -> Option<String> {
        let Self::Exhausted { partition, enough, .. } = self else { return None };
        Some(setting(*partition, &short_size(rounded_up((*enough)?.get()))))
    }
}

fn setting(partition: u32, size: &str) -> String {
    match partition {
        1 => format!("{SIZE_VARIABLE}={size} (or {PARTITION_VARIABLE}1=SIZE={size})"),
        id => format!("{PARTITION_VARIABLE}{id}=SIZE={size}"),
    }
}

/// What makes room, as sizes that can be set.
fn remedy(partition: u32, short: usize, enough: Option<NonZeroUsize>) -> String {
    let Some(enough) = enough else {
        let (more, variable) = (show_size(rounded_up(short)), variable(partition));
        return format!(
            "raise by at least {more} the size that the program gives it (`partitions!`, `create_partition`), or {variable}"
        );
    };
    let size = short_size(rounded_up(enough.get()));
    let setting = setting(partition, &size);
    format!(
        "give the partition at least {size} in the program (`partitions!`, `create_partition`), or set {setting}"
    )
}

/// The next number of bytes that reads well: of whole mebibytes, or kibibytes below one.
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

fn still_held(dropped: Option<Dropped>) -> String {
    dropped.map_or_else(String::new, |Dropped { pe, bytes }| {
        format!(
            "; PE {pe} has dropped {} more that other PEs still hold: they are free when all PEs have dropped the same \
             objects",
            show_size(bytes as u64)
        )
    })
}
