//! One endpoint of the bare program, and what is done through it.

use std::cell::Cell;
use std::ffi::c_void;
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use shmem_core::libfabric::bindings::{
    FI_CNTR_EVENTS_COMP, FI_CQ_FORMAT_CONTEXT, FI_DELIVERY_COMPLETE, FI_EAGAIN, FI_ENABLE, FI_GETWAIT,
    FI_INJECT, FI_READ, FI_RECV, FI_SELECTIVE_COMPLETION, FI_TRANSMIT, FI_WAIT_FD, FI_WAIT_NONE, FI_WRITE,
    fi_cntr_attr, fi_cq_attr, fi_cq_entry, fi_cq_err_entry, fi_msg_rma, fi_rma_iov, fi_wait_obj, fid_cntr,
    fid_cq, fid_ep,
};
use shmem_core::libfabric::calls;

use super::bare::{Bare, BareError, Peer, open_with};

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
    pub(super) bare: Arc<Bare>,
    ep: NonNull<fid_ep>,
    pub(super) cq: NonNull<fid_cq>,
    cntr: NonNull<fid_cntr>,
    /// What is readable when the queue may have something, where the provider has that.
    pub(super) descriptor: Option<RawFd>,
}

// SAFETY: libfabric was asked for FI_THREAD_SAFE, so any thread may use its objects.
unsafe impl Send for Port {}
// SAFETY: as above.
unsafe impl Sync for Port {}

