//! The wire of the engine: messages between the first unit (endpoint) of each PE.
//!
//! [Buffers](super::buffers) are posted as receives at the start, and again after the engine has carried out their message. Short
//! messages are injected, without a buffer. Long messages are written to a slot that the target has [lent](super::lent_buffers).
//! The target's queue reports the slot (`FI_REMOTE_CQ_DATA`) after all bytes have arrived.

use core::cell::RefCell;
use core::ffi::c_void;
use core::sync::atomic::Ordering;

use super::Fabric;
use super::backoff::Backoff;
use super::engine::{BounceSlot, Region, Sent, Wire};
use super::lent_buffers::Written;
use super::operation::{LocalMemory, RemoteMemory};
use super::posting::Posting;
use crate::libfabric::bindings::*;
use crate::libfabric::calls;

/// `FI_ADDR_UNSPEC`, which bindgen leaves out, because it is a number with a cast.
const ANYBODY: fi_addr_t = fi_addr_t::MAX;

/// Upper limit on the bytes of an injected message.
const SHORT: usize = 256;

/// A message that has arrived, for [`Fabric::take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A message in a receive buffer.
    Sent { number: usize, bytes: usize },
    /// A message in a bounce slot, as the data of the write says. The data is checked later.
    Written(Written),
}

impl Fabric {
    /// Posts buffers as receives, as far as the provider has room.
    pub(super) fn listen(&self) {
        let buffers = &self.buffers;
        if !buffers.wait() {
            return;
        }
        let mut unposted = buffers.unposted.lock();
        let unit = self.first().unit;
        let (endpoint, bytes, description) = (unit.endpoint.as_ptr(), buffers.message, buffers.description());
        while let Some(&number) = unposted.last() {
            let (context, to) = (buffers.context(number), buffers.bytes(number).cast());
            let held = unit.lock();
            // SAFETY: the buffer, and its context in front of it, belong to the provider until the message has arrived.
            let answer = unsafe { calls::recv(endpoint, to, bytes, description, ANYBODY, context) };
            drop(held);
            match answer {
                0 => _ = unposted.pop(),
                again if again == -(FI_EAGAIN as isize) => break,
                error => self.fail("to receive", &self.domain.library().describe(error as i64)),
            }
        }
        buffers.waiting.store(unposted.len(), Ordering::Relaxed);
    }

    /// Makes the engine carry out messages that have arrived, and answer them.
    pub(super) fn take(&self, arrivals: &[Arrival]) {
        let wire = self.wire();
        for &arrival in arrivals {
            self.buffers.moved.fetch_add(1, Ordering::Relaxed);
            let carried_out = match arrival {
                Arrival::Sent { number, bytes } => {
                    let start = self.buffers.bytes(number).cast_const();
                    // SAFETY: the provider has written `bytes` bytes, and does not use the buffer until it is posted again.
                    let message = unsafe { core::slice::from_raw_parts(start, bytes) };
                    let carried_out = self.engine.arrived(&wire, message);
                    self.buffers.keep(number);
                    carried_out
                }
                Arrival::Written(written) => match self.lent_buffers.message(written) {
                    Some((message, token)) => self.engine.landed(&wire, written.slot, token, message),
                    None => {
                        self.engine.ignore();
                        Ok(())
                    }
                },
            };
            carried_out.unwrap_or_else(|fault| self.end(fault.to_string()));
        }
        self.listen();
        self.engine.drain(&wire).unwrap_or_else(|fault| self.end(fault.to_string()));
        self.send_signals();
    }

    /// Sends acknowledgements that linger (are sent late).
    pub(super) fn flush_answers(&self) {
        self.engine.flush_answers(&self.wire()).unwrap_or_else(|fault| self.end(fault.to_string()));
    }

