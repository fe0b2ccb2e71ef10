//! The error that the fabric cannot be used.

use core::ffi::c_int;

use crate::libfabric::{Library, LibraryError, Refused};

/// The reason why the fabric cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfiError {
    /// There is no libfabric.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The provider refuses a call that is needed from the start.
    #[error("{provider}: {call}: {why}{advice}")]
    Refused {
        /// The provider.
        provider: String,
        /// The function of libfabric.
        call: &'static str,
        /// The message of libfabric.
        why: String,
        /// Advice to the user, or empty.
        advice: &'static str,
    },
    /// Another reason: no provider that fits, another provider on another PE, limits of this process.
    #[error("{0}")]
    Unusable(String),
}

impl OfiError {
    pub(super) fn refused(library: &Library, provider: &str, refused: Refused) -> Self {
        let (provider, why) = (provider.to_owned(), refused.describe(library));
        Self::Refused { provider, call: refused.call, why, advice: advice(refused.code) }
    }
}

/// Advice for errors whose cause is a limit.
pub(super) fn advice(error: c_int) -> &'static str {
    match error {
        libc::EMFILE | libc::ENFILE => "; raise the limit of open descriptors (ulimit -n)",
        libc::ENOMEM => "; raise the limit of locked memory (ulimit -l), or ask for less symmetric memory",
        libc::EADDRINUSE | libc::EADDRNOTAVAIL => "; choose another interface (SHMEM_OFI_INTERFACE)",
        _ => "",
    }
}
