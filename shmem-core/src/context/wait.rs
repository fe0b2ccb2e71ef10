//! Waiting until a word of the calling PE satisfies a condition.

use std::panic::Location;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::endpoint::{Endpoint, Initiator};
use crate::object::{AmoValue, Here, SymBox, Symmetric, Waitable};
use crate::observe::{Call, Family, Wait};
use crate::symmetric_data::SymmetricData;
use crate::system_area::Activity;
use crate::text::Text;
use crate::transport::{AtomicOp, Number, Width, atomic_op};

impl<'a, T: Waitable> Here<'a, T> {
    /// Returns the value of the calling PE's own word, atomically, as [`fetch`](super::Amo::fetch) does.
    #[inline]
    #[track_caller]
    pub fn value(self) -> T::Value {
        let endpoint = self.endpoint();
        if endpoint.observer().is_none() {
            return self.now();
        }
        let call = Call::new(Family::AtomicFetch, Location::caller())
            .at(endpoint.me(), 0, self.offset(), size_of::<T>())
            .word(Self::WIDTH, AtomicOp::Fetch);
        endpoint.tell(call, || self.now())
    }

    /// Whether the word satisfies `condition` now.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_test`, `shmem_signal_fetch`.
    #[inline]
    #[track_caller]
    pub fn test(self, condition: Condition<T::Value>) -> bool {
        let location = Location::caller();
        look(self.endpoint(), || self.call(Family::Test, location, condition), || condition.holds(self.now()))
    }

    /// Blocks until the word satisfies `condition`, and returns the word's value. If a PE issued operations, then a fence, and then
    /// changed the word, these operations are visible.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_wait_until`, `shmem_signal_wait_until`.
    #[inline]
    #[track_caller]
    pub fn wait_until(self, condition: Condition<T::Value>) -> T::Value {
        let location = Location::caller();
        if self.endpoint().observer().is_none() {
            return self.wait(condition, location);
        }
        let call = self.call(Family::WaitUntil, location, condition);
        self.endpoint().tell(call, || self.wait(condition, location))
    }

    #[inline]
    fn wait(self, condition: Condition<T::Value>, location: &'static Location<'static>) -> T::Value {
        let endpoint = self.endpoint();
        let mut value = self.now();
        let done = || {
            value = self.now();
            condition.holds(value)
        };
        wait_for(endpoint, Family::WaitUntil.name(), location, None, done, || {
            let name = endpoint.waiting().name_of(self.offset());
            format!("{name} {condition}, is {:?}", self.now())
        });
        value
    }

    /// Returns the description of a wait for this word, for observers.
    #[cold]
    fn call(
        self,
        family: Family,
        location: &'static Location<'static>,
        condition: Condition<T::Value>,
    ) -> Call<'a> {
        self.endpoint().require_open(location);
        let me = self.endpoint().me();
        let wait = condition.least().filter(|_| Self::WIDTH == Width::W8).map(|least| {
            // SAFETY: `Waitable` is sealed to words with the layout of their number, here 8 aligned bytes. The word is in the
            // calling PE's own slot, mapped while the reference lives, and accessed by atomics.
            let number = unsafe { AtomicU64::from_ptr(self.as_ptr().cast()) };
            Wait { number, least }
        });
        let call = Call::new(family, location).at(me, 0, self.offset(), size_of::<T>());
        Call { wait, ..call.word(Self::WIDTH, AtomicOp::Fetch) }
    }

    /// Returns the word's value for a wait of the runtime, without a notification of observers.
    #[doc(hidden)]
    #[inline(always)]
    pub fn __look(self) -> T::Value {
        self.now()
    }

    const WIDTH: Width = Width::of::<T>();

    #[inline(always)]
    pub(super) fn now(self) -> T::Value {
        // SAFETY: the word is an aligned word of `WIDTH` in the calling PE's own slot, because `Waitable` is sealed to words with
        // the layout of their number. No typed transfer accesses it. If `putmem` overwrites it, its value is unspecified.
        let bits = unsafe { atomic_op::apply(self.as_ptr().cast(), Self::WIDTH, AtomicOp::Fetch) };
        T::Value::from_bits64(bits)
    }
}

