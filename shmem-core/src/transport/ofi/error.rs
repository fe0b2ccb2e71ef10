//! The error that the fabric cannot be used.

use core::ffi::c_int;

use crate::libfabric::{Library, LibraryError, Refused};

/// The reason why the fabric cannot be used, with advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OfiError(pub(super) String);

impl OfiError {
    pub(super) fn refused(library: &Library, provider: &str, refused: Refused) -> Self {
        let (call, why, advice) = (refused.call, library.describe(refused.code.into()), advice(refused.code));
        Self(format!("{provider}: {call}: {why}{advice}"))
    }
}

impl From<LibraryError> for OfiError {
    fn from(error: LibraryError) -> Self {
        Self(error.to_string())
    }
}

fn advice(error: c_int) -> &'static str {
    match error {
        libc::EMFILE | libc::ENFILE => "; raise the limit of open descriptors (ulimit -n)",
        libc::ENOMEM => "; raise the limit of locked memory (ulimit -l), or ask for less symmetric memory",
        libc::EADDRINUSE | libc::EADDRNOTAVAIL => "; choose another interface (SHMEM_OFI_INTERFACE)",
        _ => "",
    }
}
