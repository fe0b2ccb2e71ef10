//! Sessions: what a program says of the operations to come.
//!
//! A [`Session`] is a token that stands for the one it was begun on, until it is dropped. What it says is a hint, and no
//! transport here has a use for it: operations are on their way as soon as they are started. Several may be open on one token.

use crate::endpoint::{Endpoint, Initiator, Stores};
use crate::transport::SessionOptions;

/// Tokens of which a program can say how it will use them: all of them.
pub trait Sessions: Initiator {
    /// Begins a session: until it is dropped, what goes through this token is expected to be as `options` say.
    /// That is a hint. Results, order and completion are what they are without it; what has to arrive needs its
    /// `quiet` inside or after the session.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_session_start`, `shmem_ctx_session_stop`.
    #[must_use = "a session that is not kept ends at once"]
    fn session(&self, options: SessionOptions) -> Session<'_, Self> {
        Session { token: self, options }
    }
}

impl<I: Initiator + ?Sized> Sessions for I {}

/// A session that is open. From [`Sessions::session`].
pub struct Session<'t, I: Initiator + ?Sized> {
    token: &'t I,
    options: SessionOptions,
}

impl<I: Initiator + ?Sized> Session<'_, I> {
    /// What it was begun with.
    pub fn options(&self) -> SessionOptions {
        self.options
    }
}

// SAFETY: it borrows a token, and lives no longer.
unsafe impl<I: Initiator + ?Sized> Initiator for Session<'_, I> {
    #[doc(hidden)]
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.token.endpoint()
    }
}

impl<I: Stores + ?Sized> Stores for Session<'_, I> {}
