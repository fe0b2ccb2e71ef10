//! One endpoint of the bare program, and what is done through it.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use shmem_core::libfabric::bindings::{
    FI_ATOMIC_WRITE, FI_CSWAP, FI_DELIVERY_COMPLETE, FI_EAGAIN, FI_INJECT, FI_SUM, FI_UINT64, fi_ioc,
    fi_msg_atomic, fi_msg_rma, fi_rma_ioc, fi_rma_iov,
};
use shmem_core::libfabric::{Endpoint, Poster, Reports};

use super::bare::{Bare, Peer};

/// Entries of a completion queue: those of errors, and what a provider adds of its own.
const QUEUE: usize = 1024;

/// Looks at the counter before each one at the counter of errors.
const LOOKS: u32 = 4096;

/// How long a thread sleeps at most: it looks then whether it is to end.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// An endpoint with its queue and its counter: operations of one thread, complete when the counter says so.
#[derive(Debug)]
pub(crate) struct Lane {
    port: Arc<Port>,
    issued: Cell<u64>,
}

/// What any thread may drive.
#[derive(Debug)]
pub(crate) struct Port {
    endpoint: Endpoint,
    bare: Arc<Bare>,
}

impl Lane {
    /// Opens an endpoint.
    pub(crate) fn open(bare: &Arc<Bare>) -> Result<Self, String> {
        let open = |sleeps| Endpoint::open(&bare.addresses, QUEUE, sleeps, Reports::Asked);
        // Providers without anything to sleep on drive themselves by looking.
        let endpoint = open(true).or_else(|_| open(false)).map_err(|refused| bare.failed(refused))?;
        Ok(Self { port: Arc::new(Port { endpoint, bare: Arc::clone(bare) }), issued: Cell::new(0) })
    }

    /// Its address, as other processes enter it.
    pub(super) fn name(&self) -> Result<Vec<u8>, String> {
        self.port.endpoint.name().map_err(|refused| self.port.bare.failed(refused))
    }

    /// Writes `bytes` bytes from `here` in this process's memory to `there` in the peer's.
    #[inline]
    pub(crate) fn put(&self, to: &Peer, there: usize, here: usize, bytes: usize) {
        let inject = if bytes <= self.port.bare.inject_size { FI_INJECT } else { 0 };
        self.transfer(to, there, here, bytes, |poster, message| {
            // SAFETY: the message names registered memory, here and there; both stay until the job ends.
            self.issue("fi_writemsg", || unsafe {
                poster.writemsg(message, u64::from(FI_DELIVERY_COMPLETE | inject))
            });
        });
    }

    /// Reads `bytes` bytes from `there` in the peer's memory to `here` in this process's.
    #[inline]
    pub(crate) fn get(&self, from: &Peer, there: usize, here: usize, bytes: usize) {
        self.transfer(from, there, here, bytes, |poster, message| {
            // SAFETY: the message names registered memory, here and there; both stay until the job ends.
            self.issue("fi_readmsg", || unsafe { poster.readmsg(message, 0) });
        });
    }

