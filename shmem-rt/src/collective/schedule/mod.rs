//! Schedules: the algorithms of collectives of much data, as generators of steps. They know no memory and no transport.
//!
//! A schedule is that of one rank: two iterators, made from the number of ranks, the bytes and nothing else.
//! [`sends`](Schedule::sends) gives the chunks that the rank sends, in order, and of each what must have come before;
//! [`receives`](Schedule::receives) gives the chunks that come, in order, and what is done with each. The
//! [engine](super::engine) carries out both side by side, without ever waiting.
//!
//! | schedule | for | |
//! |---|---|---|
//! | [`TwoTree`] | broadcast | chunks in turn along two binary trees; a leaf of one is an inner rank of the other |
//! | [`HalvingDoubling`] | reductions | a recursive reduce-scatter, and the same way back an allgather |
//! | [`RingAllgather`] | fcollect | the blocks of all go round |
//! | [`Pairwise`] | alltoall | in step `t` each sends to the rank `t` further on |
//!
//! [`Round`] is the dissemination of barriers, whose data [payloads](super::payload) are.
//!
//! **Slots and credits.** Chunks arrive in equal slots. Chunk `a` of a rank lies in slot `a mod slots`; who sends it knows the number,
//! because both schedules are the same function of the rank. So no message says what it is. The first chunks, as many as there are
//! slots, may be sent at any time. For each later one the receiver gives the sender a credit when its slot is free, in a counter
//! that is theirs for this. Every credit is waited for, so nothing is under way when all ranks have come to the end.
//!
//! **No deadlock.** All ranks send, and expect, in the order of one key that they share: the chunk; or the block and the step; or the turn
//! of a wave, the step, the slice, the piece and the distance. Of all chunks that are yet to come take the first in that order. Whoever
//! sends it has sent everything before it, and has all it depends on, which came earlier in that order. Its receiver has emptied the
//! slot: chunks that stay there until others have come follow each other, and there are more slots than these and those whose credits
//! are given together. So it can be sent.
//!
//! **Pipelines.** A collective has one schedule, or two that wait for nothing of each other: two trees. They have the slots of a window in
//! turn, and credit counters of their own.
//!
//! Schedules are of ranks, wherever these are. Those of one node write into each other's slots by stores. Where ranks follow each other
//! node by node, few chunks cross: of a ring each once, and of halving and doubling what the members of a node have made of theirs.

mod dissemination;
mod halving_doubling;
mod pairwise;
mod ring_allgather;
mod two_tree;

use core::ops::Range;

use shmem_core::system::{MOST_SLOTS, WINDOW_BYTES};

pub(in crate::collective) use dissemination::Round;
pub(in crate::collective) use halving_doubling::{HalvingDoubling, Radices};
pub(in crate::collective) use pairwise::Pairwise;
pub(in crate::collective) use ring_allgather::RingAllgather;
pub(in crate::collective) use two_tree::TwoTree;

pub(in crate::collective) trait Schedule {
    /// What it sends, in that order.
    fn sends(&self) -> impl Iterator<Item = SendStep>;

    /// What comes to it, in that order.
    fn receives(&self) -> impl Iterator<Item = RecvStep>;

