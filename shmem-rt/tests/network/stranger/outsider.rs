//! A process that belongs to no job, and speaks libfabric to whoever listens.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Addresses, Domain, Endpoint, Entry, Hints, Library, Poster, Reports};

use crate::dice::Dice;

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// An endpoint answers `-FI_EAGAIN`.
const AGAIN: isize = -(FI_EAGAIN as isize);

/// Bytes that operations read from and write to.
const BUFFER: usize = 1 << 18;

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Refused,
    /// Nobody says.
    Silence,
}

/// An endpoint, and what it needs. Never closed: strangers go as they like.
pub(crate) struct Outsider {
    endpoint: &'static Endpoint,
    pub(crate) buffer: &'static mut [u8],
    pub(crate) dice: Dice,
    /// How long an operation may take. Where one that is refused breaks a connection, that is told at once.
    patience: Duration,
}

impl Outsider {
    /// On the interface `lo`, with that provider.
    pub(crate) fn open(provider: &str) -> Self {
        // SAFETY: the system's.
        let library = unsafe { Library::load(None) }.expect("the stranger has a libfabric");
        let asked = Hints {
            capabilities: u64::from(FI_MSG | FI_RMA),
            mode: FI_CONTEXT | FI_CONTEXT2,
            provider: Some(provider),
            ..Hints::default()
        };
        // There are no connections: what is refused is never heard of again.
        let patience = if provider.starts_with("udp") { PATIENCE / 20 } else { PATIENCE };
        let list = library.offers(&asked).expect("the stranger has the provider");
        let is_there =
            |entry: &Entry<'_>| entry.interface() == "lo" && entry.address_format() == FI_SOCKADDR_IN;
        let domain = Domain::open(list.entries().find(is_there).expect("lo")).expect("a domain");
        let addresses = Addresses::open(&domain, 0).expect("a table of addresses");
        let endpoint = Endpoint::open(&addresses, 1024, false, Reports::All).expect("an endpoint");
        let buffer = vec![0; BUFFER].leak();
        Self { endpoint: Box::leak(Box::new(endpoint)), buffer, dice: Dice(88_172_645_463_325_252), patience }
    }

