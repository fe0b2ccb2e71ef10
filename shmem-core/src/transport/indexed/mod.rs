//! Elements by index: what lists of indices ask of a transport.
//!
//! Whoever makes [`Elements`] has checked every index, and has put those of one PE together. A
//! [`Transport`](super::Transport) moves them by `pick` and `place`, and changes them, where they are words, by `each` and
//! `fetch_each`, which take a [`Change`]. Each of these may come as a loop of single operations, which is what it is by
//! default, or as messages that its target carries out, by the [`kernel`] that a node has for its own memory.

mod change;
pub(crate) mod kernel;
mod listed;

pub use change::{Change, EachOp, Operand};
pub(crate) use listed::{Beyond, Listed};

use super::Remote;

/// Elements of one object on one PE.
///
/// Indices have 32 bits. Of an object with more elements, those beyond come in calls of their own, with another `first`.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// Where element 0 begins.
    pub first: Remote,
    /// Bytes of an element, which lie one behind the other: of a word, its width.
    pub size: usize,
    /// How many there are from `first` on, at most 2^32: every index is less.
    pub length: usize,
    /// Which of them. The same may be there several times.
    pub indices: &'a [u32],
}

impl<'a> Elements<'a> {
    /// How many are asked for.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Where each of them is, in the order of the list.
    pub fn places(&self) -> impl Iterator<Item = Remote> + use<'a> {
        let Self { first, size, indices, .. } = *self;
        indices.iter().map(move |index| Remote { offset: first.offset + *index as usize * size, ..first })
    }
}

/// Which place in the caller's memory belongs to element `k` of a list: `positions[k]`, or `k` where there are none.
#[inline(always)]
pub(crate) fn position(positions: Option<&[u32]>, k: usize) -> usize {
    positions.map_or(k, |positions| positions[k] as usize)
}
