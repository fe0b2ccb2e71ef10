//! Scopes: non-blocking transfers whose buffers are borrowed, and non-blocking atomic operations with a result.

use core::marker::PhantomData;
use core::panic::Location;

use crate::context::amo::{change_nbi, changes};
use crate::context::fence_quiet::quiet_through;
use crate::context::putmem::{get_bytes, put_bytes};
use crate::context::remote_place::{Place, check_len};
use crate::context::rma::{Matching, check_pe};
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue, On, Signal, SymAddr};
use crate::observe::Family;
use crate::pe::Pe;
use crate::planted_fault::mutant;
use crate::symmetric_data::{Contents, PlainData};
use crate::transport::{AtomicOp, Completes, SignalOp, under_way};

/// Starts non-blocking operations, which are complete at the end of the [`scope`](super::NonBlocking::scope).
///
/// For `'env`, which is longer than the scope, sources are borrowed, and destinations and results are borrowed exclusively. A scope
/// has only the operations with a buffer or a result. The closure issues other operations on the token itself. The token's `fence`
/// and `quiet` also order and complete the operations of the scope. In a scope, the closure can open scopes of other contexts.
pub struct Scope<'scope, 'env: 'scope, I: ?Sized> {
    token: &'scope I,
    /// Makes `'scope` invariant, so that it cannot be shortened, as `_env` does for `'env`.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

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
    // Without other nodes no transfer is pending. The quiet at the end is for observers.
    let _end = Completes(quiet);
    body()
}

impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    #[inline(always)]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.token.endpoint()
    }

    /// Starts a put. Panics if a slice and its place differ in length.
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
        // SAFETY: `source` has as many items as the place, and is borrowed until the quiet at the end of the scope.
        unsafe { place.put_from(self.endpoint(), source.start_of(), Family::PutNbi) };
    }

    /// Starts a get. Panics if a slice and its place differ in length.
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
        // SAFETY: `into` has as many items as the place, and is borrowed exclusively until the quiet at the end of the scope.
        unsafe { place.get_into(self.endpoint(), to, Family::GetNbi) };
    }

    /// Starts a put with a signal. Panics if a slice and its place differ in length, or the place and the signal are on different
    /// PEs.
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
        // SAFETY: `source` has as many items as the place, and is borrowed until the quiet at the end of the scope. The signal is
        // on the same PE as the place (`check_pe`).
        unsafe {
            place.put_signal_from(self.endpoint(), source.start_of(), signal, op, Family::PutSignalNbi);
        }
    }

    /// Starts an untyped put. Panics if the range at `to` is not inside one partition.
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

    /// Starts an untyped get. Panics if the range at `from` is not inside one partition.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_getmem_nbi`.
    #[inline]
    #[track_caller]
    pub fn getmem(&self, into: &'env mut [u8], from: SymAddr, pe: Pe) {
        get_bytes(self.endpoint(), into, from, pe, Family::GetmemNbi);
    }
}

macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $kind:ident $name:ident($($value:ident),*) [$($bound:tt)*] = $op:expr, $family:ident;
    )*) => {
        /// The atomic operations of [`Amo`](crate::context::Amo) that have a result, which is valid when the scope has ended.
        impl<'env, I: Stores + ?Sized> Scope<'_, 'env, I> {
            $(methods! { @$kind $name($($value),*) [$($bound)*] = $op, $family })*
        }
    };
    (@update $name:ident($($value:ident),*) [$($bound:tt)*] = $op:expr, $family:ident) => {};
    (@fetch $name:ident($($value:ident),*) [$($bound:tt)*] = $op:expr, $family:ident) => {
        #[doc = concat!("Starts `", stringify!($name), "`, which writes the previous value to `before`.")]
        #[inline(always)]
        #[track_caller]
        pub fn $name<W: AtomicWord<$($bound)*>>(
            &self,
            before: &'env mut W::Value,
            word: On<'_, W>
            $(, $value: W::Value)*
        ) {
            // SAFETY: `before` is borrowed exclusively until the quiet at the end of the scope.
            unsafe { change_nbi(self.endpoint(), before.into(), word, $op, Family::$family) };
        }
    };
}
changes!(methods);

impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    /// Starts reading a word into `before`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_atomic_fetch_nbi`.
    #[inline(always)]
    #[track_caller]
    pub fn fetch<W: AtomicWord>(&self, before: &'env mut W::Value, word: On<'_, W>) {
        // SAFETY: `before` is borrowed exclusively until the quiet at the end of the scope.
        unsafe { change_nbi(self.endpoint(), before.into(), word, AtomicOp::Fetch, Family::AtomicFetch) };
    }
}