    #[inline(always)]
    fn transfer(
        &self,
        peer: &Peer,
        there: usize,
        here: usize,
        bytes: usize,
        post: impl FnOnce(Poster<'_>, &fi_msg_rma),
    ) {
        let bare = self.bare();
        let iov = libc::iovec { iov_base: bare.at(here, bytes).cast(), iov_len: bytes };
        let mut descriptor: *mut c_void = bare.description;
        let rma = fi_rma_iov { addr: peer.base + there as u64, len: bytes, key: peer.key };
        let message = fi_msg_rma {
            msg_iov: &raw const iov,
            desc: &raw mut descriptor,
            iov_count: 1,
            addr: peer.address,
            rma_iov: &raw const rma,
            rma_iov_count: 1,
            context: ptr::null_mut(),
            data: 0,
        };
        post(self.port.endpoint.poster(), &message);
    }

    /// Changes the word at `there` in the peer's memory by that at `here`, by one of [`WORD_OPERATIONS`]. What was there
    /// comes to the word behind the one at `here`; what is expected to be there stands behind that.
    #[inline]
    pub(crate) fn atomic(&self, operation: &str, to: &Peer, there: usize, here: usize) {
        let bare = self.bare();
        let word = |at: usize| fi_ioc { addr: bare.at(at, 8).cast(), count: 1 };
        let (operand, mut result, compare) = (word(here), word(here + 8), word(here + 16));
        let mut descriptors = [bare.description; 3];
        let [of_operand, of_result, of_compare] = &mut descriptors;
        let rma = fi_rma_ioc { addr: to.base + there as u64, count: 1, key: to.key };
        let message = |op, of_operand: &mut *mut c_void| fi_msg_atomic {
            msg_iov: &raw const operand,
            desc: ptr::from_mut(of_operand),
            iov_count: 1,
            addr: to.address,
            rma_iov: &raw const rma,
            rma_iov_count: 1,
            datatype: FI_UINT64,
            op,
            context: ptr::null_mut(),
            data: 0,
        };
        let poster = self.port.endpoint.poster();
        match operation {
            "add" => {
                let inject = if bare.inject_size < 8 { 0 } else { FI_INJECT };
                let (message, flags) =
                    (message(FI_SUM, of_operand), u64::from(FI_DELIVERY_COMPLETE | inject));
                // SAFETY: the message names aligned words of registered memory, here and there.
                self.issue("fi_atomicmsg", || unsafe { poster.atomicmsg(&message, flags) });
            }
            "compare-swap" => {
                let message = message(FI_CSWAP, of_operand);
                self.issue("fi_compare_atomicmsg", || {
                    let (compare, result) = ((&compare, &mut *of_compare), (&mut result, &mut *of_result));
                    // SAFETY: the message names aligned words of registered memory, here and there; so is the result, and
                    // what is expected is read during the call.
                    unsafe { poster.compare_atomicmsg(&message, compare, result, 0) }
                });
            }
            _ => {
                let message = message(if operation == "swap" { FI_ATOMIC_WRITE } else { FI_SUM }, of_operand);
                self.issue("fi_fetch_atomicmsg", || {
                    // SAFETY: the message names aligned words of registered memory, here and there; the result is a word of
                    // registered memory, too.
                    unsafe { poster.fetch_atomicmsg(&message, (&mut result, &mut *of_result), 0) }
                });
            }
        }
    }

    /// Waits until all that was issued is complete: written ones are visible at the peer, read ones here.
    #[inline]
    pub(crate) fn quiet(&self) {
        let mut looks = 0_u32;
        while self.port.endpoint.completed() < self.issued.get() {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                self.progress();
            }
        }
    }

    /// Does what has come to be done.
    pub(crate) fn progress(&self) {
        self.port.progress();
    }

    fn bare(&self) -> &Bare {
        &self.port.bare
    }

    #[inline]
    fn issue(&self, name: &'static str, mut call: impl FnMut() -> isize) {
        loop {
            match call() {
                0 => break,
                code if code == -(FI_EAGAIN as isize) => self.progress(),
                answer => panic!("{}", self.bare().gone_wrong(name, answer as i64)),
            }
        }
        self.issued.set(self.issued.get() + 1);
    }
}

/// Operations on words: all but `add` give what was there.
pub(crate) const WORD_OPERATIONS: [&str; 4] = ["fetch-add", "add", "swap", "compare-swap"];

impl Port {
    fn progress(&self) {
        let mut room = [const { MaybeUninit::uninit() }; 8];
        if let Err(answer) = self.endpoint.read(&mut room) {
            let error = self.endpoint.read_error().map_or(answer as i64, |entry| entry.err.into());
            panic!("{}", self.bare.gone_wrong("an operation", error));
        }
    }

    /// Sleeps until something may have come, if nothing has.
    fn rest(&self) {
        let Some(descriptor) = self.endpoint.descriptor() else {
            return std::thread::yield_now();
        };
        if self.endpoint.may_sleep() {
            let mut list = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
            // Woken, interrupted or late: it looks again.
            let _ = poll(&mut list, Some(&NAP));
        }
    }
}

/// A thread that drives an endpoint, until it is dropped, while its process does something else. It sleeps on the descriptor
/// of the queue; where the provider has none, it looks and yields.
#[derive(Debug)]
pub(crate) struct Attendant {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Attendant {
    /// Starts the thread.
    pub(crate) fn of(lane: &Lane) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (port, over) = (Arc::clone(&lane.port), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                port.progress();
                port.rest();
            }
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            // It has said why.
            std::process::abort();
        }
    }
}
