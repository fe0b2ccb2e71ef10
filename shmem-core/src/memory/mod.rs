//! Memory of the heaps: memfds, page sizes, and the arena.
//!
//! ```text
//! arena      the addresses of all PEs of the node; creates and attaches memory
//! layout     the division of a slot among partitions and later segments
//! later      allocation of the addresses behind the partitions
//! own_memory makes the memory of one PE, with the pages that it can get
//! pmem       partitions in files, which survive the job
//! capacity   whether memory, addresses and files suffice, before anything is made
//! request    what is asked of the memory of a segment
//! pages      page sizes, and the choice among them
//! placement  the choice of NUMA nodes                     numa     setting and comparing the nodes of pages
//! peer_memory   which bytes of a peer's slot are in which file; the checks before they are mapped
//! sealed     lists that the PEs of a node share
//! machine    memory and control groups, as /proc and /sys say
//! map        system calls                                 error    messages
//! ```
//!
//! At start, a PE computes its [`SlotLayout`], reserves ([`Arena::reserve`]), creates ([`Arena::create`]), sends descriptors
//! and file parts, and attaches the peers' ([`Arena::attach`]). Each PE has one unnamed file per class of page sizes.

mod arena;
mod capacity;
mod error;
mod later;
mod layout;
mod machine;
mod map;
mod numa;
mod own_memory;
mod pages;
mod peer_memory;
mod placement;
mod pmem;
mod request;
mod sealed;

#[cfg(test)]
mod tests;

pub use arena::Arena;
pub use error::MemoryError;
pub use later::{LaterRange, LaterSegment};
pub use layout::SlotLayout;
pub use machine::{Limit, Machine};
pub use map::{ADDRESS_ALIGN, OWN_ALIGN};
pub use own_memory::OwnMemory;
pub use peer_memory::FilePart;
pub use placement::{Placement, Spread, placement};
pub use pmem::{Identity, Persist, PmemFile, agree};
pub use request::Request;
pub use sealed::{PeList, Sealed};
