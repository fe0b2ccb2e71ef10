//! Registered memory, which the provider may access.

use core::ffi::c_void;
use std::sync::Arc;

use super::bindings::*;
use super::calls;
use super::domain::Domain;
use super::endpoint::Endpoint;
use super::object::{Object, Refused};

/// Registered memory. Fields are in drop order: the memory closes before its domain.
#[derive(Debug)]
pub struct Registration {
    memory: Object<fid_mr>,
    domain: Arc<Domain>,
}

impl Registration {
    /// Registers bytes for accesses such as `FI_REMOTE_WRITE`, under `key`, unless the provider chooses keys itself.
    ///
    /// # Errors
    ///
    /// If the provider refuses: `FI_ENOKEY` if the key is in use.
    ///
    /// # Safety
    ///
    /// The bytes must stay for as long as the result lives. Everybody who uses the key or the [description](Self::description) must
    /// be allowed that access.
    pub unsafe fn new(
        domain: &Arc<Domain>,
        (start, bytes): (*mut u8, usize),
        access: u32,
        key: u64,
    ) -> Result<Self, Refused> {
        let (start, none) = (start.cast_const().cast::<c_void>(), core::ptr::null_mut());
        let open = |memory| {
            // SAFETY: the domain is open, and the memory stays (caller).
            unsafe { calls::mr_reg(domain.as_ptr(), start, bytes, access.into(), 0, key, 0, memory, none) }
        };
        // SAFETY: `Registration` alone owns the memory, and closes it before it releases the domain.
        let memory = unsafe { Object::open("fi_mr_reg", open) }?;
        Ok(Self { memory, domain: Arc::clone(domain) })
    }

    /// Binds the memory to an endpoint, for providers that demand `FI_MR_ENDPOINT`.
    ///
    /// # Errors
    ///
    /// If the provider refuses, or the endpoint is of another domain.
    pub fn bind(&self, endpoint: &Endpoint) -> Result<(), Refused> {
        if !Arc::ptr_eq(&self.domain, endpoint.addresses().domain()) {
            return Err(Refused::of("fi_mr_bind", FI_EINVAL.cast_signed()));
        }
        // SAFETY: both objects are open, and belong to one domain. If a provider needs the endpoint until the memory is closed, it
        // refuses to close the endpoint earlier, as busy (fi_endpoint(3)).
        Refused::unless_done("fi_mr_bind", unsafe { calls::bind(self.memory.fid(), endpoint.fid(), 0) })
    }

    /// Enables the memory, after it was bound to an endpoint.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn enable(&self) -> Result<(), Refused> {
        let none = core::ptr::null_mut();
        // SAFETY: the memory is open. The command has no argument.
        Refused::unless_done("fi_mr_enable", unsafe {
            calls::control(self.memory.fid(), FI_ENABLE.cast_signed(), none)
        })
    }

    /// The key for remote access.
    pub fn key(&self) -> u64 {
        // SAFETY: the memory is open.
        unsafe { (*self.memory.as_ptr()).key }
    }

    /// The provider's descriptor of the memory, for local operations.
    #[inline(always)]
    pub fn description(&self) -> *mut c_void {
        // SAFETY: the memory is open.
        unsafe { (*self.memory.as_ptr()).mem_desc }
    }
}
