//! Transfers that borrow their buffers, and atomic operations whose results come later.

use core::marker::PhantomData;
use core::panic::Location;

use crate::context::amo::{Amo, fetch_nbi};
use crate::context::order::{fence_through, quiet_pe_through, quiet_through};
use crate::context::place::{Place, ValuePlace, check_len};
use crate::context::raw::{get_bytes, put_bytes};
use crate::context::rma::{Matching, Rma, check_pe};
use crate::data::{Contents, PlainData};
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue, On, Signal, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;
use crate::primitive::mutant;
use crate::transport::{AtomicOp, Completes, SignalOp, under_way};

/// Operations that may go on until the end of a [`scope`](super::NonBlocking::scope), and then are complete.
///
/// Sources are borrowed, and destinations and results exclusively, until the scope has ended: for `'env`.
/// A scope is no token: what must be there on return is issued through the token itself. That of
/// another context can be nested.
pub struct Scope<'scope, 'env: 'scope, I: ?Sized> {
    token: &'scope I,
    /// Neither lifetime can be taken for a shorter or longer one.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

/// Runs the body of a scope.
pub(super) fn run<'env, I: Initiator + ?Sized, R>(
    token: &'env I,
    location: &'static Location<'static>,
    body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env, I>) -> R,
) -> R {
    let endpoint = token.endpoint();
    endpoint.require_open(location);
    let quiet = || {
        if !mutant("scope-without-quiet") {
            quiet_through(endpoint, location);
        }
    };
    let body = || body(&Scope { token, _scope: PhantomData, _env: PhantomData });
    if endpoint.far_if_any().is_some() {
        return under_way(quiet, body);
    }
    // On a node nothing goes on; who observes is told all the same.
    let _end = Completes(quiet);
    body()
}

impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    #[inline(always)]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.token.endpoint()
    }

    #[inline(always)]
    pub(crate) fn token(&self) -> &I {
        self.token
    }

    /// Starts writing `source` to a place.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put_nbi`.
    #[inline(always)]
    #[track_caller]
    pub fn put<P: Place<Contents = C>, C: Contents<Item: PlainData> + ?Sized + 'env>(
        &self,
        place: P,
        source: &'env (impl Matching<C> + ?Sized),
    ) where
        I: Stores,
    {
        let source: &'env C = source.source();
        check_len(place, source.len_of());
        // SAFETY: `source` is as many items as the place has, and borrowed until the scope has ended in a quiet.
        unsafe { place.put_from(self.endpoint(), source.start_of(), Family::PutNbi) };
    }

    /// Starts reading a place into `into`.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_get_nbi`.
    #[inline(always)]
    #[track_caller]
    pub fn get<P: Place<Contents = C>, C: Contents<Item: PlainData> + ?Sized + 'env>(
        &self,
        into: &'env mut (impl Matching<C> + ?Sized),
        place: P,
    ) {
        let into: &'env mut C = into.destination();
        check_len(place, into.len_of());
        let to: *mut C::Item = core::ptr::from_mut(into).cast();
        // SAFETY: `into` is as many items as the place has, and borrowed exclusively until the scope has ended in
        // a quiet.
        unsafe { place.get_into(self.endpoint(), to, Family::GetNbi) };
    }

    /// Writes one value, which needs no buffer.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_p`.
    #[inline(always)]
    #[track_caller]
    pub fn p<P: ValuePlace>(&self, place: P, value: P::Value)
    where
        I: Stores,
    {
        self.token.p(place, value);
    }

    /// Starts writing `source` to a place, and then changes `signal` on the same PE: who sees the change sees the
    /// data. Of no elements, the signal alone is changed.
    ///
    /// # Panics
    ///
    /// If a slice and its place differ in length, or the place and the signal are on different PEs.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_put_signal_nbi`.
    #[inline(always)]
    #[track_caller]
    pub fn put_signal<P: Place<Contents = C>, C: Contents<Item: PlainData> + ?Sized + 'env>(
        &self,
        place: P,
        source: &'env (impl Matching<C> + ?Sized),
        signal: On<'_, Signal>,
        op: SignalOp,
    ) where
        I: Stores,
    {
        let source: &'env C = source.source();
        check_len(place, source.len_of());
        check_pe(place.pe_of(), signal.pe());
        // SAFETY: `source` is as many items as the place has, and borrowed until the scope has ended in a
        // quiet; the signal is on the place's PE.
        unsafe {
            place.put_signal_from(self.endpoint(), source.start_of(), signal, op, Family::PutSignalNbi);
        }
    }

    /// Starts writing bytes to `to` on `pe`.
    ///
    /// # Panics
    ///
    /// If the range does not lie in one partition; the message lists the segments.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_putmem_nbi`.
    #[inline]
    #[track_caller]
    pub fn putmem(&self, to: SymAddr, source: &'env [u8], pe: Pe)
    where
        I: Stores,
    {
        put_bytes(self.endpoint(), to, source, pe, Family::PutmemNbi);
    }

    /// Starts reading bytes from `from` on `pe`.
    ///
    /// # Panics
    ///
    /// If the range does not lie in one partition; the message lists the segments.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_getmem_nbi`.
    #[inline]
    #[track_caller]
    pub fn getmem(&self, into: &'env mut [u8], from: SymAddr, pe: Pe) {
        get_bytes(self.endpoint(), into, from, pe, Family::GetmemNbi);
    }

    /// Orders puts and updates to each PE: those started before are delivered before those after. Gets and
    /// results are ordered by nothing but [`quiet`](Self::quiet).
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline(always)]
    #[track_caller]
    pub fn fence(&self) {
        fence_through(self.endpoint());
    }

    /// Waits until all that was started is complete. Buffers stay borrowed until the scope ends; whoever wants
    /// them earlier nests scopes.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline(always)]
    #[track_caller]
    pub fn quiet(&self) {
        quiet_through(self.endpoint(), Location::caller());
    }

    /// Waits until all that was started for one PE is complete.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_quiet`.
    #[inline(always)]
    #[track_caller]
    pub fn quiet_pe(&self, pe: Pe) {
        quiet_pe_through(self.endpoint(), pe);
    }
}

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