/// Blocks until `done` returns `true`. `done` checks words of the calling PE. If `nap` is `Some`, sleeps are at most that long.
/// `subject` describes the wait in reports.
#[inline]
pub fn wait_for(
    endpoint: &Endpoint,
    operation: &str,
    location: &'static Location<'static>,
    nap: Option<Duration>,
    done: impl FnMut() -> bool,
    subject: impl Fn() -> String,
) {
    endpoint.waiting().until(
        0,
        endpoint,
        done,
        |timeout, done| endpoint.bell().watch(timeout.into_iter().chain(nap).min(), done),
        || Activity {
            operation: Text::head(operation),
            subject: Text::head(&subject()),
            file: Text::tail(location.file()),
            line: location.line(),
            ..Activity::NONE
        },
    );
}

/// Lets the transport make progress, then calls `look` once, which checks words of the calling PE.
#[inline]
pub fn look<'c, R>(endpoint: &Endpoint, call: impl FnOnce() -> Call<'c>, look: impl FnOnce() -> R) -> R {
    if endpoint.is_plain() {
        return look();
    }
    endpoint.tell(call(), || {
        if let Some(far) = endpoint.far_if_any() {
            far.transport.progress();
        }
        look()
    })
}

macro_rules! handles {
    ($($handle:ident)*) => {$(
        // A `where` clause bounds the word's type, not the types of arguments. So rustc shows the error text of `Waitable`.
        impl<T: SymmetricData> $handle<T> {
            /// Blocks until the calling PE's own word satisfies `condition`, as [`Here::wait_until`].
            #[track_caller]
            pub fn wait_until<V: AmoValue>(&self, token: &(impl Initiator + ?Sized), condition: Condition<V>) -> V
            where
                T: Waitable<Value = V>,
            {
                self.here(token).wait_until(condition)
            }

            /// Whether the calling PE's own word satisfies `condition` now, as [`Here::test`].
            #[track_caller]
            pub fn test<V: AmoValue>(&self, token: &(impl Initiator + ?Sized), condition: Condition<V>) -> bool
            where
                T: Waitable<Value = V>,
            {
                self.here(token).test(condition)
            }
        }
    )*};
}
handles!(Symmetric SymBox);

/// A condition on the value of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition<V> {
    relation: Relation,
    value: V,
}

macro_rules! conditions {
    ($($(#[$doc:meta])* $name:ident = $relation:ident $sign:tt;)*) => {
        /// A relation between a word and a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Relation {
            $($(#[$doc])* $relation,)*
        }

        impl Relation {
            /// Whether `word` has this relation to `value`.
            #[inline(always)]
            pub fn holds<V: PartialOrd>(self, word: &V, value: &V) -> bool {
                match self {
                    $(Self::$relation => word $sign value,)*
                }
            }

            /// The relation's operator in Rust, such as `>=`.
            pub fn sign(self) -> &'static str {
                match self {
                    $(Self::$relation => stringify!($sign),)*
                }
            }
        }

        $(
            $(#[$doc])*
            pub const fn $name<V: AmoValue>(value: V) -> Condition<V> {
                Condition { relation: Relation::$relation, value }
            }
        )*
    };
}
conditions! {
    /// The word is equal to `value` (`SHMEM_CMP_EQ`).
    eq = Eq ==;
    /// The word is not equal to `value` (`SHMEM_CMP_NE`).
    ne = Ne !=;
    /// The word is greater than `value` (`SHMEM_CMP_GT`).
    gt = Gt >;
    /// The word is greater than or equal to `value` (`SHMEM_CMP_GE`).
    ge = Ge >=;
    /// The word is less than `value` (`SHMEM_CMP_LT`).
    lt = Lt <;
    /// The word is less than or equal to `value` (`SHMEM_CMP_LE`).
    le = Le <=;
}

impl Relation {
    /// Returns the smallest word with this relation to `value`, for words that only grow. `None` for `Ne`, `Lt` and `Le`.
    pub fn least(self, value: u64) -> Option<u64> {
        match self {
            Self::Eq | Self::Ge => Some(value),
            Self::Gt => Some(value.wrapping_add(1)),
            Self::Ne | Self::Lt | Self::Le => None,
        }
    }
}

impl<V: AmoValue> Condition<V> {
    /// Whether `value` satisfies the condition.
    #[inline(always)]
    pub fn holds(self, value: V) -> bool {
        self.relation.holds(&value, &self.value)
    }

    /// The smallest value that satisfies the condition, as 64 bits, for words that only grow. `None` for floating-point numbers,
    /// and for the relations `Ne`, `Lt` and `Le`.
    pub(super) fn least(self) -> Option<u64> {
        if V::NUMBER == Number::Float { None } else { self.relation.least(self.value.to_bits64()) }
    }
}

impl<V: AmoValue> core::fmt::Display for Condition<V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {:?}", self.relation.sign(), self.value)
    }
}
