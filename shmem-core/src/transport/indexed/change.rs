//! Changes of listed words: an operation and its operands.

use crate::transport::{AtomicOp, EachOp, Width};

/// The operands of a change.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// One operand for all words, in the low bits.
    Same(u64),
    /// One operand for each word, packed in the order of the list, each with the width of a word, and not necessarily aligned.
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

    /// Whether each of `words` words has an operand.
    pub fn is_for(self, words: usize, width: Width) -> bool {
        match self {
            Self::Same(_) => true,
            Self::Own(packed) => packed.len() == words * width.bytes(),
        }
    }
}

/// A change of all words of a list.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The operation.
    pub op: EachOp,
    /// Width of the words, which is the size of the elements.
    pub width: Width,
    /// The operands of the operation.
    pub operand: Operand<'a>,
    /// The expected values of a [`CompareSwap`](EachOp::CompareSwap); other operations ignore them.
    pub expected: Operand<'a>,
}

impl<'a> Change<'a> {
    /// A change with at most one operand.
    pub const fn new(op: EachOp, width: Width, operand: Operand<'a>) -> Self {
        Self { op, width, operand, expected: Operand::Same(0) }
    }

    /// Whether there are operands for `words` words.
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
