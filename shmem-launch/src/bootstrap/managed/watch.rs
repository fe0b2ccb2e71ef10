//! Noticing that another PE of the host has died, and saying once why the job ends.
//!
//! The channel between the first PE of a host and each other one is open as long as both live. Who leaves in order says
//! so on it. When it closes without that, the PE at the other end has died: the one that notices ends the job.
//!
//! Launchers have no message for the whole job that only one process prints. Those of a host share a counter, from which one
//! may take. Hosts speak in turn, because what ends a job often happens on all of them at once: the first one that does
//! has the job ended before the next one's turn comes. A death is noticed on one host only, and told at once.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use shmem_core::exit;

use crate::bootstrap::manager::ProcessManager;
use crate::launch::channel::{Channel, LEAVING};
use crate::say::say;

/// How long all hosts wait for the first one to speak and to end the job, which takes launchers a while; then each of
/// the others for the one before; and the longest wait.
const FIRST_TURN: Duration = Duration::from_secs(2);
const TURN: Duration = Duration::from_millis(250);
const LAST_TURN: Duration = Duration::from_secs(3);

/// The other PEs of the host that this one hears of.
pub(super) struct Watch {
    manager: Arc<dyn ProcessManager>,
    /// Which of the job's hosts this is.
    host: u32,
    channels: BTreeMap<usize, Arc<Channel>>,
    voice: Option<OwnedFd>,
    left: AtomicBool,
}

impl Watch {
    /// Watches the PEs at the other ends, in a thread that sleeps until one of them is gone.
    pub(super) fn new(
        manager: Arc<dyn ProcessManager>,
        host: u32,
        channels: BTreeMap<usize, Arc<Channel>>,
        voice: Option<OwnedFd>,
    ) -> io::Result<Arc<Self>> {
        let watch = Arc::new(Self { manager, host, channels, voice, left: AtomicBool::new(false) });
        if !watch.channels.is_empty() {
            let watch = Arc::clone(&watch);
            std::thread::Builder::new().name("shmem watch".to_owned()).spawn(move || watch.run())?;
        }
        Ok(watch)
    }

    /// Waits until it is the host's turn to say why the job ends. It may have ended by then.
    pub(super) fn await_turn(&self) {
        if let Some(others) = self.host.checked_sub(1) {
            std::thread::sleep((FIRST_TURN + TURN * others).min(LAST_TURN));
        }
    }

    /// Whether this PE may say why the job ends: the first of the host that asks may.
    pub(super) fn may_speak(&self) -> bool {
        let Some(voice) = &self.voice else { return true };
        rustix::io::read(voice, &mut [0; size_of::<u64>()]).is_ok()
    }

    /// Whether this PE has left.
    pub(super) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Says that this PE leaves in order.
    pub(super) fn leave(&self) {
        self.left.store(true, Ordering::Release);
        for channel in self.channels.values() {
            // Who is not there any more has left before.
            let _ = channel.send(LEAVING, &[]);
        }
    }

    fn run(&self) {
        let mut watched = self.channels.clone();
        while !watched.is_empty() {
            // Its end is reported unasked. What it says before is for the steps of the other thread.
            let mut list: Vec<_> =
                watched.values().map(|channel| PollFd::new(channel, PollFlags::empty())).collect();
            if rustix::io::retry_on_intr(|| poll(&mut list, None)).is_err() {
                return;
            }
            let mut ended = list.iter().map(|fd| !fd.revents().is_empty()).collect::<Vec<_>>().into_iter();
            watched.retain(|pe, channel| {
                let has_ended = ended.next().unwrap_or(false);
                if has_ended && !channel.has_left() {
                    self.end(*pe);
                }
                !has_ended
            });
        }
    }

    /// Ends the job, because a PE has died.
    fn end(&self, pe: usize) {
        if self.has_left() {
            return;
        }
        exit::end(1, || {
            if self.may_speak() {
                say(&format!("shmem: PE {pe} has died: its process ended before it had left the job"));
            }
            self.manager.abort(1);
        })
    }
}
