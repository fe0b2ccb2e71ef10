//! Elements by index: what lists of indices ask of a transport.
//!
//! Whoever makes [`Elements`] has checked every index, and has put those of one PE together. A
//! [`Transport`](super::Transport) carries out a [`Deed`] on them: as a loop of single operations, which is the default, or
//! as messages that the target carries out by the [`kernel`] that a node has for its own memory.

mod change;
pub(crate) mod kernel;
mod listed;

pub use change::{Change, Operand};
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

/// What is done to the elements of a list. Local values lie one behind the other, in the order of the list.
#[derive(Clone, Copy, Debug)]
pub enum Deed<'d> {
    /// Reads them into local memory.
    Pick(*mut u8),
    /// Writes them from local memory. Of several values for one element, one stays.
    Place(*const u8),
    /// Changes words, each as often as its index is there, in any order, and writes what was there before to local memory,
    /// if it is wanted. Of several changes of one word each finds what another one has left.
    Change(Change<'d>, Option<*mut u8>),
}

impl<'d> Deed<'d> {
    /// The deed for `count` elements of `size` bytes from element `first` of the list on.
    pub(crate) fn part(self, first: usize, count: usize, size: usize) -> Self {
        match self {
            Self::Pick(into) => Self::Pick(into.wrapping_add(first * size)),
            Self::Place(source) => Self::Place(source.wrapping_add(first * size)),
            Self::Change(change, before) => {
                let own = |which: usize, operand: Operand<'d>| {
                    if which < change.op.operands() {
                        operand.part(first, count, change.width)
                    } else {
                        Operand::Same(0)
                    }
                };
                let change =
                    Change { operand: own(0, change.operand), expected: own(1, change.expected), ..change };
                Self::Change(change, before.map(|before| before.wrapping_add(first * size)))
            }
        }
    }

    /// The first byte on the side of the caller, if there is one.
    pub(crate) fn local(self) -> *const u8 {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => into,
            Self::Place(source) => source,
            Self::Change(_, None) => core::ptr::null(),
        }
    }

    /// Where values come back to, if any do.
    pub(crate) fn into(self) -> Option<*mut u8> {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => Some(into),
            Self::Place(_) | Self::Change(_, None) => None,
        }
    }
}

/// Which place in the caller's memory belongs to element `k` of a list: `positions[k]`, or `k` where there are none.
#[inline(always)]
pub(crate) fn position(positions: Option<&[u32]>, k: usize) -> usize {
    positions.map_or(k, |positions| positions[k] as usize)
}
