//! Where C calls, for what runs at every call: in checked mode, and for a trace.
//!
//! To read debug information takes milliseconds, so that is done once for each way that leads to a call: the return addresses
//! tell one from another.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};

use shmem::raw::collective;

use crate::refusal::Place;

/// Return addresses that are looked at: the library's own, and the caller's behind them.
const FRAMES: usize = 48;

/// Ways that a thread keeps.
const MOST: usize = 1 << 14;

thread_local! {
    static KNOWN: RefCell<HashMap<Vec<usize>, Option<collective::Place>>> = RefCell::default();
}

/// Has places of calls found in C, and not in this library.
pub(crate) fn open() {
    // SAFETY: frames are captured and read. A panic there would end the process in its hook (`setup`), before it unwinds.
    unsafe { collective::find_callers_by(find) };
}

fn find() -> Option<collective::Place> {
    // A thread that ends has no memory of its own any more.
    KNOWN
        .try_with(|known| known.try_borrow_mut().ok().and_then(|mut known| in_memory(&mut known)))
        .unwrap_or_else(|_| search())
}

fn in_memory(known: &mut HashMap<Vec<usize>, Option<collective::Place>>) -> Option<collective::Place> {
    let frames = frames();
    if let Some(place) = known.get(frames.as_slice()) {
        return place.clone();
    }
    if known.len() == MOST {
        known.clear();
    }
    known.entry(frames).insert_entry(search()).get().clone()
}

fn search() -> Option<collective::Place> {
    let Place { file, line } = Place::of_the_call();
    (!file.is_empty()).then_some((file, line))
}

/// Return addresses of the calling thread.
fn frames() -> Vec<usize> {
    let mut frames = [std::ptr::null_mut::<c_void>(); FRAMES];
    // SAFETY: it writes as many pointers as it is told to at most, and tells how many.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as c_int) };
    frames.iter().take(usize::try_from(count).unwrap_or(0)).map(|frame| frame.addr()).collect()
}
