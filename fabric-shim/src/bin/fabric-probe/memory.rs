//! Registered memory of the probe.

use core::ffi::c_void;
use std::cell::UnsafeCell;

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

/// All that memory may be used for.
pub(crate) const ANY_USE: u32 = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

/// Words in each piece of memory.
pub(crate) const WORDS: usize = 512;

/// Words, and their registration. Never freed: the probe ends.
pub(crate) struct Memory {
    words: &'static UnsafeCell<[u64; WORDS]>,
    pub(crate) region: *mut fid_mr,
}

impl Memory {
    /// Registers new words in a domain, under a key of the user's, for some use.
    pub(crate) fn register(domain: *mut fid_domain, key: u64, access: u32) -> Result<Self, i32> {
        let words: &'static UnsafeCell<_> = Box::leak(Box::new(UnsafeCell::new([0; WORDS])));
        let region = register(domain, words.get().cast(), size_of::<[u64; WORDS]>(), key, access)?;
        Ok(Self { words, region })
    }

    /// Binds it to an endpoint.
    pub(crate) fn bind(&self, endpoint: *mut fid_ep) {
        // SAFETY: both are open.
        assert_eq!(unsafe { calls::bind(self.region.cast(), endpoint.cast(), 0) }, 0);
    }

    /// Enables it.
    pub(crate) fn enable(&self) {
        // SAFETY: it is open.
        assert_eq!(unsafe { calls::control(self.region.cast(), FI_ENABLE, core::ptr::null_mut()) }, 0);
    }

    /// Its key.
    pub(crate) fn key(&self) -> u64 {
        // SAFETY: it is open.
        unsafe { (*self.region).key }
    }

    /// Its descriptor.
    pub(crate) fn descriptor(&self) -> *mut c_void {
        // SAFETY: it is open.
        unsafe { (*self.region).mem_desc }
    }

    /// Where a word of it lies.
    pub(crate) fn at(&self, word: usize) -> *mut u64 {
        self.words.get().cast::<u64>().wrapping_add(word)
    }

    /// A word, as it is now.
    pub(crate) fn load(&self, word: usize) -> u64 {
        assert!(word < WORDS);
        // SAFETY: one of the words; the fabric may be changing it.
        unsafe { self.at(word).read_volatile() }
    }

    /// Sets a word.
    pub(crate) fn store(&self, word: usize, value: u64) {
        assert!(word < WORDS);
        // SAFETY: as in `load`.
        unsafe { self.at(word).write_volatile(value) };
    }
}

/// Registers bytes.
pub(crate) fn register(
    domain: *mut fid_domain,
    start: *mut c_void,
    bytes: usize,
    key: u64,
    access: u32,
) -> Result<*mut fid_mr, i32> {
    let part = iovec { iov_base: start, iov_len: bytes };
    // SAFETY: plain data; all zeroes ask for nothing.
    let mut attributes: fi_mr_attr = unsafe { core::mem::zeroed() };
    attributes.mr_iov = &raw const part;
    attributes.iov_count = 1;
    attributes.access = access.into();
    attributes.requested_key = key;
    let mut region = core::ptr::null_mut();
    // SAFETY: the domain is open.
    match unsafe { calls::mr_regattr(domain, &raw const attributes, 0, &raw mut region) } {
        0 => Ok(region),
        error => Err(-error),
    }
}
