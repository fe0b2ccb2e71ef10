//! How far a job is on the way to its end, and why it ends.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::launch::Failure;

/// Between SIGTERM and SIGKILL after a death.
pub(super) const GRACE: Duration = Duration::from_millis(200);

/// Between a signal of the user's and SIGKILL: programs may want to save something.
pub(super) const GRACE_OF_USER: Duration = Duration::from_secs(2);

/// How far a job is on the way to its end.
#[derive(Debug)]
pub(super) enum Phase {
    Running,
    /// Somebody has died; the others are let go on until then.
    Settling(Instant),
    /// A PE cannot go on because somebody else seems to be lost; who knows more may say so until then.
    Suspecting(Instant, Suspicion),
    /// All have been asked to end, and are killed then; `None`: they have been.
    Ending(Option<Instant>),
}

/// Why a job ends that could go on.
#[derive(Debug)]
pub(super) struct Cause {
    pub(super) text: String,
    pub(super) failure: Failure,
    pub(super) code: u8,
    pub(super) grace: Duration,
    /// What asks the PEs to end.
    pub(super) signal: Option<Signal>,
}

impl Cause {
    /// Something that has gone wrong.
    pub(super) fn new(text: String, failure: Failure, code: u8) -> Self {
        Self { text, failure, code, grace: GRACE, signal: Some(Signal::TERM) }
    }
}

/// Why a PE takes another one to be lost.
#[derive(Debug)]
pub(super) struct Suspicion {
    pub(super) pe: usize,
    pub(super) message: String,
}
