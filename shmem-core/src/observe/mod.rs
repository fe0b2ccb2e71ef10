//! Observation of operations: for statistics, traces and checks.
//!
//! An [`Observer`] is notified of every [`Call`] before and after it. One table of [families](Family) has all operations and their
//! effects on memory. A job is observed or not from its start on. In an observed job, every [`Pe`] carries a mark, so operations take
//! the cold branch, as for the network. The functions of that branch notify the observer, and find the PE's slot behind the mark. So an
//! unobserved operation has no additional instruction.

mod counters;
mod operation_table;

pub use counters::{Counters, Statistics, Tally};
pub use operation_table::{Effect, Family};

use core::panic::Location;
use core::sync::atomic::AtomicU64;

use crate::pe::Pe;
use crate::strided::TransferPlan;
use crate::transport::{AtomicOp, Width};

/// One call of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The operation.
    pub family: Family,
    /// The program's line.
    pub location: &'static Location<'static>,
    /// Number of the operation's endpoint.
    pub endpoint: u32,
    /// The PE whose memory is accessed, if any.
    pub pe: Option<Pe>,
    /// Index of the segment that the operation accesses on that PE.
    pub segment: u32,
    /// Bytes from the start of the PE's slot to the first accessed byte.
    pub offset: usize,
    /// Bytes moved: from `offset` on, unless there is a plan. For a collective, the bytes of the PE's argument.
    pub bytes: usize,
    /// Address of the local memory; 0, if there is none.
    pub local: usize,
    /// The pattern of bytes, if they are not contiguous.
    pub plan: Option<&'a TransferPlan>,
    /// The first listed elements, at most [`Listed::MOST`].
    pub listed: Option<Listed<'a>>,
    /// The atomic operation on the word, or on each listed word.
    pub word: Option<Word>,
    /// Bytes from the start of the PE's slot to the signal that follows the data.
    pub signal: Option<usize>,
    /// The number that a wait polls, and the least value that ends the wait; `None` if not 64 bits.
    pub wait: Option<Wait<'a>>,
    /// The PEs of a collective.
    pub meeting: Option<Meeting<'a>>,
}

/// Elements of an object that are moved or changed one by one.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Element size.
    pub size: usize,
    /// Each element's PE, and offset in the PE's slot.
    pub places: &'a [(Pe, usize)],
}

impl Listed<'_> {
    /// Upper limit on the elements of a call that observers see.
    pub const MOST: usize = 4096;
}

/// An atomic operation on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Width of the word.
    pub width: Width,
    /// The operation.
    pub op: AtomicOp,
}

/// A wait for a number that other PEs increase.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// The number.
    pub number: &'a AtomicU64,
    /// The least value that ends the wait.
    pub least: u64,
}

/// A barrier of a team's PEs.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'a> {
    /// Index of the team. Indices are reused.
    pub team: usize,
    /// The members on the node of the calling PE.
    pub members: &'a [Pe],
    /// Number of the barrier in the team, from 1.
    pub count: u64,
}

impl<'a> Call<'a> {
    /// A call of `family` at `location`, without memory.
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
            meeting: None,
        }
    }

    /// The call, with memory of `pe`.
    #[must_use]
    pub fn at(self, pe: Pe, segment: u32, offset: usize, bytes: usize) -> Self {
        Self { pe: Some(pe), segment, offset, bytes, ..self }
    }

    /// The call, with local memory at an address.
    #[must_use]
    pub fn with(self, local: *const u8) -> Self {
        Self { local: local as usize, ..self }
    }

    /// The call, with the blocks of a plan.
    #[must_use]
    pub fn planned(self, plan: &'a TransferPlan) -> Self {
        Self { plan: Some(plan), bytes: plan.pattern().bytes(), ..self }
    }

    /// The call, with an operation on a word.
    #[must_use]
    pub fn word(self, width: Width, op: AtomicOp) -> Self {
        Self { word: Some(Word { width, op }), ..self }
    }

    /// The call, with a barrier.
    #[must_use]
    pub fn meets(self, meeting: Meeting<'a>) -> Self {
        Self { meeting: Some(meeting), ..self }
    }
}

/// An observer of every operation of a PE. Several threads call it at the same time.
pub trait Observer: Send + Sync {
    /// A call begins. Returns a number of the observer's choice, which is passed to [`end`](Self::end).
    fn begin(&self, call: &Call<'_>) -> u64;

    /// The call has returned, or was unwound. Same thread and call as for `begin`; calls begun since have ended.
    fn end(&self, call: &Call<'_>, begun: u64);
}
