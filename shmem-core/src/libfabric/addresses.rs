//! The table of addresses of other endpoints.

use core::ffi::{c_char, c_void};
use std::sync::Arc;

use super::bindings::*;
use super::calls;
use super::domain::Domain;
use super::object::{Object, Refused};

pub(super) const ADDRESS_BYTES: usize = 256;

/// A table of addresses. Fields are in drop order: the table closes before its domain.
#[derive(Debug)]
pub struct Addresses {
    table: Object<fid_av>,
    domain: Arc<Domain>,
}

impl Addresses {
    /// Opens an empty table with initial capacity for `count` addresses, but at most 2^20. The table grows.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn open(domain: &Arc<Domain>, count: usize) -> Result<Arc<Self>, Refused> {
        // SAFETY: all fields are numbers and pointers, for which zeroes are valid.
        let mut attributes: fi_av_attr = unsafe { core::mem::zeroed() };
        attributes.type_ = FI_AV_TABLE;
        // Capped, because some providers compute a size from the count without a check for overflow.
        attributes.count = count.min(1 << 20);
        let open = |table| {
            // SAFETY: the domain is open. The attributes are read during the call.
            unsafe { calls::av_open(domain.as_ptr(), &raw mut attributes, table, core::ptr::null_mut()) }
        };
        // SAFETY: `Addresses` alone owns the table, and closes it before it releases the domain.
        let table = unsafe { Object::open("fi_av_open", open) }?;
        Ok(Arc::new(Self { table, domain: Arc::clone(domain) }))
    }

    /// The table's domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Enters an address in the table, and returns its index, which operations name as their destination.
    ///
    /// # Errors
    ///
    /// If the provider refuses the address.
    ///
    /// # Safety
    ///
    /// `address` must be a complete address of an [endpoint](super::Endpoint::name) of the same provider, because the provider
    /// reads as many bytes as its addresses have.
    pub unsafe fn insert(&self, address: &[u8]) -> Result<fi_addr_t, Refused> {
        let (mut found, none) = (fi_addr_t::MAX, core::ptr::null_mut());
        // Copied to a longer buffer, because providers derive an address's length from the family in its first bytes, and may read
        // beyond `address`.
        let mut whole = [0_u8; ADDRESS_BYTES];
        match whole.get_mut(..address.len()) {
            Some(start) => start.copy_from_slice(address),
            None => return Err(Refused::of("fi_av_insert", FI_EINVAL.cast_signed())),
        }
        let from = whole.as_ptr().cast::<c_void>();
        // SAFETY: the table is open. `from` is one complete address (caller), and `found` has room for its index.
        match unsafe { calls::av_insert(self.table.as_ptr(), from, 1, &raw mut found, 0, none) } {
            1 => Ok(found),
            error if error < 0 => Err(Refused::of("fi_av_insert", -error)),
            _ => Err(Refused::of("fi_av_insert", FI_EINVAL.cast_signed())),
        }
    }

    /// Returns the address at an index of the table as text, if the provider has one.
    ///
    /// # Safety
    ///
    /// `address` must be a result of [`insert`](Self::insert) of this table, because providers crash on other indices.
    pub unsafe fn describe(&self, address: fi_addr_t) -> Option<String> {
        let (mut raw, mut raw_length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let (mut text, mut length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let to = raw.as_mut_ptr().cast::<c_void>();
        // SAFETY: the table is open, `address` is an index in it (caller), and `to` has room for `raw_length` bytes.
        if unsafe { calls::av_lookup(self.table.as_ptr(), address, to, &raw mut raw_length) } != 0 {
            return None;
        }
        let to = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: the table is open, `raw` is an address that it has returned, and `to` has room for `length` bytes.
        unsafe { calls::av_straddr(self.table.as_ptr(), raw.as_ptr().cast(), to, &raw mut length) };
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).into_owned())
    }

    pub(super) fn fid(&self) -> *mut fid {
        self.table.fid()
    }
}
