//! Untyped put and get, on addresses.
//!
//! An address borrows nothing: between the search for its segment and the end of the copy, another thread may do
//! whatever its token allows. So a segment that is found is memory of every PE for as long as any token of this
//! PE exists, and until started operations are complete. Partitions of the start are never freed. Partitions made at run time are
//! freed with the world borrowed exclusively, when all endpoints of all PEs have been quiet. All other memory that can be freed is
//! hidden from the search ([`Segments::insert`](crate::segment_table::Segments::insert)).

use core::panic::Location;

use super::remote_place::Place as _;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{On, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;
use crate::segment_table::Miss;

/// Untyped remote memory access, as `shmem_putmem` and `shmem_getmem`.
///
/// The address is the calling PE's own. Its segment is found by one shift and one load from a byte
/// table, whatever the number of partitions, and the whole range is checked to lie in it.
pub trait Raw: Initiator {
    /// Writes bytes to `to` on `pe`.
    ///
    /// # Panics
    ///
    /// If the range is not inside one partition; the message lists the segments. Arrays and halos with their own memory
    /// are in none.
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

    /// Reads bytes from `from` on `pe`.
    ///
    /// # Panics
    ///
    /// If the range is not inside one partition; the message lists the segments. Arrays and halos with their own memory
    /// are in none.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_getmem`.
    #[inline]
    #[track_caller]
    fn getmem(&self, into: &mut [u8], from: SymAddr, pe: Pe) {
        get_bytes(self.endpoint(), into, from, pe, Family::Getmem);
    }

    /// Returns a pointer as a symmetric address. Memory freed with its handle (of arrays whose storage is not
    /// `Single`, and of halos) has none.
    ///
    /// # Errors
    ///
    /// [`Miss`], which lists the segments, if `pointer` is not to symmetric memory of this PE.
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

/// Writes `source` to bytes of `pe`. It is borrowed for as long as the family says.
#[inline]
#[track_caller]
pub(super) fn put_bytes(endpoint: &Endpoint, to: SymAddr, source: &[u8], pe: Pe, family: Family) {
    let to = bytes_at(endpoint, family, to, source.len(), pe);
    // SAFETY: `source` is as long as the place, and borrowed for as long as the family says (caller).
    unsafe { to.put_from(endpoint, source.as_ptr(), family) };
}

/// Reads bytes of `pe` into `into`, which is borrowed for as long as the family says.
#[inline]
#[track_caller]
pub(super) fn get_bytes(endpoint: &Endpoint, into: &mut [u8], from: SymAddr, pe: Pe, family: Family) {
    let from = bytes_at(endpoint, family, from, into.len(), pe);
    // SAFETY: `into` is as long as the place, and borrowed exclusively for as long as the family says (caller).
    unsafe { from.get_into(endpoint, into.as_mut_ptr(), family) };
}

#[inline(always)]
fn offset_of(endpoint: &Endpoint, address: SymAddr) -> usize {
    (address.as_ptr() as usize).wrapping_sub(endpoint.mine(0) as usize)
}

/// Returns the place of `bytes` bytes of `pe`, from an address on.
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
        // SAFETY: the range lies in a segment, which is memory of every PE for as long as the endpoint's token exists, and until the
        // endpoint is quiet (head of the module).
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
