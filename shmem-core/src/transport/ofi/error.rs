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
    /// Anything else, in words: no provider that fits, other providers on other PEs, limits of this process.
    #[error("{0}")]
    Unusable(String),
}

impl OfiError {
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
