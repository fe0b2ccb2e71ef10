//! Which memory of which PE is named how.
//!
//! Where the provider lets us choose, the key of a segment follows from its number and the job's secret
//! ([names](super::names)), and its first byte has address 0: then no PE keeps anything of another. Otherwise each PE tells
//! what it was given, and there is a table per segment, found by index.

use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::domain::Domain;
use super::error::OfiError;
use super::names::Names;
use super::sparse::Sparse;
use crate::exclusion::{Mutex, RwLock};
use crate::libfabric::bindings::*;
use crate::libfabric::{Endpoint, Refused, Registration};
use crate::segment::MAX_SEGMENTS;
use crate::transport::Remote;

/// What peers may do with a PE's memory, and the PE itself.
const ACCESS: u32 = FI_REMOTE_READ | FI_REMOTE_WRITE | LOCAL_ACCESS;
const LOCAL_ACCESS: u32 = FI_READ | FI_WRITE | FI_SEND | FI_RECV;

/// How many keys are tried for memory that is no segment: of short ones, one may be taken.
const MOST_KEYS: usize = 1000;

/// Keys of all PEs' segments, and the own registrations.
pub(super) struct Keys {
    segments: Sparse<OfSegment>,
    own: Mutex<BTreeMap<u32, Registration>>,
    /// What is registered here, where local memory must be.
    local: RwLock<Vec<(u32, Range<usize>, Description)>>,
    pes: usize,
}

#[derive(Default)]
struct OfSegment {
    /// Bytes from the start of a slot.
    start: AtomicUsize,
    /// By PE, where keys and addresses follow from nothing.
    on_wire: OnceLock<Box<[KeyOnWire]>>,
}

/// What a PE has told of a segment.
struct KeyOnWire {
    key: AtomicU64,
    address: AtomicU64,
}

/// Description of registered memory, for the provider.
#[derive(Clone, Copy)]
struct Description(*mut c_void);

// SAFETY: a handle that the provider gives to any thread.
unsafe impl Send for Description {}
// SAFETY: a handle that the provider gives to any thread.
unsafe impl Sync for Description {}

impl Keys {
    /// Bytes whatever the number of PEs, before there are segments.
    pub(super) const FIXED: usize = Sparse::<OfSegment>::bytes(MAX_SEGMENTS);

    /// Bytes besides for the first segments.
    pub(super) const OF_FIRST: usize = Sparse::<OfSegment>::OF_REGION + Sparse::<OfSegment>::OF_BLOCK;

    /// Bytes for each PE and segment, where PEs tell their keys.
    pub(super) const FOR_EACH_KEY: usize = size_of::<KeyOnWire>();

    pub(super) fn new(pes: usize) -> Self {
        let segments = Sparse::new(MAX_SEGMENTS);
        Self { segments, own: Mutex::default(), local: RwLock::default(), pes }
    }

    /// Address and key of remote memory, as the provider takes them; `names` are the job's.
    #[inline(always)]
    pub(super) fn find(&self, names: &Names, to: Remote) -> (u64, u64) {
        let segment = self.segments.entry(to.segment as usize);
        let inside = to.offset.wrapping_sub(segment.start.load(Ordering::Relaxed)) as u64;
        match segment.on_wire.get() {
            None => (inside, names.of_segment(to.segment)),
            Some(on_wire) => {
                let on_wire = &on_wire[to.pe.number()];
                (
                    on_wire.address.load(Ordering::Relaxed).wrapping_add(inside),
                    on_wire.key.load(Ordering::Relaxed),
                )
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
        endpoint: &Endpoint,
        segment: u32,
        start: usize,
        memory: (*mut u8, usize),
    ) -> Result<Vec<u8>, c_int> {
        // SAFETY: the caller's promise.
        let registered = unsafe { register(domain, memory, ACCESS, domain.names.of_segment(segment)) }?;
        domain.enable(&registered, endpoint)?;
        self.segments.entry(segment as usize).start.store(start, Ordering::Relaxed);
        if domain.demands.local {
            let from = memory.0 as usize;
            let description = Description(registered.description());
            let mut local = self.local.write();
            local.push((segment, from..from + memory.1, description));
        }
        let key = registered.key();
        self.own.lock().insert(segment, registered);
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
        let none = || KeyOnWire { key: AtomicU64::new(0), address: AtomicU64::new(0) };
        let of_segment = self.segments.entry(segment as usize);
        let on_wire = of_segment.on_wire.get_or_init(|| (0..self.pes).map(|_| none()).collect());
        on_wire[pe].key.store(u64::from_le_bytes(*key), Ordering::Relaxed);
        on_wire[pe].address.store(u64::from_le_bytes(*address), Ordering::Relaxed);
    }

    /// Forgets a segment of this PE. Keys of the others are overwritten by those of the next one in its place.
    pub(super) fn forget(&self, segment: u32) {
        self.local.write().retain(|(of, ..)| *of != segment);
        self.own.lock().remove(&segment);
    }

    /// How local memory is described to the provider; `None`: it must be registered, and is not.
    #[inline(always)]
    pub(super) fn describe(&self, domain: &Domain, from: *const u8, bytes: usize) -> Option<*mut c_void> {
        if !domain.demands.local {
            return Some(core::ptr::null_mut());
        }
        let (from, local) = (from as usize, self.local.read());
        let inside = |range: &Range<usize>| range.contains(&from) && bytes <= range.end - from;
        local.iter().find(|(_, range, _)| inside(range)).map(|(.., description)| description.0)
    }
}

impl Domain {
    /// Registers memory for the PE's own use, where that must be done.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    ///
    /// # Safety
    ///
    /// It must outlive what is given.
    pub(super) unsafe fn register_local(
        &self,
        memory: (*mut u8, usize),
    ) -> Result<Option<Registration>, OfiError> {
        if !self.demands.local {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        let registered = unsafe { self.register_other(memory, LOCAL_ACCESS) };
        registered.map(Some).map_err(|error| self.refused(Refused::of("fi_mr_reg", error)))
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
        endpoint: &Endpoint,
    ) -> Result<Registration, c_int> {
        // SAFETY: the caller's promise.
        let registered = unsafe { self.register_other(memory, FI_REMOTE_WRITE) }?;
        self.enable(&registered, endpoint)?;
        Ok(registered)
    }

    /// Registers memory that is no segment, under a key that is free.
    ///
    /// # Safety
    ///
    /// It must outlive what is given.
    unsafe fn register_other(&self, memory: (*mut u8, usize), access: u32) -> Result<Registration, c_int> {
        const TAKEN: c_int = FI_ENOKEY as c_int;
        for _ in 0..MOST_KEYS {
            // SAFETY: the caller's promise.
            match unsafe { register(self, memory, access, self.names.of_another()) } {
                Err(TAKEN) => {}
                done => return done,
            }
        }
        Err(TAKEN)
    }

    /// Lets registered memory be used, at an endpoint where it has to be bound to one.
    fn enable(&self, memory: &Registration, endpoint: &Endpoint) -> Result<(), c_int> {
        if !self.demands.endpoint_bound {
            return Ok(());
        }
        memory.bind(endpoint).and_then(|()| memory.enable()).map_err(|refused| refused.code)
    }
}

/// # Safety
///
/// The memory must be mapped for as long as what is given lives, and be such that who has its key or its description may use
/// it so.
unsafe fn register(
    domain: &Domain,
    memory: (*mut u8, usize),
    access: u32,
    key: u64,
) -> Result<Registration, c_int> {
    // SAFETY: the caller's promise.
    unsafe { Registration::new(domain.opened(), memory, access, key) }.map_err(|refused| refused.code)
}
