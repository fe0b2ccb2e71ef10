//! libpmix, found at run time: no C library is needed to build, and a site's own is used.

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;

use shmem_core::loader::{LoadError, Loaded};

use super::bindings::{pmix_info, pmix_proc_t, pmix_scope_t, pmix_status_t, pmix_value_t};

/// What the loader finds without being told: the name since PMIx 3.
const NAME: &str = "libpmix.so.2";

/// A loaded libpmix. It stays loaded: PMIx runs a thread of its own.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) init: unsafe extern "C" fn(*mut pmix_proc_t, *mut pmix_info, usize) -> pmix_status_t,
    pub(super) finalize: unsafe extern "C" fn(*const pmix_info, usize) -> pmix_status_t,
    pub(super) put: unsafe extern "C" fn(pmix_scope_t, *const c_char, *mut pmix_value_t) -> pmix_status_t,
    pub(super) commit: unsafe extern "C" fn() -> pmix_status_t,
    pub(super) fence:
        unsafe extern "C" fn(*const pmix_proc_t, usize, *const pmix_info, usize) -> pmix_status_t,
    pub(super) get: unsafe extern "C" fn(
        *const pmix_proc_t,
        *const c_char,
        *const pmix_info,
        usize,
        *mut *mut pmix_value_t,
    ) -> pmix_status_t,
    pub(super) abort: unsafe extern "C" fn(c_int, *const c_char, *mut pmix_proc_t, usize) -> pmix_status_t,
    pub(super) error_string: unsafe extern "C" fn(pmix_status_t) -> *const c_char,
}

/// libpmix cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a launcher that speaks PMIx has started this process, and its library cannot be loaded ({why}); install libpmix \
     (Debian: libpmix2), or name the launcher's own with SHMEM_LIBPMIX"
)]
pub(super) struct LibraryError {
    why: LoadError,
}

impl Library {
    /// The library of that file, or the system's. The first call decides for the process: there is one PMIx
    /// client in it, and MPI's is the same.
    ///
    /// # Safety
    ///
    /// The file must be libpmix: its initialisers run, and what it has under the names of its functions is taken for
    /// these.
    pub(super) unsafe fn load(file: Option<&str>) -> Result<&'static Self, LibraryError> {
        static LOADED: OnceLock<Result<Library, LibraryError>> = OnceLock::new();
        LOADED
            .get_or_init(|| {
                // SAFETY: the file is libpmix (caller); so is what the loader finds under its name.
                unsafe { Self::open(file.unwrap_or(NAME)) }.map_err(|why| LibraryError { why })
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// # Safety
    ///
    /// As [`load`](Self::load).
    unsafe fn open(file: &str) -> Result<Self, LoadError> {
        // SAFETY: the file is libpmix (caller), whose initialisers whoever installed or named it wants to run.
        let library = unsafe { Loaded::open(file) }?;
        Ok(Self {
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            init: unsafe { library.function(c"PMIx_Init", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            finalize: unsafe { library.function(c"PMIx_Finalize", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            put: unsafe { library.function(c"PMIx_Put", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            commit: unsafe { library.function(c"PMIx_Commit", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            fence: unsafe { library.function(c"PMIx_Fence", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            get: unsafe { library.function(c"PMIx_Get", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            abort: unsafe { library.function(c"PMIx_Abort", None) }?,
            // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
            error_string: unsafe { library.function(c"PMIx_Error_string", None) }?,
        })
    }
}
