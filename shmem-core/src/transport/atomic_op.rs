//! Atomic operations on words of 4 and 8 bytes.

use core::cmp::{
    self,
    Ordering::{Greater, Less},
};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::planted_fault::mutant;

/// Width of an atomic word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bits.
    W4,
    /// 64 bits.
    W8,
}

impl Width {
    /// Size of a word in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::W4 => 4,
            Self::W8 => 8,
        }
    }

    /// The width of a type with 4 or 8 bytes.
    #[inline(always)]
    pub(crate) const fn of<T>() -> Self {
        if size_of::<T>() == 8 { Self::W8 } else { Self::W4 }
    }

    /// Writes an operation's result, the low bits of `bits`, to memory that nobody else accesses before completion.
    ///
    /// # Safety
    ///
    /// `to` must be writable and aligned for the width.
    #[inline(always)]
    pub(crate) unsafe fn write(self, to: *mut u8, bits: u64) {
        match self {
            // SAFETY: the caller's promise.
            Self::W4 => unsafe { to.cast::<u32>().write(bits as u32) },
            // SAFETY: the caller's promise.
            Self::W8 => unsafe { to.cast::<u64>().write(bits) },
        }
    }
}

/// The number type of a word, for operations that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `u32`, `u64`.
    Unsigned,
    /// `i32`, `i64`.
    Signed,
    /// `f32`, `f64`.
    Float,
}

/// An atomic operation on the bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// Reads the word.
    Fetch,
    /// Writes the operand.
    Set(u64),
    /// Writes the operand, and returns the old value.
    Swap(u64),
    /// Writes `desired` if the word is `expected`.
    CompareSwap {
        /// The bits that the word must have.
        expected: u64,
        /// The bits that are written if the word has the expected ones.
        desired: u64,
    },
    /// Adds an integer, wrapping.
    Add(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
    /// Adds a floating-point number. A sum that is not a number has the bits of `NAN`, whatever the operands.
    AddFloat(u64),
    /// Keeps the smaller number. Any number is preferred to a NaN, and -0 is smaller than 0.
    Min(Number, u64),
    /// Keeps the larger number. Any number is preferred to a NaN, and 0 is larger than -0.
    Max(Number, u64),
}

impl AtomicOp {
    /// Returns the operation's code, operand and expected value. Cold functions receive these three words in registers. The
    /// operation itself would be passed in memory, and the hot path would have to write it.
    #[inline(always)]
    pub(crate) fn into_words(self) -> (u32, u64, u64) {
        match self {
            Self::Fetch => (0, 0, 0),
            Self::Set(v) => (1, v, 0),
            Self::Swap(v) => (2, v, 0),
            Self::CompareSwap { expected, desired } => (3, desired, expected),
            Self::Add(v) => (4, v, 0),
            Self::And(v) => (5, v, 0),
            Self::Or(v) => (6, v, 0),
            Self::Xor(v) => (7, v, 0),
            Self::AddFloat(v) => (8, v, 0),
            Self::Min(Number::Unsigned, v) => (9, v, 0),
            Self::Min(Number::Signed, v) => (10, v, 0),
            Self::Min(Number::Float, v) => (11, v, 0),
            Self::Max(Number::Unsigned, v) => (12, v, 0),
            Self::Max(Number::Signed, v) => (13, v, 0),
            Self::Max(Number::Float, v) => (14, v, 0),
        }
    }

    /// The new value of a word with the old value `before`.
    #[inline(always)]
    pub(crate) fn applied_to(self, before: u64, width: Width) -> u64 {
        macro_rules! on {
            ($bits:ident) => {{
                #[allow(clippy::unnecessary_cast, reason = "the low bits are the value, whatever the width")]
                let before = before as $bits;
                #[allow(clippy::unnecessary_cast, reason = "the low bits are the value, whatever the width")]
                let after = match self {
                    Self::Fetch => before,
                    Self::Set(v) | Self::Swap(v) => v as $bits,
                    Self::CompareSwap { expected, desired } => {
                        if before == expected as $bits {
                            desired as $bits
                        } else {
                            before
                        }
                    }
                    Self::Add(v) => before.wrapping_add(v as $bits),
                    Self::And(v) => before & v as $bits,
                    Self::Or(v) => before | v as $bits,
                    Self::Xor(v) => before ^ v as $bits,
                    Self::AddFloat(v) => before.float_sum(v as $bits),
                    Self::Min(number, v) => before.extreme(v as $bits, number, Less),
                    Self::Max(number, v) => before.extreme(v as $bits, number, Greater),
                };
                after as u64
            }};
        }
        match width {
            Width::W4 => on!(u32),
            Width::W8 => on!(u64),
        }
    }

    /// The inverse of [`into_words`](Self::into_words).
    pub(crate) fn from_words((code, operand, expected): (u32, u64, u64)) -> Self {
        EachOp::ALL[code as usize].with(operand, expected)
    }
}

/// An atomic operation without its operands. [`AtomicOp`] documents the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as `AtomicOp`")]
pub enum EachOp {
    Fetch,
    Set,
    Swap,
    CompareSwap,
    Add,
    And,
    Or,
    Xor,
    AddFloat,
    Min(Number),
    Max(Number),
}

impl EachOp {
    /// All operations, in the order of their [codes](Self::code).
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

    /// The number of the operation in messages between PEs.
    pub fn code(self) -> u8 {
        self.with(0, 0).into_words().0 as u8
    }

