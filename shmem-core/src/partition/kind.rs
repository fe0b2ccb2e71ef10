//! The traits of a partition.

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Kind {
    /// The node's primary memory (DDR).
    NormalMem = 1,
    /// The memory with the highest bandwidth (HBM, MCDRAM).
    FastMem = 2,
    /// Wherever the system puts it: no placement call is made, numactl and the process policy rule.
    SysDefault = 3,
    /// Large and slower than the primary memory (CXL).
    LargeMem = 4,
    /// A named file that survives the job.
    Pmem = 5,
}

/// How strictly kind and page size are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Policy {
    /// Exactly that, or the job ends.
    Mandatory = 1,
    /// That if possible; otherwise something else, which is reported.
    Preferred = 2,
    /// Spread page by page over the nodes of the kind; kind missing: as preferred.
    Interleaved = 3,
    /// The system's policy.
    SysDefault = 4,
}

/// What is asked of a partition. A trait that is not given stays apart from
/// [`Kind::SysDefault`] and from every explicit value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Bytes of the heap.
    pub size: Option<u64>,
    /// Bytes of a page, at least.
    pub pgsize: Option<u64>,
    /// Kind of memory.
    pub kind: Option<Kind>,
    /// How strictly kind and page size are meant.
    pub policy: Option<Policy>,
}

impl Traits {
    /// Nothing is asked.
    pub const NONE: Self = Self { size: None, pgsize: None, kind: None, policy: None };
}
