//! A process outside the job that uses libfabric.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use std::ffi::CString;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Addresses, Domain, Endpoint, Hints, InfoEntry, Library, calls};

use crate::dice::Dice;

/// Upper limit on the time to connect.
const PATIENCE: Duration = Duration::from_secs(2);

/// Result of a call that must be repeated.
const AGAIN: isize = -(FI_EAGAIN as isize);

const BUFFER: usize = 1 << 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Refused,
    /// There was no completion in time.
    Silence,
}

/// An access to the memory of another process.
#[derive(Clone, Copy)]
pub(crate) enum Touch {
    Read,
    /// A write, with remote completion data if there are any.
    Write(Option<u64>),
    /// Only remote completion data.
    Tell(u64),
}

/// An endpoint that is never closed.
pub(crate) struct Outsider {
    endpoint: &'static Endpoint,
    peer: fi_addr_t,
    pub(crate) buffer: &'static mut [u8],
    pub(crate) dice: Dice,
    /// Upper limit on the time of an operation.
    pub(crate) patience: Duration,
}

impl Outsider {
    /// Opens an endpoint on the interface `lo`, whose peer is a port of this host.
    pub(crate) fn open(provider: &str, port: u16) -> Self {
        // SAFETY: the loaded library is the system's libfabric.
        let library = unsafe { Library::load(None) }.expect("the stranger has a libfabric");
        let named = CString::new(provider).expect("the name of a provider");
        let asked = Hints {
            capabilities: u64::from(FI_MSG | FI_RMA),
            mode: FI_CONTEXT | FI_CONTEXT2,
            provider: Some(&named),
            ..Hints::default()
        };
        // Providers without connections report no completion of a refused operation, so the wait is short.
        let patience = if provider.starts_with("udp") { PATIENCE / 20 } else { PATIENCE };
        let list = library.offers(&asked).expect("the stranger has the provider");
        let is_there =
            |entry: &InfoEntry<'_>| entry.interface() == "lo" && entry.address_format() == FI_SOCKADDR_IN;
        let domain = Domain::open(list.entries().find(is_there).expect("lo")).expect("a domain");
        let addresses = Addresses::open(&domain, 0).expect("a table of addresses");
        let endpoint = Endpoint::open(&addresses, 1024, false).expect("an endpoint");
        let [high, low] = port.to_be_bytes();
        let [a, b, c, d] = Ipv4Addr::LOCALHOST.octets();
        let [family, family_high] = (libc::AF_INET as u16).to_ne_bytes();
        let address = [family, family_high, high, low, a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: `address` is whole, and has the format of the provider's entry.
        let found = unsafe { endpoint.addresses().insert(&address) };
        let peer = found.unwrap_or_else(|refused| panic!("the address of port {port}: {refused:?}"));
        let (endpoint, buffer) = (Box::leak(Box::new(endpoint)), vec![0; BUFFER].leak());
        Self { endpoint, peer, buffer, dice: Dice(88_172_645_463_325_252), patience }
    }

    pub(crate) fn chance(&mut self) -> u64 {
        self.dice.below(1 << 31) << 33 | self.dice.below(1 << 31)
    }

    /// Reads or writes the remote range (key, address, length) of another process.
    pub(crate) fn touch(&mut self, touch: Touch, (key, addr, len): (u64, u64, usize)) -> Outcome {
        let memory = libc::iovec { iov_base: self.buffer.as_mut_ptr().cast(), iov_len: len };
        let remote = fi_rma_iov { addr, len, key };
        let (told, count) = match touch {
            Touch::Read => (None, 1),
            Touch::Write(told) => (told, 1),
            Touch::Tell(told) => (Some(told), 0),
        };
        let message = fi_msg_rma {
            msg_iov: &raw const memory,
            desc: core::ptr::null_mut(),
            iov_count: count,
            addr: self.peer,
            rma_iov: &raw const remote,
            rma_iov_count: count,
            context: context(),
            data: told.unwrap_or_default(),
        };
        let (endpoint, patience, message) = (self.endpoint.as_ptr(), self.patience, &raw const message);
        let tells = told.map_or(0, |_| u64::from(FI_REMOTE_CQ_DATA));
        let flags = u64::from(FI_COMPLETION | FI_DELIVERY_COMPLETE) | tells;
        self.finish(patience, || match touch {
            // SAFETY: buffer and context are never freed. Whether the peer's memory can be accessed is under test.
            Touch::Read => unsafe { calls::readmsg(endpoint, message, FI_COMPLETION.into()) },
            // SAFETY: buffer and context are never freed. Whether the peer's memory can be accessed is under test.
            _ => unsafe { calls::writemsg(endpoint, message, flags) },
        })
    }

    /// Sends the first bytes of the buffer as a message, and waits for its completion.
    pub(crate) fn send(&mut self, bytes: usize, wait: Duration) -> Outcome {
        let memory = libc::iovec { iov_base: self.buffer.as_mut_ptr().cast(), iov_len: bytes };
        let message = fi_msg {
            msg_iov: &raw const memory,
            desc: core::ptr::null_mut(),
            iov_count: 1,
            addr: self.peer,
            context: context(),
            data: 0,
        };
        let (endpoint, message) = (self.endpoint.as_ptr(), &raw const message);
        // SAFETY: buffer and context are never freed.
        self.finish(wait, || unsafe { calls::sendmsg(endpoint, message, FI_COMPLETION.into()) })
    }

    fn finish(&self, wait: Duration, mut call: impl FnMut() -> isize) -> Outcome {
        let since = Instant::now();
        loop {
            match call() {
                0 => break,
                AGAIN if since.elapsed() < self.patience => _ = self.poll(),
                _ => return Outcome::Refused,
            }
        }
        let since = Instant::now();
        while since.elapsed() < wait {
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
            Err(answer) => {
                self.endpoint.read_error(answer as i32);
                Some(Outcome::Refused)
            }
        }
    }
}

/// Returns memory that the provider may use as an operation's context. It is never freed.
fn context() -> *mut c_void {
    Box::leak(Box::new([0_u64; 8])).as_mut_ptr().cast()
}

/// Opens a TCP connection, over which a test sends nothing, or noise.
pub(crate) fn connect(port: u16) -> Option<TcpStream> {
    let address = (Ipv4Addr::LOCALHOST, port).into();
    TcpStream::connect_timeout(&address, PATIENCE).ok()
}
