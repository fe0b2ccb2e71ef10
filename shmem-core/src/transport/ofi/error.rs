//! Why the fabric cannot be used.

use core::ffi::c_int;

use crate::libfabric::{Library, LibraryError, Refused};

/// Why the fabric cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfiError {
    /// There is no libfabric.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// No provider does what is needed, or what was asked for.
    #[error(
        "no provider of libfabric {version} fits {asked}; here are: {offered}. Name one with SHMEM_OFI_PROVIDER and an interface of it with SHMEM_OFI_INTERFACE, or unset both"
    )]
    NoProvider {
        /// The version of libfabric.
        version: String,
        /// Which provider and interface were asked for.
        asked: String,
        /// What there is.
        offered: String,
    },
    /// There can be no progress thread.
    #[error(
        "the thread that serves other PEs cannot be started: {0}; raise the limits of threads and of open descriptors (ulimit -u, ulimit -n)"
    )]
    Thread(String),
    /// Another PE uses another provider, or addresses of another kind.
    #[error(
        "PE {pe} is reached by {theirs}, and this one by {ours}: name a provider and a network that all hosts have (SHMEM_OFI_PROVIDER, SHMEM_OFI_INTERFACE)"
    )]
    Elsewhere {
        /// The other PE.
        pe: usize,
        /// What it uses.
        theirs: String,
        /// What the calling PE uses.
        ours: String,
    },
    /// There is no memory for what is under way.
    #[error(
        "{bytes} bytes for operations under way are not to be had: {why}; raise the limit of memory (ulimit -v)"
    )]
    Memory {
        /// How many.
        bytes: usize,
        /// What the system says of it.
        why: String,
    },
    /// Too few file descriptors are left for connections.
    #[error(
        "{left} of {limit} file descriptors are left, and connections of {units} units to {peers} PEs and back may need {needed}; raise the limit of open descriptors (ulimit -n)"
    )]
    Descriptors {
        /// Units that there would be.
        units: usize,
        /// PEs that are reached through the fabric.
        peers: usize,
        /// Descriptors that are left.
        left: u64,
        /// Most that connections need.
        needed: u64,
        /// How many this process may have.
        limit: u64,
    },
    /// The provider refuses something that is needed from the start.
    #[error("{provider}: {call}: {why}{advice}")]
    Refused {
        /// The provider.
        provider: String,
        /// What was called.
        call: &'static str,
        /// What libfabric says of it.
        why: String,
        /// What may help.
        advice: &'static str,
    },
}

impl OfiError {
    /// What a provider has refused.
    pub(super) fn refused(library: &Library, provider: &str, refused: Refused) -> Self {
        let (provider, why) = (provider.to_owned(), refused.describe(library));
        Self::Refused { provider, call: refused.call, why, advice: advice(refused.code) }
    }
}

/// What may help against an error, for those whose cause is a limit.
pub(super) fn advice(error: c_int) -> &'static str {
    match error {
        libc::EMFILE | libc::ENFILE => "; raise the limit of open descriptors (ulimit -n)",
        libc::ENOMEM => "; raise the limit of locked memory (ulimit -l), or ask for less symmetric memory",
        libc::EADDRINUSE | libc::EADDRNOTAVAIL => "; choose another interface (SHMEM_OFI_INTERFACE)",
        _ => "",
    }
}
