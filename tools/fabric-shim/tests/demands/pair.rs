//! Two endpoints of one process. The first accesses memory of the second.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Addresses, Domain, Endpoint, Hints, Library, Registration, calls};

pub(crate) const ANY_USE: u32 = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

const WORDS: usize = 512;

/// An endpoint answers `-FI_EAGAIN`.
pub(crate) const AGAIN: isize = -(FI_EAGAIN.cast_signed() as isize);

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Words, and their registration. The words are never freed.
pub(crate) struct Memory {
    words: &'static [AtomicU64; WORDS],
    pub(crate) registration: Registration,
}

impl Memory {
    /// Registers new words in a domain, under a key of the user's, for some use.
    pub(crate) fn register(domain: &Arc<Domain>, key: u64, access: u32) -> Result<Self, i32> {
        let words: &'static [_; WORDS] = Box::leak(Box::new([const { AtomicU64::new(0) }; WORDS]));
        let bytes = (words.as_ptr().cast_mut().cast(), size_of_val(words));
        // SAFETY: never freed, and read and written by atomics alone.
        let registration = unsafe { Registration::new(domain, bytes, access, key) };
        Ok(Self { words, registration: registration.map_err(|refused| refused.code)? })
    }

    pub(crate) fn at(&self, word: usize) -> *mut u64 {
        self.words[word].as_ptr()
    }

    pub(crate) fn load(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Acquire)
    }

    pub(crate) fn store(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Release);
    }
}

/// A new context for one operation: memory of the provider's, never freed.
fn context() -> *mut c_void {
    Box::into_raw(Box::new(fi_context2 { internal: [null_mut(); 8] })).cast()
}

/// The endpoints and their memory. Fields are closed in order.
pub(crate) struct Pair {
    pub(crate) local: Memory,
    pub(crate) target: Memory,
    pub(crate) first: Endpoint,
    pub(crate) second: Endpoint,
    entries: usize,
    /// The second one, for the first.
    peer: fi_addr_t,
    pub(crate) addresses: Arc<Addresses>,
}

/// A transfer that keeps all demands; steps change one thing in it.
#[derive(Clone)]
pub(crate) struct Transfer {
    pub(crate) local: Vec<iovec>,
    pub(crate) descriptors: Vec<*mut c_void>,
    pub(crate) peer: fi_addr_t,
    pub(crate) remote: Vec<fi_rma_iov>,
    pub(crate) context: *mut c_void,
    pub(crate) flags: u32,
}

/// Hints with everything that the steps support.
pub(crate) fn asked(atomics: bool) -> Hints<'static> {
    Hints {
        capabilities: u64::from(FI_MSG | FI_RMA | if atomics { FI_ATOMIC } else { 0 }),
        mode: FI_CONTEXT | FI_CONTEXT2,
        registration: FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT,
        provider: Some(c"tcp;ofi_rxm"),
        ..Hints::default()
    }
}

impl Pair {
    /// A pair with atomics, unless the fabric has none.
    pub(crate) fn open(library: &'static Library) -> Self {
        Self::of(library, &[asked(true), asked(false)], 1024)
    }

