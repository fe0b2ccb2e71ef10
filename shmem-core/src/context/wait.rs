//! Waiting for a word to change.

use std::panic::Location;

use crate::endpoint::Initiator;
use crate::object::{AmoValue, Here, SymBox, Symmetric, Waitable};
use crate::observe::{Call, Family};
use crate::system::Activity;
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

impl<T: Waitable> Here<'_, T> {
    /// Whether the word is what `condition` says, now.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_test`, `shmem_signal_fetch`.
    #[inline]
    #[track_caller]
    pub fn test(self, condition: Condition<T::Value>) -> bool {
        let endpoint = self.endpoint();
        if endpoint.is_plain() {
            return condition.holds(self.now());
        }
        endpoint.tell(self.call(Family::Test, Location::caller()), || {
            if let Some(far) = endpoint.far_if_any() {
                far.transport.progress();
            }
            condition.holds(self.now())
        })
    }

    /// Waits until the word is what `condition` says; gives its value then. What the PE that
    /// changed it did before its last fence is visible on return.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_wait_until`, `shmem_signal_wait_until`.
    #[inline]
    #[track_caller]
    pub fn wait_until(self, condition: Condition<T::Value>) -> T::Value {
        let location = Location::caller();
        if self.endpoint().observer().is_none() {
            return self.wait(condition, location);
        }
        self.endpoint().tell(self.call(Family::WaitUntil, location), || self.wait(condition, location))
    }

    #[inline]
    fn wait(self, condition: Condition<T::Value>, location: &'static Location<'static>) -> T::Value {
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
                subject: Text::head(&format!("{} {condition}", endpoint.waiting().name_of(self.offset()))),
                file: Text::tail(location.file()),
                line: location.line(),
                ..Activity::NONE
            },
        );
        value
    }

    /// The call of an operation on this word. Words lie in no segment that an observer would ask for.
    #[cold]
    fn call(self, family: Family, location: &'static Location<'static>) -> Call<'static> {
        let me = self.endpoint().me();
        Call::new(family, location)
            .at(me, 0, self.offset(), size_of::<T>())
            .word(Self::WIDTH, AtomicOp::Fetch)
    }

    const WIDTH: Width = if size_of::<T>() == 8 { Width::W8 } else { Width::W4 };

    #[inline(always)]
    fn now(self) -> T::Value {
        // SAFETY: the word is an aligned `T` of that width in the calling PE's own place (`Waitable` is
        // sealed to words that are laid out as their number), and typed transfers do not take it. One
        // that `putmem` overwrites has a mixed value, as everything in the shared phase.
        let bits = unsafe { target::apply(self.as_ptr().cast(), Self::WIDTH, AtomicOp::Fetch) };
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
    #[track_caller]
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
    #[track_caller]
    pub fn test(&self, token: &(impl Initiator + ?Sized), condition: Condition<T::Value>) -> bool {
        self.here(token).test(condition)
    }
}
