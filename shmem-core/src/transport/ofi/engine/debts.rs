//! What this PE owes another: the answers to its messages.
//!
//! They are sent when there is room on the wire, by whoever makes progress. Until then they wait here, in
//! queues that the sender's window bounds. Acknowledgements are counted, and go out together with the old
//! values of words, one message for all that has come since the last.
//!
//! Of what a sender that has time has sent nobody waits for the acknowledgement. It [lingers](Standing::Lingering): it goes out
//! with the next message of answers, or when half the window is taken by such, or when this PE has had nothing
//! else to do for a while.

use std::collections::VecDeque;

use super::fault::Flaw;
use super::rooms::Room;
use crate::strided::Pattern;

/// Most channels that one message acknowledges.
const MOST_ACKNOWLEDGED: usize = 16;
/// Most values that one message brings.
const MOST_VALUES: usize = 16;

/// Messages of a channel that have been carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    pub(super) channel: u32,
    pub(super) count: u32,
}

/// What a word was before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) request: u32,
    pub(super) before: u64,
}

/// Blocks that another PE wants to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) request: u32,
    pub(super) segment: u32,
    pub(super) offset: usize,
    /// Where they are, and how they are packed.
    pub(super) pattern: Pattern,
}

/// Values of a list that another PE wants to have: what was found when it asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) request: u32,
    pub(super) values: Room,
}

/// What comes back for a request.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Read(Read),
    Found(Found),
}

/// What is sent next.
pub(super) enum Answer {
    /// What there is to lend.
    Loan,
    Batch(Batch),
    Data(Read),
    Found(Found),
}

/// Acknowledgements and values in one message.
#[derive(Default)]
pub(super) struct Batch {
    acknowledged: ([Acknowledged; MOST_ACKNOWLEDGED], usize),
    values: ([Value; MOST_VALUES], usize),
    /// Slots that are free again, a bit for each.
    slots: u32,
}

impl Batch {
    pub(super) fn acknowledged(&self) -> &[Acknowledged] {
        &self.acknowledged.0[..self.acknowledged.1]
    }

    pub(super) fn values(&self) -> &[Value] {
        &self.values.0[..self.values.1]
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// How many messages it answers.
    fn answered(&self) -> u32 {
        self.acknowledged().iter().map(|one| one.count).sum::<u32>() + self.values().len() as u32
    }
}

/// What a new debt changes for the PE that is owed it.
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
pub(super) struct Debts {
    acknowledged: Vec<Acknowledged>,
    values: VecDeque<Value>,
    /// In the order in which they were asked for, so that none waits for those of other kinds.
    wanted: VecDeque<Wanted>,
    /// Lists among them.
    lists: u16,
    /// Slots that the PE may write to again: they are told with the acknowledgements of what was in them.
    slots: u32,
    /// Whether the PE wants to borrow.
    asks: bool,
    owed: u32,
    /// Acknowledgements among them that linger.
    lingering: u32,
    /// Whether the PE stands in the engine's list of those who are owed something.
    is_listed: bool,
    /// Whether it stands in the list of those whose acknowledgements linger.
    lingers: bool,
}

impl Debts {
    /// Owes one acknowledgement more.
    ///
    /// # Errors
    ///
    /// If the window does not allow for it.
    pub(super) fn acknowledge(&mut self, channel: u32, window: u16) -> Result<Standing, Flaw> {
        self.owe(window)?;
        self.add(Acknowledged { channel, count: 1 });
        Ok(self.list())
    }

    /// Owes one acknowledgement more that may come late. A sender whose window is full waits for answers: half of it is
    /// always left for what is answered at once.
    ///
    /// # Errors
    ///
    /// As [`acknowledge`](Self::acknowledge).
    pub(super) fn acknowledge_late(&mut self, channel: u32, window: u16) -> Result<Standing, Flaw> {
        self.owe(window)?;
        self.add(Acknowledged { channel, count: 1 });
        if self.is_listed || self.lingering + 1 >= u32::from(window / 2) {
            return Ok(self.list());
        }
        self.lingering += 1;
        let is_known = core::mem::replace(&mut self.lingers, true);
        Ok(if is_known { Standing::Same } else { Standing::Lingering })
    }

