//! Remote keys, and registered memory.
//!
//! If the provider allows it, keys are derived from the job's [secret](super::Secret), with as many bytes as the provider allows. A
//! segment then has the same key on all PEs. If offsets in the segment serve as its addresses too, no PE keeps a table of keys. If
//! the provider chooses keys, or demands virtual addresses, PEs exchange keys and addresses, and keep a table for each segment. A
//! PE registers other memory with the next derived key that it has not used.

use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::OnceLock;

use super::domain::Domain;
use super::error::OfiError;
use super::job_secret::Secret;
use super::sparse::Sparse;
use crate::exclusion::RwLock;
use crate::libfabric::bindings::*;
use crate::libfabric::{Endpoint, Refused, Registration};
use crate::segment_table::MAX_SEGMENTS;
use crate::transport::Remote;

/// Access to a segment: by other PEs, and by its own PE.
const ACCESS: u32 = FI_REMOTE_READ | FI_REMOTE_WRITE | LOCAL_ACCESS;
const LOCAL_ACCESS: u32 = FI_READ | FI_WRITE | FI_SEND | FI_RECV;

/// Upper limit on the keys that are tried for memory that is no segment, because a short key may be in use.
const MOST_KEYS: usize = 1000;

/// The keys that are derived from the job's secret.
pub(super) struct JobKeys {
    secret: Secret,
    bits: u64,
    segments: Box<[u64]>,
    /// Number of keys tried so far for memory that is no segment.
    others: AtomicU32,
}

impl JobKeys {
    pub(super) fn new(secret: Secret, bytes: usize) -> Self {
        let bits = if (1..size_of::<u64>()).contains(&bytes) { (1 << (8 * bytes)) - 1 } else { u64::MAX };
        let mut segments: Vec<u64> = Vec::with_capacity(MAX_SEGMENTS);
        for segment in 0..MAX_SEGMENTS as u32 {
            // If a segment would have the key of an earlier one, the next attempt's key is tried. All PEs compute the same keys.
            let mut tries =
                (0..).map(|attempt| secret.number("the key of a segment", segment, attempt) & bits);
            let key = tries.find(|key| is_key(*key, bits) && !segments.contains(key));
            segments.push(key.unwrap_or_else(|| unreachable!("there are more keys than segments")));
        }
        Self { secret, bits, segments: segments.into(), others: AtomicU32::new(0) }
    }

    pub(super) fn of_segment(&self, segment: u32) -> u64 {
        self.segments[segment as usize]
    }

    /// A new key for memory that is no segment. A short key may be in use already; the provider then refuses it.
    pub(super) fn of_another(&self) -> u64 {
        loop {
            let number = self.others.fetch_add(1, Ordering::Relaxed);
            let key = self.secret.number("the key of other memory", number, 0) & self.bits;
            if is_key(key, self.bits) && !self.segments.contains(&key) {
                return key;
            }
        }
    }

    pub(super) fn mark(&self, grant: usize) -> u32 {
        self.secret.number("the mark of a grant", grant as u32, 0) as u32
    }
}

/// Whether a key has no special meaning for any provider.
fn is_key(key: u64, bits: u64) -> bool {
    key != 0 && key != bits
}

/// Keys of the segments of all PEs, and the registrations of this PE.
pub(super) struct Keys {
    segments: Sparse<OfSegment>,
    /// This PE's segments: number, addresses, and registration.
    own: RwLock<Vec<(u32, Range<usize>, Registration)>>,
    pes: usize,
}

#[derive(Default)]
struct OfSegment {
    /// Offset of the segment from the start of its PE's slot (range of addresses), in bytes.
    start: AtomicUsize,
    /// Key and address of the segment on each PE, if the provider chooses keys or uses virtual addresses.
    on_wire: OnceLock<Box<[[AtomicU64; 2]]>>,
}

impl Keys {
    pub(super) fn new(pes: usize) -> Self {
        Self { segments: Sparse::new(MAX_SEGMENTS), own: RwLock::default(), pes }
    }

    /// Address and key by which the provider accesses remote memory.
    #[inline(always)]
    pub(super) fn find(&self, job_keys: &JobKeys, to: Remote) -> (u64, u64) {
        let segment = self.segments.entry(to.segment as usize);
        let inside = to.offset.wrapping_sub(segment.start.load(Ordering::Relaxed)) as u64;
        match segment.on_wire.get() {
            None => (inside, job_keys.of_segment(to.segment)),
            Some(on_wire) => {
                let [key, address] =
                    on_wire[to.pe.number()].each_ref().map(|word| word.load(Ordering::Relaxed));
                (address.wrapping_add(inside), key)
            }
        }
    }

