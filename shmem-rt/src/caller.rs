//! The program's call that issued an operation, for messages. For a program in C, the C library finds the call.

use std::fmt;
use std::panic::Location;
use std::sync::OnceLock;

/// A call of the program: file and line, or the name of a function and 0.
pub type Place = (&'static str, u32);

type Find = fn() -> Option<Place>;

static FIND: OnceLock<Find> = OnceLock::new();

/// Declares that the program is not in Rust, and how its calls are found.
///
/// # Safety
///
/// `find` must not unwind, nor call this library. It is called inside a collective. A thread that unwound out of a collective
/// would still be counted in it, enter the next one alone, and write what other PEs read.
pub unsafe fn find_callers_by(find: Find) {
    // Set once: a process has one library for another language.
    let _ = FIND.set(find);
}

/// The function that finds calls, if the program is not in Rust.
pub(crate) fn finds() -> Option<Find> {
    FIND.get().copied()
}

pub(crate) fn prefix() -> &'static str {
    if finds().is_some() { "shmem_" } else { "" }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    pub(crate) file: &'static str,
    /// 0: `file` is the name of a function.
    pub(crate) line: u32,
}

impl CallSite {
    /// The current call of the calling thread; in Rust, `location`.
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
