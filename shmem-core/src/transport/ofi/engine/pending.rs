//! Pending answers: what this PE owes another for its messages.
//!
//! They are sent when there is room on the wire, by whoever makes progress. Until then they wait in queues that the sender's window
//! bounds. Acknowledgements are counted, and go out together with the old values of words, one message for all that has come since
//! the last.
//!
//! Nobody waits for the acknowledgements of a patient sender. They [linger](Standing::Lingering): they go out with the next message
//! of answers, or when they take half the window, or when this PE has had nothing else to do for a while.

use std::collections::VecDeque;

use super::limits::Limits;
use super::message::{Address, Message};
use super::wire::Flaw;
use crate::strided::Pattern;

/// Most acknowledgements, and most values, in one message.
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

    /// As it stands in a message.
    pub(super) fn decoded(entry: u64) -> Self {
        Self { channel: entry as u32, count: (entry >> 32) as u32 }
    }
}

/// The old value of a word, with the request that wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) request: u32,
    pub(super) before: u64,
}

/// Blocks that another PE wants to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) request: u32,
    pub(super) from: Address,
    /// Where they are, and how they are packed.
    pub(super) pattern: Pattern,
}

/// Values of a list that another PE wants to have: what was found when it asked, since old values cannot be found again.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) request: u32,
    /// Aligned for words; of the last one the first bytes may count alone.
    values: Box<[u64]>,
    bytes: usize,
}

impl Found {
    /// Room for so many bytes.
    pub(super) fn new(request: u32, bytes: usize) -> Self {
        Self { request, values: vec![0; bytes.div_ceil(size_of::<u64>())].into(), bytes }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.values)[..self.bytes]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.values)[..self.bytes]
    }
}

/// What a message is answered by.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it lies on the stack, until it is queued")]
pub(super) enum Owed {
    /// That it was carried out, by its channel, and slots that are free again with it. It may come late.
    Acknowledgement { channel: u32, is_late: bool, slots: u32 },
    /// The old value of a word.
    Value(Value),
    /// A message of its own.
    Answer(Answer),
}

/// What is sent next.
#[derive(Debug)]
pub(super) enum Answer {
    /// Acknowledgements and values of several messages.
    Batch(Batch),
    /// What there is to lend.
    Grant,
    Read(Read),
    Found(Found),
}

/// Acknowledgements and values in one message, as they stand there.
#[derive(Debug)]
pub(super) struct Batch {
    words: [u64; 3 * MOST],
    acknowledged: usize,
    values: usize,
    /// Slots that are free again, a bit for each.
    slots: u32,
}

impl Batch {
    fn acknowledged(&self) -> impl Iterator<Item = Acknowledged> {
        self.words[..self.acknowledged].iter().map(|entry| Acknowledged::decoded(*entry))
    }

    fn values(&self) -> &[[u64; 2]] {
        &self.words[self.acknowledged..].as_chunks().0[..self.values]
    }

    pub(super) fn message(&self) -> Message<'_> {
        let acknowledged = bytemuck::cast_slice(&self.words[..self.acknowledged]);
        Message::Answers { acknowledged, values: bytemuck::cast_slice(self.values()), slots: self.slots }
    }
}

impl Answer {
    /// How many messages it answers, and how many of them are lists.
    fn counts(&self) -> (u32, u16) {
        match self {
            Self::Batch(batch) => {
                let acknowledged: u32 = batch.acknowledged().map(|one| one.count).sum();
                (acknowledged + batch.values as u32, 0)
            }
            Self::Grant | Self::Read(_) => (1, 0),
            Self::Found(_) => (1, 1),
        }
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

/// What one PE is owed.
#[derive(Default)]
pub(super) struct Pending {
    acknowledged: Vec<Acknowledged>,
    values: VecDeque<Value>,
    /// Messages of their own, in the order in which they were asked for.
    answers: VecDeque<Answer>,
    /// Lists among them.
    lists: u16,
    /// Slots that the PE may write to again, named with the acknowledgements of what was in them.
    slots: u32,
    owed: u32,
    /// Acknowledgements among them that linger.
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
    pub(super) fn owe(&mut self, owed: Owed, limits: &Limits) -> Result<Standing, Flaw> {
        let is_list = matches!(owed, Owed::Answer(Answer::Found(_)));
        if self.owed >= limits.window.into() || (is_list && self.lists >= limits.asked.lists) {
            return Err(Flaw::Window);
        }
        self.owed += 1;
        match owed {
            Owed::Acknowledgement { channel, is_late, slots } => {
                self.add(Acknowledged { channel, count: 1 });
                self.slots |= slots;
                if is_late && !self.is_listed && self.lingering + 1 < u32::from(limits.window / 2) {
                    self.lingering += 1;
                    let is_known = core::mem::replace(&mut self.lingers, true);
                    return Ok(if is_known { Standing::Same } else { Standing::Lingering });
                }
            }
            Owed::Value(value) => self.values.push_back(value),
            Owed::Answer(answer) => {
                self.lists += u16::from(is_list);
                self.answers.push_back(answer);
            }
        }
        Ok(self.list())
    }

    /// The PE stands no more in the list of those whose acknowledgements linger.
    pub(super) fn hurry(&mut self) -> Standing {
        self.lingers = false;
        if self.acknowledged.is_empty() { Standing::Same } else { self.list() }
    }

    /// Takes what is to be sent next; if there is nothing, the PE is no longer listed.
    ///
    /// What is taken is owed no more: when its answer has arrived, the next message may come sooner than the
    /// sender of the answer comes back here.
    pub(super) fn next(&mut self) -> Option<Answer> {
        let answer = if !self.acknowledged.is_empty() || !self.values.is_empty() {
            let (acknowledged, values) = (self.acknowledged.len().min(MOST), self.values.len().min(MOST));
            let slots = core::mem::take(&mut self.slots);
            let mut batch = Batch { words: [0; 3 * MOST], acknowledged, values, slots };
            let acknowledged = self.acknowledged.drain(..acknowledged).map(Acknowledged::encoded);
            let values = self.values.drain(..values).flat_map(|value| [value.request.into(), value.before]);
            batch.words.iter_mut().zip(acknowledged.chain(values)).for_each(|(to, word)| *to = word);
            self.lingering = 0;
            Some(Answer::Batch(batch))
        } else {
            self.answers.pop_front()
        };
        if let Some(answer) = &answer {
            let (owed, lists) = answer.counts();
            (self.owed, self.lists) = (self.owed - owed, self.lists - lists);
        }
        self.is_listed = answer.is_some();
        answer
    }

    /// Owes again what found no room.
    pub(super) fn put_back(&mut self, answer: Answer) {
        let (owed, lists) = answer.counts();
        (self.owed, self.lists) = (self.owed + owed, self.lists + lists);
        match answer {
            Answer::Batch(batch) => {
                self.slots |= batch.slots;
                batch.acknowledged().for_each(|one| self.add(one));
                for &[request, before] in batch.values().iter().rev() {
                    self.values.push_front(Value { request: request as u32, before });
                }
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
