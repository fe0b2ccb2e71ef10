//! Error texts about mistakes of the C program: routine, argument, permitted values, and the line of the call.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::c_interface;
use shmem_core::process_exit;
use shmem_launch::diagnostics::say;

use crate::call_site::CallSite;
use crate::world;

/// Ends the job with an error text: `PE 2: shmem_put32: argument pe is 7: PEs are 0 to 3; at file.c:12`. An empty `argument`
/// means that the call itself is a mistake.
#[cold]
#[inline(never)]
pub(crate) fn refuse(routine: &str, argument: &str, why: impl fmt::Display) -> ! {
    let place = CallSite::find();
    let what = if argument.is_empty() { String::new() } else { format!("argument {argument} ") };
    let text = format!("{routine}: {what}{why}{place}");
    end(1, &text)
}

/// Ends the job with an error text. A process that is in no job ends alone.
pub(crate) fn end(code: i32, text: &str) -> ! {
    match world::any() {
        Some(world) => c_interface::job::abort(world, code, text),
        None => process_exit::end(code, || say(&format!("shmem: {text}"))),
    }
}

/// Warns why a routine fails, because many programs ignore its result. Warns once: `told` says whether it has warned already.
#[cold]
#[inline(never)]
pub(crate) fn warn_once(told: &AtomicBool, routine: &str, why: &str) {
    let me = world::current(routine).my_pe();
    if !told.swap(true, Ordering::Relaxed) {
        say(&format!("shmem: warning: PE {me}: {routine}: {why}{}", CallSite::find()));
    }
}
