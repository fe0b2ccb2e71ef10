//! The table of addresses of other endpoints.

use core::ffi::{c_char, c_void};
use std::sync::Arc;

use super::bindings::*;
use super::calls;
use super::domain::Domain;
use super::object::{Object, Refused};

pub(super) const ADDRESS_BYTES: usize = 256;

/// A table of addresses. Fields drop in this order.
#[derive(Debug)]
pub struct Addresses {
    table: Object<fid_av>,
    domain: Arc<Domain>,
}

impl Addresses {
    /// An empty table, with room for `count` addresses at first, at most a million; it grows later.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn open(domain: &Arc<Domain>, count: usize) -> Result<Arc<Self>, Refused> {
        // SAFETY: numbers and pointers, for which zeroes are valid.
        let mut attributes: fi_av_attr = unsafe { core::mem::zeroed() };
        attributes.type_ = FI_AV_TABLE;
        // Providers compute with the number, and some do not check for overflow.
        attributes.count = count.min(1 << 20);
        let open = |table| {
            // SAFETY: an open domain; the attributes are read during the call.
            unsafe { calls::av_open(domain.as_ptr(), &raw mut attributes, table, core::ptr::null_mut()) }
        };
        // SAFETY: only this value has the table, and closes it before it releases the domain.
        let table = unsafe { Object::open("fi_av_open", open) }?;
        Ok(Arc::new(Self { table, domain: Arc::clone(domain) }))
    }

    /// The table's domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Enters an address. Returns its index for operations.
    ///
    /// # Errors
    ///
    /// If the provider refuses the address.
    ///
    /// # Safety
    ///
    /// `address` must be a whole address of an [endpoint](super::Endpoint::name) of the same provider, which reads as many bytes as
    /// its addresses have.
    pub unsafe fn insert(&self, address: &[u8]) -> Result<fi_addr_t, Refused> {
        let (mut found, none) = (fi_addr_t::MAX, core::ptr::null_mut());
        // Providers derive the length of an address from the kind in its first bytes.
        let mut whole = [0_u8; ADDRESS_BYTES];
        match whole.get_mut(..address.len()) {
            Some(start) => start.copy_from_slice(address),
            None => return Err(Refused::of("fi_av_insert", FI_EINVAL.cast_signed())),
        }
        let from = whole.as_ptr().cast::<c_void>();
        // SAFETY: an open table; one address, whole (caller), and room for one number.
        match unsafe { calls::av_insert(self.table.as_ptr(), from, 1, &raw mut found, 0, none) } {
            1 => Ok(found),
            error if error < 0 => Err(Refused::of("fi_av_insert", -error)),
            _ => Err(Refused::of("fi_av_insert", FI_EINVAL.cast_signed())),
        }
    }

    /// An address as text, if the provider has one.
    ///
    /// # Safety
    ///
    /// `address` must be a result of [`insert`](Self::insert) of this table: providers crash on others.
    pub unsafe fn describe(&self, address: fi_addr_t) -> Option<String> {
        let (mut raw, mut raw_length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let (mut text, mut length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let to = raw.as_mut_ptr().cast::<c_void>();
        // SAFETY: an open table, an address in it (caller), and room for `raw_length` bytes.
        if unsafe { calls::av_lookup(self.table.as_ptr(), address, to, &raw mut raw_length) } != 0 {
            return None;
        }
        let to = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: an open table, an address that it has returned, and room for `length` bytes.
        unsafe { calls::av_straddr(self.table.as_ptr(), raw.as_ptr().cast(), to, &raw mut length) };
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(text).into_owned())
    }

    pub(super) fn fid(&self) -> *mut fid {
        self.table.fid()
    }
}
