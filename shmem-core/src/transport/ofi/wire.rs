//! The wire of the engine: messages between the first units of all PEs.
//!
//! Buffers for what is sent and for what arrives lie in one piece of memory, each behind the room that providers
//! ask for. Those for arrivals are posted from the start on, and again when the engine has taken what was in
//! them. What is short enough is handed over at once, without a buffer.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Fabric;
use super::domain::Domain;
use super::engine::{Sent, Wire};
use super::error::OfiError;
use super::object::Object;
use super::pages::Pages;
use super::stall::Stall;
use crate::libfabric::bindings::*;
use crate::libfabric::calls;

/// Most buffers for what arrives, and for what is sent: what comes sooner than they are free waits in the
/// provider's. Where its queues are shorter there are fewer: half of a queue is for what is no message.
const MOST: usize = 32;

/// Entries of a completion queue that messages need.
pub(super) const COMPLETIONS: usize = 2 * MOST;

/// Most bytes that are handed over without a buffer.
const SHORT: usize = 256;

/// Bytes in front of a buffer: the provider's, and so many that buffers start on lines.
const HEAD: usize = 128;

const _: () = assert!(size_of::<fi_context2>() <= HEAD, "a provider's context lies in front of a buffer");

/// The buffers. Fields are closed in order.
pub(super) struct Buffers {
    registered: Option<Object<fid_mr>>,
    memory: Pages,
    /// Bytes of a message.
    message: usize,
    /// How many are for what arrives; the others are for what is sent.
    arrivals: usize,
    count: usize,
    /// To whom each buffer was sent last, for messages.
    receivers: Box<[AtomicU32]>,
    /// Buffers that may be used to send.
    free: Mutex<Vec<usize>>,
    /// Buffers that are to be posted, and how many these are.
    unposted: Mutex<Vec<usize>>,
    waiting: AtomicUsize,
    /// Messages that have arrived or left.
    moved: AtomicU64,
}

impl Buffers {
    /// Buffers for messages of at most `message` bytes.
    ///
    /// # Safety
    ///
    /// The domain must outlive them, and endpoints that use them be closed before.
    pub(super) unsafe fn new(domain: &Domain, message: usize) -> Result<Self, OfiError> {
        let half = |queue: usize| (queue / 2).clamp(1, MOST);
        let (arrivals, departures) = (half(domain.demands.receives), half(domain.demands.queue));
        let count = arrivals + departures;
        let bytes = stride(message) * count;
        let memory = Pages::of(bytes)?;
        let mut buffers = Self {
            registered: None,
            memory,
            message,
            arrivals,
            count,
            receivers: (0..count).map(|_| AtomicU32::new(0)).collect(),
            free: Mutex::new((arrivals..count).collect()),
            unposted: Mutex::new((0..arrivals).collect()),
            waiting: AtomicUsize::new(arrivals),
            moved: AtomicU64::new(0),
        };
        if domain.demands.local {
            // SAFETY: the memory is freed behind the registration.
            let registered = unsafe { domain.register_local((buffers.memory.start(), bytes)) };
            buffers.registered = Some(registered.map_err(|error| domain.refused("fi_mr_reg", error))?);
        }
        Ok(buffers)
    }

    fn context(&self, number: usize) -> *mut c_void {
        self.memory.start().wrapping_add(number * stride(self.message)).cast()
    }

    fn bytes(&self, number: usize) -> *mut u8 {
        self.memory.start().wrapping_add(number * stride(self.message) + HEAD)
    }

    fn description(&self) -> *mut c_void {
        self.registered.as_ref().map_or(core::ptr::null_mut(), |memory| {
            // SAFETY: registered memory that is open.
            unsafe { (*memory.raw()).mem_desc }
        })
    }

    /// What a completion is of, by what it carries back; `None`: of no message.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<Moved> {
        let bytes = (context as usize).checked_sub(self.memory.start() as usize)?;
        let (number, inside) = (bytes / stride(self.message), bytes % stride(self.message));
        if inside != 0 || number >= self.count {
            None
        } else if number < self.arrivals {
            Some(Moved::Arrived(Arrival { number, bytes: 0 }))
        } else {
            Some(Moved::Left(number))
        }
    }

    fn take(&self) -> Option<usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// A buffer is to be posted again.
    fn keep(&self, number: usize) {
        let mut unposted = self.unposted.lock().unwrap_or_else(PoisonError::into_inner);
        unposted.push(number);
        self.waiting.store(unposted.len(), Ordering::Relaxed);
    }

    /// Whether buffers wait for room to be posted.
    pub(super) fn wait(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// A buffer that was sent may be used again.
    pub(super) fn give_back(&self, number: usize) {
        self.moved.fetch_add(1, Ordering::Relaxed);
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(number);
    }

    /// To whom a buffer was sent.
    pub(super) fn receiver(&self, number: usize) -> usize {
        self.receivers[number].load(Ordering::Relaxed) as usize
    }

    /// A number that changes when a message has arrived or left.
    pub(super) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }
}

/// Bytes from one buffer to the next.
fn stride(message: usize) -> usize {
    HEAD + message.next_multiple_of(HEAD)
}

/// A message that has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// It is here.
    Arrived(Arrival),
    /// It was sent from this buffer.
    Left(usize),
}

/// A message that is here: to be given to [`Fabric::take`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    number: usize,
    bytes: usize,
}

impl Arrival {
    /// The same, of so many bytes.
    pub(super) fn of(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }
}

