//! An endpoint of the bare program (the baseline over libfabric), and its operations.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use shmem_core::libfabric::bindings::{
    FI_DELIVERY_COMPLETE, FI_EAGAIN, FI_INJECT, FI_SUM, FI_UINT64, fi_ioc, fi_msg_atomic, fi_msg_rma,
    fi_rma_ioc, fi_rma_iov,
};
use shmem_core::libfabric::{Endpoint, calls};

use super::{Bare, Peer};

/// Size of the completion queue, in entries. Only errors are reported there.
const QUEUE: usize = 1024;

/// Number of polls of the completion counter for each poll of the queue.
const LOOKS: u32 = 4096;

/// The longest sleep of the progress thread, after which it checks whether to end.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// An endpoint with a queue and a completion counter. Only one thread may issue operations. Any thread may make progress.
#[derive(Debug)]
pub(crate) struct Lane {
    endpoint: Endpoint,
    bare: Arc<Bare>,
    issued: AtomicU64,
}

impl Lane {
    pub(crate) fn open(bare: &Arc<Bare>) -> Result<Self, String> {
        let open = |sleeps| Endpoint::open(&bare.addresses, QUEUE, sleeps);
        // Some providers have no wait object, so threads cannot sleep on their queues.
        let endpoint = open(true).or_else(|_| open(false)).map_err(|refused| bare.failed(refused))?;
        Ok(Self { endpoint, bare: Arc::clone(bare), issued: AtomicU64::new(0) })
    }

    pub(super) fn name(&self) -> Result<Vec<u8>, String> {
        self.endpoint.name().map_err(|refused| self.bare.failed(refused))
    }

    /// Writes `bytes` bytes from offset `here` of this process's memory to offset `there` of the peer's memory.
    #[inline]
    pub(crate) fn put(&self, to: &Peer, there: usize, here: usize, bytes: usize) {
        self.transfer(true, to, there, here, bytes);
    }

    /// Reads `bytes` bytes from offset `there` of the peer's memory to offset `here` of this process's memory.
    #[inline]
    pub(crate) fn get(&self, from: &Peer, there: usize, here: usize, bytes: usize) {
        self.transfer(false, from, there, here, bytes);
    }

    #[inline(always)]
    fn transfer(&self, is_put: bool, peer: &Peer, there: usize, here: usize, bytes: usize) {
        let bare = &*self.bare;
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
        let endpoint = self.endpoint.as_ptr();
        if is_put {
            let flags = FI_DELIVERY_COMPLETE | if bytes <= bare.inject_size { FI_INJECT } else { 0 };
            // SAFETY: the message names registered memory of both processes, which stays mapped until the job ends.
            self.issue("fi_writemsg", || unsafe {
                calls::writemsg(endpoint, &raw const message, flags.into())
            });
        } else {
            // SAFETY: the message names registered memory of both processes, which stays mapped until the job ends.
            self.issue("fi_readmsg", || unsafe { calls::readmsg(endpoint, &raw const message, 0) });
        }
    }

    /// Adds the local word at `here` to the peer's word at `there`. Stores the old value to the local word after `here`.
    #[inline]
    pub(crate) fn fetch_add(&self, to: &Peer, there: usize, here: usize) {
        let bare = &*self.bare;
        let word = |at: usize| fi_ioc { addr: bare.at(at, 8).cast(), count: 1 };
        let (operand, mut result) = (word(here), word(here + 8));
        let [mut of_operand, mut of_result] = [bare.description; 2];
        let rma = fi_rma_ioc { addr: to.base + there as u64, count: 1, key: to.key };
        let message = fi_msg_atomic {
            msg_iov: &raw const operand,
            desc: &raw mut of_operand,
            iov_count: 1,
            addr: to.address,
            rma_iov: &raw const rma,
            rma_iov_count: 1,
            datatype: FI_UINT64,
            op: FI_SUM,
            context: ptr::null_mut(),
            data: 0,
        };
        // SAFETY: operand, result and remote word are aligned words of registered memory, which stays mapped until the job ends.
        self.issue("fi_fetch_atomicmsg", || unsafe {
            let endpoint = self.endpoint.as_ptr();
            calls::fetch_atomicmsg(endpoint, &raw const message, &raw mut result, &raw mut of_result, 1, 0)
        });
    }

    /// Waits until all issued operations are complete: written bytes are visible at the peer, read bytes in this process.
    #[inline]
    pub(crate) fn quiet(&self) {
        let mut looks = 0_u32;
        while self.endpoint.completed() < self.issued.load(Ordering::Relaxed) {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                self.progress();
            }
        }
    }

    #[inline]
    fn issue(&self, name: &'static str, mut call: impl FnMut() -> isize) {
        loop {
            match call() {
                0 => break,
                code if code == -(FI_EAGAIN as isize) => self.progress(),
                answer => self.lost(name, answer as c_int),
            }
        }
        // A load and a store are enough, because only one thread issues operations.
        self.issued.store(self.issued.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(crate) fn progress(&self) {
        let mut room = [const { MaybeUninit::uninit() }; 8];
        if let Err(answer) = self.endpoint.read(&mut room) {
            self.lost("an operation", self.endpoint.read_error(answer as c_int).err);
        }
    }

    fn lost(&self, call: &'static str, code: c_int) -> ! {
        let why = self.bare.addresses.domain().library().describe(code.into());
        panic!("{call} of provider `{}` failed: {why}", self.bare.provider)
    }

    /// Runs `body` while another thread makes progress on the endpoint. That thread sleeps on the queue's file descriptor, or
    /// yields if the provider has none.
    pub(crate) fn attended(&self, body: impl FnOnce()) {
        let is_over = AtomicBool::new(false);
        let attend = || {
            while !is_over.load(Ordering::Relaxed) {
                self.progress();
                match self.endpoint.descriptor() {
                    None => std::thread::yield_now(),
                    Some(descriptor) if self.endpoint.may_sleep() => {
                        let mut list = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
                        // The loop checks everything again, so the result of `poll` does not matter.
                        _ = poll(&mut list, Some(&NAP));
                    }
                    Some(_) => {}
                }
            }
        };
        /// Ends the progress thread when it is dropped, also by a panic of `body`.
        struct Over<'o>(&'o AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        std::thread::scope(|scope| {
            let _over = Over(&is_over);
            scope.spawn(attend);
            body();
        });
    }
}
