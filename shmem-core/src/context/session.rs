//! Sessions: what a program says of the operations to come.
//!
//! A [`Session`] is a token that stands for the one it was begun on, until it is dropped. The transport is told
//! when it begins and when it ends, and may buffer and join what comes in between; operations between PEs of
//! one node are loads and stores, for which there is nothing to prepare. Several may be open on one token:
//! what they say holds together.

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
        begin(self.endpoint(), options);
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

impl<I: Initiator + ?Sized> Drop for Session<'_, I> {
    fn drop(&mut self) {
        end(self.endpoint(), self.options);
    }
}

/// Tells the way to other nodes what is to come on an endpoint.
pub fn begin(endpoint: &Endpoint, options: SessionOptions) {
    if let Some(far) = endpoint.far_if_any() {
        far.transport.begin_session(far.channel, options);
    }
}

/// Ends what [`begin`] began, with the same options.
pub fn end(endpoint: &Endpoint, options: SessionOptions) {
    if let Some(far) = endpoint.far_if_any() {
        far.transport.end_session(far.channel, options);
    }
}
