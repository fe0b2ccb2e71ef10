//! Two endpoints of one process: what the first one does, it does to memory of the second.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use std::time::{Duration, Instant};

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Info, Library, calls};

use crate::memory::{ANY_USE, Memory};

/// An endpoint answers `-FI_EAGAIN`.
pub(crate) const AGAIN: isize = -(FI_EAGAIN.cast_signed() as isize);

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Memory of the provider's, one for each operation in flight.
pub(crate) type Context = UnsafeCell<fi_context2>;

/// A new context, never freed.
pub(crate) fn context() -> &'static Context {
    let internal = [core::ptr::null_mut(); 8];
    Box::leak(Box::new(UnsafeCell::new(fi_context2 { internal })))
}

/// The endpoints, and what they need.
pub(crate) struct Pair {
    info: Info,
    pub(crate) domain: *mut fid_domain,
    pub(crate) queue: *mut fid_cq,
    pub(crate) first: *mut fid_ep,
    pub(crate) second: *mut fid_ep,
    addresses: *mut fid_av,
    /// The second one, for the first.
    pub(crate) peer: fi_addr_t,
    /// Local memory of the first.
    pub(crate) local: Memory,
    /// Memory of the second.
    pub(crate) target: Memory,
}

/// One transfer, as obedient users do it; the steps change one thing in it.
#[derive(Clone)]
pub(crate) struct Transfer {
    pub(crate) local: Vec<iovec>,
    pub(crate) descriptors: Vec<*mut c_void>,
    pub(crate) peer: fi_addr_t,
    pub(crate) remote: Vec<fi_rma_iov>,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u32,
}

/// What is asked for: all that the probe can do.
pub(crate) fn hints(library: &'static Library, atomics: bool) -> Info {
    let hints = library.hints();
    // SAFETY: hints that nobody else knows of.
    let info = unsafe { &mut *hints.as_ptr() };
    info.caps = u64::from(FI_MSG | FI_RMA | if atomics { FI_ATOMIC } else { 0 });
    info.mode = FI_CONTEXT | FI_CONTEXT2;
    // SAFETY: `fi_dupinfo` makes all attributes.
    unsafe { (*info.ep_attr).type_ = FI_EP_RDM };
    // SAFETY: as above.
    let domain = unsafe { &mut *info.domain_attr };
    domain.mr_mode =
        (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT).cast_signed();
    domain.data_progress = FI_PROGRESS_MANUAL;
    // SAFETY: as above.
    let fabric = unsafe { &mut *info.fabric_attr };
    // SAFETY: a string that ends with a zero. `fi_freeinfo` frees the copy.
    fabric.prov_name = unsafe { libc::strdup(c"tcp;ofi_rxm".as_ptr()) };
    hints
}

/// Opens something, or ends the probe.
fn made<T>(make: impl FnOnce(*mut *mut T) -> i32) -> *mut T {
    let mut object = core::ptr::null_mut();
    assert_eq!(make(&raw mut object), 0, "it opens");
    object
}

impl Pair {
    /// With atomics, unless the fabric has none.
    pub(crate) fn open(library: &'static Library) -> Self {
        let list = library.info(&hints(library, true)).or_else(|_| library.info(&hints(library, false)));
        Self::of(library, list.expect("the fabric has something to offer"), 1024)
    }

    /// Whose user guards its queue of so many entries itself.
    pub(crate) fn unmanaged(library: &'static Library, entries: usize) -> Self {
        let hints = hints(library, true);
        // SAFETY: hints that nobody else knows of.
        let domain = unsafe { (*hints.as_ptr()).domain_attr };
        // SAFETY: as above.
        unsafe { (*domain).resource_mgmt = FI_RM_UNSPEC };
        Self::of(library, library.info(&hints).expect("the fabric has something to offer"), entries)
    }

