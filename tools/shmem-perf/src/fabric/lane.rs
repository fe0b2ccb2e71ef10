//! One endpoint of the bare program, and what is done through it.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use shmem_core::libfabric::bindings::{FI_DELIVERY_COMPLETE, FI_EAGAIN, FI_INJECT, fi_msg_rma, fi_rma_iov};
use shmem_core::libfabric::{Endpoint, Poster, Reports};

use super::bare::{Bare, BareError, Peer};

/// Entries of a completion queue: those of errors, and what a provider adds of its own.
const QUEUE: usize = 1024;

/// Looks at the counter before each one at the counter of errors.
const LOOKS: u32 = 4096;

/// An endpoint with its queue and its counter: operations of one thread, complete when the counter says so.
#[derive(Debug)]
pub struct Lane {
    port: Arc<Port>,
    issued: Cell<u64>,
}

/// What any thread may drive.
#[derive(Debug)]
pub struct Port {
    pub(super) endpoint: Endpoint,
    pub(super) bare: Arc<Bare>,
}

impl Lane {
    /// Opens an endpoint.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn open(bare: &Arc<Bare>) -> Result<Self, BareError> {
        let open = |sleeps| Endpoint::open(bare.addresses(), QUEUE, sleeps, Reports::Asked);
        // Providers without anything to sleep on drive themselves by looking.
        let endpoint = open(true).or_else(|_| open(false)).map_err(|refused| bare.failed(refused))?;
        let port = Port { endpoint, bare: Arc::clone(bare) };
        Ok(Self { port: Arc::new(port), issued: Cell::new(0) })
    }

    /// What any thread may drive.
    pub fn port(&self) -> &Arc<Port> {
        &self.port
    }

    /// Its address, as other processes enter it.
    pub(super) fn name(&self) -> Result<Vec<u8>, BareError> {
        self.port.endpoint.name().map_err(|refused| self.port.bare.failed(refused))
    }

    /// Writes `bytes` bytes from `here` in this process's memory to `there` in the peer's.
    ///
    /// # Panics
    ///
    /// If they are not registered here, or the provider fails.
    #[inline]
    pub fn put(&self, to: &Peer, there: usize, here: usize, bytes: usize) {
        let bare = &*self.port.bare;
        let iov = libc::iovec { iov_base: bare.at(here, bytes).cast(), iov_len: bytes };
        let mut descriptor = bare.descriptor();
        let rma = fi_rma_iov { addr: to.base + there as u64, len: bytes, key: to.key };
        let message = rma_message(&iov, &mut descriptor, &rma, to);
        let inject = if bytes <= bare.inject_size() { FI_INJECT } else { 0 };
        let flags = u64::from(FI_DELIVERY_COMPLETE | inject);
        let poster = self.endpoint();
        // SAFETY: the message names registered memory, here and there; both stay until the job ends.
        self.issue("fi_writemsg", || unsafe { poster.writemsg(&message, flags) });
    }

    /// Reads `bytes` bytes from `there` in the peer's memory to `here` in this process's.
    ///
    /// # Panics
    ///
    /// As [`put`](Self::put).
    #[inline]
    pub fn get(&self, from: &Peer, there: usize, here: usize, bytes: usize) {
        let bare = &*self.port.bare;
        let iov = libc::iovec { iov_base: bare.at(here, bytes).cast(), iov_len: bytes };
        let mut descriptor = bare.descriptor();
        let rma = fi_rma_iov { addr: from.base + there as u64, len: bytes, key: from.key };
        let message = rma_message(&iov, &mut descriptor, &rma, from);
        let poster = self.endpoint();
        // SAFETY: the message names registered memory, here and there; both stay until the job ends.
        self.issue("fi_readmsg", || unsafe { poster.readmsg(&message, 0) });
    }

    /// Waits until all that was issued is complete: written ones are visible at the peer, read ones here.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    #[inline]
    pub fn quiet(&self) {
        let mut looks = 0_u32;
        while self.port.endpoint.completed() < self.issued.get() {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                self.port.progress();
            }
        }
    }

    pub(super) fn bare(&self) -> &Bare {
        &self.port.bare
    }

    #[inline]
    pub(super) fn endpoint(&self) -> Poster<'_> {
        self.port.endpoint.poster()
    }

    #[inline]
    pub(super) fn issue(&self, name: &'static str, mut call: impl FnMut() -> isize) {
        loop {
            match call() {
                0 => break,
                code if code == -(FI_EAGAIN as isize) => self.port.progress(),
                answer => panic!("{}", self.port.bare.gone_wrong(name, answer as i64)),
            }
        }
        self.issued.set(self.issued.get() + 1);
    }
}

impl Port {
    /// Does what has come to be done.
    ///
    /// # Panics
    ///
    /// If an operation has failed.
    pub fn progress(&self) {
        let mut room = [const { MaybeUninit::uninit() }; 8];
        if let Err(answer) = self.endpoint.read(&mut room) {
            self.fail(answer);
        }
    }

    #[cold]
    fn fail(&self, answer: isize) -> ! {
        let error = self.endpoint.read_error().map_or(answer as i64, |entry| entry.err.into());
        panic!("{}", self.bare.gone_wrong("an operation", error));
    }
}

fn rma_message(iov: &libc::iovec, descriptor: &mut *mut c_void, rma: &fi_rma_iov, peer: &Peer) -> fi_msg_rma {
    fi_msg_rma {
        msg_iov: ptr::from_ref(iov),
        desc: ptr::from_mut(descriptor),
        iov_count: 1,
        addr: peer.address,
        rma_iov: ptr::from_ref(rma),
        rma_iov_count: 1,
        context: ptr::null_mut(),
        data: 0,
    }
}
