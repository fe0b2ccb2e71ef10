//! Pending answers to the messages of another PE.
//!
//! Any thread that makes progress sends answers, when there is room on the wire. Until then they wait in queues, bounded by the
//! sender's window. Acknowledgements are counted, and one message carries their number.
//!
//! Nobody waits for the acknowledgements of a patient sender. They *linger*: they are sent with the next message of answers, when they
//! take half the window, or when the progress thread is idle.

use std::collections::VecDeque;

use bytemuck::{Pod, Zeroable};

use super::flow_control::Limits;
use super::message::Address;
use crate::strided::Pattern;

/// Upper limit on acknowledgements in one message.
const MOST: usize = 16;

/// How many messages of a channel were carried out, as a message carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Acknowledged {
    pub(super) channel: u32,
    pub(super) count: u32,
}

// SAFETY: both fields are numbers; 0 is valid.
unsafe impl Zeroable for Acknowledged {}
// SAFETY: two numbers of 4 bytes: no padding, and any bits are valid.
unsafe impl Pod for Acknowledged {}

/// Blocks that another PE reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) request: u32,
    pub(super) from: Address,
    /// The blocks at the target, and their places in the packed answer.
    pub(super) pattern: Pattern,
}

/// Values of words or elements that another PE reads. They are collected when the request arrives, since old values cannot be found later.
pub(super) struct Found {
    pub(super) request: u32,
    /// The value of one word, for which nothing is allocated.
    one: u64,
    /// Longer values; bytes of the last word after `bytes` are padding.
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

/// A message that answers others.
pub(super) enum Answer {
    Batch(Batch),
    Grant,
    Read(Read),
    Found(Found),
}

/// Acknowledgements in one message, and a bit for each slot that is free again.
pub(super) struct Batch {
    pub(super) acknowledged: [Acknowledged; MOST],
    pub(super) count: usize,
    pub(super) slots: u32,
}

#[derive(Default)]
pub(super) struct Pending {
    acknowledged: Vec<Acknowledged>,
    /// Other answers: one message each, in request order.
    answers: VecDeque<Answer>,
    /// Slots that the other PE may write to again, a bit for each; sent with acknowledgements.
    slots: u32,
    /// Number of acknowledgements that linger.
    lingering: u32,
    /// Whether the engine lists the PE among those that are answered now.
    is_listed: bool,
}

impl Pending {
    /// Adds an acknowledgement of a message on a channel, and slots that are free again with it. Returns whether the engine has to
    /// list the PE.
    ///
    /// A late acknowledgement lingers. At most half of the window lingers, because a sender whose window is full waits for answers.
    pub(super) fn acknowledge(&mut self, channel: u32, slots: u32, is_late: bool, limits: &Limits) -> bool {
        self.add(Acknowledged { channel, count: 1 });
        self.slots |= slots;
        if !is_late || self.is_listed || self.lingering + 1 >= u32::from(limits.window / 2) {
            return self.list();
        }
        self.lingering += 1;
        false
    }

    /// Adds an answer, sent alone. Returns whether the engine has to list the PE.
    pub(super) fn answer(&mut self, answer: Answer) -> bool {
        self.answers.push_back(answer);
        self.list()
    }

    /// Has lingering acknowledgements sent now. Returns whether the engine has to list the PE.
    pub(super) fn hurry(&mut self) -> bool {
        !self.acknowledged.is_empty() && self.list()
    }

    /// Takes the next message to be sent. After the last one the PE is no longer listed.
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

    /// Requeues a message for which there was no room.
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
