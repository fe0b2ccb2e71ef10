//! What an exchange goes through.

use shmem_core::endpoint::{Endpoint, Initiator, Stores};
use shmem_core::halo::HaloToken;

/// What an [`Exchange`](crate::Exchange) can go through: any token that writes, and a phase that allows it.
#[diagnostic::on_unimplemented(
    message = "nothing can be exchanged through `{Self}`",
    label = "neither a token nor an open phase",
    note = "items are exchanged through the `World`, a context bound to it, or what `local_with_exchanges` gives"
)]
pub trait ExchangeToken: HaloToken {}

#[diagnostic::do_not_recommend]
impl<I: HaloToken + ?Sized> ExchangeToken for I {}

/// A token for what an exchange sends and waits for.
#[derive(Clone, Copy)]
pub(super) struct Through<'e>(&'e Endpoint);

impl<'e> Through<'e> {
    pub(super) fn new(token: &'e (impl ExchangeToken + ?Sized)) -> Self {
        Self(token.__endpoint())
    }
}

// SAFETY: it lives inside of calls of a round, which borrows a token or an open phase. What is done through it is done to
// the objects of an exchange, to which it gives nobody a handle: no phase opens them.
unsafe impl Initiator for Through<'_> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.0
    }
}

impl Stores for Through<'_> {}
