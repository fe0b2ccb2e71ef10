//! Loading libfabric, and the functions that it exports.

use core::ffi::{CStr, c_char, c_int, c_void};

use super::bindings::{fi_fabric_attr, fi_info, fid_fabric};
use crate::exclusion::Mutex;
use crate::loader::{LoadError, Loaded};

/// File names of libfabric, tried in this order, unless the user names a file.
pub const NAMES: [&str; 2] = ["libfabric.so.1", "libfabric.so"];

/// The version of libfabric's interface that is requested from `fi_getinfo`: 1.14.
pub const VERSION: u32 = 1 << 16 | 14;

/// A loaded libfabric. It is never unloaded, because its threads and exit handlers may run until the process ends.
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

/// The error that libfabric cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "libfabric cannot be used: {asked}: {why}; install it (Debian: libfabric1), name another with SHMEM_LIBFABRIC=<file>, or stay on one host with SHMEM_TRANSPORT=shm"
)]
pub struct LibraryError {
    /// Name of the file that was tried first.
    pub asked: String,
    /// The reason why libfabric cannot be loaded.
    pub why: String,
}

static LOADED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

impl Library {
    /// Loads libfabric from `file`, or the system's if `None`. A later call for the same file returns the same library.
    ///
    /// # Errors
    ///
    /// If no library is found, or it is too old.
    ///
    /// # Safety
    ///
    /// The file must be libfabric, because its initialisers run, and its functions are called with libfabric's types.
    pub unsafe fn load(file: Option<&str>) -> Result<&'static Self, LibraryError> {
        let mut loaded = LOADED.lock();
        let names = file.map_or_else(|| NAMES.to_vec(), |file| vec![file]);
        let known = loaded.iter().find(|library| names.contains(&library.name.as_str()));
        if let Some(library) = known {
            return Ok(library);
        }
        let mut first = None;
        for name in &names {
            // SAFETY: `file` is libfabric (caller), and so are the files that the loader finds under `NAMES`.
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
        // SAFETY: the file is libfabric (caller), whose initialisers may run.
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

    /// The functions that libfabric exports.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The library's version: major and minor number.
    pub fn version(&self) -> (u32, u32) {
        // SAFETY: the function has no arguments, and its library stays loaded.
        let version = unsafe { (self.symbols.fi_version)() };
        (version >> 16, version & 0xffff)
    }

    /// Describes an error number of libfabric, positive or negative.
    pub fn describe(&self, error: i64) -> String {
        let number = c_int::try_from(error.unsigned_abs()).unwrap_or(c_int::MAX);
        // SAFETY: any number is allowed. The result is null, or a string that is never freed.
        let text = unsafe { (self.symbols.fi_strerror)(number) };
        if text.is_null() {
            return format!("error {number}");
        }
        // SAFETY: `text` is not null, so it is a string that ends with a zero.
        let text = unsafe { CStr::from_ptr(text) };
        format!("{} ({number})", text.to_string_lossy())
    }
}

impl Symbols {
    /// Looks up the functions of a library.
    ///
    /// # Safety
    ///
    /// `library` must be libfabric.
    unsafe fn of(library: Loaded) -> Result<Self, LoadError> {
        let (later, first) = (Some(c"FABRIC_1.3"), Some(c"FABRIC_1.1"));
        Ok(Self {
            // SAFETY: the library is libfabric (caller), where a function of this name and version has this type since 1.9.
            fi_getinfo: unsafe { library.function(c"fi_getinfo", later) }?,
            // SAFETY: the library is libfabric (caller), where a function of this name and version has this type since 1.9.
            fi_freeinfo: unsafe { library.function(c"fi_freeinfo", later) }?,
            // SAFETY: the library is libfabric (caller), where a function of this name and version has this type since 1.9.
            fi_dupinfo: unsafe { library.function(c"fi_dupinfo", later) }?,
            // SAFETY: the library is libfabric (caller), where a function of this name and version has this type since 1.9.
            fi_fabric: unsafe { library.function(c"fi_fabric", first) }?,
            // SAFETY: the library is libfabric (caller), where this function has always had this type.
            fi_version: unsafe { library.function(c"fi_version", None) }?,
            // SAFETY: the library is libfabric (caller), where this function has always had this type.
            fi_strerror: unsafe { library.function(c"fi_strerror", None) }?,
        })
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::process::Command;

    use super::super::bindings::FI_ENODATA;
    use super::super::{Hints, Refused};
    use super::*;
    use crate::fixture::in_child;
    use crate::loader::{Dispositions, is_in};

    /// A libfabric that, when it is loaded and in each `fi_getinfo`, installs handlers for all signals, blocks the signals, and
    /// sets a stack for handlers. Of one signal it keeps the handler, and changes the mask.
    const TAKES_SIGNALS: &str = r#"
        #include <signal.h>
        #include <stdlib.h>

        static char room[1 << 16];

        static void handle(int signal) { _Exit(signal); }

        static __attribute__((constructor)) void take(void) {
            for (int number = 1; number <= SIGRTMAX; number++) {
                struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
                if (number == SIGUSR2) {
                    sigaction(number, NULL, &action);
                    sigfillset(&action.sa_mask);
                }
                sigaction(number, &action, NULL);
            }
            stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
            sigaltstack(&stack, NULL);
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_SETMASK, &all, NULL);
        }

