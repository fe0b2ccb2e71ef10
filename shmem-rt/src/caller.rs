//! Where a program calls. For one in another language its library finds that out, when it is asked.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::OnceLock;

use shmem_core::exclusion::Mutex;

/// A file, and a line of it.
pub type Place = (String, u32);

/// What finds it out, on the thread that calls.
static FINDS: OnceLock<fn() -> Option<Place>> = OnceLock::new();

/// Names of files that were found, which are few.
static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Has places of calls found out by a function, and no longer told as they are in Rust.
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

/// Where a program calls, to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Caller {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl Caller {
    /// Of the calling thread's call: of one in Rust, its location.
    pub(crate) fn of(location: &'static Location<'static>) -> Self {
        match finds().and_then(|finds| finds()) {
            None => Self { file: location.file(), line: location.line() },
            Some((file, line)) => Self { file: kept(file), line },
        }
    }
}

fn kept(file: String) -> &'static str {
    let mut files = FILES.lock();
    files.get(file.as_str()).copied().unwrap_or_else(|| {
        let file: &'static str = file.leak();
        files.insert(file);
        file
    })
}
