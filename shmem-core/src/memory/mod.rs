//! Memory of the heaps: memfds, page sizes, and the arena.
//!
//! ```text
//! arena     the addresses of all PEs of the node; creates and attaches memory      layout    how a slot is divided
//! provide   makes one PE's memory, with the pages it can get     later     who has which addresses behind the partitions
//! limits    what is checked beforehand                           machine   what /proc and /sys say
//! pages     page sizes and the choice among them                 request   what is asked of the memory of a segment
//! placement which NUMA nodes       placed    pages on them
//! map, numa system calls           file_part what peers are told    sealed    what several processes read
//! pmem      partitions in files, which survive the job
//! ```
//!
//! A PE comes to its memory in this order: lay out ([`SlotLayout`]), reserve ([`Arena::reserve`]), create
//! ([`Arena::create`]), hand descriptors and file parts over, attach the peers' ([`Arena::attach`]). There is one file per
//! PE and class of page sizes, not per partition, so descriptors and mappings grow with the PEs only. Files have no name
//! anywhere: the kernel removes them with the last process that has them.

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
pub use pmem::{Backing, FileState, Identity, PmemError, PmemFile, agree};
pub use provide::OwnMemory;
pub use request::Request;
pub use sealed::{PeList, Sealed};
