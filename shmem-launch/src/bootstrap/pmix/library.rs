//! libpmix, found at run time: no C library is needed to build, and a site's own is used.

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;

use shmem_core::loader::{LoadError, Loaded};

use super::bindings::{pmix_info, pmix_proc_t, pmix_scope_t, pmix_status_t, pmix_value_t};

/// What the loader finds without being told: the name since PMIx 3.
const NAME: &str = "libpmix.so.2";

/// The functions of libpmix that are called, each with its name there.
macro_rules! functions {
    ($($field:ident = $name:literal($($of:ty),*) -> $result:ty;)*) => {
        /// A loaded libpmix. It stays loaded: PMIx runs a thread of its own.
        #[derive(Debug)]
        pub(super) struct Library {
            $(pub(super) $field: unsafe extern "C" fn($($of),*) -> $result,)*
        }

        impl Library {
            /// # Safety
            ///
            /// As [`load`](Self::load).
            unsafe fn open(file: &str) -> Result<Self, LoadError> {
                // SAFETY: the file is libpmix (caller), whose initialisers whoever installed or named it wants to run.
                let library = unsafe { Loaded::open(file) }?;
                Ok(Self {
                    $(
                        // SAFETY: in libpmix (caller), that function has this type in versions 4 and 5 (`bindings`).
                        $field: unsafe { library.function($name, None) }?,
                    )*
                })
            }
        }
    };
}
functions! {
    init = c"PMIx_Init"(*mut pmix_proc_t, *mut pmix_info, usize) -> pmix_status_t;
    finalize = c"PMIx_Finalize"(*const pmix_info, usize) -> pmix_status_t;
    put = c"PMIx_Put"(pmix_scope_t, *const c_char, *mut pmix_value_t) -> pmix_status_t;
    commit = c"PMIx_Commit"() -> pmix_status_t;
    fence = c"PMIx_Fence"(*const pmix_proc_t, usize, *const pmix_info, usize) -> pmix_status_t;
    get = c"PMIx_Get"(*const pmix_proc_t, *const c_char, *const pmix_info, usize, *mut *mut pmix_value_t) -> pmix_status_t;
    abort = c"PMIx_Abort"(c_int, *const c_char, *mut pmix_proc_t, usize) -> pmix_status_t;
    error_string = c"PMIx_Error_string"(pmix_status_t) -> *const c_char;
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
}
