//! How a mistake of the caller is told: once, with the routine, the argument, what is allowed, and where the call stands. What
//! may fail is told, too, the first time.
//!
//! The place comes from debug information, or is the address and name of the first frame outside the library. Frames are taken
//! from the standard library's backtrace: behind the exported function's own stands the caller's.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::raw;
use shmem_core::exit;
use shmem_launch::say::say;

use crate::world;

/// Ends the job with a message: `PE 2: shmem_put32: argument pe is 7: PEs are 0 to 3; at file.c:12`. Of an empty argument the
/// call itself is what is wrong.
#[cold]
#[inline(never)]
pub fn refuse(routine: &str, argument: &str, why: impl fmt::Display) -> ! {
    let place = Place::of_the_call();
    let what = if argument.is_empty() { String::new() } else { format!("argument {argument} ") };
    let text = format!("{routine}: {what}{why}{place}");
    end(1, &text)
}

/// Ends the job, or the process where there is none, with a message.
pub fn end(code: i32, text: &str) -> ! {
    match world::any() {
        Some(world) => raw::job::abort(world, code, text),
        None => exit::end(code, || say(&format!("shmem: {text}"))),
    }
}

/// Says why a routine fails, once for each `told`: what it gives then is not looked at by many programs.
#[cold]
#[inline(never)]
pub fn tell_once(told: &AtomicBool, routine: &str, why: &str) {
    let me = world::current(routine).my_pe();
    if !told.swap(true, Ordering::Relaxed) {
        say(&format!("shmem: warning: PE {me}: {routine}: {why}{}", Place::of_the_call()));
    }
}

/// Where C calls the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, and its line; or the name of the function, where there is no debug information.
    pub file: String,
    /// The line; 0: not known.
    pub line: u32,
}

impl Place {
    /// Where C calls the library, on this thread.
    pub fn of_the_call() -> Self {
        Self::in_frames(&Backtrace::force_capture().to_string()).unwrap_or_default()
    }

    /// The routine that C has called, on this thread.
    pub fn routine() -> Option<String> {
        let told = Backtrace::force_capture().to_string();
        let name = frames(&told).map(|(name, _)| name).find(|name| is_exported(name))?;
        Some(name.strip_prefix('p').unwrap_or(name).to_owned())
    }

    /// The frame behind the first exported one.
    fn in_frames(told: &str) -> Option<Self> {
        let is_ours = |(name, place): &(&str, Option<&str>)| {
            is_exported(name) || place.is_some_and(|place| is_in_table(name, place))
        };
        let (name, place) = frames(told).skip_while(|frame| !is_ours(frame)).find(|frame| !is_ours(frame))?;
        place.and_then(Self::parsed).or_else(|| Some(Self { file: name.to_owned(), line: 0 }))
    }

    /// `./file.c:12:7` or `./file.c:12`.
    fn parsed(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(3, ':');
        let (last, before, rest) = (parts.next()?, parts.next()?, parts.next());
        match (before.parse(), rest) {
            (Ok(line), Some(file)) => Some(Self { file: file.to_owned(), line }),
            _ => Some(Self {
                file: text.strip_suffix(last)?.trim_end_matches(':').to_owned(),
                line: last.parse().ok()?,
            }),
        }
    }
}

/// The frames of a backtrace, innermost first: name and place of each.
fn frames(told: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut lines = told.lines().map(str::trim).peekable();
    std::iter::from_fn(move || {
        let is_number = |(number, _): &(&str, &str)| number.parse::<usize>().is_ok();
        let name = lines.find_map(|line| line.split_once(": ").filter(is_number))?.1;
        Some((name, lines.peek().and_then(|next| next.strip_prefix("at "))))
    })
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => Ok(()),
            (name, 0) => write!(f, "; in {name}"),
            (file, line) => write!(f, "; at {file}:{line}"),
        }
    }
}

/// Whether it is where all routines are written: debug information has their names in Rust only.
/// The path is told from the directory of the process, where it lies in there.
fn is_in_table(name: &str, place: &str) -> bool {
    name.rsplit("::").next() == Some("routine") && place.contains("table.rs:")
}

/// Whether a frame is that of a routine.
pub(crate) fn is_exported(name: &str) -> bool {
    let others = ["start_pes", "my_pe", "num_pes", "shmalloc", "shfree", "shrealloc", "shmemalign"];
    let name = name.strip_prefix('p').unwrap_or(name);
    ["shmem_", "shmemx_"].iter().any(|start| name.starts_with(start)) && !name.contains("::")
        || others.iter().any(|other| name.trim_start_matches('_') == *other)
}