    /// The engine's wire, for an operation that may wait for room or for an answer.
    pub(super) fn wire(&self) -> FabricWire<'_> {
        FabricWire { fabric: self, backoff: RefCell::new(Backoff::new(self)) }
    }

    /// Encodes a message in a free buffer, and passes it to `hand_over`. The buffer is free again if there was no room, or when
    /// the operation with its context is complete.
    fn send_buffer(
        &self,
        bytes: usize,
        write: &mut dyn FnMut(&mut [u8]),
        hand_over: impl FnOnce(LocalMemory, *mut c_void) -> Sent,
    ) -> Sent {
        let buffers = &self.buffers;
        let Some(number) = buffers.take() else { return Sent::Full };
        let from = buffers.bytes(number);
        assert!(bytes <= buffers.message, "a message of {bytes} bytes fits no buffer");
        // SAFETY: nobody else uses the buffer until it is given back.
        write(unsafe { core::slice::from_raw_parts_mut(from, bytes) });
        let sent =
            hand_over(LocalMemory { from, description: buffers.description() }, buffers.context(number));
        if sent == Sent::Full {
            buffers.free.lock().push(number);
        }
        sent
    }

    /// # Safety
    ///
    /// The bytes must be readable until the message is complete, or until this returns if they are injected.
    pub(super) unsafe fn send(
        &self,
        pe: usize,
        from: *mut u8,
        bytes: usize,
        mut description: *mut c_void,
        context: *mut c_void,
        flags: u64,
    ) -> Sent {
        let memory = libc::iovec { iov_base: from.cast(), iov_len: bytes };
        let message = fi_msg {
            msg_iov: &raw const memory,
            desc: &raw mut description,
            iov_count: 1,
            addr: self.peer(pe),
            context,
            data: 0,
        };
        let unit = self.first().unit;
        let held = unit.lock();
        // SAFETY: the bytes are readable (caller). The context is in front of a buffer, or null.
        let answer = unsafe { calls::sendmsg(unit.endpoint.as_ptr(), &raw const message, flags) };
        drop(held);
        match answer {
            0 => Sent::Done,
            again if again == -(FI_EAGAIN as isize) => Sent::Full,
            error => self.refuse_message(pe, bytes, error),
        }
    }

    #[cold]
    fn refuse_message(&self, pe: usize, bytes: usize, answer: isize) -> ! {
        let what = format!("a message of {bytes} bytes to {}", self.name_of(pe));
        self.fail(&what, &self.domain.library().describe(answer as i64))
    }
}

/// The wire, for one operation of a thread that may wait for room or for an answer.
pub(super) struct FabricWire<'f> {
    fabric: &'f Fabric,
    backoff: RefCell<Backoff<'f>>,
}

impl Wire for FabricWire<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let Fabric { domain, .. } = self.fabric;
        if bytes <= SHORT.min(domain.demands.inject) {
            let mut short = [0; SHORT];
            write(&mut short[..bytes]);
            let (from, none) = (short.as_mut_ptr(), core::ptr::null_mut());
            // SAFETY: the provider copies the bytes (FI_INJECT).
            return unsafe { self.fabric.send(pe, from, bytes, none, none, FI_INJECT.into()) };
        }
        self.fabric.send_buffer(bytes, write, |local, context| {
            let LocalMemory { from, description } = local;
            // SAFETY: the buffer is given back when the provider reports the operation.
            unsafe { self.fabric.send(pe, from, bytes, description, context, FI_COMPLETION.into()) }
        })
    }

    fn reaches(&self, pe: usize) -> bool {
        self.fabric.domain.knows(pe)
    }

    fn lend(&self, grant: usize) -> Option<Region> {
        let Fabric { lent_buffers, domain, .. } = self.fabric;
        lent_buffers.lend(grant, domain, &self.fabric.first().unit.endpoint)
    }

    fn try_write(&self, pe: usize, slot: BounceSlot, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let Self { fabric, .. } = self;
        let Region { address, key, mark } = slot.region;
        let at =
            RemoteMemory { peer: fabric.peer(pe), address, key }.plus(fabric.lent_buffers.offset(slot.index));
        let data = Written { slot: slot.number, bytes, mark }.encoded();
        fabric.send_buffer(bytes, write, |local, context| {
            let port = fabric.first();
            let (endpoint, description) = (&port.unit.endpoint, core::ptr::null_mut());
            // Delivery is not requested, because the target answers when it has carried out the message.
            let posting =
                Posting { endpoint, record: None, description, context, flags: FI_COMPLETION.into() };
            // SAFETY: the buffer is given back when the provider reports the operation, the slot when the target has answered.
            let write = || unsafe { at.transfer(&posting, true, local, bytes, (FI_REMOTE_CQ_DATA, data)) };
            match port.post_once(pe, write) {
                Ok(posted) => posted.map_or(Sent::Full, |()| Sent::Done),
                Err(answer) => fabric.refuse_message(pe, bytes, answer),
            }
        })
    }

    fn progress(&self) {
        self.fabric.first().progress();
        let moved = self.fabric.buffers.moved.load(Ordering::Relaxed);
        self.backoff.borrow_mut().pause(|| moved, || self.fabric.awaited("room for a message"));
    }
}