impl Lane {
    /// Opens an endpoint.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn open(bare: &Arc<Bare>) -> Result<Self, BareError> {
        let failed = |call| move |code| bare.failed(call, code);
        let check = |call, code: i32| if code == 0 { Ok(()) } else { Err(bare.failed(call, code)) };
        let domain = bare.domain.as_ptr();
        let ep = open_with(|out| {
            // SAFETY: the domain is open, and `info` is of it.
            unsafe { calls::endpoint(domain, bare.info(), out, ptr::null_mut()) }
        });
        let ep = ep.map_err(failed("fi_endpoint"))?;
        let (cq, has_descriptor) = match open_queue(bare, FI_WAIT_FD) {
            Ok(cq) => (cq, true),
            // Providers without one drive themselves by looking.
            Err(_) => (open_queue(bare, FI_WAIT_NONE).map_err(failed("fi_cq_open"))?, false),
        };
        // SAFETY: all zeroes asks for nothing.
        let mut attr: fi_cntr_attr = unsafe { std::mem::zeroed() };
        attr.events = FI_CNTR_EVENTS_COMP;
        attr.wait_obj = FI_WAIT_NONE;
        let cntr = open_with(|out| {
            // SAFETY: the domain is open.
            unsafe { calls::cntr_open(domain, &raw mut attr, out, ptr::null_mut()) }
        });
        let cntr = cntr.map_err(failed("fi_cntr_open"))?;
        let to_queue = u64::from(FI_TRANSMIT | FI_RECV) | FI_SELECTIVE_COMPLETION;
        let binds = [
            (bare.av.as_ptr().cast(), 0),
            (cq.as_ptr().cast(), to_queue),
            (cntr.as_ptr().cast(), u64::from(FI_WRITE | FI_READ)),
        ];
        for (fid, flags) in binds {
            // SAFETY: all of them are open, and of one domain.
            check("fi_ep_bind", unsafe { calls::bind(ep.as_ptr().cast(), fid, flags) })?;
        }
        // SAFETY: the endpoint is open.
        check("fi_enable", unsafe { calls::control(ep.as_ptr().cast(), FI_ENABLE, ptr::null_mut()) })?;
        let mut descriptor: RawFd = -1;
        if has_descriptor {
            let into: *mut c_void = (&raw mut descriptor).cast();
            // SAFETY: the queue is open, and has a descriptor, which is written to `descriptor`.
            check("fi_control", unsafe { calls::control(cq.as_ptr().cast(), FI_GETWAIT, into) })?;
        }
        let descriptor = (descriptor >= 0).then_some(descriptor);
        let port = Port { bare: Arc::clone(bare), ep, cq, cntr, descriptor };
        Ok(Self { port: Arc::new(port), issued: Cell::new(0) })
    }

    /// What any thread may drive.
    pub fn port(&self) -> &Arc<Port> {
        &self.port
    }

    /// Its address, as other processes enter it.
    pub(super) fn name(&self) -> Result<Vec<u8>, BareError> {
        let mut name = vec![0_u8; 256];
        let mut length = name.len();
        let ep = self.port.ep.as_ptr();
        // SAFETY: the endpoint is enabled; `name` has `length` bytes.
        let code = unsafe { calls::getname(ep, name.as_mut_ptr().cast(), &raw mut length) };
        if code != 0 {
            return Err(self.port.bare.failed("fi_getname", code));
        }
        name.truncate(length);
        Ok(name)
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
        let ep = self.port.ep.as_ptr();
        // SAFETY: the message names registered memory, here and there; both stay until the job ends.
        self.issue("fi_writemsg", || unsafe { calls::writemsg(ep, &raw const message, flags) });
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
        let ep = self.port.ep.as_ptr();
        // SAFETY: as in `put`.
        self.issue("fi_readmsg", || unsafe { calls::readmsg(ep, &raw const message, 0) });
    }

    /// Waits until all that was issued is complete: written ones are visible at the peer, read ones here.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    #[inline]
    pub fn quiet(&self) {
        let mut looks = 0_u32;
        // SAFETY: the counter is open.
        while unsafe { calls::cntr_read(self.port.cntr.as_ptr()) } < self.issued.get() {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                self.port.progress();
            }
        }
    }

    pub(super) fn bare(&self) -> &Bare {
        &self.port.bare
    }

    pub(super) fn endpoint(&self) -> *mut fid_ep {
        self.port.ep.as_ptr()
    }

    #[inline]
    pub(super) fn issue(&self, name: &'static str, mut call: impl FnMut() -> isize) {
        loop {
            match call() {
                0 => break,
                code if code == -(FI_EAGAIN as isize) => self.port.progress(),
                code => panic!("{}", self.port.bare.failed(name, code as i32)),
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
        let mut entries = [const { fi_cq_entry { op_context: ptr::null_mut() } }; 8];
        // SAFETY: the queue is open, its entries are of this format, and there is room for as many.
        let read = unsafe { calls::cq_read(self.cq.as_ptr(), entries.as_mut_ptr().cast(), entries.len()) };
        if read < 0 && read != -(FI_EAGAIN as isize) {
            self.fail();
        }
    }

    #[cold]
    fn fail(&self) -> ! {
        // SAFETY: all zeroes is an entry without data of an error.
        let mut entry: fi_cq_err_entry = unsafe { std::mem::zeroed() };
        // SAFETY: the queue is open, and the entry is as long as the interface that was asked for says.
        let read = unsafe { calls::cq_readerr(self.cq.as_ptr(), &raw mut entry, 0) };
        let code = if read == 1 { -entry.err } else { read as i32 };
        panic!("{}", self.bare.failed("an operation", code));
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        for fid in [self.ep.as_ptr().cast(), self.cntr.as_ptr().cast(), self.cq.as_ptr().cast()] {
            // SAFETY: open, and closed once; the endpoint before what is bound to it.
            unsafe { calls::close(fid) };
        }
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

fn open_queue(bare: &Bare, wait: fi_wait_obj) -> Result<NonNull<fid_cq>, i32> {
    // SAFETY: all zeroes asks for nothing.
    let mut attr: fi_cq_attr = unsafe { std::mem::zeroed() };
    attr.size = QUEUE;
    attr.format = FI_CQ_FORMAT_CONTEXT;
    attr.wait_obj = wait;
    open_with(|out| {
        // SAFETY: the domain is open.
        unsafe { calls::cq_open(bare.domain.as_ptr(), &raw mut attr, out, ptr::null_mut()) }
    })
}
