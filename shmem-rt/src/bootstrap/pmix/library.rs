//! libpmix, found at run time: no C library is needed to build, and a site's own is used.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

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
    why: String,
}

impl Library {
    /// The library of that file, or the system's. The first call decides for the process: there is one PMIx
    /// client in it, and MPI's is the same.
    pub(super) fn load(file: Option<&str>) -> Result<&'static Self, LibraryError> {
        static LOADED: OnceLock<Result<Library, LibraryError>> = OnceLock::new();
        LOADED
            .get_or_init(|| Self::open(file.unwrap_or(NAME)).map_err(|why| LibraryError { why }))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn open(file: &str) -> Result<Self, String> {
        let file = CString::new(file).map_err(|_| "its name has a zero in it".to_owned())?;
        // SAFETY: a string that ends with a zero. The initialisers of the library run: that is what the user who
        // installed or named it asks for.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(last_error());
        }
        Ok(Self {
            // SAFETY: that function has this type in PMIx 4 and 5 (`bindings`).
            init: unsafe { symbol(handle, c"PMIx_Init") }?,
            // SAFETY: as above.
            finalize: unsafe { symbol(handle, c"PMIx_Finalize") }?,
            // SAFETY: as above.
            put: unsafe { symbol(handle, c"PMIx_Put") }?,
            // SAFETY: as above.
            commit: unsafe { symbol(handle, c"PMIx_Commit") }?,
            // SAFETY: as above.
            fence: unsafe { symbol(handle, c"PMIx_Fence") }?,
            // SAFETY: as above.
            get: unsafe { symbol(handle, c"PMIx_Get") }?,
            // SAFETY: as above.
            abort: unsafe { symbol(handle, c"PMIx_Abort") }?,
            // SAFETY: as above.
            error_string: unsafe { symbol(handle, c"PMIx_Error_string") }?,
        })
    }
}

/// A function of the library.
///
/// # Safety
///
/// `F` must be a function pointer, of the type that the function has.
unsafe fn symbol<F: Copy>(handle: *mut c_void, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: a library that is open, and a string that ends with a zero.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if address.is_null() {
        return Err(last_error());
    }
    // SAFETY: not null, and of the type that the caller says.
    Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
}

fn last_error() -> String {
    // SAFETY: no arguments; the text belongs to this thread until its next call to the loader.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the loader says nothing".to_owned();
    }
    // SAFETY: a string that ends with a zero, as just said.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
