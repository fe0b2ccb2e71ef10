//! Schedules: algorithms of collectives of long data, as generators of steps. They are independent of memory and transport.
//!
//! A schedule belongs to one rank, and depends on the numbers of ranks and bytes, the root and the [cut](Cut) alone.
//! [`sends`](Schedule::sends) generates the chunks that the rank sends, in order, each with the number of chunks that must have
//! arrived before. [`receives`](Schedule::receives) generates the chunks that arrive. The [engine](super::engine) carries out both
//! side by side.
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
//! **Slots and credits.** Chunk `a` that arrives at a rank is written to slot `a mod slots`. The sender computes `a`, so messages
//! carry no header. For each chunk beyond the number of slots, the receiver gives the sender a credit when the slot is free.
//! Senders wait for every credit, so nothing is under way at the end.
//!
//! **No deadlock.** All chunks have one order, in which every rank sends and expects its own chunks. The first chunk in
//! that order that has not arrived can be sent. Its sender has sent all chunks before it, and has the chunk's operands.
//! Its receiver has emptied the slot: chunks that are held for a reduction are consecutive, and at most as many as the
//! slots minus the credits that are given together.
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

    /// Returns the chunks that arrive at the rank, in order.
    fn receives(&self) -> impl Iterator<Item = RecvStep>;

    /// Returns the number of credit counters that the rank has as a sender.
    fn credits(&self) -> usize;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct SendStep {
    pub(in crate::collective) to: usize,
    /// Position of the chunk among all chunks that arrive at the receiver, from 0.
    pub(in crate::collective) number: usize,
    pub(in crate::collective) from: Place,
    /// Offset of the chunk in the receiver's result; None for a chunk that the receiver combines.
    pub(in crate::collective) lands: Option<usize>,
    /// Number of chunks that must have arrived at the sender before it sends this chunk.
    pub(in crate::collective) after: usize,
    /// Index of the sender's credit counter for this chunk.
    pub(in crate::collective) credit: usize,
    /// Number of credits that the counter must have received; 0 if a slot is free from the start.
    pub(in crate::collective) needs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct RecvStep {
    pub(in crate::collective) from: usize,
    /// Index of the sender's credit counter for this chunk.
    pub(in crate::collective) credit: usize,
    pub(in crate::collective) into: Place,
    pub(in crate::collective) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) enum Then {
    Copy,
    /// Keep the chunk in its slot until all operands have arrived.
    Hold,
    /// Combine the operands of a group of `members`: the last has arrived. This rank is member `mine`; its operand is at the
    /// destination, which gets the result. The others' operands arrive from members `mine - 1`, `mine - 2` .., modulo `members`.
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
    /// The source buffer, which does not change.
    Source,
    /// The result buffer, which is the source too in reductions and broadcasts.
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
    /// Cuts `bytes` bytes into chunks of at most `most` bytes, each of whole items of `grain` bytes.
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

/// Bytes of the shortest chunk, of which a window has `MOST_SLOTS`. A shorter chunk takes a provider about as long.
const LEAST_CHUNK: usize = WINDOW_BYTES / MOST_SLOTS;

/// Maximum bytes of a chunk in a window, where receivers forward what they receive.
const MOST_CHUNK: usize = 2 * LEAST_CHUNK;

/// Maximum bytes of a chunk in a window, where no receiver forwards data: half a window, so one chunk travels while another is
/// copied. More chunks gain nothing where cores do the transfer, and each chunk costs a signal and a credit.
const MOST_TAKEN: usize = WINDOW_BYTES / 2;

/// Maximum bytes of a chunk that is written directly to an object, and forwarded from there.
const MOST_PASSED_ON: usize = 256 << 10;

/// How data are cut: the length of chunks, and the number of slots, which limits the chunks that may be under way to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Upper limit on the bytes of a chunk; the size of a slot.
    pub(crate) most: usize,
    pub(crate) slots: usize,
}

impl Cut {
    /// Chooses the cut of `bytes` bytes on one path. `past_windows`: chunks go to objects. `pass_on`: receivers may forward them.
    pub(crate) fn of(bytes: usize, past_windows: bool, pass_on: bool) -> Self {
        match (past_windows, pass_on) {
            (false, _) => Self::in_windows(bytes, pass_on),
            // Chunks go to objects, so a slot is only a counter. No receiver forwards data, so all data are one chunk.
            (true, false) => Self { most: bytes.max(1), slots: MOST_SLOTS },
            (true, true) => Self { most: shorter(bytes, 8, MOST_PASSED_ON), slots: MOST_SLOTS },
        }
    }

    /// Chooses the cut of `bytes` bytes that travel through windows. `pass_on`: receivers may forward what they receive.
    pub(crate) fn in_windows(bytes: usize, pass_on: bool) -> Self {
        // Chunks are short, so that several are in flight.
        let most = if pass_on { shorter(bytes, 4, MOST_CHUNK) } else { shorter(bytes, 2, MOST_TAKEN) };
        Self { most, slots: WINDOW_BYTES / most }
    }
}

fn shorter(bytes: usize, several: usize, most: usize) -> usize {
    (bytes / several).next_power_of_two().clamp(LEAST_CHUNK, most)
}
