//! Finds the call of the program that issued an operation, for diagnostics. For a program in C, the C library finds the call.

use std::fmt;
use std::panic::Location;
use std::sync::OnceLock;

/// A call of the program: its file and line, or (for C without debug information) the name of the calling function and 0.
pub type Place = (&'static str, u32);

type Find = fn() -> Option<Place>;

static FIND: OnceLock<Find> = OnceLock::new();

/// Declares that the program is not in Rust, and that `find` finds its calls.
///
/// # Safety
///
/// `find` must not unwind, and must not call this library. The library calls `find` inside collectives. If it unwound out of a
/// collective, the calling PE would enter the next collective alone, and overwrite buffers that other PEs still read.
pub unsafe fn find_callers_by(find: Find) {
    // A second function is ignored, because a process contains at most one library for another language.
    let _ = FIND.set(find);
}

/// Returns the function that finds calls, if the program is not in Rust.
pub(crate) fn finds() -> Option<Find> {
    FIND.get().copied()
}

pub(crate) fn prefix() -> &'static str {
    if finds().is_some() { "shmem_" } else { "" }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    pub(crate) file: &'static str,
    /// Line of the call, or 0 if `file` is the name of a function.
    pub(crate) line: u32,
}

impl CallSite {
    /// Returns the program's current call on the calling thread. For a program in Rust, this is `location`.
    pub(crate) fn of(location: &'static Location<'static>) -> Self {
        let (file, line) = match finds() {
            None => (location.file(), location.line()),
            Some(find) => find().unwrap_or(("the program", 0)),
        };
        Self { file, line }
    }
}

pub(crate) fn at(call: &Location<'_>) -> String {
    format!("{}:{}", call.file(), call.line())
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}
