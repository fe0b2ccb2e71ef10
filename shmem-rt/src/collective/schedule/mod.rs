//! Schedules: algorithms of collectives of long data, as generators of steps. They know no memory and no transport.
//!
//! A schedule belongs to one rank and is made of the number of ranks and the bytes alone. [`sends`](Schedule::sends) generates the chunks
//! that the rank sends, in order, with what must have arrived before. [`receives`](Schedule::receives) generates the chunks that arrive.
//! The [engine](super::engine) carries out both side by side.
//!
//! | schedule | for | |
//! |---|---|---|
//! | [`TwoTree`] | broadcast | chunks alternate between two binary trees; a leaf of one is an inner rank of the other |
//! | [`HalvingDoubling`] | reductions | a recursive reduce-scatter, then an allgather the same way back |
//! | [`RingAllgather`] | fcollect | the blocks of all ranks go round a ring |
//! | [`Pairwise`] | alltoall | in step `t` each rank sends to the rank `t` further on |
//!
//! [`Round`] is the dissemination of barriers, whose data are [payloads](super::payload).
//!
//! **Slots and credits.** Chunk `a` of a rank arrives in slot `a mod slots`. Its sender computes `a`, so messages carry no header. For each
//! chunk beyond the number of slots, the receiver gives the sender a credit when the slot is free. Every credit is waited for, so nothing
//! is under way at the end.
//!
//! **No deadlock.** All ranks send and expect chunks in the order of one shared key. Take the first chunk in that order that has not
//! arrived. Its sender has sent all chunks before it, and has all chunks that it is made of. Its receiver has emptied the slot: chunks that
//! are held for a reduction follow each other, and are fewer than the slots less those whose credits are given together. So it can be sent.
//!
//! **Pipelines.** A collective has one schedule, or two independent ones (two trees) that share the slots and have their own credit
//! counters.

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
