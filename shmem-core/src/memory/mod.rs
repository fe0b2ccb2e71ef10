//! Memory of the heaps: memfds, page sizes, and the arena.
//!
//! ```text
//! arena      the addresses of all PEs of the node; creates and attaches memory
//! layout     the division of a slot among partitions and later segments
//! later      allocation of the addresses behind the partitions
//! provide    makes the memory of one PE, with the pages that it can get
//! pmem       partitions in files, which survive the job
//! limits     checks of memory, addresses and files before anything is made
//! request    what is asked of the memory of a segment
//! pages      page sizes, and the choice among them
//! placement  the choice of NUMA nodes                     placed   comparison of pages with that choice
//! file_part  which bytes of a slot are in which file      sealed   lists that the PEs of a node share
//! machine    memory and control groups, as /proc and /sys say
//! map, numa  system calls                                 error, size   messages
//! ```
//!
//! At start, a PE computes its [`SlotLayout`], reserves ([`Arena::reserve`]), creates ([`Arena::create`]), sends descriptors
//! and file parts, and attaches the peers' ([`Arena::attach`]). Each PE has one unnamed file per class of page sizes.

mod arena;
mod error;
mod file_part;
mod later;
mod layout;
mod limits;
mod machine;
mod map;
mod numa;
mod pages;
mod placed;
mod placement;
mod pmem;
mod provide;
mod request;
mod sealed;
mod size;

#[cfg(test)]
mod tests;

pub use arena::Arena;
pub use error::MemoryError;
pub use file_part::FilePart;
pub use later::{LaterRange, LaterSegment};
pub use layout::SlotLayout;
pub use machine::{Limit, Machine};
pub use map::{ADDRESS_ALIGN, OWN_ALIGN};
pub use placement::{Placement, Spread, placement};
pub use pmem::{FileState, Identity, PmemFile, agree};
pub use provide::OwnMemory;
pub use request::Request;
pub use sealed::{PeList, Sealed};
