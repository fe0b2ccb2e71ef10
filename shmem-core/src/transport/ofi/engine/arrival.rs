//! The target's side, which carries out messages that have arrived, and answers them.

use core::sync::atomic::Ordering;
use std::sync::{Arc, RwLockReadGuard};

use super::super::streams::Due;
use super::acknowledgements::{Acknowledged, Answer, Batch, Found, Read};
use super::bounce_slots::Grant;
use super::flow_control::{Arriving, Destination};
use super::message::{self, Address, INDEX, List, Message, Sender, Task};
use super::wire::{Malformed, MessageError, Sent, Wire};
use super::{Engine, Peer, SLOTS, token};
use crate::planted_fault::mutant;
use crate::segment_table::MAX_SEGMENTS;
use crate::shared;
use crate::strided::{self, Pattern, TransferPlan};
use crate::transport::indexed::kernel::Near;
use crate::transport::indexed::{Beyond, Listed};
use crate::transport::target::Target;
use crate::transport::{Channel, ListRequest, SignalOp, Width};

/// The registered segments, locked so that they stay registered.
struct Memory<'a>(RwLockReadGuard<'a, [Option<Target>; MAX_SEGMENTS]>);

impl Memory<'_> {
    fn target(&self, segment: u32) -> Result<Target, Malformed> {
        self.0.get(segment as usize).copied().flatten().ok_or(Malformed::Segment(segment))
    }

    /// The segment that contains `bytes` bytes at a place, and the address of these bytes.
    fn at(&self, Address { segment, offset }: Address, bytes: usize) -> Result<(Target, *mut u8), Malformed> {
        let target = self.target(segment)?;
        let address = target.address(offset, bytes).ok_or(Malformed::Bounds { segment, offset, bytes })?;
        Ok((target, address))
    }

    fn signal(&self, spot: Address) -> Result<Target, Malformed> {
        let (target, _) = self.at(spot, Width::W8.bytes())?;
        if spot.offset.is_multiple_of(8) { Ok(target) } else { Err(Malformed::Alignment(spot.offset)) }
    }
}

impl Engine {
    /// Carries out a message that has arrived. [`drain`](Self::drain) sends its answer. A message that no PE of this job has sent
    /// is dropped and [counted](Self::strangers). Fails if the token is right, but no engine can have sent the message. Then the
    /// job must end.
    pub(crate) fn arrived(&self, wire: &dyn Wire, bytes: &[u8]) -> Result<(), MessageError> {
        self.take(wire, Sender::of(bytes), bytes, None)
    }

    /// Carries out a message that was written to a bounce slot of this PE. `token` was at [`TOKEN`](super::TOKEN) of the message.
    /// The caller has replaced it there by zeroes, so that the message is carried out once. Fails as [`arrived`](Self::arrived),
    /// and if the slot was not lent to the sender.
    pub(crate) fn landed(
        &self,
        wire: &dyn Wire,
        slot: u32,
        token: u64,
        bytes: &[u8],
    ) -> Result<(), MessageError> {
        self.take(wire, Sender::of(bytes).map(|from| Sender { token, ..from }), bytes, Some(slot))
    }

    /// Counts a message that no PE of this job has sent.
    pub(crate) fn ignore(&self) {
        self.strangers.fetch_add(1, Ordering::Relaxed);
    }

    fn take(
        &self,
        wire: &dyn Wire,
        from: Option<Sender>,
        bytes: &[u8],
        slot: Option<u32>,
    ) -> Result<(), MessageError> {
        let Some(Sender { pe: from, .. }) = from.filter(|from| self.is_authentic(*from)) else {
            self.ignore();
            return Ok(());
        };
        self.carry_out(wire, from, bytes, slot).map_err(|flaw| MessageError {
            from,
            bytes: bytes.len(),
            flaw,
        })
    }

    /// Whether a message has the token of its sender. The comparison, one instruction, takes the same time for all values.
    pub(super) fn is_authentic(&self, from: Sender) -> bool {
        if from.pe as usize >= self.pes {
            return false;
        }
        // State for a sender is made after this check, because until then the sender may be no PE of the job.
        let met = self.met(from.pe as usize);
        let expected = met.map_or_else(|| token(&self.secret, from.pe, self.me), |peer| peer.receives);
        from.token == expected
    }