impl Fabric {
    /// Lets messages arrive, as far as there is room to.
    pub(super) fn listen(&self) {
        let buffers = &self.buffers;
        if !buffers.wait() {
            return;
        }
        let mut unposted = buffers.unposted.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(&number) = unposted.last() {
            if !self.post(number) {
                break;
            }
            unposted.pop();
        }
        buffers.waiting.store(unposted.len(), Ordering::Relaxed);
    }

    /// Whether a buffer was posted; otherwise there is no room for it yet.
    fn post(&self, number: usize) -> bool {
        let (buffers, unit) = (&self.buffers, self.first().unit);
        let (endpoint, context) = (unit.endpoint().raw(), buffers.context(number));
        let (to, bytes) = (buffers.bytes(number).cast(), buffers.message);
        let answer = unit.exclusively(|| {
            // SAFETY: an open endpoint; the buffer is the provider's until the message has arrived.
            unsafe { calls::recv(endpoint, to, bytes, buffers.description(), ANYBODY, context) }
        });
        match answer {
            0 => true,
            again if again == -(FI_EAGAIN as isize) => false,
            error => self.fail("to receive", &self.domain.library.describe(error as i64)),
        }
    }

    /// Has the engine carry out messages that are here, and answer.
    pub(super) fn take(&self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            self.buffers.moved.fetch_add(1, Ordering::Relaxed);
            let start = self.buffers.bytes(arrival.number).cast_const();
            // SAFETY: the provider has written so many bytes, and is done with the buffer until it is posted again.
            let message = unsafe { core::slice::from_raw_parts(start, arrival.bytes) };
            self.engine.arrived(message).unwrap_or_else(|fault| self.end(fault.to_string()));
            self.buffers.keep(arrival.number);
        }
        self.listen();
        self.engine.drain(self).unwrap_or_else(|fault| self.end(fault.to_string()));
    }

    /// The wire, for somebody who waits.
    pub(super) fn line(&self) -> Line<'_> {
        Line { fabric: self, stall: UnsafeCell::new(Stall::new(self)) }
    }
}

impl Wire for Fabric {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let demands = &self.domain.demands;
        if bytes <= SHORT.min(demands.inject) {
            let mut short = [0; SHORT];
            write(&mut short[..bytes]);
            let (from, none) = (short.as_mut_ptr(), core::ptr::null_mut());
            // SAFETY: the provider copies the bytes (FI_INJECT).
            return unsafe { self.send(pe, from, bytes, none, none, FI_INJECT.into()) };
        }
        let buffers = &self.buffers;
        let Some(number) = buffers.take() else { return Sent::Full };
        let from = buffers.bytes(number);
        assert!(bytes <= buffers.message, "a message of {bytes} bytes fits no buffer");
        // SAFETY: the buffer is ours until it is given back.
        write(unsafe { core::slice::from_raw_parts_mut(from, bytes) });
        buffers.receivers[number].store(pe as u32, Ordering::Relaxed);
        let (description, context) = (buffers.description(), buffers.context(number));
        // SAFETY: the buffer is given back when the provider says that it is done with it.
        let sent = unsafe { self.send(pe, from, bytes, description, context, FI_COMPLETION.into()) };
        if sent == Sent::Full {
            buffers.free.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        }
        sent
    }

    fn progress(&self) {
        self.first().progress();
    }
}

impl Fabric {
    /// # Safety
    ///
    /// The bytes must be readable until the message is complete, or until this returns if they are injected.
    unsafe fn send(
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
            addr: self.domain.peer(pe),
            context,
            data: 0,
        };
        let unit = self.first().unit;
        let answer = unit.exclusively(|| {
            // SAFETY: an open endpoint; the message is read during the call, the rest is the caller's promise.
            unsafe { calls::sendmsg(unit.endpoint().raw(), &raw const message, flags) }
        });
        match answer {
            0 => Sent::Done,
            again if again == -(FI_EAGAIN as isize) => Sent::Full,
            error => {
                let what = format!("a message of {bytes} bytes to {}", self.name_of(pe));
                self.fail(&what, &self.domain.library.describe(error as i64))
            }
        }
    }
}

/// The wire, for one operation of a thread that waits for room or for an answer.
pub(super) struct Line<'f> {
    fabric: &'f Fabric,
    /// Used inside [`progress`](Wire::progress) alone, which does not call itself.
    stall: UnsafeCell<Stall<'f>>,
}

impl Wire for Line<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        self.fabric.try_send(pe, bytes, write)
    }

    fn progress(&self) {
        Wire::progress(self.fabric);
        // SAFETY: one thread has this value, and nothing below comes back here.
        let stall = unsafe { &mut *self.stall.get() };
        let moved = self.fabric.buffers.moved();
        stall.pause(|| moved, || self.fabric.unanswered());
    }
}

impl Fabric {
    /// Who has not answered, in words.
    pub(super) fn unanswered(&self) -> String {
        let list: Vec<_> =
            self.engine.unanswered().map(|(pe, count)| format!("{count} of PE {pe}")).collect();
        match list[..] {
            [] => "room for a message".to_owned(),
            _ => format!("answers to messages: {}", list.join(", ")),
        }
    }
}

/// `FI_ADDR_UNSPEC`, which bindgen leaves out: a number with a cast.
const ANYBODY: fi_addr_t = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_lie_apart_and_behind_their_contexts() {
        for message in [512, 600, 64 << 10] {
            assert!(stride(message) >= HEAD + message && stride(message).is_multiple_of(HEAD));
        }
    }
}
