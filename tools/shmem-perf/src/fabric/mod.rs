//! The bare program: it calls libfabric directly, in the same way as the transport does: the same provider, puts that are complete when
//! they are delivered, a counter that says so, a queue that is empty but for errors, the same kind of thread at the target. It is part
//! of the PEs that are measured, with endpoints and memory of its own, so that both run in turn between the same two processes.

mod bare;
mod lane;
mod pair;

pub(crate) use self::bare::Bare;
pub(crate) use self::lane::{Lane, WORD_OPERATIONS};
pub(crate) use self::pair::{Pair, State, steadily};
use crate::bench::Given;
use crate::jobs::Asked;
use crate::runner::Runner;

/// Where no other one is asked for.
pub(crate) const PROVIDER: &str = "tcp;ofi_rxm";

/// What PEs are told by their environment, as programs are.
const OFI_PROVIDER: &str = "SHMEM_OFI_PROVIDER";
pub(crate) const LIBFABRIC: &str = "SHMEM_LIBFABRIC";

/// The variables of jobs whose PEs reach each other through a provider; the last one alone is for the bare program.
pub(crate) fn variables(provider: &str) -> [(&'static str, String); 2] {
    [("SHMEM_TRANSPORT", "ofi".to_owned()), (OFI_PROVIDER, provider.to_owned())]
}

/// A job of two PEs that reach each other through the runner's provider, though they share a host.
pub(crate) fn over(runner: &Runner, task: &str, given: Given) -> Asked {
    runner.job(task, 2, given).with(variables(runner.provider()))
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether there is a libfabric with the usual provider.
pub(crate) fn possible() -> Result<(), String> {
    Bare::open(PROVIDER, 8).map(drop)
}
