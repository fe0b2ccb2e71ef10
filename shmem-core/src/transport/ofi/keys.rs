//! Which memory of which PE is named how.
//!
//! Where the provider lets us choose, the key of a segment is its number and its first byte has address 0: then no
//! PE keeps anything of another. Otherwise each PE tells what it was given, and there is a table per segment,
//! found by index.

use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use super::domain::{Domain, made};
use super::object::Object;
use crate::libfabric::bindings::*;
use crate::libfabric::calls;
use crate::segment::MAX_SEGMENTS;
use crate::transport::Remote;

/// What peers may do with a PE's memory, and the PE itself.
const ACCESS: u32 = FI_REMOTE_READ | FI_REMOTE_WRITE | LOCAL_ACCESS;
const LOCAL_ACCESS: u32 = FI_READ | FI_WRITE | FI_SEND | FI_RECV;

/// Keys of all PEs' segments, and the own registrations.
pub(super) struct Keys {
    segments: Box<[OfSegment]>,
    own: Mutex<BTreeMap<u32, Object<fid_mr>>>,
    /// What is registered here, where local memory must be.
    local: RwLock<Vec<(u32, Range<usize>, Description)>>,
    pes: usize,
}

struct OfSegment {
    /// Bytes from the start of a place.
    start: AtomicUsize,
    /// By PE, where keys and addresses follow from nothing.
    told: OnceLock<Box<[Told]>>,
}

/// What a PE has told of a segment.
struct Told {
    key: AtomicU64,
    address: AtomicU64,
}

/// Description of registered memory, for the provider.
#[derive(Clone, Copy)]
struct Description(*mut c_void);

// SAFETY: a handle that the provider gives to any thread.
unsafe impl Send for Description {}
// SAFETY: as above.
unsafe impl Sync for Description {}

impl Keys {
    /// Bytes whatever the number of PEs.
    pub(super) const FIXED: usize = MAX_SEGMENTS * size_of::<OfSegment>();

    /// Bytes for each PE and segment, where PEs tell their keys.
    pub(super) const FOR_EACH_KEY: usize = size_of::<Told>();

    pub(super) fn new(pes: usize) -> Self {
        let segment = || OfSegment { start: AtomicUsize::new(0), told: OnceLock::new() };
        let segments = (0..MAX_SEGMENTS).map(|_| segment()).collect();
        Self { segments, own: Mutex::default(), local: RwLock::default(), pes }
    }

    /// Address and key of remote memory, as the provider takes them.
    #[inline(always)]
    pub(super) fn find(&self, to: Remote) -> (u64, u64) {
        let segment = &self.segments[to.segment as usize];
        let inside = to.offset.wrapping_sub(segment.start.load(Ordering::Relaxed)) as u64;
        match segment.told.get() {
            None => (inside, to.segment.into()),
            Some(told) => {
                let told = &told[to.pe.number()];
                (told.address.load(Ordering::Relaxed).wrapping_add(inside), told.key.load(Ordering::Relaxed))
            }
        }
    }

    /// Registers a segment of this PE; gives what the others need to know, which is nothing where keys and
    /// addresses follow from its number.
    ///
    /// # Errors
    ///
    /// The error number of libfabric, positive.
    ///
    /// # Safety
    ///
    /// The memory must be mapped until the segment is forgotten.
    pub(super) unsafe fn register(
        &self,
        domain: &Domain,
        endpoint: &Object<fid_ep>,
        segment: u32,
        start: usize,
        memory: (*mut u8, usize),
    ) -> Result<Vec<u8>, c_int> {
        // SAFETY: the caller's promise.
        let registered = unsafe { register(domain, memory, ACCESS, segment.into()) }?;
        domain.enable(&registered, endpoint)?;
        self.segments[segment as usize].start.store(start, Ordering::Relaxed);
        if domain.demands.local {
            let from = memory.0 as usize;
            // SAFETY: registered memory that is open.
            let description = Description(unsafe { (*registered.raw()).mem_desc });
            let mut local = self.local.write().unwrap_or_else(PoisonError::into_inner);
            local.push((segment, from..from + memory.1, description));
        }
        // SAFETY: as above.
        let key = unsafe { (*registered.raw()).key };
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(segment, registered);
        if !domain.demands.provider_keys && !domain.demands.virtual_addresses {
            return Ok(Vec::new());
        }
        let address = if domain.demands.virtual_addresses { memory.0 as u64 } else { 0 };
        Ok([key.to_le_bytes(), address.to_le_bytes()].concat())
    }

