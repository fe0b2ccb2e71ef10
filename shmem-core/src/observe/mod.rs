//! Observation of operations: for statistics, traces and checks.
//!
//! An [`Observer`] is notified before and after every [`Call`]. One table, [`Family`], lists all operations and their effects on
//! memory. Whether a job is observed is fixed at its start. In an observed job, every [`Pe`] carries a mark, for which operations
//! take the branch that they have for PEs on other nodes. There the observer is notified, and the slot is read from the marked
//! value. One test serves both, so without an observer an operation has no additional instruction.

mod counters;
mod operation_table;

pub use counters::{Counters, OperationCounts, Statistics};
pub use operation_table::{Effect, Family};

use core::panic::Location;
use core::sync::atomic::AtomicU64;

use crate::pe::Pe;
use crate::strided::TransferPlan;
use crate::transport::{AtomicOp, Width};

/// One call of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The operation that was called.
    pub family: Family,
    /// The program's source line of the call.
    pub location: &'static Location<'static>,
    /// Identifier of the endpoint (the world's or a context's) that issued the operation.
    pub endpoint: u32,
    /// The PE whose memory is accessed, or to which `quiet_pe` completes the operations, if any.
    pub pe: Option<Pe>,
    /// Index of the segment that the operation accesses on that PE; 0 for a wait, whatever its segment.
    pub segment: u32,
    /// Bytes from the start of the PE's slot to the first accessed byte.
    pub offset: usize,
    /// Bytes moved. They are contiguous from `offset` on, unless there is a plan. For a collective, the bytes of the PE's argument.
    pub bytes: usize,
    /// Address of the local memory that the operation accesses; 0 if there is none.
    pub local: usize,
    /// The pattern of the moved bytes, if they are not contiguous.
    pub plan: Option<&'a TransferPlan>,
    /// The first elements of an operation on a list, at most [`Listed::MOST`].
    pub listed: Option<Listed<'a>>,
    /// The atomic operation on the word, or on each listed word.
    pub word: Option<Word>,
    /// Bytes from the start of the PE's slot to the signal that a put with signal changes after its data.
    pub signal: Option<usize>,
    /// The number that a wait polls, and the least value that ends the wait. `None` for words of another size than 8 bytes, for
    /// floating-point numbers, and for the relations `!=`, `<` and `<=`.
    pub wait: Option<Wait<'a>>,
    /// The first barrier of a collective, with the PEs of its team on this node.
    pub barrier: Option<TeamBarrier<'a>>,
}

/// Elements of an object that are moved or changed one by one.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Bytes of an element.
    pub size: usize,
    /// The PE of each element, and the element's offset in that PE's slot.
    pub places: &'a [(Pe, usize)],
}

impl Listed<'_> {
    /// Upper limit on the elements of a call that an observer is given.
    pub const MOST: usize = 4096;
}

/// An atomic operation on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Width of the word.
    pub width: Width,
    /// The operation, with its operands.
    pub op: AtomicOp,
}

/// A wait for a number to reach a value, on the assumption that the number only grows.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// The number that is waited for.
    pub number: &'a AtomicU64,
    /// The least value that ends the wait.
    pub least: u64,
}

/// A barrier of a team, as seen on one node.
#[derive(Clone, Copy, Debug)]
pub struct TeamBarrier<'a> {
    /// Index of the team. The index of a team that has ended is reused.
    pub team: usize,
    /// The team's members on the node of the calling PE.
    pub members: &'a [Pe],
    /// Number of the barrier among the team's barriers, from 1.
    pub count: u64,
}

impl<'a> Call<'a> {
    /// Returns a call of `family` at `location` that accesses no memory.
    pub fn new(family: Family, location: &'static Location<'static>) -> Self {
        Self {
            family,
            location,
            endpoint: 0,
            pe: None,
            segment: 0,
            offset: 0,
            bytes: 0,
            local: 0,
            plan: None,
            listed: None,
            word: None,
            signal: None,
            wait: None,
            barrier: None,
        }
    }

    /// Adds the memory of `pe` that the call accesses.
    #[must_use]
    pub fn at(self, pe: Pe, segment: u32, offset: usize, bytes: usize) -> Self {
        Self { pe: Some(pe), segment, offset, bytes, ..self }
    }

    /// Adds the address of the local memory that the call accesses.
    #[must_use]
    pub fn with(self, local: *const u8) -> Self {
        Self { local: local as usize, ..self }
    }

    /// Adds the plan whose blocks the call accesses.
    #[must_use]
    pub fn planned(self, plan: &'a TransferPlan) -> Self {
        Self { plan: Some(plan), bytes: plan.pattern().bytes(), ..self }
    }

    /// Adds the atomic operation of the call, on a word of this width.
    #[must_use]
    pub fn word(self, width: Width, op: AtomicOp) -> Self {
        Self { word: Some(Word { width, op }), ..self }
    }

    /// Adds the barrier that the call is part of.
    #[must_use]
    pub fn with_barrier(self, barrier: TeamBarrier<'a>) -> Self {
        Self { barrier: Some(barrier), ..self }
    }
}

/// An observer of every operation of a PE. Several threads call it at the same time.
pub trait Observer: Send + Sync {
    /// Called when a call begins. Returns a number of the observer's choice, which is passed to [`end`](Self::end).
    fn begin(&self, call: &Call<'_>) -> u64;

    /// Called when the call has returned or unwound, in the thread of `begin` and with the same `call`. Calls that this thread
    /// began since then have ended.
    fn end(&self, call: &Call<'_>, begun: u64);
}
