//! Messages about mistakes of the caller: routine, argument, what is allowed, and the line of the call.
//!
//! The line comes from debug information. Without that, the message names the function that calls. Both are read from the text of
//! the standard library's backtrace: the frame of the exported function is followed by its caller's.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::raw;
use shmem_core::process_exit;
use shmem_launch::say::say;

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
        Some(world) => raw::job::abort(world, code, text),
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

/// Where C calls the library.
#[derive(Debug, Default)]
pub(crate) struct CallSite {
    /// The file; without debug information the name of the function.
    pub(crate) file: String,
    /// 0: not known.
    pub(crate) line: u32,
}

impl CallSite {
    /// The call that this thread is in.
    pub(crate) fn find() -> Self {
        Self::in_frames(&Backtrace::force_capture().to_string()).unwrap_or_default()
    }

    /// The routine that this thread is in.
    pub(crate) fn routine() -> Option<String> {
        let told = Backtrace::force_capture().to_string();
        let name = frames(&told).map(|(name, _)| name).find(|name| is_exported(name))?;
        Some(name.strip_prefix('p').unwrap_or(name).to_owned())
    }

    fn in_frames(told: &str) -> Option<Self> {
        let is_ours = |(name, place): &(&str, Option<&str>)| {
            is_exported(name) || place.is_some_and(|place| is_in_table(name, place))
        };
        let (name, place) = frames(told).skip_while(|frame| !is_ours(frame)).find(|frame| !is_ours(frame))?;
        place.and_then(Self::parsed).or_else(|| Some(Self { file: name.to_owned(), line: 0 }))
    }

    /// Parses `a.c:12:7` or `a.c:12`.
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

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => Ok(()),
            (name, 0) => write!(f, "; in {name}"),
            (file, line) => write!(f, "; at {file}:{line}"),
        }
    }
}

/// Whether a frame is that of a routine, by its name in Rust: debug information has no other. The path may be relative.
fn is_in_table(name: &str, place: &str) -> bool {
    name.rsplit("::").next() == Some("routine") && place.contains("table.rs:")
}

/// Whether a frame is that of a routine, by its exported name.
pub(crate) fn is_exported(name: &str) -> bool {
    let others = ["start_pes", "my_pe", "num_pes", "shmalloc", "shfree", "shrealloc", "shmemalign"];
    let name = name.strip_prefix('p').unwrap_or(name);
    ["shmem_", "shmemx_"].iter().any(|start| name.starts_with(start)) && !name.contains("::")
        || others.iter().any(|other| name.trim_start_matches('_') == *other)
}
