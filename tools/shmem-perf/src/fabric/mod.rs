//! What operations over libfabric cost, against a bare program.
//!
//! The bare program calls libfabric directly, in the same way as the transport does: the same provider,
//! puts that are complete when they are delivered, a counter that says so, a queue that is empty but for
//! errors, the same kind of thread at the target. It is part of the PEs that are measured, with endpoints
//! and memory of its own, so that both run in turn between the same two processes.
//!
//! ```text
//! bare        a provider opened by hand, and memory          lane       an endpoint, and what goes through it
//! operation   what is measured                               pair       two PEs, of which one measures
//! ```

mod bare;
mod lane;
mod operation;
mod pair;

use std::error::Error;
use std::sync::Arc;

use shmem::World;
use shmem::thread::{Multiple, ThreadLevel};

pub(crate) use self::bare::{Bare, BareError, Peer};
pub(crate) use self::lane::{Lane, WORD_OPERATIONS};
pub(crate) use self::operation::{LESS, OPERATIONS, Operation};
pub(crate) use self::pair::{Pair, State};
use crate::bench::{self, Records};
use crate::case::{Record, Site};
use crate::jobs::Asked;
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Given, Task};

/// Where no other one is asked for.
pub(crate) const PROVIDER: &str = "tcp;ofi_rxm";

/// What PEs are told by their environment, as programs are.
const OFI_PROVIDER: &str = "SHMEM_OFI_PROVIDER";
const OFI_INTERFACE: &str = "SHMEM_OFI_INTERFACE";
pub(crate) const LIBFABRIC: &str = "SHMEM_LIBFABRIC";

/// The variables of jobs whose PEs reach each other through a provider.
pub(crate) fn variables(provider: &str) -> [(&'static str, String); 2] {
    [("SHMEM_TRANSPORT", "ofi".to_owned()), only(provider)]
}

/// That of the bare program alone.
pub(crate) fn only(provider: &str) -> (&'static str, String) {
    (OFI_PROVIDER, provider.to_owned())
}

/// A job of two PEs that reach each other through a provider, though they share a host.
pub(crate) fn over(runner: &Runner, task: &Task, provider: &str) -> Asked {
    runner.job(task, 2, &variables(provider))
}

/// What the environment says, if it does.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The bare program with so many bytes of memory, by the library and on the interface that the environment names.
fn bare(provider: &str, bytes: usize) -> Result<Arc<Bare>, BareError> {
    Bare::open(variable(LIBFABRIC).as_deref(), provider, variable(OFI_INTERFACE).as_deref(), bytes)
}

/// Whether there is a libfabric with the usual provider.
pub(crate) fn possible() -> Result<(), String> {
    bare(PROVIDER, 8).map(drop).map_err(|why| why.to_string())
}

/// What measures need, inside a PE. They keep no core for themselves: threads that do what has come need them, too.
pub(crate) struct Far<'w, L: ThreadLevel> {
    pub(crate) world: &'w World<L>,
    pub(crate) bare: Arc<Bare>,
    pub(crate) provider: String,
    pub(crate) site: Site,
    pub(crate) cores: usize,
    pub(crate) repetitions: usize,
    pub(crate) given: &'w Given,
}

impl<'w, L: ThreadLevel> Far<'w, L> {
    /// With room for each operation, and for threads that are given.
    pub(crate) fn new(
        world: &'w World<L>,
        given: &'w Given,
        repetitions: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let provider = variable(OFI_PROVIDER).unwrap_or_else(|| PROVIDER.to_owned());
        let room = given.threads.iter().map(|threads| threads << 20).fold(Operation::room(), usize::max);
        let bare = bare(&provider, room)?;
        let cores = std::thread::available_parallelism()?.get();
        let site = Site::of(world, cores);
        Ok(Self { world, bare, provider, site, cores, repetitions, given })
    }

    /// The two PEs.
    pub(crate) fn pair(&self) -> Result<Pair<'w, L>, Box<dyn Error>> {
        Pair::new(self.world, &self.bare)
    }

    /// A case of a measure, in nanoseconds.
    pub(crate) fn record(&self, name: &str, compared: &str, samples: Samples) -> Record {
        Record::new(&self.site, name, "ns", compared, samples)
    }
}

/// One PE whose threads call the library at the same time.
pub(crate) fn with_threads(
    given: &Given,
    repetitions: usize,
    measure: impl FnOnce(&Far<'_, Multiple>) -> Records,
) -> Done {
    let world = shmem::init::<Multiple>()?;
    bench::print(&world, &measure(&Far::new(&world, given, repetitions)?)?)
}
