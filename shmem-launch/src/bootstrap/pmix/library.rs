//! libpmix, loaded at run time, so that builds need no libpmix, and jobs use the one of their site.

use std::ffi::{c_char, c_int};
use std::io;
use std::sync::OnceLock;

use shmem_core::loader::{LoadError, Loaded};

use super::bindings::{pmix_info, pmix_proc_t, pmix_scope_t, pmix_status_t, pmix_value_t};

/// File name of the system's libpmix, the same since PMIx 3.
const NAME: &str = "libpmix.so.2";

macro_rules! functions {
    ($($field:ident = $name:literal($($of:ty),*) -> $result:ty;)*) => {
        /// A loaded libpmix. It is never unloaded, because PMIx runs a thread of its own.
        #[derive(Debug)]
        pub(super) struct Library {
            $(pub(super) $field: unsafe extern "C" fn($($of),*) -> $result,)*
        }

        impl Library {
            /// # Safety
            ///
            /// As [`load`](Self::load).
            unsafe fn open(file: &str) -> Result<Self, LoadError> {
                // SAFETY: the file is libpmix (caller), whose initialisers may run.
                let library = unsafe { Loaded::open(file) }?;
                Ok(Self {
                    $(
                        // SAFETY: the file is libpmix (caller), where the function has this type in versions 4 and 5 (`bindings`).
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

impl Library {
    /// Loads libpmix from `file`, or else the system's. Only the first call loads, because a process has one PMIx client.
    ///
    /// # Safety
    ///
    /// If there is a `file`, it must be libpmix.
    pub(super) unsafe fn load(file: Option<&str>) -> io::Result<&'static Self> {
        static LOADED: OnceLock<Result<Library, LoadError>> = OnceLock::new();
        // SAFETY: `file` is libpmix (caller), and so is the file that the loader finds under `NAME`.
        let loaded = LOADED.get_or_init(|| unsafe { Self::open(file.unwrap_or(NAME)) });
        loaded.as_ref().map_err(|why| {
            io::Error::other(format!(
                "a launcher that speaks PMIx has started this process, and its library cannot be loaded ({why}); install libpmix \
                 (Debian: libpmix2), or name the launcher's own with SHMEM_LIBPMIX"
            ))
        })
    }
}
