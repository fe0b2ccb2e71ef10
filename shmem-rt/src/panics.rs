//! Messages of panics: with the number of the PE, and in one write, because several PEs print to one terminal and often panic
//! together. If several PEs of a node panic at the same line, only the first prints the backtrace.

use std::backtrace::Backtrace;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{self, Location, PanicHookInfo};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use shmem_core::memory::Arena;
use shmem_core::system_area::SystemArea;
use shmem_launch::say::say;

use crate::thread::ThreadLevel;
use crate::world::World;

/// Sets the panic hook that names the PE. A hook that the program has set stays.
pub(crate) fn tell_as<L: ThreadLevel>(world: &World<L>) {
    let (pe, job) = (world.my_pe(), world.job());
    let (arena, slot) = (Arc::clone(&job.memory.arena), job.site.pes().iter().find_map(|pe| pe.on_node()));
    let hook = panic::take_hook();
    // `take_hook` leaves the hook of the standard library.
    let standard = panic::take_hook();
    if ptr::eq(&raw const *hook, &raw const *standard) {
        let is_first = AtomicBool::new(true);
        panic::set_hook(Box::new(move |info| {
            // Before this PE is marked as the first: a backtrace takes long, and a PE that finds the mark ends the job.
            let how = how(is_first.swap(false, Ordering::Relaxed));
            let is_another = slot.is_none_or(|slot| is_another(&arena, slot, pe, info.location()));
            say(&told(pe, info, is_another.then_some(&*how)));
        }));
    } else {
        panic::set_hook(hook);
    }
}

/// Whether no other PE of the node has panicked at `place` first. `slot` is that of the node's first PE.
fn is_another(arena: &Arena, slot: usize, pe: usize, place: Option<&Location<'_>>) -> bool {
    let Some(place) = place else { return true };
    // Hashes are equal in all processes.
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    // SAFETY: a job's arena maps the slot of each PE of the node as long as the arena lives. A slot begins with a system
    // area. Only its record is used here, which is shared by atomics.
    let area = unsafe { &*arena.start_of(slot).cast::<SystemArea>() };
    area.record.is_another_panic((hasher.finish() as u32).max(1), pe as u32)
}

/// The message of a panic; `how` is the backtrace or a note, unless another PE has printed it.
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

/// The backtrace of a panic, or, for the first panic of this process, a note how to get one.
fn how(is_first: bool) -> String {
    match backtrace() {
        Some(frames) => format!("\nstack backtrace:\n{}", frames.trim_end()),
        None if is_first => "\nnote: with `RUST_BACKTRACE=1` it says how it came there".to_owned(),
        None => String::new(),
    }
}

/// The backtrace, if `RUST_BACKTRACE` asks for one.
fn backtrace() -> Option<String> {
    let style = std::env::var_os("RUST_BACKTRACE").filter(|style| style != "0")?;
    let all = Backtrace::force_capture();
    Some(if style == "full" { format!("{all:#}") } else { of_the_program(&all.to_string()) })
}

/// The frames of the program, between those of the panic and those of the start, as the standard library shows them.
fn of_the_program(frames: &str) -> String {
    let lines: Vec<&str> = frames.lines().collect();
    let find = |name: &str| lines.iter().position(|line| line.contains(name));
    // The line of a frame may be followed by one with its place.
    let first = find("__rust_end_short_backtrace").map_or(0, |end| {
        let behind = lines[end + 1..].iter().position(|line| !line.trim_start().starts_with("at "));
        behind.map_or(lines.len(), |more| end + 1 + more)
    });
    let last = find("__rust_begin_short_backtrace").filter(|last| *last > first).unwrap_or(lines.len());
    lines[first..last].join("\n")
}
