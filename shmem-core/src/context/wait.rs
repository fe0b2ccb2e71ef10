//! Waiting for a word to change.

use std::panic::Location;

use super::condition::Condition;
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{AmoValue, Here, SymBox, Symmetric, Waitable};
use crate::system::Activity;
use crate::text::Text;
use crate::transport::{AtomicOp, Width, target};

impl<T: Waitable> Here<'_, T> {
    /// Whether the word is what `condition` says, now.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_test`, `shmem_signal_fetch`.
    #[inline]
    pub fn test(self, condition: Condition<T::Value>) -> bool {
        progress(self.endpoint());
        condition.holds(self.now())
    }

    /// Waits until the word is what `condition` says; gives its value then. What the PE that
    /// changed it did before its last fence is visible on return.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_wait_until`, `shmem_signal_wait_until`.
    #[inline]
    #[track_caller]
    pub fn wait_until(self, condition: Condition<T::Value>) -> T::Value {
        let endpoint = self.endpoint();
        let mut value = self.now();
        let done = || {
            value = self.now();
            condition.holds(value)
        };
        wait(endpoint, "wait_until", done, || {
            format!("{} {condition}", endpoint.waiting().name_of(self.offset()))
        });
        value
    }

    #[inline(always)]
    pub(super) fn now(self) -> T::Value {
        let width = if size_of::<T>() == 8 { Width::W8 } else { Width::W4 };
        // SAFETY: the word is an aligned `T` of that width in the calling PE's own place (`Waitable` is
        // sealed to words that are laid out as their number), and typed transfers do not take it. One
        // that `putmem` overwrites has a mixed value, as everything in the shared phase.
        let bits = unsafe { target::apply(self.as_ptr().cast(), width, AtomicOp::Fetch) };
        T::Value::from_bits64(bits)
    }
}

/// Waits until `done`, which looks at words of the calling PE. `subject` says what it waits for.
#[inline]
#[track_caller]
pub(super) fn wait(
    endpoint: &Endpoint,
    operation: &'static str,
    done: impl FnMut() -> bool,
    subject: impl FnOnce() -> String,
) {
    let location = Location::caller();
    endpoint.waiting().until(
        endpoint,
        done,
        |timeout, done| endpoint.bell().sleep(timeout, done),
        || Activity {
            operation: Text::head(operation),
            subject: Text::head(&subject()),
            file: Text::tail(location.file()),
            line: location.line(),
            ..Activity::NONE
        },
    );
}

/// Lets what has arrived be delivered, for who looks without waiting.
#[inline(always)]
pub(super) fn progress(endpoint: &Endpoint) {
    if let Some(far) = endpoint.far_if_any() {
        far.transport.progress();
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
