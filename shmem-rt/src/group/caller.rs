//! Where a program of another language calls: what its library finds out when it is asked, which takes long.
//!
//! Whoever waits says at once what for, and where only if that is asked for again: a barrier in which a PE sleeps
//! for microseconds must not search debug information.

use std::cell::Cell;
use std::sync::OnceLock;

/// A file, and a line of it.
pub type Place = (String, u32);

/// What finds it out, on the thread that calls.
static FINDS: OnceLock<fn() -> Option<Place>> = OnceLock::new();

thread_local! {
    /// The meeting that was asked for last: the index of its team, and its number.
    static ASKED: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

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

/// Where the calling thread's program called for a meeting, if calls are not in Rust: `None` if they are. It is
/// looked for when that is asked for the second time.
pub(super) fn place(team: usize, count: u64) -> Option<Option<Place>> {
    let finds = FINDS.get()?;
    let is_known = ASKED.replace((team, count)) == (team, count);
    Some(is_known.then(finds).flatten())
}
