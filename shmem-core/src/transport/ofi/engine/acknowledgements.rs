//! Pending answers: what this PE owes another for its messages.
//!
//! They are sent when there is room on the wire, by whoever makes progress. Until then they wait in queues that the sender's window
//! bounds. Acknowledgements are counted, one message for all that have come since the last.
//!
//! Nobody waits for the acknowledgements of a patient sender. They [linger](Standing::Lingering): they go out with the next message
//! of answers, or when they take half the window, or when the progress thread comes round.

use std::collections::VecDeque;

use super::limits::Limits;
use super::message::{Address, Message};
use crate::strided::Pattern;

const MOST: usize = 16;

/// Messages of a channel that have been carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acknowledged {
    pub(super) channel: u32,
    pub(super) count: u32,
}

impl Acknowledged {
    fn encoded(self) -> u64 {
        u64::from(self.channel) | u64::from(self.count) << 32
    }

    pub(super) fn decoded(entry: u64) -> Self {
        Self { channel: entry as u32, count: (entry >> 32) as u32 }
    }
}

/// Blocks that another PE wants to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) request: u32,
    pub(super) from: Address,
    /// Where they are, and how they are packed.
    pub(super) pattern: Pattern,
}

/// Values of words or elements that another PE wants to have: what was found when it asked, since old values cannot be found again.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) request: u32,
    /// The value of one word, for which nothing is allocated.
    one: u64,
    /// Several; of the last word the first bytes may count alone.
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

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it lies on the stack, until it is queued")]
pub(super) enum Owed {
    /// That it was carried out, by its channel, and slots that are free again with it. It may come late.
    Acknowledgement {
        channel: u32,
        is_late: bool,
        slots: u32,
    },
    Answer(Answer),
}

#[derive(Debug)]
pub(super) enum Answer {
    Batch(Batch),
    Grant,
    Read(Read),
    Found(Found),
}

/// Acknowledgements in one message, as they stand there.
#[derive(Debug)]
pub(super) struct Batch {
    acknowledged: [u64; MOST],
    count: usize,
    /// Slots that are free again, a bit for each.
    slots: u32,
}

impl Batch {
    fn acknowledged(&self) -> &[u64] {
        &self.acknowledged[..self.count]
    }

    pub(super) fn message(&self) -> Message<'_> {
        Message::Answers { acknowledged: bytemuck::cast_slice(self.acknowledged()), slots: self.slots }
    }
}

/// What a new answer changes for the PE that is owed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It must be listed: it is to be answered now.
    New,
    /// It must be listed among those whose acknowledgements linger.
    Lingering,
    /// Nothing: it is listed already.
    Same,
}

#[derive(Default)]
pub(super) struct Pending {
    acknowledged: Vec<Acknowledged>,
    /// Messages of their own, in the order in which they were asked for.
    answers: VecDeque<Answer>,
    /// Slots that the PE may write to again, named with the acknowledgements of what was in them.
    slots: u32,
    lingering: u32,
    /// Whether the PE stands in the engine's list of those who are owed something.
    is_listed: bool,
    /// Whether it stands in the list of those whose acknowledgements linger.
    lingers: bool,
}

impl Pending {
    /// Owes something more.
    ///
    /// An acknowledgement that may come late lingers. A sender whose window is full waits for answers: half of it is always left
    /// for what is answered at once.
    pub(super) fn owe(&mut self, owed: Owed, limits: &Limits) -> Standing {
        match owed {
            Owed::Acknowledgement { channel, is_late, slots } => {
                self.add(Acknowledged { channel, count: 1 });
                self.slots |= slots;
                if is_late && !self.is_listed && self.lingering + 1 < u32::from(limits.window / 2) {
                    self.lingering += 1;
                    let is_known = core::mem::replace(&mut self.lingers, true);
                    return if is_known { Standing::Same } else { Standing::Lingering };
                }
            }
            Owed::Answer(answer) => self.answers.push_back(answer),
        }
        self.list()
    }

    /// The PE stands no more in the list of those whose acknowledgements linger.
    pub(super) fn hurry(&mut self) -> Standing {
        self.lingers = false;
        if self.acknowledged.is_empty() { Standing::Same } else { self.list() }
    }

    /// Takes what is to be sent next; if there is nothing, the PE is no longer listed.
    pub(super) fn next(&mut self) -> Option<Answer> {
        let answer = if self.acknowledged.is_empty() {
            self.answers.pop_front()
        } else {
            let (count, slots) = (self.acknowledged.len().min(MOST), core::mem::take(&mut self.slots));
            let mut batch = Batch { acknowledged: [0; MOST], count, slots };
            let all = batch.acknowledged.iter_mut().zip(self.acknowledged.drain(..count));
            all.for_each(|(entry, one)| *entry = one.encoded());
            self.lingering = 0;
            Some(Answer::Batch(batch))
        };
        self.is_listed = answer.is_some();
        answer
    }

    /// Owes again what found no room.
    pub(super) fn put_back(&mut self, answer: Answer) {
        match answer {
            Answer::Batch(batch) => {
                self.slots |= batch.slots;
                batch.acknowledged().iter().for_each(|entry| self.add(Acknowledged::decoded(*entry)));
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

    fn list(&mut self) -> Standing {
        if core::mem::replace(&mut self.is_listed, true) { Standing::Same } else { Standing::New }
    }
}