    /// The PE stands no more in the list of those whose acknowledgements linger.
    pub(super) fn hurry(&mut self) -> Standing {
        self.lingers = false;
        if self.acknowledged.is_empty() { Standing::Same } else { self.list() }
    }

    /// Owes a value; as [`acknowledge`](Self::acknowledge).
    pub(super) fn give(&mut self, value: Value, window: u16) -> Result<Standing, Flaw> {
        self.owe(window)?;
        self.values.push_back(value);
        Ok(self.list())
    }

    /// Owes blocks; as [`acknowledge`](Self::acknowledge).
    pub(super) fn read(&mut self, read: Read, window: u16) -> Result<Standing, Flaw> {
        self.owe(window)?;
        self.wanted.push_back(Wanted::Read(read));
        Ok(self.list())
    }

    /// Owes the values of a list, of which there may be `lists`; as [`acknowledge`](Self::acknowledge).
    pub(super) fn find(&mut self, found: Found, window: u16, lists: u16) -> Result<Standing, Flaw> {
        if self.lists >= lists {
            return Err(Flaw::Window);
        }
        self.owe(window)?;
        self.lists += 1;
        self.wanted.push_back(Wanted::Found(found));
        Ok(self.list())
    }

    /// Owes the answer to whether there is something to lend; as [`acknowledge`](Self::acknowledge).
    pub(super) fn ask(&mut self, window: u16) -> Result<Standing, Flaw> {
        self.owe(window)?;
        self.asks = true;
        Ok(self.list())
    }

    /// Slots are free again, of messages that were [acknowledged](Self::acknowledge) just now.
    pub(super) fn free(&mut self, slots: u32) {
        self.slots |= slots;
    }

    /// Takes what is to be sent next; if there is nothing, the PE is no longer listed.
    ///
    /// What is taken is owed no more: when its answer has arrived, the next message may come sooner than the
    /// sender of the answer comes back here.
    pub(super) fn next(&mut self) -> Option<Answer> {
        let answer = if core::mem::take(&mut self.asks) {
            self.owed -= 1;
            Some(Answer::Loan)
        } else if !self.acknowledged.is_empty() || !self.values.is_empty() {
            let mut batch = Batch { slots: core::mem::take(&mut self.slots), ..Batch::default() };
            let count = self.acknowledged.len().min(MOST_ACKNOWLEDGED);
            batch.acknowledged.1 = count;
            batch
                .acknowledged
                .0
                .iter_mut()
                .zip(self.acknowledged.drain(..count))
                .for_each(|(to, one)| *to = one);
            let count = self.values.len().min(MOST_VALUES);
            batch.values.1 = count;
            batch.values.0.iter_mut().zip(self.values.drain(..count)).for_each(|(to, value)| *to = value);
            self.owed -= batch.answered();
            self.lingering = 0;
            Some(Answer::Batch(batch))
        } else {
            let wanted = self.wanted.pop_front();
            self.owed -= u32::from(wanted.is_some());
            wanted.map(|wanted| match wanted {
                Wanted::Read(read) => Answer::Data(read),
                Wanted::Found(found) => {
                    self.lists -= 1;
                    Answer::Found(found)
                }
            })
        };
        self.is_listed = answer.is_some();
        answer
    }

    /// Owes again what found no room.
    pub(super) fn put_back(&mut self, answer: Answer) {
        match answer {
            Answer::Loan => {
                self.owed += 1;
                self.asks = true;
            }
            Answer::Batch(batch) => {
                self.owed += batch.answered();
                self.slots |= batch.slots;
                batch.acknowledged().iter().for_each(|&one| self.add(one));
                batch.values().iter().rev().for_each(|&value| self.values.push_front(value));
            }
            Answer::Data(read) => {
                self.owed += 1;
                self.wanted.push_front(Wanted::Read(read));
            }
            Answer::Found(found) => {
                self.owed += 1;
                self.lists += 1;
                self.wanted.push_front(Wanted::Found(found));
            }
        }
    }

    fn owe(&mut self, window: u16) -> Result<(), Flaw> {
        if self.owed >= window.into() {
            return Err(Flaw::Window);
        }
        self.owed += 1;
        Ok(())
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
