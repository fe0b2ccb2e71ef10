//! The first argument of `strided!`: a token or a scope.

use core::marker::PhantomData;

use crate::context::nonblocking::Scope;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::observe::Family;

/// The first argument of `strided!` for a get: a token for a blocking transfer, or a [`Scope`] for a non-blocking transfer. A
/// transfer in a scope borrows its buffer for `'b`, the environment of the scope.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations",
    label = "not a token",
    note = "operations need a token: the `World`, or a context bound to it; or a scope of one"
)]
pub trait LoadingToken<'b> {
    /// Returns the endpoint of the get, and the [`Family`] under which observers see it.
    #[doc(hidden)]
    fn loading(&self) -> Through<'_, 'b>;
}

/// The first argument of `strided!` for a put: a token that may write, for a blocking transfer, or a [`Scope`] of such a token, for
/// a non-blocking transfer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue puts",
    label = "not a token that writes",
    note = "puts need a token: the `World`, or a context bound to it that was not made with the option NOSTORE; or a scope of one"
)]
pub trait StoringToken<'b> {
    /// Returns the endpoint of the put, and the [`Family`] under which observers see it.
    #[doc(hidden)]
    fn storing(&self) -> Through<'_, 'b>;
}

/// The endpoint of a transfer, and the [`Family`] under which observers see it. The transfer's buffers are borrowed for exactly
/// `'b`. Not `Send`, because tokens are not.
#[derive(Clone, Copy)]
pub struct Through<'t, 'b> {
    pub(super) endpoint: &'t Endpoint,
    pub(super) family: Family,
    _buffers: PhantomData<fn(&'b ()) -> &'b ()>,
    _thread: PhantomData<*const ()>,
}

impl<'t> Through<'t, '_> {
    #[inline(always)]
    fn new(endpoint: &'t Endpoint, family: Family) -> Self {
        Self { endpoint, family, _buffers: PhantomData, _thread: PhantomData }
    }
}

/// Implements `$trait` for tokens and scopes.
macro_rules! tokens {
    ($($trait:ident, $method:ident: $bound:ident = $family:ident / $nbi:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'b, I: $bound + ?Sized> $trait<'b> for I {
            #[doc(hidden)]
            #[inline(always)]
            fn $method(&self) -> Through<'_, 'b> {
                Through::new(self.endpoint(), Family::$family)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'env, I: $bound + ?Sized> $trait<'env> for &Scope<'_, 'env, I> {
            #[doc(hidden)]
            #[inline(always)]
            fn $method(&self) -> Through<'_, 'env> {
                Through::new(self.endpoint(), Family::$nbi)
            }
        }
    )*};
}
tokens! {
    LoadingToken, loading: Initiator = StridedGet / StridedGetNbi;
    StoringToken, storing: Stores = StridedPut / StridedPutNbi;
}

/// Returns the endpoint of a put, and the [`Family`] under which observers see it.
#[inline(always)]
pub fn storing<'t, 'b, T: StoringToken<'b> + ?Sized>(token: &'t T) -> Through<'t, 'b> {
    token.storing()
}

/// Returns the endpoint of a get, and the [`Family`] under which observers see it.
#[inline(always)]
pub fn loading<'t, 'b, T: LoadingToken<'b> + ?Sized>(token: &'t T) -> Through<'t, 'b> {
    token.loading()
}
