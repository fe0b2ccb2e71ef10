//! Memory of the heaps: memfds, page sizes, and the arena.
//!
//! ```text
//! arena            the addresses of all PEs of the node, one slot for each PE; creates and attaches memory
//! layout           the division of a slot among partitions and dynamic segments
//! dynamic_range    allocation of the addresses for dynamic segments, which are made after init
//! own_memory       makes the memory of one PE, with the pages that it can get
//! pmem             partitions in files, which survive the job
//! capacity         whether memory, addresses and files suffice, before memory is made
//! segment_request  requests for the memory of a segment
//! pages            page sizes, and the choice among them
//! placement        the choice of NUMA nodes
//! numa             setting and comparing the nodes of pages
//! peer_memory      which bytes of a peer's slot are in which file; the checks before they are mapped
//! sealed           lists that the PEs of a node share
//! machine_memory   memory and control groups, read from /proc and /sys
//! mapping          system calls
//! error            error texts
//! ```
//!
//! At start, a PE computes its [`SlotLayout`], reserves addresses ([`Arena::reserve`]), creates its memory ([`Arena::create`]),
//! sends descriptors and file parts to its peers, and attaches their memory ([`Arena::attach`]). Each PE has a memfd for base
//! pages, and one for each size of huge pages.

mod arena;
mod capacity;
mod dynamic_range;
mod error;
mod layout;
mod machine_memory;
mod mapping;
mod numa;
mod own_memory;
mod pages;
mod peer_memory;
mod placement;
mod pmem;
mod sealed;
mod segment_request;

#[cfg(test)]
mod tests;

pub use arena::Arena;
pub use dynamic_range::{DynamicRange, DynamicSegment};
pub use error::MemoryError;
pub use layout::SlotLayout;
pub use machine_memory::{Limit, Machine};
pub use mapping::{ADDRESS_ALIGN, OWN_ALIGN};
pub use own_memory::OwnMemory;
pub use peer_memory::FilePart;
pub use placement::{Placement, Spread, placement};
pub use pmem::{Identity, Persist, PmemFile, agree};
pub use sealed::{PeList, Sealed};
pub use segment_request::Request;