    /// A pair of endpoints with queues of `entries` entries.
    pub(crate) fn of(library: &'static Library, asked: &[Hints<'_>], entries: usize) -> Self {
        let offers = asked.iter().find_map(|asked| library.offers(asked).ok());
        let offers = offers.expect("the fabric has something to offer");
        let domain = Domain::open(offers.first()).expect("a domain");
        let addresses = Addresses::open(&domain, 0).expect("a table of addresses");
        let endpoint = || Endpoint::open(&addresses, entries, false).expect("an endpoint");
        let (first, second) = (endpoint(), endpoint());
        let peer = address_of(&second);
        let local = Memory::register(&domain, 1, ANY_USE).expect("local memory");
        let target = Memory::register(&domain, 2, ANY_USE).expect("memory of the target");
        let pair = Self { local, target, first, second, entries, peer, addresses };
        if pair.demands(FI_MR_ENDPOINT) {
            for (memory, endpoint) in [(&pair.local, &pair.first), (&pair.target, &pair.second)] {
                memory.registration.bind(endpoint).expect("it is bound");
                memory.registration.enable().expect("it is enabled");
            }
        }
        pair
    }

    pub(crate) fn domain(&self) -> &Arc<Domain> {
        self.addresses.domain()
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::open(&self.addresses, self.entries, false).expect("an endpoint")
    }

    /// More memory, registered to the end of the program.
    pub(crate) fn another(&self, key: u64, access: u32) -> &'static Memory {
        Box::leak(Box::new(Memory::register(self.domain(), key, access).expect("memory")))
    }

    /// Whether a mode of registration is demanded.
    fn demands(&self, mode: u32) -> bool {
        self.domain().entry().domain().mr_mode.cast_unsigned() & mode != 0
    }

    /// A transfer between word `from` of the first's memory and word `to` of the second's.
    pub(crate) fn transfer(&self, from: usize, to: usize) -> Transfer {
        let base = if self.demands(FI_MR_VIRT_ADDR) { self.target.at(0).addr() as u64 } else { 0 };
        let key = self.target.registration.key();
        Transfer {
            local: vec![iovec { iov_base: self.local.at(from).cast(), iov_len: 8 }],
            descriptors: vec![self.local.registration.description()],
            peer: self.peer,
            remote: vec![fi_rma_iov { addr: base + 8 * to as u64, len: 8, key }],
            context: context(),
            flags: 0,
        }
    }

    pub(crate) fn try_put(&self, transfer: &Transfer) -> isize {
        let mut descriptors = transfer.descriptors.clone();
        let message = transfer.message(&mut descriptors);
        let flags = u64::from(transfer.flags | FI_DELIVERY_COMPLETE | FI_COMPLETION);
        // SAFETY: neither buffers nor contexts are ever freed; what a step does wrong, the shim refuses.
        unsafe { calls::writemsg(self.first.as_ptr(), &raw const message, flags) }
    }

    pub(crate) fn put(&self, transfer: &Transfer) {
        self.start("put", || self.try_put(transfer));
    }

    /// Tries once to add 1 to the first word of the target; the old value is written to local word 1.
    pub(crate) fn try_add(&self, flags: u32) -> isize {
        let transfer = self.transfer(0, 0);
        self.local.store(0, 1);
        let mut descriptors = [self.local.registration.description(); 2];
        let [operand, result] = descriptors.each_mut();
        let local = fi_ioc { addr: self.local.at(0).cast(), count: 1 };
        let mut before = fi_ioc { addr: self.local.at(1).cast(), count: 1 };
        let remote = fi_rma_ioc { addr: transfer.remote[0].addr, count: 1, key: transfer.remote[0].key };
        let message = fi_msg_atomic {
            msg_iov: &raw const local,
            desc: operand,
            iov_count: 1,
            addr: transfer.peer,
            rma_iov: &raw const remote,
            rma_iov_count: 1,
            datatype: FI_UINT64,
            op: FI_SUM,
            context: transfer.context,
            data: 0,
        };
        // SAFETY: neither buffers nor contexts are ever freed; what a step does wrong, the shim refuses.
        unsafe {
            let (first, before) = (self.first.as_ptr(), &raw mut before);
            calls::fetch_atomicmsg(
                first,
                &raw const message,
                before,
                result,
                1,
                (flags | FI_COMPLETION).into(),
            )
        }
    }

    /// Adds to the first word of the target, and waits.
    pub(crate) fn add(&self, flags: u32) {
        self.start("add", || self.try_add(flags));
        self.wait();
    }

    /// Starts an operation, with progress between attempts.
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

    /// Reads one completion, if there is one. Returns its context.
    pub(crate) fn poll(&self) -> Option<*mut c_void> {
        [&self.first, &self.second].into_iter().find_map(|endpoint| {
            let mut room = [const { MaybeUninit::uninit() }];
            let read = endpoint.read(&mut room).unwrap_or_else(|answer| panic!("the queue answers {answer}"));
            read.first().map(|entry| entry.op_context)
        })
    }

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
    fn message(&self, descriptors: &mut [*mut c_void]) -> fi_msg_rma {
        fi_msg_rma {
            msg_iov: self.local.as_ptr(),
            desc: if descriptors.is_empty() { null_mut() } else { descriptors.as_mut_ptr() },
            iov_count: self.local.len(),
            addr: self.peer,
            rma_iov: self.remote.as_ptr(),
            rma_iov_count: self.remote.len(),
            context: self.context,
            data: 0,
        }
    }
}

/// The index of an endpoint for operations.
pub(crate) fn address_of(endpoint: &Endpoint) -> fi_addr_t {
    let name = endpoint.name().expect("an address");
    // SAFETY: the address of an endpoint, whole.
    unsafe { endpoint.addresses().insert(&name) }.expect("an address that is taken")
}
