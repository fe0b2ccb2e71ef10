//! Lists in scopes: they may go on until the scope ends, and then are complete.

use bytemuck::Zeroable;

use super::call::{self, ValueOf};
use super::listed::Picked;
use super::verb::OneOrEach;
use super::{Indexed, verb};
use crate::context::Scope;
use crate::data::PlainData;
use crate::endpoint::{Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue};
use crate::observe::Family;

/// Lists of elements, as those of [`Indexed`]. Lists themselves, and what words are changed by, may be used again on return.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, indexed::*, object::*}; }
/// use shmem::{Atomic, NonBlocking, On, Stores};
///
/// /// Reads some elements while it takes tickets elsewhere.
/// fn both(world: &impl Stores, table: On<'_, [f64]>, counters: On<'_, [Atomic<u64>]>, list: &[u32]) -> (Vec<f64>, Vec<u64>) {
///     let (mut elements, mut tickets) = (vec![0.0; list.len()], vec![0; list.len()]);
///     world.scope(|s| {
///         s.gather(&mut elements, table.at(list));
///         s.fetch_add_each(&mut tickets, counters.at(list), 1);
///     });
///     (elements, tickets)
/// }
/// ```
impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    /// Starts reading elements; see [`Indexed::gather`].
    ///
    /// # Panics
    ///
    /// If there is not one place for each index, or an index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn gather<P: Picked<Item: PlainData>>(&self, into: &'env mut [P::Item], from: P) {
        // SAFETY: borrowed exclusively until the scope has ended in a quiet.
        unsafe { call::gather(self.endpoint(), into.as_mut_ptr(), into.len(), from, Family::GatherNbi) };
    }

    /// Starts writing elements; see [`Indexed::scatter`].
    ///
    /// # Panics
    ///
    /// If there is not one value for each index, or an index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn scatter<P: Picked<Item: PlainData>>(&self, to: P, values: &'env [P::Item])
    where
        I: Stores,
    {
        // SAFETY: borrowed until the scope has ended in a quiet.
        unsafe { call::scatter(self.endpoint(), to, values.as_ptr(), values.len(), Family::ScatterNbi) };
    }

    /// Starts reading words; see [`Indexed::fetch_each`].
    ///
    /// # Panics
    ///
    /// If there is not one place for each index, or an index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn fetch_each<P: Picked<Item: AtomicWord>>(&self, into: &'env mut [ValueOf<P>], words: P) {
        let (endpoint, len, none) = (self.endpoint(), into.len(), ValueOf::<P>::zeroed());
        // SAFETY: borrowed exclusively until the scope has ended in a quiet.
        unsafe { call::fetch::<P, verb::FetchNbi>(endpoint, into.as_mut_ptr(), len, words, none, none) };
    }

    /// Starts comparing and writing words, and reading what was there; see [`Indexed::compare_swap_each`].
    ///
    /// # Panics
    ///
    /// If there is not one place for each index, or there are values, and not one for each, or an index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn compare_swap_each<P: Picked<Item: AtomicWord>>(
        &self,
        before: &'env mut [ValueOf<P>],
        words: P,
        expected: impl OneOrEach<ValueOf<P>>,
        desired: impl OneOrEach<ValueOf<P>>,
    ) where
        I: Stores,
    {
        let (endpoint, len) = (self.endpoint(), before.len());
        // SAFETY: borrowed exclusively until the scope has ended in a quiet.
        unsafe {
            call::fetch::<P, verb::CompareSwapNbi>(
                endpoint,
                before.as_mut_ptr(),
                len,
                words,
                expected,
                desired,
            );
        }
    }
}

macro_rules! fetches {
    ($($(#[$doc:meta])* $name:ident = $verb:ident;)*) => {
        impl<'env, I: Stores + ?Sized> Scope<'_, 'env, I> {$(
            $(#[$doc])*
            ///
            /// # Panics
            ///
            /// If there is not one place for each index, or there are values, and not one for each, or an index is beyond the
            /// end.
            #[inline]
            #[track_caller]
            pub fn $name<P: Picked<Item: AtomicWord>>(
                &self,
                before: &'env mut [ValueOf<P>],
                words: P,
                values: impl OneOrEach<ValueOf<P>>,
            ) {
                let (endpoint, len, expected) = (self.endpoint(), before.len(), ValueOf::<P>::zeroed());
                // SAFETY: borrowed exclusively until the scope has ended in a quiet.
                unsafe { call::fetch::<P, verb::$verb>(endpoint, before.as_mut_ptr(), len, words, expected, values) };
            }
        )*}
    };
}
fetches! {
    /// Starts adding to words, and reading what was there; see [`Indexed::fetch_add_each`].
    fetch_add_each = FetchAddNbi;
    /// Starts leaving the smaller ones, and reading what was there; see [`Indexed::fetch_min_each`].
    fetch_min_each = FetchMinNbi;
    /// Starts leaving the larger ones, and reading what was there; see [`Indexed::fetch_max_each`].
    fetch_max_each = FetchMaxNbi;
    /// Starts writing words, and reading what was there; see [`Indexed::swap_each`].
    swap_each = SwapNbi;
}

/// Operations that give nothing back: those of the token.
macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident [$bound:ident];)*) => {
        impl<I: Stores + ?Sized> Scope<'_, '_, I> {$(
            $(#[$doc])*
            ///
            /// # Panics
            ///
            /// If there are values, and not one for each index, or an index is beyond the end.
            #[inline]
            #[track_caller]
            pub fn $name<P: Picked<Item: AtomicWord<Value: $bound>>>(&self, words: P, values: impl OneOrEach<ValueOf<P>>) {
                self.token().$name(words, values);
            }
        )*}
    };
}
updates! {
    /// Writes words; see [`Indexed::set_each`].
    set_each [AmoValue];
    /// Adds to words; see [`Indexed::add_each`].
    add_each [AmoValue];
    /// Leaves the smaller ones; see [`Indexed::min_each`].
    min_each [AmoValue];
    /// Leaves the larger ones; see [`Indexed::max_each`].
    max_each [AmoValue];
    /// Bitwise and; see [`Indexed::and_each`].
    and_each [BitValue];
    /// Bitwise or; see [`Indexed::or_each`].
    or_each [BitValue];
    /// Bitwise exclusive or; see [`Indexed::xor_each`].
    xor_each [BitValue];
}
