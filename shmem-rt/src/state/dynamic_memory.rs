//! Memory that was made after the start: dynamic segments, some of which are pools for the chunks of arrays.

use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::memory::{DynamicRange, SlotLayout, Spread};
use shmem_core::partition::Traits;

pub(crate) struct DynamicMemory {
    pub(crate) range: DynamicRange,
    pub(crate) registrations: u64,
    /// What else to do when an allocation is removed from the ledger, by the id of the allocation.
    pub(crate) ends: BTreeMap<u64, End>,
    /// The pools of arrays. Equal on every PE.
    pub(crate) pools: Vec<Pool>,
}

impl DynamicMemory {
    pub(crate) fn new(layout: &SlotLayout) -> Self {
        Self { range: DynamicRange::new(layout), registrations: 0, ends: BTreeMap::new(), pools: Vec::new() }
    }
}

/// What else to do when a freed allocation is removed from the ledger.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// Remove the segment with this index: the allocation was all of it.
    Segment(u32),
    /// Pages of a heap that an array had bound to the NUMA nodes of its chunks: they are replaced by new pages on the partition's
    /// NUMA nodes.
    Pages {
        /// The pages, in bytes from the start of the PE's symmetric memory.
        range: Range<usize>,
        nodes: Vec<u32>,
        spread: Spread,
        /// Whether all pages of the partition are populated from the start, so that the new ones must be, too.
        populated: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) traits: Traits,
    /// Class of the array chunks in the pool. They are on the PE's NUMA node number `class`, modulo the number of its nodes.
    pub(crate) class: usize,
    pub(crate) segment: u32,
    /// Whether all pages of the pool are populated on this PE.
    pub(crate) populated: bool,
}
