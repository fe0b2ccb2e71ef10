//! Messages about mistakes of the caller: routine, argument, what is allowed, and the line of the call.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::c_interface;
use shmem_core::process_exit;
use shmem_launch::diagnostics::say;

use crate::call_site::CallSite;
use crate::world;

/// Ends the job with a message: `PE 2: shmem_put32: argument pe is 7: PEs are 0 to 3; at file.c:12`. An empty argument
/// stands for the call itself.
#[cold]
#[inline(never)]
pub(crate) fn refuse(routine: &str, argument: &str, why: impl fmt::Display) -> ! {
    let place = CallSite::find();
    let what = if argument.is_empty() { String::new() } else { format!("argument {argument} ") };
    let text = format!("{routine}: {what}{why}{place}");
    end(1, &text)
}

/// Ends the job, or the process where there is none, with a message.
pub(crate) fn end(code: i32, text: &str) -> ! {
    match world::any() {
        Some(world) => c_interface::job::abort(world, code, text),
        None => process_exit::end(code, || say(&format!("shmem: {text}"))),
    }
}

/// Warns why a routine fails, once for each `told`: many programs do not look at its result.
#[cold]
#[inline(never)]
pub(crate) fn tell_once(told: &AtomicBool, routine: &str, why: &str) {
    let me = world::current(routine).my_pe();
    if !told.swap(true, Ordering::Relaxed) {
        say(&format!("shmem: warning: PE {me}: {routine}: {why}{}", CallSite::find()));
    }
}
