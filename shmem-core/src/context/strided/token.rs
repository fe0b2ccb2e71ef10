//! What a transfer of `strided!` goes through.

use core::marker::PhantomData;

use crate::context::nonblocking::Scope;
use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::observe::Family;

/// What `strided!` takes as its first argument: a token, through which a transfer is over when it returns
/// and borrows nothing for longer; or a [`Scope`], through which it may go on, and borrows its buffer for
/// `'b`, the environment of the scope.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot issue operations",
    label = "not a token",
    note = "operations need a token: the `World`, or a context bound to it; or a scope of one"
)]
pub trait Token<'b> {
    /// The token, or that of the scope.
    type Initiator: Initiator + ?Sized;

    /// What the transfer goes through.
    fn through(&self) -> Through<'_, 'b>;
}

/// The endpoint of a token, and how it is used. Buffers are borrowed for `'b`, neither less nor more.
#[derive(Clone, Copy)]
pub struct Through<'t, 'b> {
    pub(super) endpoint: &'t Endpoint,
    pub(super) put: Family,
    pub(super) get: Family,
    _buffers: PhantomData<fn(&'b ()) -> &'b ()>,
}

#[diagnostic::do_not_recommend]
impl<'b, I: Initiator + ?Sized> Token<'b> for I {
    type Initiator = I;

    #[inline(always)]
    fn through(&self) -> Through<'_, 'b> {
        let (put, get) = (Family::StridedPut, Family::StridedGet);
        Through { endpoint: self.endpoint(), put, get, _buffers: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<'env, I: Initiator + ?Sized> Token<'env> for Scope<'_, 'env, I> {
    type Initiator = I;

    #[inline(always)]
    fn through(&self) -> Through<'_, 'env> {
        let (put, get) = (Family::StridedPutNbi, Family::StridedGetNbi);
        Through { endpoint: self.endpoint(), put, get, _buffers: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<'env, I: Initiator + ?Sized> Token<'env> for &Scope<'_, 'env, I> {
    type Initiator = I;

    #[inline(always)]
    fn through(&self) -> Through<'_, 'env> {
        (**self).through()
    }
}

/// What a put goes through.
#[inline(always)]
pub fn storing<'t, 'b, T: Token<'b, Initiator: Stores> + ?Sized>(token: &'t T) -> Through<'t, 'b> {
    token.through()
}

/// What a get goes through.
#[inline(always)]
pub fn loading<'t, 'b, T: Token<'b> + ?Sized>(token: &'t T) -> Through<'t, 'b> {
    token.through()
}
