//! A client of PMIx, the protocol of `mpirun`, `prterun` and `srun --mpi=pmix`, by way of libpmix.

mod bindings;
mod client;
#[cfg(test)]
mod layout;
mod library;

use std::io;

use super::pe_claim::Claim;
pub(in crate::bootstrap) use client::Client;
use library::Library;

/// Variables with the job's name and this process's number. Every PMIx launcher sets both.
pub(super) const NAMESPACE: &str = "PMIX_NAMESPACE";
const RANK: &str = "PMIX_RANK";

/// Joins the job of the launcher that started this process. Returns `None` if that was no PMIx launcher.
///
/// # Safety
///
/// As [`bootstrap::connect`](super::connect).
pub(super) unsafe fn connect(library: Option<&str>) -> io::Result<Option<(Client, Option<Claim>)>> {
    if std::env::var_os(NAMESPACE).is_none() {
        return Ok(None);
    }
    let claim = match (std::env::var(NAMESPACE), std::env::var(RANK)) {
        (Ok(job), Ok(pe)) => Claim::new(&job, &pe)?,
        _ => None,
    };
    // SAFETY: the caller keeps this function's contract.
    let library = unsafe { Library::load(library) }?;
    Ok(Client::connect(library)?.map(|client| (client, claim)))
}
