//! An open interface of a provider.

use std::sync::Arc;

use super::bindings::{fi_info, fid_domain, fid_fabric};
use super::calls;
use super::info::{Info, InfoEntry};
use super::library::Library;
use super::object::{Object, Refused};
use crate::loader::keep_signal_handlers;

/// An open interface of a provider. Address tables, endpoints and registered memory keep their domain open. Fields are in drop
/// order: the domain closes before its fabric.
#[derive(Debug)]
pub struct Domain {
    domain: Object<fid_domain>,
    fabric: Object<fid_fabric>,
    info: Info,
}

impl Domain {
    /// Opens the interface that an entry of libfabric's offers describes.
    ///
    /// # Errors
    ///
    /// If the provider refuses.
    pub fn open(entry: InfoEntry<'_>) -> Result<Arc<Self>, Refused> {
        let info = entry.copy();
        let none = core::ptr::null_mut();
        let attributes = info.first().fabric_attributes();
        let call = info.first().library().symbols().fi_fabric;
        // SAFETY: the attributes belong to an entry, and are read during the call.
        let open = |fabric| unsafe { call(attributes, fabric, none) };
        // Opening starts a provider, whose hardware libraries may install signal handlers.
        // SAFETY: providers install handlers of their own, and do not free handlers of others.
        let open = |fabric| unsafe { keep_signal_handlers(|| open(fabric)) };
        // SAFETY: a fabric depends on no other object, and `Domain` alone owns it.
        let fabric = unsafe { Object::open("fi_fabric", open) }?;
        // SAFETY: the fabric is open. The entry is the one that opened it, and is read during the call.
        let open = |domain| unsafe { calls::domain(fabric.as_ptr(), info.first().as_ptr(), domain, none) };
        // SAFETY: providers install handlers of their own, and do not free handlers of others.
        let open = |domain| unsafe { keep_signal_handlers(|| open(domain)) };
        // SAFETY: `Domain` alone owns the domain, and closes it before its fabric.
        let domain = unsafe { Object::open("fi_domain", open) }?;
        Ok(Arc::new(Self { domain, fabric, info }))
    }

    /// The entry that opened the domain.
    pub fn entry(&self) -> InfoEntry<'_> {
        self.info.first()
    }

    /// The libfabric that opened the domain.
    pub fn library(&self) -> &'static Library {
        self.info.first().library()
    }

    pub(super) fn as_ptr(&self) -> *mut fid_domain {
        self.domain.as_ptr()
    }

    pub(super) fn info(&self) -> *mut fi_info {
        self.info.first().as_ptr()
    }

    pub(super) fn fabric(&self) -> *mut fid_fabric {
        self.fabric.as_ptr()
    }
}
