//! Why there is no context, no domain, and no change of hints.

use std::panic::Location;

/// An error of contexts, domains and registered threads. The program can go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// No unit is left that may serve.
    #[error(
        "{what} cannot be created: {used} of {limit} endpoints of this PE are in use \
         ({holders}){kept}; {remedy}"
    )]
    Exhausted {
        /// What was asked for.
        what: String,
        /// How many are in use.
        used: usize,
        /// How many this PE has.
        limit: usize,
        /// Who has them.
        holders: String,
        /// What hints keep for others.
        kept: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Hints cannot change while something was granted under those of before.
    #[error("the hints of domains cannot change while {live}; destroy them first")]
    Live {
        /// What lives, and where it was created.
        live: String,
    },
    /// As many threads are registered as may be.
    #[error(
        "{thread} cannot be registered: {registered} of {limit} threads are (SHMEM_MAX_NUM_THREADS); drop a \
         registration, or raise the limit"
    )]
    Threads {
        /// The thread, by its name.
        thread: String,
        /// How many are registered.
        registered: usize,
        /// How many may be.
        limit: usize,
    },
    /// A thread was registered twice.
    #[error(
        "{thread} is registered already, as number {number}, at {file}:{line}; use that registration",
        file = at.file(), line = at.line()
    )]
    Registered {
        /// The thread, by its name.
        thread: String,
        /// Its number.
        number: usize,
        /// The call that registered it.
        at: &'static Location<'static>,
    },
}