    /// The operation with this code, if there is one.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The number of operands for each word. An expected value counts as one.
    pub const fn operands(self) -> usize {
        match self {
            Self::Fetch => 0,
            Self::CompareSwap => 2,
            _ => 1,
        }
    }

    /// The operand that leaves every word unchanged, except that [`AddFloat`](Self::AddFloat) may change the bits of a NaN. `None`:
    /// there is none, and several changes of a word cannot be combined into one before they are sent.
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

    /// The operation with its operands. Superfluous operands are ignored.
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

/// The operation by which a put changes its signal.
///
/// Source: OpenSHMEM 1.6, `SHMEM_SIGNAL_SET` and `SHMEM_SIGNAL_ADD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalOp {
    /// Writes the value to the signal.
    Set(u64),
    /// Adds the value to the signal, wrapping.
    Add(u64),
}

impl From<SignalOp> for AtomicOp {
    #[inline(always)]
    fn from(op: SignalOp) -> Self {
        match op {
            SignalOp::Set(value) => Self::Set(value),
            SignalOp::Add(value) => Self::Add(value),
        }
    }
}

/// Arithmetic on the bits of a number.
trait Bits: Copy {
    /// The bits of the sum of two floating-point numbers.
    fn float_sum(self, other: Self) -> Self;

    /// The bits of the smaller number (`wanted` is `Less`), or of the larger one (`Greater`). Any number is preferred to a NaN.
    fn extreme(self, other: Self, number: Number, wanted: cmp::Ordering) -> Self;
}

macro_rules! bits {
    ($($bits:ident: $float:ident;)*) => {$(
        impl Bits for $bits {
            #[inline(always)]
            fn float_sum(self, other: Self) -> Self {
                let sum = $float::from_bits(self) + $float::from_bits(other);
                // The bits of a NaN differ between processors and compilers, but must be the same on all nodes.
                if sum.is_nan() { $float::NAN.to_bits() } else { sum.to_bits() }
            }

            #[inline(always)]
            fn extreme(self, other: Self, number: Number, wanted: cmp::Ordering) -> Self {
                let order = match number {
                    Number::Unsigned => self.cmp(&other),
                    Number::Signed => self.cast_signed().cmp(&other.cast_signed()),
                    Number::Float => {
                        let (a, b) = ($float::from_bits(self), $float::from_bits(other));
                        match (a.is_nan(), b.is_nan()) {
                            (_, true) => wanted,
                            (true, false) => return other,
                            (false, false) => a.total_cmp(&b),
                        }
                    }
                };
                if order == wanted { self } else { other }
            }
        }
    )*};
}
bits! {
    u32: f32;
    u64: f64;
}

/// Applies an operation to a word atomically, and returns the old value.
///
/// Sequentially consistent. An operation that writes is a read-modify-write, as [`Doorbell`](crate::sync::Doorbell) needs.
///
/// # Safety
///
/// `word` must be valid and aligned for the width, and be in a slot, so that no reference to it exists.
#[inline(always)]
pub(crate) unsafe fn apply(word: *mut u8, width: Width, op: AtomicOp) -> u64 {
    macro_rules! retried {
        ($word:ident, |$before:ident| $after:expr) => {{
            let mut $before = $word.load(Ordering::SeqCst);
            while let Err(found) =
                $word.compare_exchange_weak($before, $after, Ordering::SeqCst, Ordering::SeqCst)
            {
                $before = found;
            }
            $before as u64
        }};
    }
    macro_rules! on {
        ($atomic:ident, $bits:ident) => {{
            // SAFETY: the caller's promise.
            let word = unsafe { $atomic::from_ptr(word.cast()) };
            #[allow(clippy::unnecessary_cast, reason = "the low bits are the value, whatever the width")]
            match op {
                AtomicOp::Fetch => word.load(Ordering::SeqCst) as u64,
                AtomicOp::Set(v) | AtomicOp::Swap(v) => word.swap(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::CompareSwap { expected, desired } => {
                    match word.compare_exchange(
                        expected as $bits,
                        desired as $bits,
                        Ordering::SeqCst,
                        Ordering::SeqCst,
                    ) {
                        Ok(before) | Err(before) => before as u64,
                    }
                }
                AtomicOp::Add(v) if mutant("add-in-two-steps") => {
                    let before = word.load(Ordering::SeqCst);
                    (0..50).for_each(|_| core::hint::spin_loop());
                    word.store(before.wrapping_add(v as $bits), Ordering::SeqCst);
                    before as u64
                }
                AtomicOp::Add(v) => word.fetch_add(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::And(v) => word.fetch_and(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::Or(v) => word.fetch_or(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::Xor(v) => word.fetch_xor(v as $bits, Ordering::SeqCst) as u64,
                AtomicOp::AddFloat(v) if mutant("add-in-two-steps") => {
                    let before = word.load(Ordering::SeqCst);
                    (0..50).for_each(|_| core::hint::spin_loop());
                    word.store(before.float_sum(v as $bits), Ordering::SeqCst);
                    before as u64
                }
                // These operations have no instruction. An unchanged value is also exchanged, because `Doorbell` needs the fence.
                AtomicOp::AddFloat(v) => retried!(word, |before| before.float_sum(v as $bits)),
                AtomicOp::Min(number, v) => retried!(word, |before| before.extreme(v as $bits, number, Less)),
                AtomicOp::Max(number, v) => {
                    retried!(word, |before| before.extreme(v as $bits, number, Greater))
                }
            }
        }};
    }
    match width {
        Width::W4 => on!(AtomicU32, u32),
        Width::W8 => on!(AtomicU64, u64),
    }
}
