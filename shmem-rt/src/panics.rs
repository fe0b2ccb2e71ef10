//! Texts of panics, with the PE's number. Each is printed by one write, because several PEs often panic together on one terminal.

use std::backtrace::Backtrace;
use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use shmem_launch::diagnostics::say;

use crate::thread::ThreadLevel;
use crate::world::World;

/// Sets a panic hook that prints the number of the PE. A hook that the program has set stays in place.
pub(crate) fn tell_as<L: ThreadLevel>(world: &World<L>) {
    let pe = world.my_pe();
    let hook = panic::take_hook();
    // The second `take_hook` returns the hook of the standard library, because the first has removed the program's hook.
    let standard = panic::take_hook();
    if ptr::eq(&raw const *hook, &raw const *standard) {
        let is_first = AtomicBool::new(true);
        panic::set_hook(Box::new(move |info| {
            say(&told(pe, info, &how(is_first.swap(false, Ordering::Relaxed))));
        }));
    } else {
        panic::set_hook(hook);
    }
}

fn told(pe: usize, info: &PanicHookInfo<'_>, how: &str) -> String {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let place = info.location().map(|location| format!(" at {location}")).unwrap_or_default();
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("a value that is no text");
    format!("shmem: PE {pe}: thread '{name}' panicked{place}:\n{message}{how}")
}

/// Returns the backtrace of a panic, or (only for the first panic of the process) a note how to get one.
fn how(is_first: bool) -> String {
    match backtrace() {
        Some(frames) => format!("\nstack backtrace:\n{}", frames.trim_end()),
        None if is_first => "\nnote: with `RUST_BACKTRACE=1` it says how it came there".to_owned(),
        None => String::new(),
    }
}

fn backtrace() -> Option<String> {
    let style = std::env::var_os("RUST_BACKTRACE").filter(|style| style != "0")?;
    let all = Backtrace::force_capture();
    Some(if style == "full" { format!("{all:#}") } else { of_the_program(&all.to_string()) })
}

/// Returns the program's frames: without the frames of the panic and of the start, as the standard library does.
fn of_the_program(frames: &str) -> String {
    let lines: Vec<&str> = frames.lines().collect();
    let find = |name: &str| lines.iter().position(|line| line.contains(name));
    // The line of a frame may be followed by a line `at ..` with the frame's source line.
    let first = find("__rust_end_short_backtrace").map_or(0, |end| {
        let behind = lines[end + 1..].iter().position(|line| !line.trim_start().starts_with("at "));
        behind.map_or(lines.len(), |more| end + 1 + more)
    });
    let last = find("__rust_begin_short_backtrace").filter(|last| *last > first).unwrap_or(lines.len());
    lines[first..last].join("\n")
}
