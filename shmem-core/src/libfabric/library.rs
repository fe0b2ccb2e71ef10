//! The functions that a libfabric exports.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::bindings::{fi_fabric_attr, fi_info, fid_fabric};
use crate::exclusion::Mutex;
use crate::loader::{LoadError, Loaded};

/// What is looked for where nobody names a library.
pub const NAMES: [&str; 2] = ["libfabric.so.1", "libfabric.so"];

/// The version of the interface that is asked for, as `fi_getinfo` takes it: 1.14.
pub const VERSION: u32 = 1 << 16 | 14;

/// A libfabric that has been loaded. It stays loaded: its threads and what it registered at exit outlive any use.
#[derive(Debug)]
pub struct Library {
    name: String,
    symbols: Symbols,
}

/// The functions that a libfabric exports.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "named and documented as in libfabric")]
pub struct Symbols {
    pub fi_getinfo: unsafe extern "C" fn(
        u32,
        *const c_char,
        *const c_char,
        u64,
        *const fi_info,
        *mut *mut fi_info,
    ) -> c_int,
    pub fi_freeinfo: unsafe extern "C" fn(*mut fi_info),
    pub fi_dupinfo: unsafe extern "C" fn(*const fi_info) -> *mut fi_info,
    pub fi_fabric: unsafe extern "C" fn(*mut fi_fabric_attr, *mut *mut fid_fabric, *mut c_void) -> c_int,
    pub fi_version: unsafe extern "C" fn() -> u32,
    pub fi_strerror: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// Why there is no libfabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "libfabric cannot be used: {asked}: {why}; install it (Debian: libfabric1), name another with SHMEM_LIBFABRIC=<file>, or stay on one host with SHMEM_TRANSPORT=shm"
)]
pub struct LibraryError {
    /// What was asked for.
    pub asked: String,
    /// What the loader says.
    pub why: String,
}

static LOADED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

impl Library {
    /// The library of that file, or the system's; loaded once for each name.
    ///
    /// # Errors
    ///
    /// If there is none, or it is too old.
    ///
    /// # Safety
    ///
    /// The file must be libfabric: its initialisers run, and what it has under the names of libfabric's functions is
    /// taken for these.
    pub unsafe fn load(file: Option<&str>) -> Result<&'static Self, LibraryError> {
        let mut loaded = LOADED.lock();
        let names = file.map_or_else(|| NAMES.to_vec(), |file| vec![file]);
        let known = loaded.iter().find(|library| names.contains(&library.name.as_str()));
        if let Some(library) = known {
            return Ok(library);
        }
        let mut first = None;
        for name in &names {
            // SAFETY: the file is libfabric (caller); so are those that the loader finds under its names.
            match unsafe { Self::open(name) } {
                Ok(library) => {
                    let library = &*Box::leak(Box::new(library));
                    loaded.push(library);
                    return Ok(library);
                }
                Err(why) => _ = first.get_or_insert(why),
            }
        }
        Err(LibraryError { asked: names[0].to_owned(), why: first.unwrap_or_default() })
    }

    /// # Safety
    ///
    /// As [`load`](Self::load).
    unsafe fn open(name: &str) -> Result<Self, String> {
        // SAFETY: the file is libfabric (caller), whose initialisers whoever installed or named it wants to run.
        let loaded = unsafe { Loaded::open(name) }.map_err(|error| error.to_string())?;
        // SAFETY: the library is libfabric (caller).
        let symbols = unsafe { Symbols::of(loaded) }.map_err(|error| error.to_string())?;
        let library = Self { name: name.to_owned(), symbols };
        let (major, minor) = library.version();
        if (major, minor) < (VERSION >> 16, VERSION & 0xffff) {
            return Err(format!("it is version {major}.{minor}; needed is 1.14 or later"));
        }
        Ok(library)
    }

    /// The name under which it was found.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it exports, for callers who pass on what others have made.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Its version.
    pub fn version(&self) -> (u32, u32) {
        // SAFETY: a function without arguments, of a library that stays loaded.
        let version = unsafe { (self.symbols.fi_version)() };
        (version >> 16, version & 0xffff)
    }

    /// An error of libfabric, in words. Negated or not.
    pub fn describe(&self, error: i64) -> String {
        let number = c_int::try_from(error.unsigned_abs()).unwrap_or(c_int::MAX);
        // SAFETY: any number is allowed; the answer is a text that is never freed, or none.
        let text = unsafe { (self.symbols.fi_strerror)(number) };
        if text.is_null() {
            return format!("error {number}");
        }
        // SAFETY: a string that ends with a zero, as just said.
        let text = unsafe { CStr::from_ptr(text) };
        format!("{} ({number})", text.to_string_lossy())
    }
}

impl Symbols {
    /// Those of a library.
    ///
    /// # Safety
    ///
    /// It must be libfabric.
    unsafe fn of(library: Loaded) -> Result<Self, LoadError> {
        let (later, first) = (Some(c"FABRIC_1.3"), Some(c"FABRIC_1.1"));
        Ok(Self {
            // SAFETY: in libfabric (caller), a function of that name and version has that type since 1.9.
            fi_getinfo: unsafe { library.function(c"fi_getinfo", later) }?,
            // SAFETY: in libfabric (caller), a function of that name and version has that type since 1.9.
            fi_freeinfo: unsafe { library.function(c"fi_freeinfo", later) }?,
            // SAFETY: in libfabric (caller), a function of that name and version has that type since 1.9.
            fi_dupinfo: unsafe { library.function(c"fi_dupinfo", later) }?,
            // SAFETY: in libfabric (caller), a function of that name and version has that type since 1.9.
            fi_fabric: unsafe { library.function(c"fi_fabric", first) }?,
            // SAFETY: in libfabric (caller), this function has never changed.
            fi_version: unsafe { library.function(c"fi_version", None) }?,
            // SAFETY: in libfabric (caller), this function has never changed.
            fi_strerror: unsafe { library.function(c"fi_strerror", None) }?,
        })
    }
}
