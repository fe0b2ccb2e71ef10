//! Noticing that another PE of the host has died, and saying once why the job ends.
//!
//! A socket between the first PE of a host and each other one is open as long as both live. Who leaves in order says
//! so on it. When it closes without that, the PE at the other end has died: the one that notices ends the job.
//!
//! Launchers have no message for the whole job that only one process prints. Those of a host share a counter, from which one
//! may take. Hosts speak in turn, because what ends a job often happens on all of them at once: the first one that does
//! has the job ended before the next one's turn comes. A death is noticed on one host only, and told at once.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{SendFlags, send};
use shmem_core::exit;

use crate::bootstrap::manager::ProcessManager;
use crate::say::say;

/// How long all hosts wait for the first one to speak and to end the job, which takes launchers a while; then each of
/// the others for the one before; and the longest wait.
const FIRST_TURN: Duration = Duration::from_secs(2);
const TURN: Duration = Duration::from_millis(250);
const LAST_TURN: Duration = Duration::from_secs(3);

/// What a PE that leaves says.
const LEAVING: &[u8] = b"leaving";

/// The other PEs of the host that this one hears of.
pub(super) struct Watch {
    shared: Arc<Shared>,
}

struct Shared {
    manager: Arc<dyn ProcessManager>,
    /// Which of the job's hosts this is.
    host: u32,
    lifelines: Vec<(usize, OwnedFd)>,
    voice: Option<OwnedFd>,
    left: AtomicBool,
}

impl Watch {
    /// Watches the PEs at the other ends, in a thread that sleeps until one of them is gone.
    pub(super) fn new(
        manager: Arc<dyn ProcessManager>,
        host: u32,
        lifelines: Vec<(usize, OwnedFd)>,
        voice: Option<OwnedFd>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { manager, host, lifelines, voice, left: AtomicBool::new(false) });
        if !shared.lifelines.is_empty() {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("shmem watch".to_owned()).spawn(move || shared.run())?;
        }
        Ok(Self { shared })
    }

    /// Waits until it is the host's turn to say why the job ends. It may have ended by then.
    pub(super) fn await_turn(&self) {
        if let Some(others) = self.shared.host.checked_sub(1) {
            std::thread::sleep((FIRST_TURN + TURN * others).min(LAST_TURN));
        }
    }

    /// Whether this PE may say why the job ends: the first of the host that asks may.
    pub(super) fn may_speak(&self) -> bool {
        self.shared.may_speak()
    }

    /// Says that this PE leaves in order.
    pub(super) fn leave(&self) {
        self.shared.left.store(true, Ordering::Relaxed);
        for (_, lifeline) in &self.shared.lifelines {
            // Who is not there any more has left before.
            let _ = send(lifeline, LEAVING, SendFlags::NOSIGNAL);
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut watched: Vec<&(usize, OwnedFd)> = self.lifelines.iter().collect();
        while !watched.is_empty() {
            let mut list: Vec<_> =
                watched.iter().map(|(_, lifeline)| PollFd::new(lifeline, PollFlags::IN)).collect();
            if rustix::io::retry_on_intr(|| poll(&mut list, None)).is_err() {
                return;
            }
            let quiet: Vec<bool> = list.iter().map(|fd| fd.revents().is_empty()).collect();
            let mut quiet = quiet.into_iter();
            watched.retain(|(pe, lifeline)| {
                if quiet.next().unwrap_or(true) {
                    return true;
                }
                if !matches!(rustix::io::read(lifeline, &mut [0; LEAVING.len()]), Ok(n) if n > 0) {
                    self.end(*pe);
                }
                false
            });
        }
    }

    /// Ends the job, because a PE has died.
    fn end(&self, pe: usize) {
        if self.left.load(Ordering::Relaxed) {
            return;
        }
        exit::end(1, || {
            if self.may_speak() {
                say(&format!("shmem: PE {pe} has died: its process ended before it had left the job"));
            }
            self.manager.abort(1);
        })
    }

    fn may_speak(&self) -> bool {
        let Some(voice) = &self.voice else { return true };
        rustix::io::read(voice, &mut [0; size_of::<u64>()]).is_ok()
    }
}
