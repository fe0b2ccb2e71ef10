//! Pending answers to the messages of another PE.
//!
//! Any thread that makes progress sends answers when the wire has room. Until then they wait in queues, bounded by the sender's
//! window (its limit of unanswered messages). Acknowledgements are counted, and one message carries their number.
//!
//! Nobody waits for acknowledgements to a patient sender, which calls quiet only after its last operation. They *linger*: they
//! are sent before the next answer that does not linger, when they fill half of the window, or before a waiter or the progress
//! thread sleeps.

use std::collections::VecDeque;

use bytemuck::{Pod, Zeroable};

use super::flow_control::Limits;
use super::message::Address;
use crate::strided::Pattern;

/// Upper limit on the channels in one message of acknowledgements.
const MOST: usize = 16;

/// Number of messages of a channel that were carried out, as encoded in an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Acknowledged {
    pub(super) channel: u32,
    pub(super) count: u32,
}

// SAFETY: both fields are numbers, for which 0 is valid.
unsafe impl Zeroable for Acknowledged {}
// SAFETY: the fields are two numbers of 4 bytes, without padding, and any bits are valid.
unsafe impl Pod for Acknowledged {}

/// A pending read of blocks by another PE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) request: u32,
    pub(super) from: Address,
    /// The blocks at the target, and their places in the packed answer.
    pub(super) pattern: Pattern,
}

/// Values of words or elements that another PE reads. They are copied when the request arrives, because old values cannot be found
/// later.
pub(super) struct Found {
    pub(super) request: u32,
    /// Values of at most 8 bytes in sum, for which nothing is allocated.
    one: u64,
    /// Values of more than 8 bytes in sum. Bytes of the last word after `bytes` are padding.
    many: Box<[u64]>,
    bytes: usize,
}

impl Found {
    pub(super) fn new(request: u32, bytes: usize) -> Self {
        let words = if bytes <= size_of::<u64>() { 0 } else { bytes.div_ceil(size_of::<u64>()) };
        Self { request, one: 0, many: vec![0; words].into(), bytes }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let words = if self.many.is_empty() { core::slice::from_ref(&self.one) } else { &self.many };
        &bytemuck::cast_slice(words)[..self.bytes]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let words = if self.many.is_empty() { core::slice::from_mut(&mut self.one) } else { &mut self.many };
        &mut bytemuck::cast_slice_mut(words)[..self.bytes]
    }
}

/// An answer to one or more messages.
pub(super) enum Answer {
    Batch(Batch),
    Grant,
    Read(Read),
    Found(Found),
}

/// Acknowledgements that one message carries, and a bit for each bounce slot that is free again.
pub(super) struct Batch {
    pub(super) acknowledged: [Acknowledged; MOST],
    pub(super) count: usize,
    pub(super) slots: u32,
}

#[derive(Default)]
pub(super) struct Pending {
    acknowledged: Vec<Acknowledged>,
    /// Answers that are not acknowledgements: one message each, in the order of their requests.
    answers: VecDeque<Answer>,
    /// A bit for each bounce slot to which the other PE may write again. Sent with acknowledgements.
    slots: u32,
    /// Number of acknowledgements that linger (are sent late).
    lingering: u32,
    /// Whether the engine lists the PE among those to answer (`Engine::answer_queue`).
    is_listed: bool,
}

impl Pending {
    /// Adds an acknowledgement of a message, and the slots that the message frees. Returns whether the PE must be listed as one to
    /// answer.
    ///
    /// If `is_late`, the acknowledgement lingers. At most half of the window lingers, because a sender with a full window waits.
    pub(super) fn acknowledge(&mut self, channel: u32, slots: u32, is_late: bool, limits: &Limits) -> bool {
        self.add(Acknowledged { channel, count: 1 });
        self.slots |= slots;
        if !is_late || self.is_listed || self.lingering + 1 >= u32::from(limits.window / 2) {
            return self.list();
        }
        self.lingering += 1;
        false
    }

    /// Adds an answer that needs a message of its own. Returns whether the PE must be listed as one to answer.
    pub(super) fn answer(&mut self, answer: Answer) -> bool {
        self.answers.push_back(answer);
        self.list()
    }

    /// Ends the lingering of acknowledgements, which are sent now. Returns whether the PE must be listed as one to answer.
    pub(super) fn flush_answers(&mut self) -> bool {
        !self.acknowledged.is_empty() && self.list()
    }

    /// Removes the next answer to be sent. If there is none, the PE is no longer listed.
    pub(super) fn next(&mut self) -> Option<Answer> {
        let answer = if self.acknowledged.is_empty() {
            self.answers.pop_front()
        } else {
            let (count, slots) = (self.acknowledged.len().min(MOST), core::mem::take(&mut self.slots));
            let mut acknowledged = [Acknowledged::zeroed(); MOST];
            acknowledged.iter_mut().zip(self.acknowledged.drain(..count)).for_each(|(to, one)| *to = one);
            self.lingering = 0;
            Some(Answer::Batch(Batch { acknowledged, count, slots }))
        };
        self.is_listed = answer.is_some();
        answer
    }

    /// Requeues an answer for which the wire had no room.
    pub(super) fn put_back(&mut self, answer: Answer) {
        match answer {
            Answer::Batch(batch) => {
                self.slots |= batch.slots;
                batch.acknowledged[..batch.count].iter().for_each(|one| self.add(*one));
            }
            answer => self.answers.push_front(answer),
        }
    }

    fn add(&mut self, new: Acknowledged) {
        match self.acknowledged.iter_mut().find(|one| one.channel == new.channel) {
            Some(one) => one.count += new.count,
            None => self.acknowledged.push(new),
        }
    }

    fn list(&mut self) -> bool {
        !core::mem::replace(&mut self.is_listed, true)
    }
}
