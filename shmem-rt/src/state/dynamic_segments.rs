//! Memory that was made after the start: segments, and pools of arrays.

use core::ops::Range;
use std::collections::BTreeMap;

use shmem_core::memory::{LaterRange, SlotLayout, Spread};
use shmem_core::partition::Traits;

pub(crate) struct Later {
    pub(crate) range: LaterRange,
    pub(crate) registrations: u64,
    /// Further cleanup when an array's allocation is freed, by its number.
    pub(crate) ends: BTreeMap<u64, End>,
    /// Equal on every PE.
    pub(crate) pools: Vec<Pool>,
}

impl Later {
    pub(crate) fn new(layout: &SlotLayout) -> Self {
        Self { range: LaterRange::new(layout), registrations: 0, ends: BTreeMap::new(), pools: Vec::new() }
    }
}

/// Further cleanup when an allocation is freed.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The allocation's segment.
    Segment(u32),
    /// The placement of its heap pages: new ones are made, on the partition's nodes.
    Pages {
        /// Bytes from the start of a slot.
        range: Range<usize>,
        nodes: Vec<u32>,
        spread: Spread,
        /// Whether the pages of the partition exist always.
        populated: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) traits: Traits,
    /// Index among the NUMA nodes of the PE.
    pub(crate) class: usize,
    pub(crate) segment: u32,
    /// Whether all its pages exist on this PE.
    pub(crate) populated: bool,
}
