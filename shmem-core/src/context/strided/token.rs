//! What a transfer of `strided!` goes through.

use core::marker::PhantomData;

use crate::context::nonblocking::Scope;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::observe::Family;

/// What `strided!` takes as its first argument to read: a token, through which a transfer is over when it
/// returns and borrows nothing for longer; or a [`Scope`], through which it may go on, and borrows its buffer
/// for `'b`, the environment of the scope.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations",
    label = "not a token",
    note = "operations need a token: the `World`, or a context bound to it; or a scope of one"
)]
pub trait LoadingToken<'b> {
    /// What a get goes through.
    #[doc(hidden)]
    fn loading(&self) -> Through<'_, 'b>;
}

/// What `strided!` takes as its first argument to write: as [`LoadingToken`], of those that may.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue puts",
    label = "not a token that writes",
    note = "puts need a token: the `World`, or a context bound to it that was not made with the option NOSTORE; or a scope of one"
)]
pub trait StoringToken<'b> {
    /// What a put goes through.
    #[doc(hidden)]
    fn storing(&self) -> Through<'_, 'b>;
}

/// An endpoint, and the operation that it is used for. Buffers are borrowed for `'b`, neither less nor more. It stays
/// in the thread that has the token, as tokens of most kinds do.
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

/// The trait, for tokens and for scopes of them.
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
        impl<'env, I: $bound + ?Sized> $trait<'env> for Scope<'_, 'env, I> {
            #[doc(hidden)]
            #[inline(always)]
            fn $method(&self) -> Through<'_, 'env> {
                Through::new(self.endpoint(), Family::$nbi)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'env, I: $bound + ?Sized> $trait<'env> for &Scope<'_, 'env, I> {
            #[doc(hidden)]
            #[inline(always)]
            fn $method(&self) -> Through<'_, 'env> {
                (**self).$method()
            }
        }
    )*};
}
tokens! {
    LoadingToken, loading: Initiator = StridedGet / StridedGetNbi;
    StoringToken, storing: Stores = StridedPut / StridedPutNbi;
}

/// What a put goes through.
#[inline(always)]
pub fn storing<'t, 'b, T: StoringToken<'b> + ?Sized>(token: &'t T) -> Through<'t, 'b> {
    token.storing()
}

/// What a get goes through.
#[inline(always)]
pub fn loading<'t, 'b, T: LoadingToken<'b> + ?Sized>(token: &'t T) -> Through<'t, 'b> {
    token.loading()
}
