//! Signals to the launcher, read from a descriptor (signalfd(2)).
//!
//! The signals are blocked in the calling thread while a [`Signals`] lives. Children inherit that mask, and [restore](Before) the
//! mask that the launcher had before.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::sync::OnceLock;

/// The watched signals: those that end a job, and SIGQUIT, which asks about the job's state.
#[derive(Debug)]
pub(crate) struct Signals {
    descriptor: OwnedFd,
    before: libc::sigset_t,
}

/// Signals whose disposition the launcher changes, with the old and the new one. The launcher must wait for its children (SIGCHLD),
/// and handles a closed pipe (SIGPIPE) and a file-size limit (SIGXFSZ) as errors.
const CHANGED: [(i32, libc::sighandler_t, libc::sighandler_t); 3] = [
    (libc::SIGCHLD, libc::SIG_IGN, libc::SIG_DFL),
    (libc::SIGPIPE, libc::SIG_DFL, libc::SIG_IGN),
    (libc::SIGXFSZ, libc::SIG_DFL, libc::SIG_IGN),
];

/// The signal state from before the launcher's changes, which its children restore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// For each signal of [`CHANGED`], whether the launcher changed its disposition.
    changed: [bool; CHANGED.len()],
    /// The thread's earlier signal mask, if the launcher watches signals. Then PEs also ignore SIGQUIT: a terminal key sends it to
    /// launcher and PEs, and only the launcher should answer.
    mask: Option<libc::sigset_t>,
}

impl Before {
    /// Changes dispositions until the process ends, because it may run several jobs. Must be called before the first child starts.
    pub(crate) fn take(signals: Option<&Signals>) -> Self {
        static CHANGES: OnceLock<[bool; CHANGED.len()]> = OnceLock::new();
        let change = |(signal, from, to)| {
            let changes = disposition(signal) == from;
            if changes {
                // SAFETY: `to` is `SIG_DFL` or `SIG_IGN`, so no handler is installed.
                unsafe { libc::signal(signal, to) };
            }
            changes
        };
        let changed = *CHANGES.get_or_init(|| CHANGED.map(change));
        Self { changed, mask: signals.map(|signals| signals.before) }
    }

    /// Undoes the changes of `take`. Async-signal-safe, so allowed between `fork` and `exec`.
    pub(crate) fn restore(&self) {
        for ((signal, from, _), _) in CHANGED.into_iter().zip(self.changed).filter(|(_, changed)| *changed) {
            // SAFETY: `from` is `SIG_DFL` or `SIG_IGN`, so no handler is installed.
            unsafe { libc::signal(signal, from) };
        }
        if let Some(mask) = &self.mask {
            set_mask(mask);
            // SAFETY: `SIG_IGN` installs no handler.
            unsafe { libc::signal(libc::SIGQUIT, libc::SIG_IGN) };
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) number: i32,
    /// Whether a terminal key sent the signal. The terminal then sends the signal to the PEs as well.
    pub(crate) by_terminal: bool,
}

impl Signals {
    /// Watches SIGQUIT, and SIGINT, SIGTERM and SIGHUP. Those of the last three that the process ignores (`nohup`) stay ignored.
    pub(crate) fn watch() -> io::Result<Self> {
        let mut set = empty_set();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            if disposition(signal) != libc::SIG_IGN {
                add(&mut set, signal);
            }
        }
        add(&mut set, libc::SIGQUIT);
        // SAFETY: `set` is initialised, and -1 asks for a new descriptor.
        let raw = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call above made the descriptor, and no other code knows its number.
        let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
        let mut before = empty_set();
        // SAFETY: both sets are initialised and outlive the call.
        let error = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(Self { descriptor, before })
    }

    pub(crate) fn next(&self) -> Option<Received> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let bytes = size_of::<libc::signalfd_siginfo>();
        // SAFETY: `info` has space for `bytes` bytes.
        let read = unsafe { libc::read(self.descriptor.as_raw_fd(), info.as_mut_ptr().cast(), bytes) };
        if read != bytes.cast_signed() {
            return None;
        }
        // SAFETY: `info` consists of integers, and was all zeroes before the kernel wrote it.
        let info = unsafe { info.assume_init() };
        Some(Received { number: info.ssi_signo.cast_signed(), by_terminal: info.ssi_code == libc::SI_KERNEL })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        set_mask(&self.before);
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Returns number and name of a signal: `signal 11 (SIGSEGV)`.
pub(crate) fn name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// Sets the signal mask of the calling thread. Async-signal-safe, so allowed between `fork` and `exec`.
fn set_mask(mask: &libc::sigset_t) {
    // SAFETY: `mask` is initialised. The null pointer means that the old mask is not wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}

fn empty_set() -> libc::sigset_t {
    let mut set = MaybeUninit::zeroed();
    // SAFETY: `set` is writable.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: `sigemptyset` has initialised `set`, which was all zeroes before.
    unsafe { set.assume_init() }
}

fn add(set: &mut libc::sigset_t, signal: i32) {
    // SAFETY: `set` is initialised. The C library defines the signal's number.
    unsafe { libc::sigaddset(set, signal) };
}

fn disposition(signal: i32) -> libc::sighandler_t {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: `action` is writable. The null pointer means that nothing is changed.
    unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: `action` consists of integers and an optional pointer, so zeroes are valid, and so is what the call wrote.
    unsafe { action.assume_init() }.sa_sigaction
}
