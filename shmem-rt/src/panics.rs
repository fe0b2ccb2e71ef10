//! How the panic of a PE is told: with its number and in one piece, because several PEs write to the same place, and often
//! panic together. Of PEs of a node that panic at the same place, the first says how it came there.

use std::backtrace::Backtrace;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{self, Location, PanicHookInfo};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use shmem_core::memory::Arena;
use shmem_core::system::SystemArea;
use shmem_launch::say::say;

use crate::thread::ThreadLevel;
use crate::world::World;

/// Tells panics of this process as those of a PE from now on. A hook that the program has set stays.
pub(crate) fn tell_as<L: ThreadLevel>(world: &World<L>) {
    let (pe, job) = (world.my_pe(), world.job());
    let (arena, slot) = (Arc::clone(&job.memory.arena), job.site.pes().iter().find_map(|pe| pe.on_node()));
    let hook = panic::take_hook();
    // That of the standard library, which is there again when another one has been taken.
    let standard = panic::take_hook();
    if ptr::eq(&raw const *hook, &raw const *standard) {
        let is_first = AtomicBool::new(true);
        panic::set_hook(Box::new(move |info| {
            // Before it is the first: a backtrace takes long, and PEs that come behind it end the job meanwhile.
            let how = how(is_first.swap(false, Ordering::Relaxed));
            let is_another = slot.is_none_or(|slot| is_another(&arena, slot, pe, info.location()));
            say(&told(pe, info, is_another.then_some(&*how)));
        }));
    } else {
        panic::set_hook(hook);
    }
}

/// Whether no other PE of the node, whose first one has this slot, has panicked there first.
fn is_another(arena: &Arena, slot: usize, pe: usize, place: Option<&Location<'_>>) -> bool {
    let Some(place) = place else { return true };
    // The same in all processes.
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    // SAFETY: a job's arena maps the slot of each PE of the node as long as it lives, and a slot begins with a system
    // area, in which all that is used here is a record, which is shared by atomics.
    let area = unsafe { &*arena.start_of(slot).cast::<SystemArea>() };
    area.record.is_another_panic((hasher.finish() as u32).max(1), pe as u32)
}

/// A panic in words; `how` it came to it, unless another PE has said so.
fn told(pe: usize, info: &PanicHookInfo<'_>, how: Option<&str>) -> String {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let place = info.location().map(|location| format!(" at {location}")).unwrap_or_default();
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("a value that is no text");
    match how {
        Some(how) => format!("shmem: PE {pe}: thread '{name}' panicked{place}:\n{message}{how}"),
        None => format!("shmem: PE {pe}: thread '{name}' panicked{place}, too: {message}"),
    }
}

/// How it came to a panic, of this process the first or not.
fn how(is_first: bool) -> String {
    match backtrace() {
        Some(frames) => format!("\nstack backtrace:\n{}", frames.trim_end()),
        None if is_first => "\nnote: with `RUST_BACKTRACE=1` it says how it came there".to_owned(),
        None => String::new(),
    }
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
