//! Who drives an endpoint while its process does something else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Port;

/// How long a thread sleeps at most: it looks then whether it is to end.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// A thread that drives an endpoint, until it is dropped. It sleeps on the descriptor of the queue; where
/// the provider has none, it looks and yields.
#[derive(Debug)]
pub struct Attendant {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Attendant {
    /// Starts the thread.
    pub fn of(port: &Arc<Port>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (port, over) = (Arc::clone(port), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                port.progress();
                port.rest();
            }
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // It has said why.
            std::process::abort();
        }
    }
}

impl Port {
    /// Sleeps until something may have come, if nothing has.
    fn rest(&self) {
        let Some(descriptor) = self.endpoint.descriptor() else {
            return std::thread::yield_now();
        };
        if self.endpoint.may_sleep() {
            let mut list = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
            // Woken, interrupted or late: it looks again.
            let _ = poll(&mut list, Some(&NAP));
        }
    }
}
