//! Operations on elements that are listed by index, below the checks of indices.
//!
//! All [`Elements`] are on one PE, and the caller has checked every index. A [`Transport`](super::Transport) carries out a [`Deed`] on them:
//! by a loop of single operations, which is the default, or by messages, which the target carries out by the [`kernel`], as the node does.

mod change;
pub(crate) mod kernel;

pub use change::{Change, Operand};
pub(crate) use kernel::{Beyond, Listed};

use super::Remote;

/// Elements of one object on one PE.
///
/// Indices have 32 bits. The elements from number 2^32 on are passed in separate calls, with another `first`.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The place of element 0; the others follow it.
    pub first: Remote,
    /// Bytes of an element. For a word, this is its width.
    pub size: usize,
    /// The number of elements of the object, at most 2^32. Every index is less.
    pub length: usize,
    /// The indices. An index may occur several times.
    pub indices: &'a [u32],
}

impl<'a> Elements<'a> {
    /// The number of indices.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there are no indices.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The place of each element, in the order of the list.
    pub fn places(&self) -> impl Iterator<Item = Remote> + use<'a> {
        let Self { first, size, indices, .. } = *self;
        indices.iter().map(move |index| Remote { offset: first.offset + *index as usize * size, ..first })
    }
}

/// An operation on the elements of a list. Local values are consecutive, in the order of the list.
#[derive(Clone, Copy, Debug)]
pub enum Deed<'d> {
    /// Reads elements into local memory.
    Pick(*mut u8),
    /// Writes elements from local memory. Of several values for one element, any one is kept.
    Place(*const u8),
    /// Changes words, once for each index, in any order. Writes the old values to local memory, if given. Each change is atomic.
    Change(Change<'d>, Option<*mut u8>),
}

impl<'d> Deed<'d> {
    /// The deed for a part of the list: `count` elements of `size` bytes, from position `first` on.
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

    /// The first byte of local memory, or null.
    pub(crate) fn local(self) -> *const u8 {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => into,
            Self::Place(source) => source,
            Self::Change(_, None) => core::ptr::null(),
        }
    }

    /// The local memory of results, if there are any.
    pub(crate) fn into(self) -> Option<*mut u8> {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => Some(into),
            Self::Place(_) | Self::Change(_, None) => None,
        }
    }
}

/// The position in local memory of element `k` of a list: `positions[k]`, or `k` without positions.
#[inline(always)]
pub(crate) fn position(positions: Option<&[u32]>, k: usize) -> usize {
    positions.map_or(k, |positions| positions[k] as usize)
}
