//! Memory of the heaps: memfds, page sizes, and the arena.
//!
//! ```text
//! arena     the addresses of all PEs of the node; creates and attaches memory
//! provide   makes one PE's memory, with the pages it can get
//! later     who has which addresses behind the partitions
//! limits    what is checked beforehand
//! pages     page sizes and the choice among them
//! placement which NUMA nodes          layout  how a slot is divided
//! placed    pages on these nodes      residence where the pages of a slot are
//! file_part what peers are told
//! machine   what /proc and /sys say  request what is asked of the memory of a segment
//! map       system calls, alignments    numa    system calls for nodes
//! pmem      partitions in files, which survive the job
//! sealed    what several processes read, and nobody changes: the list of all PEs of the job
//! ```
//!
//! The order in which a PE comes to its memory: lay out ([`SlotLayout`]), reserve
//! ([`Arena::reserve`]), create ([`Arena::create`]), hand descriptors and file parts over, attach the
//! peers' ([`Arena::attach`]). There is one file per PE and class of page sizes, not per partition,
//! so descriptors and mappings grow with the PEs only. Files have no name anywhere: the kernel
//! removes them with the last process that has them.

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
mod residence;
mod sealed;
mod size;

#[cfg(test)]
mod tests;

pub use arena::Arena;
pub use error::MemoryError;
pub use later::{LaterRange, LaterSegment};
pub use layout::SlotLayout;
pub use machine::{Limit, Machine};
pub use map::{ADDRESS_ALIGN, OWN_ALIGN};
pub use pages::{Choice, PageSizes, Pool};
pub use placement::{Placement, PlacementError, Spread, placement};
pub use pmem::{Backing, Candidate, Disagreement, Fault, Found, Identity, PmemError, PmemFile, agree};
pub use provide::Mine;
pub use request::Request;
pub use sealed::{PeList, Sealed};
