//! Address vectors, and the TCP port of each inserted address.

use core::ffi::{c_char, c_int, c_void};
use std::collections::HashMap;
use std::sync::Arc;

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::object::{ObjectState, called, close, identity, table};

/// The TCP ports of the addresses that the user has inserted.
#[derive(Default)]
pub(crate) struct Ports(Mutex<HashMap<fi_addr_t, u16>>);

impl ObjectState for Arc<Ports> {
    type Seen = fid_av;
}

impl Ports {
    /// Returns the TCP port of an address. Ends the process if the address was not inserted.
    pub(crate) fn of(&self, address: fi_addr_t) -> u16 {
        let port = self.0.lock().get(&address).copied();
        port.unwrap_or_else(|| {
            violation!("addresses", "an operation to the address {address:#x}, which was never inserted")
        })
    }
}

/// Returns a new address vector: the structure for users, and the shim's state.
pub(crate) fn vector(context: *mut c_void) -> (fid_av, Arc<Ports>) {
    let fid = identity(FI_CLASS_AV, context, table!(fi_ops { close: close::<Arc<Ports>> }));
    (
        fid_av { fid, ops: table!(fi_ops_av { insert, lookup: av_lookup, straddr: av_straddr }) },
        Arc::default(),
    )
}

/// Returns the port of a socket address, and the length of the address in bytes.
///
/// # Safety
///
/// `address` must point to a `sockaddr_in` or a `sockaddr_in6`.
pub(crate) unsafe fn port_of(address: *const c_void) -> (u16, usize) {
    // SAFETY: `address` is readable (caller). Both types of socket addresses begin with the family and the port.
    let head = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
    let is_long = c_int::from(head.sin_family) == libc::AF_INET6;
    let length = if is_long { size_of::<libc::sockaddr_in6>() } else { size_of::<libc::sockaddr_in>() };
    (u16::from_be(head.sin_port), length)
}

called! {
    fn insert(ports: Arc<Ports> as fid_av, list: *const c_void, count: usize, answers: *mut fi_addr_t, flags: u64, context: *mut c_void) -> c_int {
        // The user may pass a null pointer for the answers. The shim needs them in any case.
        let mut found = vec![fi_addr_t::MAX; count];
        // SAFETY: the address vector is open, the user passes `count` addresses at `list`, and `found` has `count` entries.
        let result = unsafe { calls::av_insert(ports.real(), list, count, found.as_mut_ptr(), flags, context) };
        let mut at = list;
        for answer in &found {
            // SAFETY: the user passes `count` addresses in a row. The provider's addresses are socket addresses.
            let (port, length) = unsafe { port_of(at) };
            at = at.wrapping_byte_add(length);
            if *answer != fi_addr_t::MAX {
                ports.0.lock().insert(*answer, port);
            }
        }
        if !answers.is_null() {
            // SAFETY: the user's array `answers` has `count` entries, as many as `found`.
            unsafe { answers.copy_from_nonoverlapping(found.as_ptr(), count) };
        }
        result
    }
    fn av_lookup(ports: Arc<Ports> as fid_av, address: fi_addr_t, place: *mut c_void, length: *mut usize) -> c_int {
        // SAFETY: the address vector is open. The other arguments are the user's, unchanged.
        unsafe { calls::av_lookup(ports.real(), address, place, length) }
    }

    fn av_straddr(ports: Arc<Ports> as fid_av, address: *const c_void, text: *mut c_char, length: *mut usize) -> *const c_char {
        // SAFETY: the address vector is open. The other arguments are the user's, unchanged.
        unsafe { calls::av_straddr(ports.real(), address, text, length) }
    }
}