    /// Takes what another PE's [`register`](Self::register) has given.
    ///
    /// # Panics
    ///
    /// If it is garbled.
    pub(super) fn learn(&self, segment: u32, pe: usize, said: &[u8]) {
        if said.is_empty() {
            return;
        }
        let words = said.as_chunks::<8>();
        let ([key, address], []) = words else { panic!("a key of PE {pe} is garbled") };
        let none = || Told { key: AtomicU64::new(0), address: AtomicU64::new(0) };
        let told =
            self.segments[segment as usize].told.get_or_init(|| (0..self.pes).map(|_| none()).collect());
        told[pe].key.store(u64::from_le_bytes(*key), Ordering::Relaxed);
        told[pe].address.store(u64::from_le_bytes(*address), Ordering::Relaxed);
    }

    /// Forgets a segment of this PE. Keys of the others are overwritten by those of the next one in its place.
    pub(super) fn forget(&self, segment: u32) {
        self.local.write().unwrap_or_else(PoisonError::into_inner).retain(|(of, ..)| *of != segment);
        self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(&segment);
    }

    /// How local memory is described to the provider; `None`: it must be registered, and is not.
    #[inline(always)]
    pub(super) fn describe(&self, domain: &Domain, from: *const u8, bytes: usize) -> Option<*mut c_void> {
        if !domain.demands.local {
            return Some(core::ptr::null_mut());
        }
        let (from, local) = (from as usize, self.local.read().unwrap_or_else(PoisonError::into_inner));
        let inside = |range: &Range<usize>| range.contains(&from) && bytes <= range.end - from;
        local.iter().find(|(_, range, _)| inside(range)).map(|(.., description)| description.0)
    }
}

impl Domain {
    /// Registers memory for the PE's own use.
    ///
    /// # Errors
    ///
    /// The error number of libfabric, positive.
    ///
    /// # Safety
    ///
    /// It must outlive what is given.
    pub(super) unsafe fn register_local(&self, memory: (*mut u8, usize)) -> Result<Object<fid_mr>, c_int> {
        // SAFETY: the caller's promise.
        unsafe { register(self, memory, LOCAL_ACCESS, unnamed()) }
    }

    /// Registers memory that others write to, who are told its key.
    ///
    /// # Errors
    ///
    /// The error number of libfabric, positive.
    ///
    /// # Safety
    ///
    /// It must outlive what is given.
    pub(super) unsafe fn register_landing(
        &self,
        memory: (*mut u8, usize),
        endpoint: &Object<fid_ep>,
    ) -> Result<Object<fid_mr>, c_int> {
        // SAFETY: the caller's promise.
        let registered = unsafe { register(self, memory, FI_REMOTE_WRITE, unnamed()) }?;
        self.enable(&registered, endpoint)?;
        Ok(registered)
    }

    /// Lets registered memory be used, at an endpoint where it has to be bound to one.
    fn enable(&self, memory: &Object<fid_mr>, endpoint: &Object<fid_ep>) -> Result<(), c_int> {
        if !self.demands.endpoint_bound {
            return Ok(());
        }
        let (memory, endpoint) = (memory.raw().cast::<fid>(), endpoint.raw().cast());
        // SAFETY: open objects of one domain.
        let error = unsafe { calls::bind(memory, endpoint, 0) };
        if error != 0 {
            return Err(-error);
        }
        // SAFETY: memory that is bound to what it needs.
        let error = unsafe { calls::control(memory, FI_ENABLE, core::ptr::null_mut()) };
        if error == 0 { Ok(()) } else { Err(-error) }
    }
}

/// A key behind those of segments.
fn unnamed() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(MAX_SEGMENTS as u64);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// # Safety
///
/// The memory must be mapped for as long as what is given lives.
unsafe fn register(
    domain: &Domain,
    (from, bytes): (*mut u8, usize),
    access: u32,
    key: u64,
) -> Result<Object<fid_mr>, c_int> {
    let memory = libc::iovec { iov_base: from.cast(), iov_len: bytes };
    // SAFETY: all zeroes ask for nothing.
    let mut attributes: fi_mr_attr = unsafe { core::mem::zeroed() };
    attributes.mr_iov = &raw const memory;
    attributes.iov_count = 1;
    attributes.access = access.into();
    attributes.requested_key = key;
    let registered = made(|registered| {
        // SAFETY: an open domain; the attributes are read during the call, the memory is mapped (caller).
        unsafe { calls::mr_regattr(domain.raw(), &raw const attributes, 0, registered) }
    })?;
    // SAFETY: it was made just now, from a domain that outlives it.
    Ok(unsafe { Object::new(registered) })
}
