//! Waiting for a word to change: by conditions on its value.

use std::panic::Location;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::endpoint::{Endpoint, Initiator};
use crate::fixed_text::Text;
use crate::object::{AmoValue, Here, SymBox, Symmetric, Waitable};
use crate::observe::{Call, Family, Wait};
use crate::symmetric_data::SymmetricData;
use crate::system_area::Activity;
use crate::transport::{AtomicOp, Number, Width, atomic_op};

impl<'a, T: Waitable> Here<'a, T> {
    /// Reads the calling PE's own word, as [`fetch`](super::Amo::fetch) does.
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

    /// Waits until the word satisfies `condition`, and returns its value. Operations that the changing PE issued before its
    /// last fence are visible.
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

    /// The call of a wait for this word, for observers.
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
            // SAFETY: the word is an aligned one of 8 bytes in the calling PE's own slot, which holds it for as long as
            // the reference (`Waitable` is sealed to words that are laid out as their number), and is shared by atomics.
            let number = unsafe { AtomicU64::from_ptr(self.as_ptr().cast()) };
            Wait { number, least }
        });
        let call = Call::new(family, location).at(me, 0, self.offset(), size_of::<T>());
        Call { wait, ..call.word(Self::WIDTH, AtomicOp::Fetch) }
    }

    /// Reads the word for a wait of the runtime: no observer is notified.
    #[doc(hidden)]
    #[inline(always)]
    pub fn __look(self) -> T::Value {
        self.now()
    }

    const WIDTH: Width = Width::of::<T>();

    #[inline(always)]
    pub(super) fn now(self) -> T::Value {
        // SAFETY: the word is an aligned `T` of that width in the calling PE's own slot (`Waitable` is sealed to words that are laid
        // out as their number), and typed transfers do not access it. If `putmem` overwrites it, its value is unspecified.
        let bits = unsafe { atomic_op::apply(self.as_ptr().cast(), Self::WIDTH, AtomicOp::Fetch) };
        T::Value::from_bits64(bits)
    }
}

/// Waits until `done`, which reads words of the calling PE. Sleeps at most `nap` between two checks, if `nap` is given.
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

/// Checks words of the calling PE once, after progress of the transport.
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
        // The word is bounded by a `where` clause, not by the types of arguments, so that rustc shows the message of `Waitable`.
        impl<T: SymmetricData> $handle<T> {
            /// Waits for the calling PE's own word; see [`Here::wait_until`].
            #[track_caller]
            pub fn wait_until<V: AmoValue>(&self, token: &(impl Initiator + ?Sized), condition: Condition<V>) -> V
            where
                T: Waitable<Value = V>,
            {
                self.here(token).wait_until(condition)
            }

            /// Tests the calling PE's own word; see [`Here::test`].
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
        /// A relation of a word to a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Relation {
            $($(#[$doc])* $relation,)*
        }

        impl Relation {
            /// Whether a word has this relation to a value.
            #[inline(always)]
            pub fn holds<V: PartialOrd>(self, word: &V, value: &V) -> bool {
                match self {
                    $(Self::$relation => word $sign value,)*
                }
            }

            /// The operator.
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
    /// Equal to `value` (`SHMEM_CMP_EQ`).
    eq = Eq ==;
    /// Not equal to `value` (`SHMEM_CMP_NE`).
    ne = Ne !=;
    /// Greater than `value` (`SHMEM_CMP_GT`).
    gt = Gt >;
    /// Greater than or equal to `value` (`SHMEM_CMP_GE`).
    ge = Ge >=;
    /// Less than `value` (`SHMEM_CMP_LT`).
    lt = Lt <;
    /// Less than or equal to `value` (`SHMEM_CMP_LE`).
    le = Le <=;
}

impl Relation {
    /// The least 64-bit word that satisfies `self`, for words that only grow.
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

    /// The least value that satisfies `self`, as 64 bits; `None` for floating-point numbers.
    pub(super) fn least(self) -> Option<u64> {
        if V::NUMBER == Number::Float { None } else { self.relation.least(self.value.to_bits64()) }
    }
}

impl<V: AmoValue> core::fmt::Display for Condition<V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {:?}", self.relation.sign(), self.value)
    }
}