    /// Registers a segment of this PE. Returns its key and address for the other PEs, or no bytes if both follow from the segment's
    /// number. Errors are libfabric's positive numbers.
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
        let registered = unsafe { domain.register(memory, ACCESS, Some(segment), Some(endpoint)) }?;
        self.segments.entry(segment as usize).start.store(start, Ordering::Relaxed);
        let (key, from) = (registered.key(), memory.0 as usize);
        self.own.write().push((segment, from..from + memory.1, registered));
        if !domain.demands.provider_keys && !domain.demands.virtual_addresses {
            return Ok(Vec::new());
        }
        let address = if domain.demands.virtual_addresses { memory.0 as u64 } else { 0 };
        Ok([key.to_le_bytes(), address.to_le_bytes()].concat())
    }

    /// Stores the result of [`register`](Self::register) on PE `pe`.
    pub(super) fn learn(&self, segment: u32, pe: usize, said: &[u8]) {
        if said.is_empty() {
            return;
        }
        let words = said.as_chunks::<8>();
        let ([key, address], []) = words else { panic!("a key of PE {pe} is garbled") };
        let of_segment = self.segments.entry(segment as usize);
        let on_wire = of_segment.on_wire.get_or_init(|| (0..self.pes).map(|_| Default::default()).collect());
        for (word, said) in on_wire[pe].iter().zip([key, address]) {
            word.store(u64::from_le_bytes(*said), Ordering::Relaxed);
        }
    }

    /// Forgets a segment of this PE. Keys from other PEs stay until a new segment has that number.
    pub(super) fn forget(&self, segment: u32) {
        // Registrations are closed after the lock is released, so that puts and gets, which take the lock, do not wait for that.
        let _gone: Vec<_> = self.own.write().extract_if(.., |(of, ..)| *of == segment).collect();
    }

    /// The provider's descriptor for local memory, null if the provider demands none. `None`: the memory is not registered.
    #[inline(always)]
    pub(super) fn describe(&self, domain: &Domain, from: *const u8, bytes: usize) -> Option<*mut c_void> {
        if !domain.demands.local {
            return Some(core::ptr::null_mut());
        }
        let (from, own) = (from as usize, self.own.read());
        let inside = |range: &Range<usize>| range.contains(&from) && bytes <= range.end - from;
        own.iter().find(|(_, range, _)| inside(range)).map(|(.., registered)| registered.description())
    }
}

impl Domain {
    /// Registers memory for the PE's own use, if the provider demands that.
    ///
    /// # Safety
    ///
    /// `memory` must outlive the result.
    pub(super) unsafe fn register_local(
        &self,
        memory: (*mut u8, usize),
    ) -> Result<Option<Registration>, OfiError> {
        if !self.demands.local {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        let registered = unsafe { self.register(memory, LOCAL_ACCESS, None, None) };
        registered.map(Some).map_err(|error| self.refused(Refused::of("fi_mr_reg", error)))
    }

    /// Registers memory under the key of its segment, or, without a segment, under a free key. Memory for other PEs is bound to
    /// `endpoint`, which they address, if the provider demands that. Errors are libfabric's positive numbers.
    ///
    /// # Safety
    ///
    /// The memory must be mapped for as long as the result lives, and users of its key or description must be allowed that access.
    pub(super) unsafe fn register(
        &self,
        memory: (*mut u8, usize),
        access: u32,
        segment: Option<u32>,
        endpoint: Option<&Endpoint>,
    ) -> Result<Registration, c_int> {
        const TAKEN: c_int = FI_ENOKEY as c_int;
        let mut tries = (0..if segment.is_some() { 1 } else { MOST_KEYS }).map(|_| {
            let key = segment
                .map_or_else(|| self.job_keys.of_another(), |segment| self.job_keys.of_segment(segment));
            // SAFETY: the caller's promise, for each try.
            unsafe { Registration::new(self.opened(), memory, access, key) }.map_err(|refused| refused.code)
        });
        let registered = tries.find(|tried| !matches!(tried, Err(TAKEN))).unwrap_or(Err(TAKEN))?;
        if let Some(endpoint) = endpoint.filter(|_| self.demands.endpoint_bound) {
            let bound = registered.bind(endpoint).and_then(|()| registered.enable());
            bound.map_err(|refused| refused.code)?;
        }
        Ok(registered)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(secret: u8, bytes: usize) -> JobKeys {
        JobKeys::new(Secret::of_bytes([secret; Secret::BYTES]), bytes)
    }

    fn segments(names: &JobKeys) -> Vec<u64> {
        (0..MAX_SEGMENTS as u32).map(|segment| names.of_segment(segment)).collect()
    }

    #[test]
    fn no_key_is_that_of_a_segment_however_short_they_are() {
        for bytes in [0, 2, 4, 8, 16] {
            let names = names(3, bytes);
            let of_segments: BTreeSet<_> = segments(&names).into_iter().collect();
            assert_eq!(of_segments.len(), MAX_SEGMENTS, "{bytes} bytes");
            let others: Vec<_> = (0..70_000).map(|_| names.of_another()).collect();
            assert!(others.iter().all(|key| !of_segments.contains(key)), "{bytes} bytes");
            let any = others.into_iter().chain(of_segments).fold(0, |any, key| any | key);
            let bits = if bytes == 2 || bytes == 4 { 8 * bytes as u32 } else { 64 };
            assert_eq!(
                (64 - any.leading_zeros(), any.count_ones()),
                (bits, bits),
                "all bytes are used, and no more"
            );
        }
    }
}