    fn carry_out(
        &self,
        wire: &dyn Wire,
        from: u32,
        bytes: &[u8],
        slot: Option<u32>,
    ) -> Result<(), Malformed> {
        let (number, message, data) = Message::read(bytes, self.limits.longest())?;
        // A sender without an address cannot be answered.
        if from == self.me || !wire.reaches(from as usize) {
            return Err(Malformed::Sender);
        }
        let peer = self.peer(from as usize);
        let slots = slot.map_or(Ok(0), |slot| self.borrowers.bit(slot, from))?;
        let mut is_late = false;
        let answer = match message {
            Message::Put { at, pattern, signal, is_patient } => {
                self.write(at, &pattern, data, signal)?;
                // Not late if the message was in a slot, because the sender needs the slot back.
                is_late = is_patient && slot.is_none();
                None
            }
            Message::List(list, Task::Change(change, false)) => {
                self.with_elements(list, |words| words.change(change, None))?;
                None
            }
            Message::List(list, Task::Place) => {
                self.with_elements(list, |elements| elements.place(data))?;
                None
            }
            // Messages of other kinds are not written to slots.
            _ if slot.is_some() => return Err(Malformed::Slot(slot.unwrap_or_default())),
            Message::Get { at, pattern } => {
                if message::BEFORE_ANSWER + pattern.bytes() > self.limits.message {
                    return Err(Malformed::Blocks);
                }
                Memory(self.segments.read()).at(at, pattern.hulls().1)?;
                Some(Answer::Read(Read { request: number, from: at, pattern }))
            }
            Message::List(list, Task::Change(change, _)) => {
                Some(self.find(number, list, |words, before| words.change(change, Some(before)))?)
            }
            Message::List(list, Task::Pick) => {
                Some(self.find(number, list, |elements, into| elements.pick(into))?)
            }
            Message::Data(_) => return self.data(peer, number, data),
            Message::Answers { acknowledged, slots } => return self.answered(peer, acknowledged, slots),
            Message::Borrow => Some(Answer::Grant),
            Message::Grant(grant) => {
                peer.borrowed.lock().answered(grant)?;
                return peer.requests.lock().answered(1);
            }
        };
        let must_list = match answer {
            Some(answer) => peer.pending.lock().answer(answer),
            None => peer.pending.lock().acknowledge(number, slots, is_late, &self.limits),
        };
        if must_list {
            self.enlist(from);
        } else if is_late {
            self.lingers.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Unpacks the data of a put, then changes its signal.
    fn write(
        &self,
        to: Address,
        pattern: &Pattern,
        data: &[u8],
        signal: Option<(Address, SignalOp)>,
    ) -> Result<(), Malformed> {
        let memory = Memory(self.segments.read());
        if let Some((spot, _)) = signal {
            memory.signal(spot)?;
        }
        if pattern.block() > 0 {
            let (target, _) = memory.at(to, pattern.hulls().0)?;
            target.unpack(to.offset, pattern, data);
        }
        if let Some((spot, op)) = signal {
            memory.signal(spot)?.update(spot.offset, Width::W8, op.into());
        }
        Ok(())
    }

    /// The answer to a list that requests values. `find` writes the values of the list's elements to the answer.
    fn find(
        &self,
        request: u32,
        list: List<'_>,
        find: impl FnOnce(Listed<'_>, &mut [u8]),
    ) -> Result<Answer, Malformed> {
        let bytes = list.bytes();
        if bytes > self.limits.answer() {
            return Err(Malformed::Elements);
        }
        let mut found = Found::new(request, bytes);
        self.with_elements(list, |elements| find(elements, found.bytes_mut()))?;
        Ok(Answer::Found(found))
    }

    /// Calls `work` with the elements of a list. Fails if an element is not in registered memory.
    fn with_elements(&self, list: List<'_>, work: impl FnOnce(Listed<'_>)) -> Result<(), Malformed> {
        let List { first: Address { segment, offset }, size, indices } = list;
        // Copied, because another PE could change indices in a slot between two reads. A list of one element allocates nothing.
        let index = |index: &[u8; INDEX]| u32::from_le_bytes(*index);
        let (one, many): ([u32; 1], Vec<u32>);
        let indices = match indices {
            [only] => {
                one = [index(only)];
                &one[..]
            }
            all => {
                many = all.iter().map(index).collect();
                &many
            }
        };
        let memory = Memory(self.segments.read());
        let of = |Beyond { bytes }| {
            bytes.map_or(Malformed::Elements, |bytes| Malformed::Bounds { segment, offset, bytes })
        };
        work(memory.target(segment)?.listed(offset, size, indices).map_err(of)?);
        Ok(())
    }

    fn data(&self, peer: &Peer, request: u32, data: &[u8]) -> Result<(), Malformed> {
        let (arriving, channel, destination) = peer.requests.lock().take(request)?;
        match destination {
            Destination::Blocks { into, pattern } if data.len() == pattern.bytes() => {
                let plan = TransferPlan::auto(pattern);
                // SAFETY: until the request is finished, all blocks from `into` on are writable and disjoint (`get`). Only the
                // holder of `arriving` finishes it, by `self.finish` below. Before that the request is neither withdrawn nor
                // answered again. `data` is private memory of `pattern.bytes()` bytes (guard).
                unsafe { strided::execute_dyn(&plan, into, data.as_ptr()) };
            }
            Destination::Elements { into, size, count, positions } if data.len() == count * size => {
                match positions {
                    // SAFETY: until the request is finished, `count` elements from `into` on are writable (`list`). Only the holder
                    // of `arriving` finishes it, by `self.finish` below. Before that the request is neither withdrawn nor answered
                    // again.
                    None => unsafe { shared::copy(into, data.as_ptr(), data.len()) },
                    Some(mut positions) => {
                        if mutant("answers-in-another-order")
                            && let Some([first, second, ..]) = Arc::get_mut(&mut positions)
                        {
                            core::mem::swap(first, second);
                        }
                        let list = Near { first: into, size, indices: &positions };
                        // SAFETY: `data` has `count` elements (guard). There are `count` positions, with a writable element at each
                        // until the request is finished (caller of `Transport::list`). Only the holder of `arriving` finishes it,
                        // by `self.finish` below.
                        unsafe { list.carry_out(ListRequest::Place(data.as_ptr()), None, || ()) };
                    }
                }
            }
            Destination::Blocks { .. } | Destination::Elements { .. } => return Err(Malformed::Length),
        }
        self.finish(peer, arriving, channel)
    }

    fn answered(&self, peer: &Peer, acknowledged: &[u8], slots: u32) -> Result<(), Malformed> {
        peer.borrowed.lock().give_back(slots)?;
        for one in acknowledged.as_chunks::<8>().0 {
            let Acknowledged { channel, count } = bytemuck::cast(*one);
            // The window is updated before the channel may become quiet, because a thread that finds its channel quiet may send at
            // once.
            peer.requests.lock().answered(count)?;
            let answered = self.streams.answered(Channel(channel), Due::Acknowledgement, count.into());
            answered.ok_or(Malformed::Answer)?;
        }
        Ok(())
    }

    fn finish(&self, peer: &Peer, arriving: Arriving, channel: Channel) -> Result<(), Malformed> {
        peer.requests.lock().finish(arriving);
        self.streams.answered(channel, Due::Result, 1).ok_or(Malformed::Answer)
    }

    /// Sends PE `owed` its pending answers, until none is left, or the wire has no room.
    pub(super) fn answer(&self, wire: &dyn Wire, owed: u32) -> Result<Sent, MessageError> {
        let pe = owed as usize;
        loop {
            let next = self.peer(pe).pending.lock().next();
            let Some(answer) = next else { return Ok(Sent::Done) };
            let (message, request) = match &answer {
                Answer::Batch(Batch { acknowledged, count, slots }) => {
                    let acknowledged = bytemuck::cast_slice(&acknowledged[..*count]);
                    (Message::Answers { acknowledged, slots: *slots }, 0)
                }
                Answer::Grant => (Message::Grant(self.lend(wire, owed)), 0),
                Answer::Read(read) => (Message::Data(read.pattern.bytes()), read.request),
                Answer::Found(found) => (Message::Data(found.bytes().len()), found.request),
            };
            let packed = &mut Ok(());
            let fill = &mut |data: &mut [u8]| match &answer {
                Answer::Read(read) => *packed = self.pack(read, data),
                Answer::Found(found) => data.copy_from_slice(found.bytes()),
                Answer::Batch(_) | Answer::Grant => {}
            };
            let sent = self.hand_over(wire, pe, request, &message, fill, false);
            packed.map_err(|flaw| MessageError { from: owed, bytes: 0, flaw })?;
            if sent == Sent::Full {
                self.peer(pe).pending.lock().put_back(answer);
                return Ok(Sent::Full);
            }
        }
    }

    /// The grant of bounce slots for a PE, if there is memory for it.
    fn lend(&self, wire: &dyn Wire, borrower: u32) -> Option<Grant> {
        let number = self.borrowers.lend(borrower, self.limits.grants)?;
        let region = wire.lend(number)?;
        Some(Grant { first: (number * SLOTS) as u32, region })
    }

    /// Packs blocks of this PE's memory into `data`, which they fill.
    fn pack(&self, read: &Read, data: &mut [u8]) -> Result<(), Malformed> {
        let (memory, pattern) = (Memory(self.segments.read()), &read.pattern);
        let (_, source) = memory.at(read.from, pattern.hulls().1)?;
        let plan = TransferPlan::auto(*pattern);
        // SAFETY: the blocks are in the pattern's hull, which stays registered while `memory` is borrowed. Packed, they are
        // disjoint (`Message::read`), and have the length of `data` (`answer`, `Message::write`).
        unsafe { strided::execute_dyn(&plan, data.as_mut_ptr(), source) };
        Ok(())
    }
}
