//! Atomic operations whose results come later.

use super::Scope;
use crate::context::amo::{Amo, fetch_nbi};
use crate::endpoint::{Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue, On, Signal};
use crate::observe::Family;
use crate::transport::AtomicOp;

/// Operations that give what was there before.
macro_rules! fetching {
    ($token:ident: $(
        $(#[$doc:meta])*
        $name:ident($($argument:ident),*) [$bound:ident] = $op:expr, $family:ident $(, $routine:literal)?;
    )*) => {
        /// Atomic operations, as those of [`Amo`]. A result is there when the scope has ended, or a
        /// [`quiet`](Self::quiet) has returned.
        impl<'env, I: $token + ?Sized> Scope<'_, 'env, I> {
            $(
                $(#[$doc])*
                $(
                    ///
                    #[doc = concat!("Source: OpenSHMEM 1.6, `", $routine, "`.")]
                )?
                #[inline(always)]
                #[track_caller]
                pub fn $name<W: AtomicWord<Value: $bound>>(
                    &self,
                    before: &'env mut W::Value,
                    word: On<'_, W>,
                    $($argument: W::Value,)*
                ) {
                    let op = $op;
                    // SAFETY: borrowed exclusively until the scope has ended in a quiet.
                    unsafe { fetch_nbi(self.endpoint(), before, word, op, Family::$family) };
                }
            )*
        }
    };
}
fetching! {
    Initiator:
    /// Starts reading a word.
    fetch() [AmoValue] = AtomicOp::Fetch, AtomicFetchNbi, "shmem_atomic_fetch_nbi";
}
fetching! {
    Stores:
    /// Starts writing a word, and reading what was there.
    swap(value) [AmoValue] = AtomicOp::Swap(value.to_bits64()), AtomicSwapNbi, "shmem_atomic_swap_nbi";
    /// Starts writing `desired` if the word is `expected`, bit for bit, and reading what was there.
    compare_swap(expected, desired) [AmoValue] = AtomicOp::CompareSwap {
        expected: expected.to_bits64(),
        desired: desired.to_bits64(),
    }, AtomicCompareSwapNbi, "shmem_atomic_compare_swap_nbi";
    /// Starts adding one, and reading what was there.
    fetch_inc() [AmoValue] = W::Value::ONE.addition(), AtomicFetchIncNbi,
        "shmem_atomic_fetch_inc_nbi";
    /// Starts adding, as [`Amo::fetch_add`], and reading what was there.
    fetch_add(value) [AmoValue] = value.addition(), AtomicFetchAddNbi,
        "shmem_atomic_fetch_add_nbi";
    /// Starts leaving the smaller one, and reading what was there; see [`Amo::fetch_min`].
    fetch_min(value) [AmoValue] = AtomicOp::Min(W::Value::NUMBER, value.to_bits64()), AtomicFetchMinNbi;
    /// Starts leaving the larger one, and reading what was there; see [`Amo::fetch_max`].
    fetch_max(value) [AmoValue] = AtomicOp::Max(W::Value::NUMBER, value.to_bits64()), AtomicFetchMaxNbi;
    /// Starts a bitwise and, and reading what was there.
    fetch_and(value) [BitValue] = AtomicOp::And(value.to_bits64()), AtomicFetchAndNbi,
        "shmem_atomic_fetch_and_nbi";
    /// Starts a bitwise or, and reading what was there.
    fetch_or(value) [BitValue] = AtomicOp::Or(value.to_bits64()), AtomicFetchOrNbi,
        "shmem_atomic_fetch_or_nbi";
    /// Starts a bitwise exclusive or, and reading what was there.
    fetch_xor(value) [BitValue] = AtomicOp::Xor(value.to_bits64()), AtomicFetchXorNbi,
        "shmem_atomic_fetch_xor_nbi";
}

/// Operations that give nothing back: those of the token.
macro_rules! updating {
    ($($(#[$doc:meta])* $name:ident($($argument:ident)?) [$bound:ident];)*) => {
        impl<I: Stores + ?Sized> Scope<'_, '_, I> {$(
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $name<W: AtomicWord<Value: $bound>>(&self, word: On<'_, W>, $($argument: W::Value)?) {
                self.token().$name(word $(, $argument)?);
            }
        )*}
    };
}
updating! {
    /// Writes a word; see [`Amo::set`].
    set(value) [AmoValue];
    /// Adds one; see [`Amo::inc`].
    inc() [AmoValue];
    /// Adds; see [`Amo::add`].
    add(value) [AmoValue];
    /// Leaves the smaller one; see [`Amo::set_min`].
    set_min(value) [AmoValue];
    /// Leaves the larger one; see [`Amo::set_max`].
    set_max(value) [AmoValue];
    /// Bitwise and; see [`Amo::and`].
    and(value) [BitValue];
    /// Bitwise or; see [`Amo::or`].
    or(value) [BitValue];
    /// Bitwise exclusive or; see [`Amo::xor`].
    xor(value) [BitValue];
}

impl<I: Stores + ?Sized> Scope<'_, '_, I> {
    /// Writes a signal; see [`Amo::signal_set`].
    #[inline(always)]
    #[track_caller]
    pub fn signal_set(&self, signal: On<'_, Signal>, value: u64) {
        self.token().signal_set(signal, value);
    }

    /// Adds to a signal; see [`Amo::signal_add`].
    #[inline(always)]
    #[track_caller]
    pub fn signal_add(&self, signal: On<'_, Signal>, value: u64) {
        self.token().signal_add(signal, value);
    }
}