    fn of(library: &'static Library, info: Info, entries: usize) -> Self {
        // SAFETY: the first entry of a list.
        let fabric = unsafe { library.fabric(info.as_ptr()) }.expect("a fabric");
        let none = core::ptr::null_mut();
        // SAFETY: an open fabric, and its entry.
        let domain = made(|domain| unsafe { calls::domain(fabric, info.as_ptr(), domain, none) });
        // SAFETY: plain data; all zeroes ask for nothing.
        let mut attributes: fi_av_attr = unsafe { core::mem::zeroed() };
        attributes.type_ = FI_AV_TABLE;
        // SAFETY: an open domain.
        let addresses = made(|av| unsafe { calls::av_open(domain, &raw mut attributes, av, none) });
        // SAFETY: as above.
        let mut attributes: fi_cq_attr = unsafe { core::mem::zeroed() };
        attributes.format = FI_CQ_FORMAT_CONTEXT;
        attributes.size = entries;
        // SAFETY: an open domain.
        let queue = made(|cq| unsafe { calls::cq_open(domain, &raw mut attributes, cq, none) });
        let endpoint = || endpoint(domain, &info, addresses, queue);
        let (first, second) = (endpoint(), endpoint());
        let peer = insert(addresses, second);
        let local = Memory::register(domain, 1, ANY_USE).expect("local memory");
        let target = Memory::register(domain, 2, ANY_USE).expect("memory of the target");
        let pair = Self { info, domain, queue, first, second, addresses, peer, local, target };
        if pair.demands(FI_MR_ENDPOINT) {
            for (memory, endpoint) in [(&pair.local, first), (&pair.target, second)] {
                memory.bind(endpoint);
                memory.enable();
            }
        }
        pair
    }

    /// Another endpoint of the domain.
    pub(crate) fn endpoint(&self) -> *mut fid_ep {
        endpoint(self.domain, &self.info, self.addresses, self.queue)
    }

    /// The address of another endpoint.
    pub(crate) fn address_of(&self, endpoint: *mut fid_ep) -> fi_addr_t {
        insert(self.addresses, endpoint)
    }

    /// Whether a mode of registration is demanded.
    pub(crate) fn demands(&self, mode: u32) -> bool {
        // SAFETY: the first entry of a list.
        let domain = unsafe { (*self.info.as_ptr()).domain_attr };
        // SAFETY: an entry of `fi_getinfo` has all attributes.
        unsafe { (*domain).mr_mode.cast_unsigned() & mode != 0 }
    }

    /// The limits of a transfer.
    pub(crate) fn limits(&self) -> &fi_tx_attr {
        // SAFETY: the first entry of a list.
        let limits = unsafe { (*self.info.as_ptr()).tx_attr };
        // SAFETY: an entry of `fi_getinfo` has all attributes, which live as long as the pair.
        unsafe { &*limits }
    }

    /// The longest message.
    pub(crate) fn longest(&self) -> usize {
        // SAFETY: the first entry of a list.
        let endpoint = unsafe { (*self.info.as_ptr()).ep_attr };
        // SAFETY: an entry of `fi_getinfo` has all attributes.
        unsafe { (*endpoint).max_msg_size }
    }

    /// A word of the first's memory and one of the second's, for a put, a get or an atomic.
    pub(crate) fn transfer(&self, from: usize, to: usize) -> Transfer {
        let part = iovec { iov_base: self.local.at(from).cast(), iov_len: 8 };
        let base = if self.demands(FI_MR_VIRT_ADDR) { self.target.at(0).addr() as u64 } else { 0 };
        let remote = fi_rma_iov { addr: base + 8 * to as u64, len: 8, key: self.target.key() };
        Transfer {
            local: vec![part],
            descriptors: vec![self.local.descriptor()],
            peer: self.peer,
            remote: vec![remote],
            context: context().get().cast(),
            flags: 0,
        }
    }

    /// Tries to start a put once.
    pub(crate) fn try_put(&self, transfer: &Transfer) -> isize {
        let mut descriptors = transfer.descriptors.clone();
        let message = transfer.message(&mut descriptors);
        let flags = u64::from(transfer.flags | FI_DELIVERY_COMPLETE);
        // SAFETY: an open endpoint; the buffers are never freed.
        unsafe { calls::writemsg(self.first, &raw const message, flags) }
    }

