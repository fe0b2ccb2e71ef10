//! Registered memory of the probe.

use core::ffi::c_void;
use std::cell::UnsafeCell;
use std::sync::Arc;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{Domain, Endpoint, Registration};

/// All that memory may be used for.
pub(crate) const ANY_USE: u32 = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

/// Words in each piece of memory.
pub(crate) const WORDS: usize = 512;

/// Words, and their registration. The words are never freed.
pub(crate) struct Memory {
    words: &'static UnsafeCell<[u64; WORDS]>,
    registration: Registration,
}

impl Memory {
    /// Registers new words in a domain, under a key of the user's, for some use.
    pub(crate) fn register(domain: &Arc<Domain>, key: u64, access: u32) -> Result<Self, i32> {
        let words: &'static UnsafeCell<_> = Box::leak(Box::new(UnsafeCell::new([0; WORDS])));
        let bytes = (words.get().cast(), size_of::<[u64; WORDS]>());
        // SAFETY: never freed, and read and written through pointers alone.
        let registration = unsafe { Registration::new(domain, bytes, access, key) };
        Ok(Self { words, registration: registration.map_err(|refused| refused.code)? })
    }

    /// Binds it to an endpoint.
    pub(crate) fn bind(&self, endpoint: &Endpoint) {
        self.registration.bind(endpoint).expect("it is bound");
    }

    /// Enables it.
    pub(crate) fn enable(&self) {
        self.registration.enable().expect("it is enabled");
    }

    /// Its key.
    pub(crate) fn key(&self) -> u64 {
        self.registration.key()
    }

    /// Its descriptor.
    pub(crate) fn descriptor(&self) -> *mut c_void {
        self.registration.description()
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
        // SAFETY: one of the words; the fabric may be changing it.
        unsafe { self.at(word).write_volatile(value) };
    }
}
