//! What the objects of a domain share.

use core::sync::atomic::AtomicUsize;

use shmem_core::libfabric::bindings::fid_domain;

use crate::context::Contexts;
use crate::demand::Demands;
use crate::real::Real;
use crate::regions::Regions;

/// What the objects of a domain share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The real domain.
    pub(crate) real: Real<fid_domain>,
    /// What is demanded.
    pub(crate) demands: &'static Demands,
    /// The provider guards queues against overruns.
    pub(crate) managed: bool,
    /// The memory that is registered.
    pub(crate) regions: Regions,
    /// The contexts in flight.
    pub(crate) contexts: Contexts,
    /// How many endpoints are open.
    pub(crate) endpoints: AtomicUsize,
    /// How often one was to be enabled.
    pub(crate) enabled: AtomicUsize,
}
