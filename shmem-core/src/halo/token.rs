//! What halos and other messages of the library are exchanged through.

use core::fmt;
use core::marker::PhantomData;

use crate::endpoint::{Endpoint, Stores};

/// What a halo can be exchanged through: any token that writes, and an exclusive phase that allows it.
///
/// # Safety
///
/// A value must exist only while operations are allowed, or in a phase in which all PEs do nothing but
/// exchange halos, and items of an exchange: it must borrow what says so.
#[diagnostic::on_unimplemented(
    message = "a halo cannot be exchanged through `{Self}`",
    label = "neither a token nor an open phase",
    note = "halos are exchanged through the `World`, a context bound to it, or what `local_with_halos` and `local_with_exchanges` give"
)]
pub unsafe trait HaloToken {
    /// The stream that the cells go through.
    #[doc(hidden)]
    fn __endpoint(&self) -> &Endpoint;
}

// SAFETY: a token exists only while operations are allowed.
unsafe impl<I: Stores + ?Sized> HaloToken for I {
    #[doc(hidden)]
    #[inline(always)]
    fn __endpoint(&self) -> &Endpoint {
        self.endpoint()
    }
}

/// An exclusive phase in which halos are exchanged, and items of an exchange, and nothing else is sent.
///
/// It stays in the thread that opened the phase.
pub struct OpenPhase<'x> {
    endpoint: &'x Endpoint,
    _thread: PhantomData<*const ()>,
}

impl<'x> OpenPhase<'x> {
    /// # Safety
    ///
    /// All PEs must be in one phase, in which no token exists, for `'x`.
    #[doc(hidden)]
    pub unsafe fn __new(endpoint: &'x Endpoint) -> Self {
        Self { endpoint, _thread: PhantomData }
    }
}

// SAFETY: it lives as long as the phase (`__new`).
unsafe impl HaloToken for OpenPhase<'_> {
    #[doc(hidden)]
    #[inline(always)]
    fn __endpoint(&self) -> &Endpoint {
        self.endpoint
    }
}

impl fmt::Debug for OpenPhase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenPhase (PE {})", self.endpoint.me())
    }
}
