//! How the panic of a PE is told: with its number and in one piece, because several PEs write to the same place, and often
//! panic together.

use std::backtrace::Backtrace;
use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use shmem_launch::say::say;

/// Tells panics of this process as those of a PE from now on. A hook that the program has set stays.
pub(crate) fn tell_as(pe: usize) {
    let hook = panic::take_hook();
    // That of the standard library, which is there again when another one has been taken.
    let standard = panic::take_hook();
    if ptr::eq(&raw const *hook, &raw const *standard) {
        let is_first = AtomicBool::new(true);
        panic::set_hook(Box::new(move |info| {
            say(&told(pe, info, backtrace(), is_first.swap(false, Ordering::Relaxed)));
        }));
    } else {
        panic::set_hook(hook);
    }
}

fn told(pe: usize, info: &PanicHookInfo<'_>, backtrace: Option<String>, is_first: bool) -> String {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let place = info.location().map(|location| format!(" at {location}")).unwrap_or_default();
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("a value that is no text");
    let how = match backtrace {
        Some(frames) => format!("\nstack backtrace:\n{}", frames.trim_end()),
        None if is_first => "\nnote: with `RUST_BACKTRACE=1` it says how it came there".to_owned(),
        None => String::new(),
    };
    format!("shmem: PE {pe}: thread '{name}' panicked{place}:\n{message}{how}")
}

/// The calls that led to a panic, if the user wants to see them.
fn backtrace() -> Option<String> {
    let style = std::env::var_os("RUST_BACKTRACE").filter(|style| style != "0")?;
    let all = Backtrace::force_capture();
    Some(if style == "full" { format!("{all:#}") } else { of_the_program(&all.to_string()) })
}

/// What lies between the machinery of panics and that of the start: what the standard library shows, too.
fn of_the_program(frames: &str) -> String {
    let lines: Vec<&str> = frames.lines().collect();
    let find = |name: &str| lines.iter().position(|line| line.contains(name));
    // Behind the frame's line there may be one with its place.
    let first = find("__rust_end_short_backtrace").map_or(0, |end| {
        let behind = lines[end + 1..].iter().position(|line| !line.trim_start().starts_with("at "));
        behind.map_or(lines.len(), |more| end + 1 + more)
    });
    let last = find("__rust_begin_short_backtrace").filter(|last| *last > first).unwrap_or(lines.len());
    lines[first..last].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_calls_of_the_program_are_shown() {
        let frames = "   0: hook\n             at hook.rs:1:2\n   1: std::__rust_end_short_backtrace\n             at std.rs:3:4\n   \
                      2: program::inner\n             at main.rs:5:6\n   3: program::main\n   \
                      4: std::__rust_begin_short_backtrace\n   5: main\n";
        assert_eq!(
            of_the_program(frames),
            "   2: program::inner\n             at main.rs:5:6\n   3: program::main"
        );
        assert_eq!(of_the_program("   0: somewhere\n"), "   0: somewhere");
        assert_eq!(of_the_program("   0: __rust_end_short_backtrace"), "");
        assert_eq!(of_the_program(""), "");
    }
}
