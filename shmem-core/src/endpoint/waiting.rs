//! Waits of a PE: a thread spins or yields, then sleeps. Long waits are reported.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Endpoint;
use super::background_work::{LONGEST_SLEEP, Work, Works};
use super::deadlock_detector::{LOOK, SleepingThread, Watch};
use crate::sync::Patience;
use crate::system_area::{Activity, monotonic_now};

/// Reports a wait, given its description and its time so far.
type Report = dyn Fn(&Activity, Duration) + Send + Sync;

/// How a PE waits: settings, the deadlock detector, and background operations.
pub struct Waiting {
    patience: Patience,
    shares_cpu: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether another PE ran on the CPU of a waiting thread at the last check.
    shared_cpu: AtomicBool,
    warn_after: Option<Duration>,
    name: Box<dyn Fn(usize) -> String + Send + Sync>,
    report: Box<Report>,
    watch: Option<Box<dyn Watch>>,
    works: Works,
}

impl Waiting {
    /// Makes the settings of waits. A wait spins or yields for `patience`, then sleeps. It calls `report` when it has lasted
    /// `warn_after`, and each time this duration has doubled. `shares_cpu` returns whether another PE runs on the calling thread's
    /// CPU; `name` names the object at an offset.
    pub fn new(
        patience: Patience,
        shares_cpu: impl Fn() -> bool + Send + Sync + 'static,
        warn_after: Option<Duration>,
        name: impl Fn(usize) -> String + Send + Sync + 'static,
        report: impl Fn(&Activity, Duration) + Send + Sync + 'static,
    ) -> Self {
        Self {
            patience,
            shares_cpu: Box::new(shares_cpu),
            shared_cpu: AtomicBool::new(false),
            warn_after,
            name: Box::new(name),
            report: Box::new(report),
            watch: None,
            works: Works::default(),
        }
    }

    /// Sets the PEs, the tree and the action of the deadlock detector; `None`: deadlocks are not detected.
    #[must_use]
    pub fn watched(self, watch: Option<Box<dyn Watch>>) -> Self {
        Self { watch, ..self }
    }

    /// The name of the object at an offset, for reports.
    pub fn name_of(&self, offset: usize) -> String {
        (self.name)(offset)
    }

    /// Adds a background operation, which every wait progresses until it is over.
    pub fn go_on_with(&self, work: Arc<dyn Work>) {
        self.works.begin(work);
    }

    /// Whether a background operation is in progress.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.works.are_any()
    }

    /// Makes progress with the transport and all background operations, without waiting.
    pub fn go_on(&self, endpoint: &Endpoint) {
        if let Some(far) = endpoint.far_if_any() {
            far.transport.progress();
        }
        self.works.go_on();
    }

    /// Waits until `done` returns `true`. `sleep` sleeps until something has changed, or at most for the given time. `activity`
    /// describes the wait for reports, and is called only by waits that sleep. `bytes` is the number of bytes that are known to be
    /// in flight from other nodes.
    #[inline]
    pub fn until(
        &self,
        bytes: usize,
        endpoint: &Endpoint,
        mut done: impl FnMut() -> bool,
        sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: impl Fn() -> Activity,
    ) {
        let (far, moved) = (endpoint.far_if_any(), Cell::new(false));
        let mut done = || {
            if let Some(far) = far {
                far.transport.progress();
            }
            if self.works.are_any() && self.works.go_on() {
                moved.set(true);
            }
            done()
        };
        let patience = self.patience.for_bytes(bytes);
        let shares_cpu = || {
            let shares = (self.shares_cpu)();
            self.shared_cpu.store(shares, Ordering::Relaxed);
            shares
        };
        if !patience.look_until(self.shared_cpu.load(Ordering::Relaxed), shares_cpu, &mut done) {
            self.sleep_until(endpoint, &mut done, &moved, sleep, &activity);
        }
    }

    #[cold]
    fn sleep_until(
        &self,
        endpoint: &Endpoint,
        done: &mut dyn FnMut() -> bool,
        moved: &Cell<bool>,
        mut sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: &dyn Fn() -> Activity,
    ) {
        // SAFETY: only the record changes, by its protocol: a waiting thread describes its wait.
        let record = &unsafe { endpoint.system() }.record;
        record.describe(&activity());
        record.set_waiting_since(monotonic_now());
        let mut sleeping = self.watch.as_deref().map(SleepingThread::begin);
        let (start, mut looked) = (Instant::now(), Duration::ZERO);
        let mut warn_after = self.warn_after;
        while !done() {
            let waited = start.elapsed();
            if let Some(sleeping) = &mut sleeping {
                // To the deadlock detector, a thread that progressed a background operation was awake.
                if moved.take() {
                    sleeping.turn();
                }
                if waited >= looked + LOOK || sleeping.is_called() {
                    looked = waited;
                    sleeping.look(&mut || done() || moved.get(), &|| record.describe(&activity()));
                }
            }
            if let Some(limit) = warn_after
                && waited >= limit
            {
                let activity = activity();
                record.describe(&activity);
                (self.report)(&activity, waited);
                warn_after = Some(limit * 2);
            }
            let look = sleeping.is_some().then(|| (looked + LOOK).saturating_sub(waited));
            let mut timeout =
                warn_after.map(|limit| limit.saturating_sub(waited)).into_iter().chain(look).min();
            if let Some(far) = endpoint.far_if_any() {
                let limit = far.transport.sleeps();
                timeout = Some(timeout.map_or(limit, |t| t.min(limit)));
            }
            if self.works.are_any() {
                timeout = Some(timeout.map_or(LONGEST_SLEEP, |t| t.min(LONGEST_SLEEP)));
            }
            sleep(timeout, done);
        }
        drop(sleeping);
        record.set_waiting_since(0);
        record.done();
    }
}
