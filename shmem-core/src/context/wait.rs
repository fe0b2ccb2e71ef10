//! Waiting for a word to change, and saying so when it takes long.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::endpoint::{Endpoint, Initiator};
use crate::object::{AmoValue, Here, SymBox, Symmetric, Waitable};
use crate::sync::Patience;
use crate::system::{Activity, monotonic_now};
use crate::text::Text;
use crate::transport::{AtomicOp, Width, target};

/// What a word is waited to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition<V> {
    relation: Relation,
    value: V,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

macro_rules! conditions {
    ($($(#[$doc:meta])* $name:ident = $relation:ident, $sign:literal;)*) => {
        $(
            $(#[$doc])*
            pub const fn $name<V: AmoValue>(value: V) -> Condition<V> {
                Condition { relation: Relation::$relation, value }
            }
        )*

        impl Relation {
            fn sign(self) -> &'static str {
                match self {
                    $(Self::$relation => $sign,)*
                }
            }
        }
    };
}
conditions! {
    /// Equal to `value` (`SHMEM_CMP_EQ`).
    eq = Eq, "==";
    /// Not equal to `value` (`SHMEM_CMP_NE`).
    ne = Ne, "!=";
    /// Greater than `value` (`SHMEM_CMP_GT`).
    gt = Gt, ">";
    /// Greater than or equal to `value` (`SHMEM_CMP_GE`).
    ge = Ge, ">=";
    /// Less than `value` (`SHMEM_CMP_LT`).
    lt = Lt, "<";
    /// Less than or equal to `value` (`SHMEM_CMP_LE`).
    le = Le, "<=";
}

impl<V: AmoValue> Condition<V> {
    /// Whether `value` is what is waited for.
    #[inline(always)]
    pub fn holds(self, value: V) -> bool {
        match self.relation {
            Relation::Eq => value == self.value,
            Relation::Ne => value != self.value,
            Relation::Gt => value > self.value,
            Relation::Ge => value >= self.value,
            Relation::Lt => value < self.value,
            Relation::Le => value <= self.value,
        }
    }
}

impl<V: AmoValue> core::fmt::Display for Condition<V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {:?}", self.relation.sign(), self.value)
    }
}

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
    report: Box<dyn Fn(&WaitReport) + Send + Sync>,
}

/// How long a sleeper that must also drive a transport sleeps at most.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(1);

impl Waiting {
    /// Spins for `patience`, sleeps after, and calls `report` each time another `warn_after`,
    /// doubling, has passed.
    pub fn new(
        patience: Patience,
        warn_after: Option<Duration>,
        report: impl Fn(&WaitReport) + Send + Sync + 'static,
    ) -> Self {
        Self { patience, warn_after, report: Box::new(report) }
    }

    /// Waits until `done`. `sleep` sleeps at most the given time or until something has changed;
    /// `activity` describes the wait, and is only called when it is long enough to sleep.
    #[inline]
    pub fn until(
        &self,
        endpoint: &Endpoint,
        mut done: impl FnMut() -> bool,
        sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: impl FnOnce() -> Activity,
    ) {
        let far = endpoint.far_if_any();
        let mut done = || {
            if let Some(far) = far {
                far.transport.progress();
            }
            done()
        };
        if !self.patience.spin_until(&mut done) {
            self.sleep_until(endpoint, &mut done, sleep, &activity());
        }
    }

    #[cold]
    fn sleep_until(
        &self,
        endpoint: &Endpoint,
        done: &mut dyn FnMut() -> bool,
        mut sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: &Activity,
    ) {
        // SAFETY: the record of this PE, described here by whoever waits, as it is meant.
        let record = &unsafe { endpoint.system() }.record;
        record.describe(activity);
        record.set_waiting_since(monotonic_now());
        let start = Instant::now();
        let mut warn_after = self.warn_after;
        while !done() {
            let waited = start.elapsed();
            if let Some(limit) = warn_after
                && waited >= limit
            {
                (self.report)(&WaitReport { activity: *activity, waited });
                warn_after = Some(limit * 2);
            }
            let mut timeout = warn_after.map(|limit| limit.saturating_sub(waited));
            if endpoint.far_if_any().is_some() {
                timeout = Some(timeout.map_or(PROGRESS_INTERVAL, |t| t.min(PROGRESS_INTERVAL)));
            }
            sleep(timeout, done);
        }
        record.set_waiting_since(0);
        record.done();
    }
}

impl<T: Waitable> Here<'_, T> {
    /// Whether the word is what `condition` says, now.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_test`, `shmem_signal_fetch`.
    #[inline]
    pub fn test(self, condition: Condition<T::Value>) -> bool {
        if let Some(far) = self.endpoint().far_if_any() {
            far.transport.progress();
        }
        condition.holds(self.now())
    }

    /// Waits until the word is what `condition` says; gives its value then. What the PE that
    /// changed it did before its last fence is visible on return.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_wait_until`, `shmem_signal_wait_until`.
    #[inline]
    #[track_caller]
    pub fn wait_until(self, condition: Condition<T::Value>) -> T::Value {
        let location = Location::caller();
        let endpoint = self.endpoint();
        let mut value = self.now();
        endpoint.waiting().until(
            endpoint,
            || {
                value = self.now();
                condition.holds(value)
            },
            |timeout, done| endpoint.bell().sleep(timeout, done),
            || Activity {
                operation: Text::head("wait_until"),
                subject: Text::head(&format!("a word at offset {:#x} {condition}", self.offset())),
                file: Text::tail(location.file()),
                line: location.line(),
                ..Activity::NONE
            },
        );
        value
    }

    #[inline(always)]
    fn now(self) -> T::Value {
        let width = if size_of::<T>() == 8 { Width::W8 } else { Width::W4 };
        // SAFETY: the word is an aligned `T` of that width in the calling PE's own place (`Waitable` is
        // sealed to words that are laid out as their number), and typed transfers do not take it. One
        // that `putmem` overwrites has a mixed value, as everything in the shared phase.
        let bits = unsafe { target::apply(self.as_ptr().cast(), width, AtomicOp::Fetch) };
        T::Value::from_bits64(bits)
    }
}

impl<T: Waitable> Symmetric<T> {
    /// Waits for the calling PE's own word; see [`Here::wait_until`].
    #[track_caller]
    pub fn wait_until(&self, token: &(impl Initiator + ?Sized), condition: Condition<T::Value>) -> T::Value {
        self.here(token).wait_until(condition)
    }

    /// Tests the calling PE's own word; see [`Here::test`].
    pub fn test(&self, token: &(impl Initiator + ?Sized), condition: Condition<T::Value>) -> bool {
        self.here(token).test(condition)
    }
}

impl<T: Waitable> SymBox<T> {
    /// Waits for the calling PE's own word; see [`Here::wait_until`].
    #[track_caller]
    pub fn wait_until(&self, token: &(impl Initiator + ?Sized), condition: Condition<T::Value>) -> T::Value {
        self.here(token).wait_until(condition)
    }

    /// Tests the calling PE's own word; see [`Here::test`].
    pub fn test(&self, token: &(impl Initiator + ?Sized), condition: Condition<T::Value>) -> bool {
        self.here(token).test(condition)
    }
}
