//! The end of a process that does not obey.

use core::fmt::Display;

/// Ends the process: says which demand was violated, by what, and what would have been right.
pub(crate) fn violation(demand: &str, what: impl Display) -> ! {
    eprintln!("fabric-shim: {demand}: {what}");
    // Providers that the real library has loaded catch the signal, and end the process in their own way.
    // SAFETY: the default action takes no code of ours.
    unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
    std::process::abort()
}
