//! Address vectors: which port each address of the fabric stands for.

use core::ffi::{c_char, c_int, c_void};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::object::{Standing, Wrapper, close, identity, table};
use crate::real::Real;
use crate::violation::violation;

/// An address vector.
#[repr(C)]
pub(crate) struct Addresses {
    seen: fid_av,
    real: Real<fid_av>,
    ports: Arc<Ports>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Addresses {
    type Seen = fid_av;
}

impl Standing for Addresses {
    fn real(&self) -> Real<fid_av> {
        self.real
    }
}

/// The port of each address that was inserted.
#[derive(Debug, Default)]
pub(crate) struct Ports(Mutex<HashMap<fi_addr_t, u16>>);

impl Ports {
    /// The port behind an address; ends the process where there is none.
    pub(crate) fn of(&self, address: fi_addr_t) -> u16 {
        let ports = self.0.lock().expect("a panic ends the process");
        let Some(port) = ports.get(&address) else {
            violation(
                "addresses",
                format_args!("an operation to the address {address:#x}, which was never inserted"),
            );
        };
        *port
    }
}

static BASE: fi_ops = table!(fi_ops { close: close::<Addresses> });

static OPERATIONS: fi_ops_av = table!(fi_ops_av { insert, lookup, straddr });

impl Addresses {
    /// Stands for a real one.
    pub(crate) fn new(real: Real<fid_av>, context: *mut c_void) -> Self {
        let fid = identity(FI_CLASS_AV, context, &BASE);
        let seen = fid_av { fid, ops: (&raw const OPERATIONS).cast_mut() };
        Self { seen, real, ports: Arc::default() }
    }

    /// What was inserted.
    pub(crate) fn ports(&self) -> &Arc<Ports> {
        &self.ports
    }
}

/// The port of a socket address and the address's length, in bytes.
///
/// # Safety
///
/// The address must be that of a `sockaddr_in` or a `sockaddr_in6`.
pub(crate) unsafe fn port_of(address: *const c_void) -> (u16, usize) {
    // SAFETY: both begin with the family and the port.
    let head = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
    let length = if c_int::from(head.sin_family) == libc::AF_INET6 {
        size_of::<libc::sockaddr_in6>()
    } else {
        size_of::<libc::sockaddr_in>()
    };
    (u16::from_be(head.sin_port), length)
}

unsafe extern "C" fn insert(
    addresses: *mut fid_av,
    list: *const c_void,
    count: usize,
    answers: *mut fi_addr_t,
    flags: u64,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with an address vector of the shim's, which is open.
    let addresses = unsafe { Addresses::behind(addresses) };
    // The user may leave the answers out; the shim needs them.
    let mut found = vec![fi_addr_t::MAX; count];
    // SAFETY: an open address vector, the user's addresses, and room for as many answers.
    let result =
        unsafe { calls::av_insert(addresses.real.as_ptr(), list, count, found.as_mut_ptr(), flags, context) };
    let mut ports = addresses.ports.0.lock().expect("a panic ends the process");
    let mut at = list;
    for answer in &found {
        // SAFETY: there are `count` addresses of the provider's format in a row (user): socket addresses.
        let (port, length) = unsafe { port_of(at) };
        at = at.wrapping_byte_add(length);
        if *answer != fi_addr_t::MAX {
            ports.insert(*answer, port);
        }
    }
    if !answers.is_null() {
        // SAFETY: room for `count` answers (user).
        unsafe { answers.copy_from_nonoverlapping(found.as_ptr(), count) };
    }
    result
}

unsafe extern "C" fn lookup(
    addresses: *mut fid_av,
    address: fi_addr_t,
    place: *mut c_void,
    length: *mut usize,
) -> c_int {
    // SAFETY: libfabric calls this with an address vector of the shim's, which is open.
    let real = unsafe { Addresses::behind(addresses) }.real;
    // SAFETY: an open address vector, and the user's place for the address.
    unsafe { calls::av_lookup(real.as_ptr(), address, place, length) }
}

unsafe extern "C" fn straddr(
    addresses: *mut fid_av,
    address: *const c_void,
    text: *mut c_char,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: libfabric calls this with an address vector of the shim's, which is open.
    let real = unsafe { Addresses::behind(addresses) }.real;
    // SAFETY: an open address vector, and the user's address and place for the text.
    unsafe { calls::av_straddr(real.as_ptr(), address, text, length) }
}