        /* struct fi_info: the words from 9 on point to attributes. */
        void *fi_dupinfo(const void *none) {
            void **info = calloc(15, sizeof *info);
            for (int word = 9; word < 14; word++)
                info[word] = calloc(1, 1024);
            return info;
        }

        void fi_freeinfo(void **info) {
            for (int word = 9; word < 14; word++)
                free(info[word]);
            free(info);
        }

        int fi_getinfo(void) { take(); return -61; }
        int fi_fabric(void) { return -38; }
        unsigned fi_version(void) { return 1 << 16 | 14; }
        const char *fi_strerror(int error) { return "there is nothing"; }
    "#;

    /// A handler, its flags, and what it blocks.
    type Handler = (usize, c_int, Vec<bool>);

    /// Handlers, blocked signals, and the stack of handlers of this process.
    fn signals() -> (Vec<Handler>, Vec<bool>, usize) {
        let Dispositions { actions, mask, stack } = Dispositions::now();
        let blocked =
            |mask: &libc::sigset_t| (1..=libc::SIGRTMAX()).map(|signal| is_in(mask, signal)).collect();
        let handler = |(_, action): &(c_int, libc::sigaction)| {
            // Flags matter for handlers only, and the C library adds one of its own.
            let handles = ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction);
            (action.sa_sigaction, if handles { action.sa_flags } else { 0 }, blocked(&action.sa_mask))
        };
        (actions.iter().map(handler).collect(), blocked(&mask), stack.ss_sp.addr())
    }

    /// In a process of its own: handlers are of the whole process, and other tests start processes.
    #[test]
    fn a_library_that_takes_signals_changes_no_handler() {
        in_child(|| {
            let directory = tempfile::tempdir().unwrap();
            let (source, file) = (directory.path().join("takes.c"), directory.path().join("libtakes.so"));
            std::fs::write(&source, TAKES_SIGNALS).unwrap();
            let mut compiler = Command::new("cc");
            let compiler = compiler.args(["-shared", "-fPIC", "-w"]).arg(&source).arg("-o").arg(&file);
            assert!(compiler.status().expect("Rust links by `cc`").success());
            let before = signals();
            // SAFETY: made for this: its functions take what those of libfabric do.
            let library = unsafe { Library::load(file.to_str()) }.unwrap();
            assert_eq!(signals(), before, "after its initialisers");
            let refused = library.offers(&Hints::default()).unwrap_err();
            assert_eq!(refused, Refused::of("fi_getinfo", FI_ENODATA.cast_signed()));
            assert_eq!(signals(), before, "after the first call");
        });
    }
}