    fn credits(&self) -> usize;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct SendStep {
    pub(in crate::collective) to: usize,
    /// Its number among the chunks that come to that rank.
    pub(in crate::collective) number: usize,
    pub(in crate::collective) from: Place,
    /// Where in the result of its receiver it belongs, if it is [copied](Then::Copy) there as it is.
    pub(in crate::collective) lands: Option<usize>,
    /// How many chunks the sender must have received before: of those this one is made.
    pub(in crate::collective) after: usize,
    /// The sender's credit counter.
    pub(in crate::collective) credit: usize,
    /// The credits that must be there; 0 of chunks for which there is a slot from the start.
    pub(in crate::collective) needs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct RecvStep {
    pub(in crate::collective) from: usize,
    /// The credit counter of that rank.
    pub(in crate::collective) credit: usize,
    pub(in crate::collective) into: Place,
    pub(in crate::collective) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) enum Then {
    Copy,
    /// It stays in its slot until the operands that it is reduced with are there.
    Hold,
    /// It is the last one of a group of `members`, of whom this rank is number `mine`, and what it has lies at the same place. The
    /// others have come in the order `mine - 1`, `mine - 2` .., round the group. All are reduced there.
    Reduce {
        members: usize,
        mine: usize,
    },
}

/// Bytes of the calling PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::collective) struct Place {
    pub(in crate::collective) memory: Memory,
    pub(in crate::collective) at: usize,
    pub(in crate::collective) bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::collective) enum Memory {
    /// What it gives: it does not change meanwhile.
    Source,
    /// Where the result comes to be; of reductions and broadcasts also what it gives.
    Result,
}

impl Place {
    fn of(memory: Memory, start: usize, range: Range<usize>) -> Self {
        Self { memory, at: start + range.start, bytes: range.len() }
    }
}

/// Bytes cut into chunks of equal length, but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Chunks {
    bytes: usize,
    each: usize,
}

impl Chunks {
    /// Chunks of at most `most` bytes that end between items of `grain` bytes.
    ///
    /// # Panics
    ///
    /// If no item fits a chunk.
    pub(in crate::collective) fn new(bytes: usize, most: usize, grain: usize) -> Self {
        let each = most / grain * grain;
        assert!(each > 0, "an item of {grain} bytes fits no chunk of {most}");
        Self { bytes, each }
    }

    fn count(self) -> usize {
        self.bytes.div_ceil(self.each)
    }

    fn range(self, chunk: usize) -> Range<usize> {
        let start = chunk * self.each;
        start..self.bytes.min(start + self.each)
    }
}

/// The least chunk of a window, of which as many as there can be slots fit it: what is shorter takes a provider about as long.
const LEAST_CHUNK: usize = WINDOW_BYTES / MOST_SLOTS;

/// The longest of a window that is passed on, or combined with those of several others, which lie there together: half as
/// many fit.
const MOST_CHUNK: usize = 2 * LEAST_CHUNK;

/// The longest of a window that is neither. Two fit, so one can be on its way while another is copied. More of them gain nothing
/// where cores carry what is on its way, and each is announced and acknowledged by itself.
const MOST_TAKEN: usize = WINDOW_BYTES / 2;

/// The longest chunk that needs no window, and is passed on.
const MOST_PASSED_ON: usize = 256 << 10;

/// How data are cut, and how many chunks may be on their way to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes of a chunk at most, and of a slot.
    pub(crate) most: usize,
    /// How many there is room for.
    pub(crate) slots: usize,
}

impl Cut {
    /// Of so many bytes that come along one way, past windows or through them, from where some may pass them on.
    pub(crate) fn of(bytes: usize, past_windows: bool, pass_on: bool) -> Self {
        match (past_windows, pass_on) {
            (false, _) => Self::in_windows(bytes, pass_on),
            // A slot is a word, and nothing lies in it. What nobody waits for in parts comes as a whole.
            (true, false) => Self { most: bytes.max(1), slots: MOST_SLOTS },
            (true, true) => Self { most: shorter(bytes, 8, MOST_PASSED_ON), slots: MOST_SLOTS },
        }
    }

    /// Of so many that come along one way through a window, from where some may pass them on or combine those of several.
    pub(crate) fn in_windows(bytes: usize, pass_on: bool) -> Self {
        // Short enough that several are under way.
        let most = if pass_on { shorter(bytes, 4, MOST_CHUNK) } else { shorter(bytes, 2, MOST_TAKEN) };
        Self { most, slots: WINDOW_BYTES / most }
    }
}

fn shorter(bytes: usize, several: usize, most: usize) -> usize {
    (bytes / several).next_power_of_two().clamp(LEAST_CHUNK, most)
}
