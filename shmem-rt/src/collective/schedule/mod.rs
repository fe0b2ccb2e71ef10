//! Schedules: algorithms of collectives of long data, as generators of steps. They know no memory and no transport.
//!
//! A schedule belongs to one rank, and depends on the numbers of ranks and bytes alone. [`sends`](Schedule::sends) generates the
//! chunks that the rank sends, in order, each with the number of chunks that must have arrived before. [`receives`](Schedule::receives)
//! generates the chunks that arrive. The [engine](super::engine) carries out both side by side.
//!
//! | schedule | for | |
//! |---|---|---|
//! | [`TwoTree`] | broadcast | chunks alternate between two binary trees; a leaf of one is an inner rank of the other |
//! | [`HalvingDoubling`] | reductions | a recursive reduce-scatter, then an allgather the same way back |
//! | [`RingAllgather`] | fcollect | the blocks of all ranks go round a ring |
//! | [`Pairwise`] | alltoall | in step `t` each rank sends to the rank `t` further on |
//!
//! [`Round`] is the dissemination of barriers, whose data are [payloads](super::barrier_payload).
//!
//! **Slots and credits.** Chunk `a` that arrives at a rank is written to slot `a mod slots`. The sender computes `a`, so messages carry no
//! header. For each chunk beyond the number of slots, the receiver gives the sender a credit when the slot is free. Every credit is waited
//! for, so nothing is under way at the end.
//!
//! **No deadlock.** All ranks send and expect chunks in the order of one shared key. Take the first chunk in that order that has
//! not arrived. Its sender has sent all chunks before it, and has the chunk's operands. Its receiver has emptied the slot, because chunks
//! that are held for a reduction follow each other, and are fewer than the slots less those whose credits are given together. So
//! the chunk can be sent.
//!
//! **Pipelines.** A collective has one schedule, or two independent ones (two trees) that share the slots and have their own credit
//! counters.

mod dissemination;
mod halving_doubling;
mod pairwise;
mod ring_allgather;
mod two_tree;

use core::ops::Range;

use shmem_core::system_area::{MOST_SLOTS, WINDOW_BYTES};

pub(in crate::collective) use dissemination::Round;
pub(in crate::collective) use halving_doubling::{HalvingDoubling, Radices};
pub(in crate::collective) use pairwise::Pairwise;
pub(in crate::collective) use ring_allgather::RingAllgather;
pub(in crate::collective) use two_tree::TwoTree;

pub(in crate::collective) trait Schedule {
    /// Returns the chunks that the rank sends, in order.
    fn sends(&self) -> impl Iterator<Item = SendStep>;

    /// Returns the chunks that arrive, in order.
    fn receives(&self) -> impl Iterator<Item = RecvStep>;

    /// Returns the number of the rank's credit counters.
    fn credits(&self) -> usize;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct SendStep {
    pub(in crate::collective) to: usize,
    /// Number among the chunks that arrive at the receiver.
    pub(in crate::collective) number: usize,
    pub(in crate::collective) from: Place,
    /// Offset in the receiver's result; None for a chunk that is combined there.
    pub(in crate::collective) lands: Option<usize>,
    /// Number of chunks that must have arrived at the sender before.
    pub(in crate::collective) after: usize,
    /// The sender's credit counter.
    pub(in crate::collective) credit: usize,
    /// Credits that the counter must have; 0 if a slot is free from the start.
    pub(in crate::collective) needs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct RecvStep {
    pub(in crate::collective) from: usize,
    /// The sender's credit counter.
    pub(in crate::collective) credit: usize,
    pub(in crate::collective) into: Place,
    pub(in crate::collective) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) enum Then {
    Copy,
    /// The chunk stays in its slot until all operands are there.
    Hold,
    /// The chunk is the last operand of a group of `members`. This rank is member `mine`, and its operand is at the destination, to which the
    /// result is written. Operands of the others arrive in the order of members `mine - 1`, `mine - 2` .., modulo `members`.
    Reduce {
        members: usize,
        mine: usize,
    },
}

/// A range of the calling PE's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::collective) struct Place {
    pub(in crate::collective) memory: Memory,
    pub(in crate::collective) at: usize,
    pub(in crate::collective) bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::collective) enum Memory {
    /// The source, which does not change.
    Source,
    /// The result; in reductions and broadcasts it is the source as well.
    Result,
}

impl Place {
    fn of(memory: Memory, start: usize, range: Range<usize>) -> Self {
        Self { memory, at: start + range.start, bytes: range.len() }
    }
}

/// Bytes that are cut into chunks of equal length; the last chunk may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Chunks {
    bytes: usize,
    each: usize,
}

impl Chunks {
    /// Cuts into chunks of at most `most` bytes that end between items of `grain` bytes.
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

/// Bytes of the shortest chunk, of which a window has most slots: a shorter one takes a provider about as long.
const LEAST_CHUNK: usize = WINDOW_BYTES / MOST_SLOTS;

/// Bytes of the longest chunk of a window whose receiver passes the chunk on or combines it.
const MOST_CHUNK: usize = 2 * LEAST_CHUNK;

/// Bytes of the longest chunk of a window otherwise. Two fit a window, so one travels while the other is copied. More gain nothing where
/// cores do the transfer, and each costs a signal and a credit.
const MOST_TAKEN: usize = WINDOW_BYTES / 2;

/// Bytes of the longest chunk that is written to its place in an object and passed on.
const MOST_PASSED_ON: usize = 256 << 10;

/// Length of chunks, and number of chunks that may be under way to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Upper limit on the bytes of a chunk; the size of a slot.
    pub(crate) most: usize,
    pub(crate) slots: usize,
}

impl Cut {
    /// Cuts `bytes` bytes on one path through windows, or `past_windows` to objects, with receivers that may `pass_on` chunks.
    pub(crate) fn of(bytes: usize, past_windows: bool, pass_on: bool) -> Self {
        match (past_windows, pass_on) {
            (false, _) => Self::in_windows(bytes, pass_on),
            // A slot is a counter alone. No receiver waits for a part, so the data are one chunk.
            (true, false) => Self { most: bytes.max(1), slots: MOST_SLOTS },
            (true, true) => Self { most: shorter(bytes, 8, MOST_PASSED_ON), slots: MOST_SLOTS },
        }
    }

    /// As [`of`](Self::of), through windows, with receivers that may pass on or combine chunks.
    pub(crate) fn in_windows(bytes: usize, pass_on: bool) -> Self {
        // Short enough for several in flight.
        let most = if pass_on { shorter(bytes, 4, MOST_CHUNK) } else { shorter(bytes, 2, MOST_TAKEN) };
        Self { most, slots: WINDOW_BYTES / most }
    }
}

fn shorter(bytes: usize, several: usize, most: usize) -> usize {
    (bytes / several).next_power_of_two().clamp(LEAST_CHUNK, most)
}
