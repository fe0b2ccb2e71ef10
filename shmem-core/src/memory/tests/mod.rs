//! Tests of the whole of `memory`, and what they share.

#[cfg(not(miri))]
mod arena;
mod layout;
#[cfg(not(miri))]
mod limits;
#[cfg(not(miri))]
mod numa;
#[cfg(not(miri))]
mod pages;
mod placement;
#[cfg(not(miri))]
mod sizes;

use std::sync::atomic::AtomicU64;

use shmem_grammar::{Policy, Traits};

use super::Arena;
use crate::partition::{Origin, PartitionSpec};
use crate::text::Text;

/// A partition of which a page size is asked.
pub(super) fn paged(id: u32, size: u64, pgsize: u64, policy: Policy) -> PartitionSpec {
    let traits = Traits { pgsize: Some(pgsize), policy: Some(policy), ..Traits::NONE };
    PartitionSpec { traits, explicit: true, ..plain(id, size) }
}

/// The word at an offset of a slot.
pub(super) fn word(arena: &Arena, slot: usize, offset: usize) -> &AtomicU64 {
    assert!(offset.is_multiple_of(8) && offset < arena.layout().slot_bytes());
    // SAFETY: the offset lies in the slot.
    let word = unsafe { arena.start_of(slot).add(offset) };
    // SAFETY: the word is aligned and mapped until the arena is dropped, and only used atomically.
    unsafe { AtomicU64::from_ptr(word.cast()) }
}

/// A partition of which only the size is asked.
pub(super) fn plain(id: u32, size: u64) -> PartitionSpec {
    let name = Text::head(&format!("partition{id}"));
    let origin = Origin::Environment(format!("SHMEM_SYMMETRIC_PARTITION{id}"));
    PartitionSpec { id, name, size, traits: Traits::NONE, origin, explicit: false, file: None }
}
