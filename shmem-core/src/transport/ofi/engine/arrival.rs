//! What a PE does when a message has arrived, and when it answers.

use std::sync::RwLockReadGuard;

use super::debts::{Answer, Read, Value};
use super::fault::{Fault, Flaw};
use super::loan::Loan;
use super::message::{self, Answers, Message, Spot, Wanted};
use super::requests::Destination;
use super::wire::{Sent, Wire};
use super::{Engine, Peer, SLOTS};
use crate::segment::MAX_SEGMENTS;
use crate::strided::{self, Algorithm, Pattern, Plan};
use crate::transport::target::Target;
use crate::transport::{AtomicOp, Channel, SignalOp, Width};

/// The memory that messages are for.
struct Memory<'a>(RwLockReadGuard<'a, [Option<Target>; MAX_SEGMENTS]>);

impl Memory<'_> {
    /// The target of `bytes` bytes of a segment, and their address.
    fn at(&self, Spot { segment, offset }: Spot, bytes: usize) -> Result<(Target, *mut u8), Flaw> {
        let target = self.0.get(segment as usize).copied().flatten().ok_or(Flaw::Segment(segment))?;
        let address = target.address(offset, bytes).ok_or(Flaw::Bounds { segment, offset, bytes })?;
        Ok((target, address))
    }

    /// The target of a word.
    fn word(&self, spot: Spot, width: Width) -> Result<Target, Flaw> {
        let (target, _) = self.at(spot, width.bytes())?;
        if spot.offset.is_multiple_of(width.bytes()) { Ok(target) } else { Err(Flaw::Alignment(spot.offset)) }
    }
}

impl Engine {
    /// Carries out a message that has arrived. What it is answered by is sent by [`drain`](Self::drain).
    ///
    /// # Errors
    ///
    /// If no engine of this job can have sent it; the job is to end then.
    pub fn arrived(&self, bytes: &[u8]) -> Result<(), Fault> {
        self.take(bytes, None)
    }

    /// Carries out a message that was written to a slot of this PE's. As [`arrived`](Self::arrived).
    ///
    /// # Errors
    ///
    /// As [`arrived`](Self::arrived), and if the slot was not lent to the sender.
    pub fn landed(&self, slot: u32, bytes: &[u8]) -> Result<(), Fault> {
        self.take(bytes, Some(slot))
    }

    fn take(&self, bytes: &[u8], slot: Option<u32>) -> Result<(), Fault> {
        let from = message::sender(bytes);
        self.carry_out(from, bytes, slot).map_err(|flaw| Fault { from, bytes: bytes.len(), flaw })
    }

    fn carry_out(&self, from: Option<u32>, bytes: &[u8], slot: Option<u32>) -> Result<(), Flaw> {
        let message = Message::read(bytes, self.limits.message)?;
        let from = from.filter(|&pe| (pe as usize) < self.peers.len()).ok_or(Flaw::Sender)?;
        let peer = self.peer(from as usize);
        let window = self.limits.window;
        let freed = slot.map_or(Ok(0), |slot| self.borrowers.bit(slot, from))?;
        let is_new = match message {
            Message::Put { channel, to, pattern, data, signal } => {
                self.write(to, &pattern, data, signal)?;
                let mut debts = peer.debts();
                let is_new = debts.acknowledge(channel, window)?;
                debts.free(freed);
                is_new
            }
            // Only what is put is long.
            _ if slot.is_some() => return Err(Flaw::Slot(slot.unwrap_or_default())),
            Message::Get(read) => {
                let Read { segment, offset, pattern, .. } = read;
                if message::BEFORE_ANSWER + pattern.bytes() > self.limits.message {
                    return Err(Flaw::Blocks);
                }
                Memory(self.segments()).at(Spot { segment, offset }, pattern.hulls().1)?;
                peer.debts().read(read, window)?
            }
            Message::Atomic { wanted, word, width, op } => {
                let before = self.change(word, width, op)?;
                match wanted {
                    Wanted::Acknowledgement(channel) => peer.debts().acknowledge(channel, window)?,
                    Wanted::Value(request) => peer.debts().give(Value { request, before }, window)?,
                }
            }
            Message::Data { request, data } => return self.data(peer, request, data),
            Message::Answers(answers) => return self.answered(peer, &answers),
            Message::Borrow => peer.debts().ask(window)?,
            Message::Loan(loan) => {
                peer.borrowed().answered(loan)?;
                return peer.requests().answered(1);
            }
        };
        if is_new {
            self.list(from);
        }
        Ok(())
    }

    /// Unpacks data, then changes the signal behind it.
    fn write(
        &self,
        to: Spot,
        pattern: &Pattern,
        data: &[u8],
        signal: Option<(Spot, SignalOp)>,
    ) -> Result<(), Flaw> {
        let memory = Memory(self.segments());
        if let Some((spot, _)) = signal {
            memory.word(spot, Width::W8)?;
        }
        if pattern.block() > 0 {
            let (target, _) = memory.at(to, pattern.hulls().0)?;
            target.unpack(to.offset, pattern, data);
        }
        if let Some((spot, op)) = signal {
            memory.word(spot, Width::W8)?.update(spot.offset, Width::W8, op.into());
        }
        Ok(())
    }

