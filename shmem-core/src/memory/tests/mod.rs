//! Tests of `memory`, and what several of them use.

#[cfg(not(miri))]
mod arena;
#[cfg(not(miri))]
mod capacity;
mod layout;
#[cfg(not(miri))]
mod numa;
#[cfg(not(miri))]
mod pages;
mod placement;
#[cfg(not(miri))]
mod sizes;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use shmem_grammar::{Policy, Traits};

use super::{Arena, Machine, MemoryError, PmemFile, SlotLayout};
use crate::fixture::Tree;
use crate::partition::{Origin, PartitionSpec};
use crate::text::Text;
use crate::topology::Topology;

/// The files of a job in which no partition survives.
pub(super) const NO_FILES: &BTreeMap<usize, PmemFile> = &BTreeMap::new();

/// The layout of a slot with these partitions, and with `dynamic` bytes of addresses for dynamic segments.
pub(super) fn layout(specs: &[PartitionSpec], dynamic: usize) -> SlotLayout {
    SlotLayout::new(specs, 0, dynamic, &Topology::default()).unwrap()
}

/// An arena of slots with these partitions, and with 256 MiB of addresses for dynamic segments.
pub(super) fn reserve(specs: &[PartitionSpec], slots: usize, machine: Machine) -> Result<Arena, MemoryError> {
    Arena::reserve(0, layout(specs, 256 << 20), slots, slots, machine)
}

/// Returns the line `key` in /proc/self/smaps, of the mapping that holds an address.
pub(super) fn smaps_line(address: usize, key: &str) -> String {
    let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut inside = false;
    for line in text.lines() {
        let first = line.split_whitespace().next().unwrap_or("");
        if let Some((start, end)) = first.split_once('-') {
            let hex = |n| usize::from_str_radix(n, 16).unwrap();
            inside = (hex(start)..hex(end)).contains(&address);
        } else if inside && first == key {
            return line.into();
        }
    }
    panic!("no `{key}` for {address:#x}");
}

pub(super) fn paged(id: u32, size: u64, pgsize: u64, policy: Policy) -> PartitionSpec {
    let traits = Traits { pgsize: Some(pgsize), policy: Some(policy), ..Traits::NONE };
    PartitionSpec { traits, explicit: true, ..plain(id, size) }
}

/// Gives an invented machine a pool of `total` huge pages, of which `free` are free. `nodes` has the free pages of nodes.
pub(super) fn add_pool(tree: &Tree, size: u64, total: u64, free: u64, nodes: &[(u32, u64)]) {
    let pool = format!("hugepages/hugepages-{}kB", size >> 10);
    for (name, pages) in [("nr", total), ("free", free)] {
        tree.write(&format!("sys/kernel/mm/{pool}/{name}_hugepages"), &format!("{pages}\n"));
    }
    for (node, pages) in nodes {
        let file = format!("sys/devices/system/node/node{node}/{pool}/free_hugepages");
        tree.write(&file, &pages.to_string());
    }
}

pub(super) fn word(arena: &Arena, slot: usize, offset: usize) -> &AtomicU64 {
    assert!(offset.is_multiple_of(8) && offset < arena.layout().slot_bytes());
    // SAFETY: the offset lies in the slot.
    let word = unsafe { arena.start_of(slot).add(offset) };
    // SAFETY: the word is aligned and mapped until the arena is dropped, and only used atomically.
    unsafe { AtomicU64::from_ptr(word.cast()) }
}

pub(super) fn plain(id: u32, size: u64) -> PartitionSpec {
    let name = Text::head(&format!("partition{id}"));
    let origin = Origin::Environment(format!("SHMEM_SYMMETRIC_PARTITION{id}"));
    PartitionSpec { id, name, size, traits: Traits::NONE, origin, explicit: false, file: None }
}
