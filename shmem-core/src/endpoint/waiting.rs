//! How a PE waits: it spins, then sleeps, and says so when it takes long.

use std::time::{Duration, Instant};

use super::Endpoint;
use super::standstill::{LOOK, Vigil, Watch};
use crate::sync::Patience;
use crate::system::{Activity, monotonic_now};

/// A wait that has lasted long.
#[derive(Clone, Copy, Debug)]
pub struct WaitReport {
    /// What the PE does.
    pub activity: Activity,
    /// How long it has waited.
    pub waited: Duration,
}

/// How a PE waits.
pub struct Waiting {
    patience: Patience,
    warn_after: Option<Duration>,
    name: Box<dyn Fn(usize) -> String + Send + Sync>,
    report: Box<dyn Fn(&WaitReport) + Send + Sync>,
    watch: Option<Box<dyn Watch>>,
}

impl Waiting {
    /// Spins for `patience`, sleeps after, and calls `report` each time another `warn_after`,
    /// doubling, has passed. `name` says what lies at an offset.
    pub fn new(
        patience: Patience,
        warn_after: Option<Duration>,
        name: impl Fn(usize) -> String + Send + Sync + 'static,
        report: impl Fn(&WaitReport) + Send + Sync + 'static,
    ) -> Self {
        Self { patience, warn_after, name: Box::new(name), report: Box::new(report), watch: None }
    }

    /// The same, and threads that sleep look whether anybody is left who could wake them.
    #[must_use]
    pub fn watched(self, watch: Option<Box<dyn Watch>>) -> Self {
        Self { watch, ..self }
    }

    /// Whether a PE spins before it sleeps: the same on all PEs of a node.
    pub fn spins(&self) -> bool {
        self.patience.spins()
    }

    /// What lies at an offset, for messages.
    pub fn name_of(&self, offset: usize) -> String {
        (self.name)(offset)
    }

    /// Waits until `done`. `sleep` sleeps at most the given time or until something has changed;
    /// `activity` describes the wait; it is called when that is long enough to sleep, and for each report.
    #[inline]
    pub fn until(
        &self,
        endpoint: &Endpoint,
        mut done: impl FnMut() -> bool,
        sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: impl Fn() -> Activity,
    ) {
        let far = endpoint.far_if_any();
        let mut done = || {
            if let Some(far) = far {
                far.transport.progress();
            }
            done()
        };
        if !self.patience.spin_until(&mut done) {
            self.sleep_until(endpoint, &mut done, sleep, &activity);
        }
    }

    #[cold]
    fn sleep_until(
        &self,
        endpoint: &Endpoint,
        done: &mut dyn FnMut() -> bool,
        mut sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: &dyn Fn() -> Activity,
    ) {
        // SAFETY: the record of this PE, described here by whoever waits, as it is meant.
        let record = &unsafe { endpoint.system() }.record;
        record.describe(&activity());
        record.set_waiting_since(monotonic_now());
        let mut vigil = self.watch.as_deref().map(Vigil::begin);
        let (start, mut looked) = (Instant::now(), Duration::ZERO);
        let mut warn_after = self.warn_after;
        while !done() {
            let waited = start.elapsed();
            if let Some(vigil) = &mut vigil
                && waited >= looked + LOOK
            {
                looked = waited;
                vigil.look(done, &|| record.describe(&activity()));
            }
            if let Some(limit) = warn_after
                && waited >= limit
            {
                let activity = activity();
                record.describe(&activity);
                (self.report)(&WaitReport { activity, waited });
                warn_after = Some(limit * 2);
            }
            let look = vigil.is_some().then(|| (looked + LOOK).saturating_sub(waited));
            let mut timeout =
                warn_after.map(|limit| limit.saturating_sub(waited)).into_iter().chain(look).min();
            if let Some(far) = endpoint.far_if_any() {
                let limit = far.transport.sleeps();
                timeout = Some(timeout.map_or(limit, |t| t.min(limit)));
            }
            sleep(timeout, done);
        }
        drop(vigil);
        record.set_waiting_since(0);
        record.done();
    }
}
