//! What happens to words by index.

use crate::transport::{AtomicOp, Number, Width};

/// An atomic operation without its operands: [`AtomicOp`] has what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachOp {
    /// Reads.
    Fetch,
    /// Writes.
    Set,
    /// Writes, and gives what was there.
    Swap,
    /// Writes if the word is what is expected.
    CompareSwap,
    /// Adds, wrapping.
    Add,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Adds floating-point numbers.
    AddFloat,
    /// Leaves the smaller one.
    Min(Number),
    /// Leaves the larger one.
    Max(Number),
}

impl EachOp {
    /// All of them: the index is the [code](Self::code).
    pub const ALL: [Self; 15] = [
        Self::Fetch,
        Self::Set,
        Self::Swap,
        Self::CompareSwap,
        Self::Add,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::AddFloat,
        Self::Min(Number::Unsigned),
        Self::Min(Number::Signed),
        Self::Min(Number::Float),
        Self::Max(Number::Unsigned),
        Self::Max(Number::Signed),
        Self::Max(Number::Float),
    ];

    /// A number for messages.
    pub fn code(self) -> u8 {
        self.with(0, 0).into_words().0 as u8
    }

    /// The operation of a code; nothing, if there is none.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Operands that it takes of each word.
    pub const fn operands(self) -> usize {
        match self {
            Self::Fetch => 0,
            Self::CompareSwap => 2,
            _ => 1,
        }
    }

    /// The operand that leaves every word as it is, if two operands of the operation make one that does the work of both.
    pub(crate) const fn neutral(self, width: Width) -> Option<u64> {
        let (unsigned, signed, zero, nan) = match width {
            Width::W4 => {
                (u32::MAX as u64, i32::MAX as u64, (-0.0_f32).to_bits() as u64, f32::NAN.to_bits() as u64)
            }
            Width::W8 => (u64::MAX, i64::MAX as u64, (-0.0_f64).to_bits(), f64::NAN.to_bits()),
        };
        match self {
            Self::Add | Self::Or | Self::Xor | Self::Max(Number::Unsigned) => Some(0),
            Self::And | Self::Min(Number::Unsigned) => Some(unsigned),
            Self::AddFloat => Some(zero),
            Self::Min(Number::Signed) => Some(signed),
            Self::Max(Number::Signed) => Some(signed ^ unsigned),
            Self::Min(Number::Float) | Self::Max(Number::Float) => Some(nan),
            Self::Fetch | Self::Set | Self::Swap | Self::CompareSwap => None,
        }
    }

    /// The operation with its operands. What it does not take is not looked at.
    #[inline(always)]
    pub fn with(self, operand: u64, expected: u64) -> AtomicOp {
        match self {
            Self::Fetch => AtomicOp::Fetch,
            Self::Set => AtomicOp::Set(operand),
            Self::Swap => AtomicOp::Swap(operand),
            Self::CompareSwap => AtomicOp::CompareSwap { expected, desired: operand },
            Self::Add => AtomicOp::Add(operand),
            Self::And => AtomicOp::And(operand),
            Self::Or => AtomicOp::Or(operand),
            Self::Xor => AtomicOp::Xor(operand),
            Self::AddFloat => AtomicOp::AddFloat(operand),
            Self::Min(number) => AtomicOp::Min(number, operand),
            Self::Max(number) => AtomicOp::Max(number, operand),
        }
    }
}

/// What the words of a list are changed by.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// All of them by the same, in the low bits.
    Same(u64),
    /// Each by its own: packed, in the order of the list, each as wide as a word. They need not be aligned.
    Own(&'a [u8]),
}

impl<'a> Operand<'a> {
    /// That of word `k` of the list.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[inline(always)]
    pub fn at(self, k: usize, width: Width) -> u64 {
        match (self, width) {
            (Self::Same(bits), _) => bits,
            (Self::Own(packed), Width::W4) => u64::from(u32::from_ne_bytes(packed.as_chunks().0[k])),
            (Self::Own(packed), Width::W8) => u64::from_ne_bytes(packed.as_chunks().0[k]),
        }
    }

    /// Those of words from `first` on, so many.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub(crate) fn part(self, first: usize, words: usize, width: Width) -> Self {
        match self {
            Self::Same(bits) => Self::Same(bits),
            Self::Own(packed) => Self::Own(&packed[first * width.bytes()..][..words * width.bytes()]),
        }
    }

    /// Whether there is one for each of so many words.
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
    /// What is done.
    pub op: EachOp,
    /// Width of the words, which is the size of the elements.
    pub width: Width,
    /// By what.
    pub operand: Operand<'a>,
    /// What a [`CompareSwap`](EachOp::CompareSwap) expects; the others do not look at it.
    pub expected: Operand<'a>,
}

impl<'a> Change<'a> {
    /// A change of one operand, or of none.
    pub const fn new(op: EachOp, width: Width, operand: Operand<'a>) -> Self {
        Self { op, width, operand, expected: Operand::Same(0) }
    }

    /// Whether there are operands for so many words.
    pub fn is_for(&self, words: usize) -> bool {
        let operands = [self.operand, self.expected];
        operands[..self.op.operands()].iter().all(|operand| operand.is_for(words, self.width))
    }

    /// What is done to word `k` of the list.
    ///
    /// # Panics
    ///
    /// If there are fewer operands.
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
    fn every_operation_has_a_code_of_its_own_and_is_taken_apart_like_its_atomic_operation() {
        for (code, op) in EachOp::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(op.code()), code);
            assert_eq!(EachOp::of_code(code as u8), Some(op));
            let whole = op.with(7, 9);
            assert_eq!(AtomicOp::from_words(whole.into_words()), whole);
        }
        assert_eq!(EachOp::of_code(EachOp::ALL.len() as u8), None);
    }

    #[test]
    fn what_is_neutral_leaves_every_word_and_every_operand() {
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

    #[test]
    fn operands_are_taken_in_the_order_of_the_list() {
        let packed: Vec<u8> = [5_u32, 6, 7].iter().flat_map(|value| value.to_ne_bytes()).collect();
        let change = Change::new(EachOp::Add, Width::W4, Operand::Own(&packed));
        assert_eq!(change.at(2), AtomicOp::Add(7));
        assert!(change.operand.is_for(3, Width::W4) && !change.operand.is_for(3, Width::W8));
        let change = Change {
            op: EachOp::CompareSwap,
            width: Width::W4,
            operand: Operand::Same(1),
            expected: Operand::Own(&packed),
        };
        assert_eq!(change.at(1), AtomicOp::CompareSwap { expected: 6, desired: 1 });
    }
}