    /// Starts a put.
    pub(crate) fn put(&self, transfer: &Transfer) {
        self.start("put", || self.try_put(transfer));
    }

    /// Starts a get.
    pub(crate) fn get(&self, transfer: &Transfer) {
        let mut descriptors = transfer.descriptors.clone();
        let message = transfer.message(&mut descriptors);
        // SAFETY: an open endpoint; the buffers are never freed.
        self.start("get", || unsafe { calls::readmsg(self.first, &raw const message, 0) });
    }

    /// Starts an operation, and makes progress for as long as it is to be tried again.
    pub(crate) fn start(&self, what: &str, operation: impl Fn() -> isize) {
        let since = Instant::now();
        loop {
            match operation() {
                0 => return,
                AGAIN => assert_eq!(self.poll(), None, "nothing is in flight that could complete"),
                error => panic!("{what}: error {error}"),
            }
            assert!(since.elapsed() < PATIENCE, "{what}: it cannot be started");
        }
    }

    /// Reads one completion, if there is one: its context.
    pub(crate) fn poll(&self) -> Option<*mut c_void> {
        let mut entry = fi_cq_entry { op_context: core::ptr::null_mut() };
        // SAFETY: an open queue, and room for one entry.
        let read = unsafe { calls::cq_read(self.queue, (&raw mut entry).cast(), 1) };
        assert!(read == 1 || read == AGAIN, "the queue answers {read}");
        (read == 1).then_some(entry.op_context)
    }

    /// Waits for one completion.
    pub(crate) fn wait(&self) -> *mut c_void {
        let since = Instant::now();
        loop {
            if let Some(context) = self.poll() {
                return context;
            }
            assert!(since.elapsed() < PATIENCE, "nothing completes");
        }
    }
}

impl Transfer {
    /// As libfabric takes it.
    pub(crate) fn message(&self, descriptors: &mut [*mut c_void]) -> fi_msg_rma {
        fi_msg_rma {
            msg_iov: self.local.as_ptr(),
            desc: if descriptors.is_empty() { core::ptr::null_mut() } else { descriptors.as_mut_ptr() },
            iov_count: self.local.len(),
            addr: self.peer,
            rma_iov: self.remote.as_ptr(),
            rma_iov_count: self.remote.len(),
            context: self.context,
            data: 0,
        }
    }
}

fn endpoint(domain: *mut fid_domain, info: &Info, addresses: *mut fid_av, queue: *mut fid_cq) -> *mut fid_ep {
    let none = core::ptr::null_mut();
    // SAFETY: an open domain, and its entry.
    let endpoint = made(|endpoint| unsafe { calls::endpoint(domain, info.as_ptr(), endpoint, none) });
    // SAFETY: both are open.
    assert_eq!(unsafe { calls::bind(endpoint.cast(), addresses.cast(), 0) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { calls::bind(endpoint.cast(), queue.cast(), (FI_TRANSMIT | FI_RECV).into()) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { calls::control(endpoint.cast(), FI_ENABLE, none) }, 0);
    endpoint
}

fn insert(addresses: *mut fid_av, endpoint: *mut fid_ep) -> fi_addr_t {
    let (mut bytes, mut length) = ([0_u8; 256], 256);
    // SAFETY: an open endpoint, and room for as many bytes.
    assert_eq!(unsafe { calls::getname(endpoint, bytes.as_mut_ptr().cast(), &raw mut length) }, 0);
    let (mut found, none) = (fi_addr_t::MAX, core::ptr::null_mut());
    // SAFETY: an open table, and the address of an endpoint.
    let inserted = unsafe { calls::av_insert(addresses, bytes.as_ptr().cast(), 1, &raw mut found, 0, none) };
    assert_eq!(inserted, 1);
    found
}
