//! Notices that another PE of the host has died, and selects one PE to report why the job ends.
//!
//! The channel between the first PE of a host and each other PE is open as long as both live. A PE that leaves the job in order
//! sends [`LEAVING`]. If a channel closes without `LEAVING`, the PE at its other end has died, and this PE ends the job.
//!
//! Process managers cannot print a text once for the whole job. So the PEs of a host share an eventfd, and the PE that reads its
//! value may report. Hosts report in turn, because the cause is often the same on all hosts. The first host's report ends the job
//! before the next host's turn. A death is noticed on one host only, and reported at once.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use shmem_core::process_exit;

use crate::bootstrap::process_manager::ProcessManager;
use crate::diagnostics::say;
use crate::launch::socket::{Channel, LEAVING};

/// Time before the second host reports, additional time for each further host, and upper limit on their sum. The first host
/// reports at once, and the launcher then has `FIRST_TURN` to end the job.
const FIRST_TURN: Duration = Duration::from_secs(2);
const TURN: Duration = Duration::from_millis(250);
const LAST_TURN: Duration = Duration::from_secs(3);

/// Watches the connected PEs of a host, and decides which PE reports why the job ends.
pub(super) struct Watch {
    manager: Arc<dyn ProcessManager>,
    host: u32,
    channels: BTreeMap<usize, Arc<Channel>>,
    voice: Option<OwnedFd>,
    left: AtomicBool,
}

impl Watch {
    /// Starts a thread that sleeps until the PE at the other end of a channel has ended.
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

    /// Blocks until it is this host's turn to report why the job ends. The job may end before.
    pub(super) fn await_turn(&self) {
        if let Some(others) = self.host.checked_sub(1) {
            std::thread::sleep((FIRST_TURN + TURN * others).min(LAST_TURN));
        }
    }

    /// Returns whether this PE may report why the job ends. True for the first PE of the host that calls this.
    pub(super) fn may_report(&self) -> bool {
        let Some(voice) = &self.voice else { return true };
        rustix::io::read(voice, &mut [0; size_of::<u64>()]).is_ok()
    }

    pub(super) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    pub(super) fn leave(&self) {
        self.left.store(true, Ordering::Release);
        for channel in self.channels.values() {
            // An error means that the other PE has left already.
            let _ = channel.send(LEAVING, &[]);
        }
    }

    fn run(&self) {
        let mut watched = self.channels.clone();
        while !watched.is_empty() {
            // Without flags, `poll` reports only that the other end has closed. Packets are for the thread that is in a fence or a
            // `share`.
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

    fn end(&self, pe: usize) {
        if self.has_left() {
            return;
        }
        process_exit::end(1, || {
            if self.may_report() {
                say(&format!("shmem: PE {pe} has died: its process ended before it had left the job"));
            }
            self.manager.abort(1);
        })
    }
}
