//! State that the objects of a domain share: memory registrations by descriptor, their keys, and contexts in flight.

use core::ffi::c_void;
use core::ops::Range;
use core::slice;
use core::sync::atomic::AtomicUsize;
use std::collections::HashMap;

use libc::iovec;
use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::fid_domain;

use crate::demand::demands;
use crate::object::{ObjectState, Real};
use crate::random;

/// State that the objects of a domain share.
pub(crate) struct Shared {
    pub(crate) real: Real<fid_domain>,
    /// Whether the domain has resource management, by which the provider guards queues against overruns.
    pub(crate) managed: bool,
    pub(crate) regions: Regions,
    pub(crate) contexts: Contexts,
    pub(crate) endpoints: AtomicUsize,
    /// Number of calls of `fi_enable` on endpoints of the domain. `FABRIC_SHIM=taken=2` makes the first two fail.
    pub(crate) enabled: AtomicUsize,
}

impl ObjectState for std::sync::Arc<Shared> {
    type Seen = fid_domain;
}

/// The registrations of a domain, by descriptor.
#[derive(Default)]
pub(crate) struct Regions(Mutex<HashMap<usize, Registration>>);

/// The range of a memory registration, its access rights, and whether it is enabled.
#[derive(Clone)]
pub(crate) struct Registration {
    pub(crate) range: Range<usize>,
    pub(crate) access: u64,
    pub(crate) enabled: bool,
}

impl Regions {
    /// Adds a registration. Returns `false` if the domain already has as many as `FABRIC_SHIM=registrations=8` (for example)
    /// allows.
    pub(crate) fn add(&self, descriptor: usize, facts: Registration) -> bool {
        let mut known = self.0.lock();
        let is_room = demands().registrations.is_none_or(|most| known.len() < most);
        if is_room {
            known.insert(descriptor, facts);
        }
        is_room
    }

    pub(crate) fn enable(&self, descriptor: usize) {
        if let Some(facts) = self.0.lock().get_mut(&descriptor) {
            facts.enabled = true;
        }
    }

    pub(crate) fn remove(&self, descriptor: usize) {
        self.0.lock().remove(&descriptor);
    }

    /// Ends the process unless the descriptor is that of an enabled registration that covers the buffer and allows the access.
    pub(crate) fn check(&self, buffer: &iovec, descriptor: usize, access: u32, call: &str) {
        let start = buffer.iov_base.addr();
        let end = start.saturating_add(buffer.iov_len);
        let what = format!("{call} of {} bytes at {start:#x}", buffer.iov_len);
        let known = self.0.lock();
        let Some(Registration { range, access: had, enabled }) = known.get(&descriptor) else {
            let given = match descriptor {
                0 => "without a descriptor".to_owned(),
                _ => format!("with the descriptor {descriptor:#x}, which is that of no open registration"),
            };
            violation!("FI_MR_LOCAL", "{what} {given}; local buffers are registered, and fi_mr_desc given");
        };
        if !enabled {
            violation!("FI_MR_ENDPOINT", "{what} with a registration that is not enabled yet");
        }
        if start < range.start || range.end < end {
            violation!("FI_MR_LOCAL", "{what} with the descriptor of other memory: {range:#x?}");
        }
        if had & u64::from(access) == 0 {
            violation!("FI_MR_LOCAL", "{what} needs the access {access:#x}; it was registered with {had:#x}");
        }
    }
}

/// Contexts of operations in flight, by address. A context is memory of the user that belongs to the provider until completion.
///
/// A provider may write to a context at any time. So the shim fills it with a random pattern when its operation begins, checks the
/// pattern at completion, and leaves another pattern: a value that the user stores there is lost. Each operation has a context of
/// its own.
#[derive(Default)]
pub(crate) struct Contexts(Mutex<HashMap<usize, u64>>);

impl Contexts {
    /// Records the context of an operation that a queue will report, and fills it with a pattern.
    ///
    /// # Safety
    ///
    /// With `FABRIC_SHIM=context` or `FABRIC_SHIM=context2`, the address must be null, or that of the demanded number of words,
    /// which nobody else may use until the operation is complete.
    pub(crate) unsafe fn begin(&self, context: *mut c_void) {
        let Some(words) = demands().words() else { return };
        if context.is_null() || !context.cast::<u64>().is_aligned() {
            violation!(
                "FI_CONTEXT",
                "an operation that completes has the context {context:p}; the provider asks for the address of {words} \
                 words of its own, until the completion has been read"
            );
        }
        let pattern = random();
        if self.0.lock().insert(context.addr(), pattern).is_some() {
            violation!(
                "FI_CONTEXT",
                "the context {context:p} is given to an operation while another one is in flight with it; each operation \
                 has its own until its completion has been read"
            );
        }
        // SAFETY: the context has `words` words, which only the operation uses (caller).
        unsafe { slice::from_raw_parts_mut(context.cast::<u64>(), words) }.fill(pattern);
    }

    /// Checks the context of an operation that was reported or refused, and forgets it.
    ///
    /// # Safety
    ///
    /// If [`Contexts::begin`] was called with this address, its rules must hold until this call. Other addresses are ignored.
    pub(crate) unsafe fn end(&self, context: *mut c_void) {
        let Some(words) = demands().words() else { return };
        let Some(pattern) = self.0.lock().remove(&context.addr()) else { return };
        // SAFETY: `begin` was called with this address, and its caller keeps the words until now.
        let found = unsafe { slice::from_raw_parts_mut(context.cast::<u64>(), words) };
        if found.iter().any(|word| *word != pattern) {
            violation!(
                "FI_CONTEXT",
                "the context {context:p} was written to while its operation was in flight; its {words} words are the \
                 provider's until the completion has been read"
            );
        }
        found.fill(!pattern);
    }
}

/// `FI_KEY_NOTAVAIL`: the value of a key before the provider has chosen one.
pub(crate) const NO_KEY: u64 = u64::MAX;

/// Makes a key as a provider does: the TCP port of the endpoint that the memory is bound to (left out if keys have 4 bytes); random
/// bits; a checksum. So the origin of an operation detects keys that no provider has made, or that belong to another endpoint.
pub(crate) fn made_up(port: u16) -> u64 {
    let (bits, body) = match demands().key_size {
        Some(4) => (8, random() & 0xff_ffff),
        _ => (16, u64::from(port) << 32 | random() & 0xffff_ffff),
    };
    body << bits | sum(body) & ((1 << bits) - 1)
}

/// Returns the port in a key, or 0 if the key has none; `None` if no provider has made the key.
pub(crate) fn port_in(key: u64) -> Option<u16> {
    let (bits, fits) = match demands().key_size {
        Some(4) => (8, key >> 32 == 0),
        _ => (16, true),
    };
    let is_sum = (sum(key >> bits) ^ key) & ((1 << bits) - 1) == 0;
    (fits && is_sum).then_some((key >> 48) as u16)
}

fn sum(body: u64) -> u64 {
    let mixed = (body ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29 ^ mixed >> 47
}
