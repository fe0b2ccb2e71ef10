//! Where a program calls. For one in another language its library finds that out, when it is asked.

use std::fmt;
use std::panic::Location;
use std::sync::OnceLock;

/// A file, and a line of it; or the name of a function, and 0.
pub type Place = (&'static str, u32);

/// What finds it out, on the thread that calls.
static FINDS: OnceLock<fn() -> Option<Place>> = OnceLock::new();

/// Has places of calls found out by a function, and no longer told as they are in Rust: the program is in C.
///
/// # Safety
///
/// It must not unwind, nor call this library. It is asked while its thread is in a meeting: who left that by unwinding would
/// be counted there all the same, come to the next one alone, and write what others read.
pub unsafe fn find_callers_by(finds: fn() -> Option<Place>) {
    // The first one stays: it is the only one.
    let _ = FINDS.set(finds);
}

/// What finds out where the calling thread's program calls, if calls are not in Rust.
pub(crate) fn finds() -> Option<fn() -> Option<Place>> {
    FINDS.get().copied()
}

/// What the names of routines begin with in the language of the program.
pub(crate) fn prefix() -> &'static str {
    if finds().is_some() { "shmem_" } else { "" }
}

/// Where a program calls, to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Caller {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl Caller {
    /// Of the calling thread's call: of one in Rust, its location.
    pub(crate) fn of(location: &'static Location<'static>) -> Self {
        let (file, line) = match finds() {
            None => (location.file(), location.line()),
            Some(finds) => finds().unwrap_or(("the program", 0)),
        };
        Self { file, line }
    }
}

/// A call of a program in Rust, for messages: file and line.
pub(crate) fn at(call: &Location<'_>) -> String {
    format!("{}:{}", call.file(), call.line())
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}