    fn change(&self, word: Spot, width: Width, op: AtomicOp) -> Result<u64, Flaw> {
        let memory = Memory(self.segments());
        Ok(memory.word(word, width)?.update(word.offset, width, op))
    }

    /// Blocks that this PE wanted to have.
    fn data(&self, peer: &Peer, request: u32, data: &[u8]) -> Result<(), Flaw> {
        let (ticket, channel, destination) = peer.requests().take(request)?;
        let Destination::Blocks { into, pattern } = destination else { return Err(Flaw::Answer) };
        if data.len() != pattern.bytes() {
            return Err(Flaw::Length);
        }
        let plan = Plan::of(pattern, 1, Algorithm::Auto, &strided::settings().thresholds);
        // SAFETY: every block from `into` on is writable until the request is finished, which it is below, and
        // disjoint (`get`); `data` holds as many bytes, and is private memory.
        unsafe { strided::execute_later(&plan, into, data.as_ptr()) };
        peer.requests().finish(ticket);
        self.streams.answered(channel, 1)
    }

    fn answered(&self, peer: &Peer, answers: &Answers<'_>) -> Result<(), Flaw> {
        for value in answers.values() {
            let (ticket, channel, destination) = peer.requests().take(value.request)?;
            let Destination::Word { into, width } = destination else { return Err(Flaw::Answer) };
            // SAFETY: aligned, and writable until the request is finished, which it is below (`atomic_nbi`).
            unsafe { width.write(into, value.before) };
            peer.requests().finish(ticket);
            self.streams.answered(channel, 1)?;
        }
        peer.borrowed().give_back(answers.slots())?;
        for one in answers.acknowledged() {
            // The window first: who finds the channel quiet may want to send.
            peer.requests().answered(one.count)?;
            self.streams.answered(Channel(one.channel), one.count.into())?;
        }
        Ok(())
    }

    /// Sends a PE what it is owed, until there is no more of it or no room.
    pub(super) fn answer(&self, wire: &dyn Wire, creditor: u32) -> Result<Sent, Fault> {
        let pe = creditor as usize;
        loop {
            let next = self.peer(pe).debts().next();
            let (sent, answer) = match next {
                None => return Ok(Sent::Done),
                Some(Answer::Loan) => {
                    let loan = self.lend(wire, creditor);
                    let bytes = message::LOAN_BYTES;
                    let sent = wire.try_send(pe, bytes, &mut |buffer| {
                        message::write_loan(buffer, self.me, loan);
                    });
                    (sent, Answer::Loan)
                }
                Some(Answer::Batch(batch)) => {
                    let sent = wire.try_send(pe, batch.bytes(), &mut |buffer| batch.write(self.me, buffer));
                    (sent, Answer::Batch(batch))
                }
                Some(Answer::Data(read)) => {
                    let flaw = &mut None;
                    let bytes = message::BEFORE_ANSWER + read.pattern.bytes();
                    let sent = wire.try_send(pe, bytes, &mut |buffer| {
                        let data = message::write_data(buffer, self.me, read.request);
                        *flaw = self.pack(&read, data).err();
                    });
                    if let Some(flaw) = *flaw {
                        return Err(Fault { from: Some(creditor), bytes: 0, flaw });
                    }
                    (sent, Answer::Data(read))
                }
            };
            if sent == Sent::Full {
                self.peer(pe).debts().put_back(&answer);
                return Ok(Sent::Full);
            }
        }
    }

    /// What is lent to a PE, if there is something.
    fn lend(&self, wire: &dyn Wire, borrower: u32) -> Option<Loan> {
        let number = self.borrowers.lend(borrower, self.limits.loans)?;
        let place = wire.lend(number)?;
        Some(Loan { first: (number * SLOTS) as u32, place })
    }

    /// Packs blocks of this PE into as many bytes.
    fn pack(&self, read: &Read, data: &mut [u8]) -> Result<(), Flaw> {
        let Read { segment, offset, pattern, .. } = read;
        let memory = Memory(self.segments());
        let (_, source) = memory.at(Spot { segment: *segment, offset: *offset }, pattern.hulls().1)?;
        assert_eq!(data.len(), pattern.bytes(), "a buffer has the size that was asked for");
        let plan = Plan::of(*pattern, 1, Algorithm::Auto, &strided::settings().thresholds);
        // SAFETY: the blocks lie in the hull, which is registered while `memory` is borrowed; packed, they are as
        // many bytes as `data` has, and disjoint, as `Message::read` packs them.
        unsafe { strided::execute_later(&plan, data.as_mut_ptr(), source) };
        Ok(())
    }
}
