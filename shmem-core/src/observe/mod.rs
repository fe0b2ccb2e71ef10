//! What is told of operations: to statistics, to a trace, to checks.
//!
//! An [`Observer`] is told of every [`Call`] before and behind it. Which operations there are, and what
//! they do to memory, stands in one table of [families](Family). Whether a job is observed is decided
//! once, at its start. Then every [`Pe`] carries a mark that sends operations to the cold
//! side of the branch that they have anyway, the one to the network: there the observer is told, and
//! after that it is decided again where the PE is. So operations that nobody observes have no
//! instruction of it.

mod counters;
mod family;

pub use counters::{Counters, Statistics, Tally};
pub use family::{Effect, Family};

use core::panic::Location;

use crate::pe::Pe;
use crate::strided::TransferPlan;
use crate::transport::{AtomicOp, Width};

/// One call of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Which operation.
    pub family: Family,
    /// Where the program calls it.
    pub location: &'static Location<'static>,
    /// Number of the endpoint it goes through.
    pub endpoint: u32,
    /// The PE whose memory it is about; none, if it is about no memory.
    pub pe: Option<Pe>,
    /// Index of the segment that the operation accesses on that PE.
    pub segment: u32,
    /// Bytes from the start of the PE's slot to the first that is touched.
    pub offset: usize,
    /// Bytes that are moved: from `offset` on, unless there is a plan. Of a meeting, those that the PE gives to it.
    pub bytes: usize,
    /// The first byte on the side of the caller; 0, if there is none.
    pub local: usize,
    /// Which bytes, if they do not lie one behind the other.
    pub plan: Option<&'a TransferPlan>,
    /// Which elements, if they are listed: the first of them, as many as are told ([`Listed::MOST`]).
    pub listed: Option<Listed<'a>>,
    /// What is done to a word, or to each that is listed.
    pub word: Option<Word>,
    /// Bytes from the start of the PE's slot to the signal that follows the data.
    pub signal: Option<usize>,
    /// Who meets.
    pub meeting: Option<Meeting<'a>>,
}

/// Elements of an object that are moved or changed one by one.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Bytes of each.
    pub size: usize,
    /// Where they are: the PE, and bytes from the start of its slot.
    pub places: &'a [(Pe, usize)],
}

impl Listed<'_> {
    /// Elements of a call that are told at most.
    pub const MOST: usize = 4096;
}

/// What an atomic operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Width of the word.
    pub width: Width,
    /// The operation.
    pub op: AtomicOp,
}

/// A meeting of the PEs of a team.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'a> {
    /// Index of the team; another team may have had it before.
    pub team: usize,
    /// Those of its members that are on the node of the calling PE.
    pub members: &'a [Pe],
    /// Number of the meeting in the team, from 1.
    pub count: u64,
}

impl<'a> Call<'a> {
    /// A call of `family` by the line `location`, about no memory.
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
            meeting: None,
        }
    }

    /// The call, about memory of `pe`.
    #[must_use]
    pub fn at(self, pe: Pe, segment: u32, offset: usize, bytes: usize) -> Self {
        Self { pe: Some(pe), segment, offset, bytes, ..self }
    }

    /// The call, with a side of the caller that begins at an address.
    #[must_use]
    pub fn with(self, local: *const u8) -> Self {
        Self { local: local as usize, ..self }
    }

    /// The call, of the blocks of a plan.
    #[must_use]
    pub fn planned(self, plan: &'a TransferPlan) -> Self {
        Self { plan: Some(plan), bytes: plan.pattern().bytes(), ..self }
    }

    /// The call, of an operation on a word.
    #[must_use]
    pub fn word(self, width: Width, op: AtomicOp) -> Self {
        Self { word: Some(Word { width, op }), ..self }
    }

    /// The call, of a meeting.
    #[must_use]
    pub fn meets(self, meeting: Meeting<'a>) -> Self {
        Self { meeting: Some(meeting), ..self }
    }
}

/// Who is told of every operation of a PE. Threads tell it at the same time.
pub trait Observer: Send + Sync {
    /// A call begins. Nothing of it has happened yet. Gives a number of its own, which [`end`](Self::end)
    /// gets back.
    fn begin(&self, call: &Call<'_>) -> u64;

    /// It has returned, or was unwound. Told by the same thread, with the same call; calls that have
    /// begun in between have ended.
    fn end(&self, call: &Call<'_>, begun: u64);
}