    /// Whoever listens at a port of this host.
    pub(crate) fn find(&self, port: u16) -> fi_addr_t {
        let [high, low] = port.to_be_bytes();
        let [a, b, c, d] = Ipv4Addr::LOCALHOST.octets();
        let [family, family_high] = (libc::AF_INET as u16).to_ne_bytes();
        let address = [family, family_high, high, low, a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: an address of the form that the entry has, whole.
        let found = unsafe { self.endpoint.addresses().insert(&address) };
        found.unwrap_or_else(|refused| panic!("the address of port {port}: {refused:?}"))
    }

    /// Any number.
    pub(crate) fn chance(&mut self) -> u64 {
        self.dice.below(1 << 31) << 33 | self.dice.below(1 << 31)
    }

    /// Reads bytes of another process.
    pub(crate) fn read(&mut self, to: fi_addr_t, key: u64, address: u64, bytes: usize) -> Outcome {
        self.one_sided(to, (key, address, bytes), |endpoint, message| {
            // SAFETY: neither the buffer nor the context is ever freed. The peer's memory is what is tried.
            unsafe { endpoint.readmsg(message, FI_COMPLETION.into()) }
        })
    }

    /// Writes bytes to it, of which some are told: `told`.
    pub(crate) fn write(
        &mut self,
        to: fi_addr_t,
        key: u64,
        address: u64,
        bytes: usize,
        told: Option<u64>,
    ) -> Outcome {
        let flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
        let flags = u64::from(flags) | told.map_or(0, |_| u64::from(FI_REMOTE_CQ_DATA));
        self.one_sided(to, (key, address, bytes), |endpoint, message| {
            message.data = told.unwrap_or_default();
            // SAFETY: neither the buffer nor the context is ever freed. The peer's memory is what is tried.
            unsafe { endpoint.writemsg(message, flags) }
        })
    }

    /// Tells it something without writing anywhere.
    pub(crate) fn tell(&mut self, to: fi_addr_t, told: u64) -> Outcome {
        let flags = u64::from(FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA);
        self.one_sided(to, (0, 0, 0), |endpoint, message| {
            (message.rma_iov_count, message.iov_count, message.data) = (0, 0, told);
            // SAFETY: no memory is named; the context is never freed.
            unsafe { endpoint.writemsg(message, flags) }
        })
    }

    fn one_sided(
        &mut self,
        to: fi_addr_t,
        (key, addr, len): (u64, u64, usize),
        call: impl Fn(Poster<'_>, &mut fi_msg_rma) -> isize,
    ) -> Outcome {
        let memory = libc::iovec { iov_base: self.buffer.as_mut_ptr().cast(), iov_len: len };
        let remote = fi_rma_iov { addr, len, key };
        let mut message = fi_msg_rma {
            msg_iov: &raw const memory,
            desc: core::ptr::null_mut(),
            iov_count: 1,
            addr: to,
            rma_iov: &raw const remote,
            rma_iov_count: 1,
            context: context(),
            data: 0,
        };
        let endpoint = self.endpoint.poster();
        self.finish(|| call(endpoint, &mut message))
    }

    /// Sends the first bytes of the buffer as a message.
    pub(crate) fn send(&mut self, to: fi_addr_t, bytes: usize) -> Outcome {
        let memory = libc::iovec { iov_base: self.buffer.as_mut_ptr().cast(), iov_len: bytes };
        let message = message(to, &memory);
        // SAFETY: neither the buffer nor the context is ever freed.
        self.finish(|| unsafe { self.endpoint.poster().sendmsg(&message, FI_COMPLETION.into()) })
    }

    /// Begins to send a message, and waits for nothing more than that it was taken.
    pub(crate) fn start(&mut self, to: fi_addr_t, bytes: usize) {
        let memory = libc::iovec { iov_base: self.buffer.as_mut_ptr().cast(), iov_len: bytes };
        let message = message(to, &memory);
        let since = Instant::now();
        // SAFETY: neither the buffer nor the context is ever freed.
        let send = || unsafe { self.endpoint.poster().sendmsg(&message, FI_COMPLETION.into()) };
        while send() == AGAIN && since.elapsed() < self.patience {
            _ = self.poll();
        }
        let since = Instant::now();
        while since.elapsed() < Duration::from_millis(5) {
            _ = self.poll();
        }
    }

    fn finish(&self, mut call: impl FnMut() -> isize) -> Outcome {
        let since = Instant::now();
        loop {
            match call() {
                0 => break,
                AGAIN if since.elapsed() < self.patience => _ = self.poll(),
                _ => return Outcome::Refused,
            }
        }
        while since.elapsed() < self.patience {
            if let Some(outcome) = self.poll() {
                return outcome;
            }
        }
        Outcome::Silence
    }

    fn poll(&self) -> Option<Outcome> {
        match self.endpoint.read(&mut [const { MaybeUninit::uninit() }]) {
            Ok([]) => None,
            Ok(_) => Some(Outcome::Done),
            Err(_) => {
                _ = self.endpoint.read_error();
                Some(Outcome::Refused)
            }
        }
    }
}

/// A message of what lies in `memory`, which must outlive it.
fn message(to: fi_addr_t, memory: &libc::iovec) -> fi_msg {
    fi_msg {
        msg_iov: memory,
        desc: core::ptr::null_mut(),
        iov_count: 1,
        addr: to,
        context: context(),
        data: 0,
    }
}

/// Memory for the provider, never freed.
fn context() -> *mut c_void {
    Box::leak(Box::new([0_u64; 8])).as_mut_ptr().cast()
}

/// A connection that says nothing, or what is no language.
pub(crate) fn connect(port: u16) -> Option<TcpStream> {
    let address = (Ipv4Addr::LOCALHOST, port).into();
    TcpStream::connect_timeout(&address, PATIENCE).ok()
}
