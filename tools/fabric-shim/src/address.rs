//! Address vectors, and the port of each address.

use core::ffi::{c_char, c_int, c_void};
use std::collections::HashMap;
use std::sync::Arc;

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::object::{ObjectState, called, close, identity, table};

/// The port of each address that was inserted.
#[derive(Default)]
pub(crate) struct Ports(Mutex<HashMap<fi_addr_t, u16>>);

impl ObjectState for Arc<Ports> {
    type Seen = fid_av;
}

impl Ports {
    /// The port of an address; ends the process if the address was not inserted.
    pub(crate) fn of(&self, address: fi_addr_t) -> u16 {
        let port = self.0.lock().get(&address).copied();
        port.unwrap_or_else(|| {
            violation!("addresses", "an operation to the address {address:#x}, which was never inserted")
        })
    }
}

/// A new address vector: the structure for users, and the shim's state.
pub(crate) fn vector(context: *mut c_void) -> (fid_av, Arc<Ports>) {
    let fid = identity(FI_CLASS_AV, context, table!(fi_ops { close: close::<Arc<Ports>> }));
    (
        fid_av { fid, ops: table!(fi_ops_av { insert, lookup: av_lookup, straddr: av_straddr }) },
        Arc::default(),
    )
}

/// The port of a socket address and the address's length, in bytes.
///
/// # Safety
///
/// The address must be that of a `sockaddr_in` or a `sockaddr_in6`.
pub(crate) unsafe fn port_of(address: *const c_void) -> (u16, usize) {
    // SAFETY: both begin with the family and the port.
    let head = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
    let is_long = c_int::from(head.sin_family) == libc::AF_INET6;
    let length = if is_long { size_of::<libc::sockaddr_in6>() } else { size_of::<libc::sockaddr_in>() };
    (u16::from_be(head.sin_port), length)
}

called! {
    fn insert(ports: Arc<Ports> as fid_av, list: *const c_void, count: usize, answers: *mut fi_addr_t, flags: u64, context: *mut c_void) -> c_int {
        // The user may pass no place for the answers; the shim needs them.
        let mut found = vec![fi_addr_t::MAX; count];
        // SAFETY: an open address vector, the user's addresses, and room for as many answers.
        let result = unsafe { calls::av_insert(ports.real(), list, count, found.as_mut_ptr(), flags, context) };
        let mut at = list;
        for answer in &found {
            // SAFETY: there are `count` addresses of the provider's format in a row (user): socket addresses.
            let (port, length) = unsafe { port_of(at) };
            at = at.wrapping_byte_add(length);
            if *answer != fi_addr_t::MAX {
                ports.0.lock().insert(*answer, port);
            }
        }
        if !answers.is_null() {
            // SAFETY: room for `count` answers (user).
            unsafe { answers.copy_from_nonoverlapping(found.as_ptr(), count) };
        }
        result
    }
    fn av_lookup(ports: Arc<Ports> as fid_av, address: fi_addr_t, place: *mut c_void, length: *mut usize) -> c_int {
        // SAFETY: an open address vector, and the user's arguments.
        unsafe { calls::av_lookup(ports.real(), address, place, length) }
    }

    fn av_straddr(ports: Arc<Ports> as fid_av, address: *const c_void, text: *mut c_char, length: *mut usize) -> *const c_char {
        // SAFETY: an open address vector, and the user's arguments.
        unsafe { calls::av_straddr(ports.real(), address, text, length) }
    }
}
