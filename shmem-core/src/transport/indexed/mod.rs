//! Operations on elements that are listed by index. Callers have checked every index.
//!
//! All [`Elements`] of a list are on one PE. A [`Transport`](super::Transport) carries out a [`ListRequest`] on them by one
//! operation for each element (the default), or by messages. The target of a message loops over its elements in the [`kernel`],
//! which also serves lists on the same node.

pub(crate) mod kernel;

pub(crate) use kernel::{Beyond, Listed};

use super::{AtomicOp, EachOp, Remote, Width};

/// Listed elements of one object on one PE.
///
/// Indices have 32 bits. Elements from number 2^32 on need further calls, which count from a later `first`.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The place of element 0. The other elements of the object follow it.
    pub first: Remote,
    /// Bytes of an element: the width of the word, if the elements are words.
    pub size: usize,
    /// The number of elements of the object, at most 2^32. Every index is less.
    pub length: usize,
    /// Indices of the listed elements. An index may occur several times.
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

/// An operation on the elements of a list. Local values are consecutive, in the order of the list, except results for which
/// [`Transport::list`](super::Transport::list) is given positions.
#[derive(Clone, Copy, Debug)]
pub enum ListRequest<'d> {
    /// Reads elements into local memory.
    Pick(*mut u8),
    /// Writes elements from local memory. Of several values for one element, any one stays.
    Place(*const u8),
    /// Changes words atomically, once for each index, in any order. Writes the old values to local memory, if given.
    Change(Change<'d>, Option<*mut u8>),
}

impl<'d> ListRequest<'d> {
    /// The same operation for a part of its list: `count` elements of `size` bytes, from position `first` on.
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

    /// Start of the operation's local memory; null if it has none.
    pub(crate) fn local(self) -> *const u8 {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => into,
            Self::Place(source) => source,
            Self::Change(_, None) => core::ptr::null(),
        }
    }

    /// The local memory for results, if the operation has results.
    pub(crate) fn into(self) -> Option<*mut u8> {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => Some(into),
            Self::Place(_) | Self::Change(_, None) => None,
        }
    }
}

/// The operands of a change: one for all words, or one for each word.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// One operand for all words, in the low bits.
    Same(u64),
    /// One operand for each word, packed in the order of the list. Each has the width of a word, and may be unaligned.
    Own(&'a [u8]),
}

impl<'a> Operand<'a> {
    /// The operand of word `k` of the list.
    ///
    /// # Panics
    ///
    /// If `k` has no operand.
    #[inline(always)]
    pub fn at(self, k: usize, width: Width) -> u64 {
        match (self, width) {
            (Self::Same(bits), _) => bits,
            (Self::Own(packed), Width::W4) => u64::from(u32::from_ne_bytes(packed.as_chunks().0[k])),
            (Self::Own(packed), Width::W8) => u64::from_ne_bytes(packed.as_chunks().0[k]),
        }
    }

    /// The operands of `words` words from word `first` on. Panics if some are missing.
    pub(crate) fn part(self, first: usize, words: usize, width: Width) -> Self {
        match self {
            Self::Same(bits) => Self::Same(bits),
            Self::Own(packed) => Self::Own(&packed[first * width.bytes()..][..words * width.bytes()]),
        }
    }

    /// Whether there is one operand for all words, or exactly one for each of `words` words.
    pub fn is_for(self, words: usize, width: Width) -> bool {
        match self {
            Self::Same(_) => true,
            Self::Own(packed) => packed.len() == words * width.bytes(),
        }
    }
}

/// An atomic change of each word of a list.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The operation on each word.
    pub op: EachOp,
    /// Width of the words, which is the size of the elements.
    pub width: Width,
    /// The operands of the operation.
    pub operand: Operand<'a>,
    /// The expected values of a [`CompareSwap`](EachOp::CompareSwap); other operations ignore them.
    pub expected: Operand<'a>,
}

impl<'a> Change<'a> {
    /// A change by an operation that has at most one operand.
    pub const fn new(op: EachOp, width: Width, operand: Operand<'a>) -> Self {
        Self { op, width, operand, expected: Operand::Same(0) }
    }

    /// Whether operand and expected value are given once for all words, or exactly once for each of `words` words.
    pub fn is_for(&self, words: usize) -> bool {
        let operands = [self.operand, self.expected];
        operands[..self.op.operands()].iter().all(|operand| operand.is_for(words, self.width))
    }

    /// The operation on word `k` of the list.
    ///
    /// # Panics
    ///
    /// If word `k` has no operand.
    #[inline(always)]
    pub fn at(&self, k: usize) -> AtomicOp {
        let expected = match self.op {
            EachOp::CompareSwap => self.expected.at(k, self.width),
            _ => 0,
        };
        self.op.with(self.operand.at(k, self.width), expected)
    }
}

/// The position in local memory of element `k` of a list: `positions[k]`, or `k` without positions.
#[inline(always)]
pub(crate) fn position(positions: Option<&[u32]>, k: usize) -> usize {
    positions.map_or(k, |positions| positions[k] as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neutral_operand_changes_no_word_and_no_operand() {
        let floats = [0.0, -0.0, 1.5, -7.0, f64::INFINITY, f64::MIN];
        let bits: Vec<u64> = floats.iter().map(|float: &f64| float.to_bits()).collect();
        let narrow: Vec<u64> = floats.iter().map(|float| u64::from((*float as f32).to_bits())).collect();
        for op in EachOp::ALL {
            for (width, values) in [(Width::W8, &bits), (Width::W4, &narrow)] {
                let Some(neutral) = op.neutral(width) else {
                    assert!(matches!(op, EachOp::Fetch | EachOp::Set | EachOp::Swap | EachOp::CompareSwap));
                    continue;
                };
                for value in values {
                    assert_eq!(op.with(neutral, 0).applied_to(*value, width), *value, "{op:?}");
                    assert_eq!(op.with(*value, 0).applied_to(neutral, width), *value, "{op:?}");
                }
            }
        }
    }
}
