//! The threads, children, handlers of signals and debuggers of this process.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Threads that only wait for another thread to end.
static BYSTANDERS: AtomicUsize = AtomicUsize::new(0);

/// Whether the process has forked: children of a child share the memory too, and are not found otherwise.
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Signals whose handlers are not the program's: the standard library catches some for stack overflows, sanitizers and the C
/// library (32 and 33) others. A sleeping thread does not raise them.
const FAULTS: [i32; 9] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
    32,
    33,
];

/// A number for the calling thread, from 1.
pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static MINE: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    MINE.with(|number| *number)
}

/// Declares that `others` threads, and the process's first thread if it is another, only wait for the calling thread.
pub(crate) fn stand_for_all(others: usize) {
    let is_another = rustix::thread::gettid() != rustix::process::getpid();
    BYSTANDERS.store(usize::from(is_another) + others, Ordering::Relaxed);
}

/// Notices forks from now on.
pub(crate) fn notice_forks() {
    extern "C" fn notice() {
        HAS_FORKED.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    // SAFETY: a function that lives as long as the process, and only stores a word.
    ONCE.call_once(|| _ = unsafe { libc::pthread_atfork(Some(notice), None, None) });
}

/// Whether nothing in this process can act while `sleeping` threads sleep: it has no other threads, has not forked, has no
/// running children, which would share its memory, catches no signals, and is not being debugged.
pub(crate) fn is_closed(sleeping: usize) -> bool {
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    threads == sleeping + BYSTANDERS.load(Ordering::Relaxed)
        && !HAS_FORKED.load(Ordering::Relaxed)
        && has_no_children()
        && is_left_alone()
}

fn has_no_children() -> bool {
    let Ok(mut threads) = std::fs::read_dir("/proc/self/task") else { return false };
    threads.all(|thread| {
        let children = thread.map(|thread| thread.path().join("children"));
        children.and_then(std::fs::read_to_string).is_ok_and(|all| all.split_whitespace().all(is_over))
    })
}

/// Whether a child is a zombie, which has no memory.
fn is_over(child: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{child}/stat")) else { return false };
    // After the program's name, which may contain any characters.
    stat.rsplit_once(')').is_some_and(|(_, state)| state.starts_with(" Z") || state.starts_with(" X"))
}

fn is_left_alone() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_quiet(&status))
}

/// Whether the text of `/proc/self/status` shows no handler of the program and no debugger.
fn is_quiet(status: &str) -> bool {
    let field =
        |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()));
    let faults = FAULTS.iter().fold(0, |set, signal| set | 1_u64 << (signal - 1));
    let caught = field("SigCgt").and_then(|set| u64::from_str_radix(set, 16).ok());
    caught.is_some_and(|caught| caught & !faults == 0) && field("TracerPid") == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debugger_or_a_handler_may_act() {
        let status = |tracer: &str, caught: &str| {
            is_quiet(&format!(
                "Name:\tx\nTracerPid:\t{tracer}\nSigIgn:\t0000000000001000\nSigCgt:\t{caught}\n"
            ))
        };
        // SIGBUS and SIGSEGV, as a program in Rust has them.
        assert!(status("0", "0000000000000440"));
        assert!(status("0", "0000000100000440") && status("0", "0000000000000000"));
        assert!(!status("77", "0000000000000440"));
        // SIGINT, SIGUSR1, SIGALRM.
        assert!(
            ["0000000000000442", "0000000000000640", "0000000000002440"].iter().all(|set| !status("0", set))
        );
        assert!(!status("0", "") && !is_quiet("") && !is_quiet("SigCgt:\t0000000000000440\n"));
    }
}
