//! Untyped put and get, on addresses.
//!
//! An address borrows nothing. Between the search for its segment and the end of the copy, another thread may do all that its token
//! allows, such as free memory. So the search must find only segments that every PE keeps for as long as any token of this PE
//! exists, and until started operations are complete. Partitions made at the start are never freed. Partitions made at run time are
//! freed by a call that borrows the world exclusively, so while this PE has no other token, and after all endpoints of all PEs have
//! been quiet. All other memory that can be freed is hidden from the search
//! ([`Segments::insert`](crate::segment_table::Segments::insert)).

use core::panic::Location;

use super::remote_place::Place as _;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{On, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;
use crate::segment_table::Miss;

/// Untyped remote memory access, as `shmem_putmem` and `shmem_getmem`.
///
/// The symmetric address is the address of the calling PE's own copy. One shift and one load from a byte table find its segment,
/// whatever the number of partitions. The whole range is checked to be in the segment.
pub trait Raw: Initiator {
    /// Writes `source` to the address `to` on `pe`.
    ///
    /// # Panics
    ///
    /// If the range is not inside one partition. (Arrays and halos with their own segment are in none.) The panic lists segments.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_putmem`.
    #[inline]
    #[track_caller]
    fn putmem(&self, to: SymAddr, source: &[u8], pe: Pe)
    where
        Self: Stores,
    {
        put_bytes(self.endpoint(), to, source, pe, Family::Putmem);
    }

    /// Reads `into.len()` bytes from the address `from` on `pe`.
    ///
    /// # Panics
    ///
    /// If the range is not inside one partition. (Arrays and halos with their own segment are in none.) The panic lists segments.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_getmem`.
    #[inline]
    #[track_caller]
    fn getmem(&self, into: &mut [u8], from: SymAddr, pe: Pe) {
        get_bytes(self.endpoint(), into, from, pe, Family::Getmem);
    }

    /// Converts a pointer to a symmetric address. Fails for memory of halos, and of arrays whose storage is not `Single`: they are
    /// in segments of their own, which are freed with the handle.
    ///
    /// # Errors
    ///
    /// [`Miss`], which lists the segments, if `pointer` does not point to symmetric memory of this PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_addr_accessible`.
    fn address<T>(&self, pointer: *const T) -> Result<SymAddr, Miss> {
        let endpoint = self.endpoint();
        let address = SymAddr::assume(pointer.cast_mut().cast());
        let offset = offset_of(endpoint, address);
        endpoint
            .segments()
            .find(offset, 1)
            .map(|_| address)
            .ok_or_else(|| endpoint.segments().miss("address", address.as_ptr() as usize, offset, 1))
    }
}

impl<I: Initiator + ?Sized> Raw for I {}

/// Writes `source` to the address `to` on `pe`. The caller keeps `source` borrowed for as long as `family.until()` says.
#[inline]
#[track_caller]
pub(super) fn put_bytes(endpoint: &Endpoint, to: SymAddr, source: &[u8], pe: Pe, family: Family) {
    let to = bytes_at(endpoint, family, to, source.len(), pe);
    // SAFETY: `source` has as many bytes as the place, and is borrowed for as long as `family` requires (caller).
    unsafe { to.put_from(endpoint, source.as_ptr(), family) };
}

/// Reads `into.len()` bytes from the address `from` on `pe`. The caller keeps `into` borrowed for as long as `family.until()` says.
#[inline]
#[track_caller]
pub(super) fn get_bytes(endpoint: &Endpoint, into: &mut [u8], from: SymAddr, pe: Pe, family: Family) {
    let from = bytes_at(endpoint, family, from, into.len(), pe);
    // SAFETY: `into` has as many bytes as the place, and is borrowed exclusively for as long as `family` requires (caller).
    unsafe { from.get_into(endpoint, into.as_mut_ptr(), family) };
}

#[inline(always)]
fn offset_of(endpoint: &Endpoint, address: SymAddr) -> usize {
    (address.as_ptr() as usize).wrapping_sub(endpoint.mine(0) as usize)
}

/// Returns the place of `bytes` bytes on `pe` that starts at `address`.
#[inline(always)]
#[track_caller]
pub(super) fn bytes_at(
    endpoint: &Endpoint,
    family: Family,
    address: SymAddr,
    bytes: usize,
    pe: Pe,
) -> On<'_, [u8]> {
    let offset = offset_of(endpoint, address);
    match endpoint.segments().find(offset, bytes) {
        // SAFETY: the range is inside a segment. Every PE has this segment for as long as the endpoint's token exists, and until
        // the endpoint is quiet (head of the module).
        Some(segment) => unsafe { On::new(pe, segment, offset, bytes) },
        None => missed(endpoint, family, address, offset, bytes),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn missed(endpoint: &Endpoint, family: Family, address: SymAddr, offset: usize, bytes: usize) -> ! {
    endpoint.require_open(Location::caller());
    panic!("{}", endpoint.segments().miss(family.name(), address.as_ptr() as usize, offset, bytes))
}
