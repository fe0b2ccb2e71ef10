//! Sessions: hints about the operations that a token (a world or context) will issue.
//!
//! A [`Session`] is a token for the same operations as its parent token, until the session is dropped. The transports of this crate
//! ignore the hint, because they send operations as soon as they are started. Several sessions may be open on one token.

use crate::endpoint::{Endpoint, Initiator, Stores};

/// Hints of a program about the operations of a session.
///
/// ```
/// # mod shmem { pub use shmem_core::context::*; }
/// use shmem::SessionOptions;
///
/// let updates = SessionOptions::batch().total_ops(1 << 20);
/// assert_eq!(updates.total_ops, Some(1 << 20));
/// ```
///
/// Source: OpenSHMEM 1.6, `shmem_ctx_session_config_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Whether the session has many small operations, of which only the total time matters (`SHMEM_CTX_SESSION_BATCH`).
    pub batch: bool,
    /// Upper limit on the number of operations of the session, if known (`SHMEM_CTX_SESSION_TOTAL_OPS`).
    pub total_ops: Option<usize>,
}

impl SessionOptions {
    /// Options for a session with many small operations.
    pub const fn batch() -> Self {
        Self { batch: true, total_ops: None }
    }

    /// Sets the upper limit on the number of operations.
    #[must_use]
    pub const fn total_ops(self, operations: usize) -> Self {
        Self { total_ops: Some(operations), ..self }
    }
}

/// Sessions of a token, which are hints about the operations that it issues next.
pub trait Sessions: Initiator {
    /// Begins a session. Until the session is dropped, the operations of this token are expected to be as `options` say. The
    /// session is only a hint: results, order and completion are the same without it, and puts still need a `quiet`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_session_start`, `shmem_ctx_session_stop`.
    #[must_use = "a session that is not kept ends at once"]
    fn session(&self, options: SessionOptions) -> Session<'_, Self> {
        // The transports of this crate ignore hints.
        _ = options;
        Session { token: self }
    }
}

impl<I: Initiator + ?Sized> Sessions for I {}

/// An open session of a token, made by [`Sessions::session`].
pub struct Session<'t, I: Initiator + ?Sized> {
    token: &'t I,
}

// SAFETY: the session borrows a token, and so the world, and lives no longer than this borrow.
unsafe impl<I: Initiator + ?Sized> Initiator for Session<'_, I> {
    #[doc(hidden)]
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        self.token.endpoint()
    }
}

impl<I: Stores + ?Sized> Stores for Session<'_, I> {}
