//! Contexts of operations in flight: memory of the user that belongs to the provider until completion.
//!
//! The provider writes into it at any time. The shim fills it with a pattern of its own when an operation begins,
//! looks at completion whether it is still there, and leaves another one. Who kept something in it has lost it
//! either way. One context serves one operation at a time.

use core::ffi::c_void;
use std::collections::HashMap;
use std::sync::Mutex;

use crate::random;
use crate::violation::violation;

/// What is demanded, by the name of libfabric.
const DEMAND: &str = "FI_CONTEXT";

/// The contexts in flight of a domain.
#[derive(Debug)]
pub(crate) struct Contexts {
    /// Words of a context, where contexts are demanded.
    words: Option<usize>,
    /// The pattern in each context, by its address.
    in_flight: Mutex<HashMap<usize, u64>>,
}

impl Contexts {
    /// None in flight.
    pub(crate) fn new(words: Option<usize>) -> Self {
        Self { words, in_flight: Mutex::default() }
    }

    /// An operation that will complete takes its context.
    ///
    /// # Safety
    ///
    /// Where contexts are demanded, the address must be null, or that of as many words as are asked for, which
    /// nobody else uses until the operation has completed.
    pub(crate) unsafe fn begin(&self, context: *mut c_void) {
        let Some(words) = self.words else { return };
        if context.is_null() || !context.cast::<u64>().is_aligned() {
            violation(
                DEMAND,
                format_args!(
                    "an operation that completes has the context {context:p}; the provider asks for the address of \
                     {words} words of its own, until the completion has been read"
                ),
            );
        }
        let pattern = random::next();
        let before = self.in_flight.lock().expect("a panic ends the process").insert(context.addr(), pattern);
        if before.is_some() {
            violation(
                DEMAND,
                format_args!(
                    "the context {context:p} is given to an operation while another one is in flight with it; each \
                     operation has its own until its completion has been read"
                ),
            );
        }
        // SAFETY: the caller's promise.
        unsafe { fill(context, words, pattern) };
    }

    /// An operation has completed, or was refused, and gives its context back.
    ///
    /// # Safety
    ///
    /// As [`Contexts::begin`], for an operation that has begun; any other address is allowed and nothing is done
    /// with it.
    pub(crate) unsafe fn end(&self, context: *mut c_void) {
        let Some(words) = self.words else { return };
        let pattern = self.in_flight.lock().expect("a panic ends the process").remove(&context.addr());
        let Some(pattern) = pattern else { return };
        // SAFETY: the context is in flight: its words are the provider's (`begin`).
        let found = unsafe { core::slice::from_raw_parts(context.cast::<u64>(), words) };
        if found.iter().any(|word| *word != pattern) {
            violation(
                DEMAND,
                format_args!(
                    "the context {context:p} was written to while its operation was in flight; its {words} words are \
                     the provider's until the completion has been read"
                ),
            );
        }
        // SAFETY: the context is in flight: its words are the provider's (`begin`).
        unsafe { fill(context, words, !pattern) };
    }
}

/// Writes a pattern into the words of a context.
///
/// # Safety
///
/// There must be as many words at the address, and nobody else use them.
unsafe fn fill(context: *mut c_void, words: usize, pattern: u64) {
    // SAFETY: the caller's promise.
    let words = unsafe { core::slice::from_raw_parts_mut(context.cast::<u64>(), words) };
    words.fill(pattern);
}
