//! A Rust type for each type of C.
//!
//! `long`, `long long` and `int64_t` are all `i64` in Rust, but have routines of their own. So each type is a transparent struct
//! here, with its C name for the [table of routines](crate::table).

use std::ffi::{c_char, c_int, c_long, c_void};
use std::fmt;
use std::ops::{Add as _, Mul as _};

use bytemuck::{Pod, Zeroable};

/// A type with a name in C.
pub(crate) trait Spelled {
    fn spelled() -> String;
}

macro_rules! spelled {
    ($($type:ty = $name:literal;)*) => {$(
        impl Spelled for $type {
            fn spelled() -> String {
                $name.to_owned()
            }
        }
    )*};
}
spelled! {
    () = "void";
    c_int = "int";
    c_long = "long";
    c_void = "void";
    c_char = "char";
    f64 = "double";
    u32 = "uint32_t";
    u64 = "uint64_t";
    usize = "size_t";
    isize = "ptrdiff_t";
    Ctx = "shmem_ctx_t";
    Team = "shmem_team_t";
    TeamConfig = "shmem_team_config_t";
    SessionConfig = "shmem_ctx_session_config_t";
    crate::bootstrap::Bootstrap = "shmemx_bootstrap_t";
    PartitionInfo = "shmemx_partition_info_t";
}

impl<T: Spelled> Spelled for *mut T {
    fn spelled() -> String {
        let name = T::spelled();
        let space = if name.ends_with('*') { "" } else { " " };
        format!("{name}{space}*")
    }
}

impl<T: Spelled> Spelled for *const T {
    fn spelled() -> String {
        let name = T::spelled();
        if name.ends_with('*') { format!("{name}const *") } else { format!("const {name} *") }
    }
}

pub(crate) trait Item: Pod + Spelled {}

/// An element type that waits and tests compare.
pub(crate) trait Compared: Item + PartialOrd + fmt::Display {}

impl<T: Item + PartialOrd + fmt::Display> Compared for T {}

/// An element type with arithmetic.
pub(crate) trait Numeric: Item {
    /// The Rust number with the same bits, or `Self` if Rust has none (`long double`, complex numbers).
    type Number: Arithmetic;
}

/// Addition and multiplication. Integers wrap.
pub(crate) trait Arithmetic: Pod {
    /// Whether additions round, so that a sum depends on their order.
    const ROUNDS: bool;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

/// A number for atomic operations.
pub(crate) trait Number: Arithmetic {
    const ONE: Self;
    /// Returns the number's bits in the low bits of a word.
    fn bits(self) -> u64;
    fn of(bits: u64) -> Self;
}

macro_rules! numbers {
    ($rounds:literal $one:literal $plus:ident $times:ident: $($number:ident as $bits:ident)*) => {$(
        impl Arithmetic for $number {
            const ROUNDS: bool = $rounds;

            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }

            fn times(self, other: Self) -> Self {
                self.$times(other)
            }
        }

        impl Number for $number {
            const ONE: Self = $one;

            #[inline(always)]
            fn bits(self) -> u64 {
                bytemuck::cast::<Self, $bits>(self) as u64
            }

            #[inline(always)]
            fn of(bits: u64) -> Self {
                bytemuck::cast(bits as $bits)
            }
        }
    )*};
}
numbers! {
    false 1 wrapping_add wrapping_mul: u8 as u8 u16 as u16 u32 as u32 u64 as u64 usize as u64 i8 as u8 i16 as u16 i32 as u32
    i64 as u64 isize as u64
}
numbers! { true 1.0 add mul: f32 as u32 f64 as u64 }

macro_rules! items {
    ($($type:ident($inner:ty) = $name:literal;)*) => {
        $(
            #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
            #[repr(transparent)]
            pub(crate) struct $type(pub(crate) $inner);

            impl Numeric for $type {
                type Number = $inner;
            }

            impl fmt::Display for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
        )*

        plain! { $($type = $name;)* }
    };
}

// Implements `Item` for types of which every bit pattern is valid.
macro_rules! plain {
    ($($type:ty = $name:literal;)*) => {
        $(
            // SAFETY: the type consists of integers or floating-point numbers, for which zeroes are valid.
            unsafe impl Zeroable for $type {}
            // SAFETY: the type consists of numbers without padding (`repr`), for which any bits are valid.
            unsafe impl Pod for $type {}

            impl Item for $type {}
        )*

        spelled! { $($type = $name;)* }
    };
}

items! {
    Float(f32) = "float";
    Double(f64) = "double";
    Char(c_char) = "char";
    SChar(i8) = "signed char";
    Short(i16) = "short";
    Int(i32) = "int";
    Long(i64) = "long";
    LongLong(i64) = "long long";
    UChar(u8) = "unsigned char";
    UShort(u16) = "unsigned short";
    UInt(u32) = "unsigned int";
    ULong(u64) = "unsigned long";
    ULongLong(u64) = "unsigned long long";
    Int8(i8) = "int8_t";
    Int16(i16) = "int16_t";
    Int32(i32) = "int32_t";
    Int64(i64) = "int64_t";
    UInt8(u8) = "uint8_t";
    UInt16(u16) = "uint16_t";
    UInt32(u32) = "uint32_t";
    UInt64(u64) = "uint64_t";
    Size(usize) = "size_t";
    PtrDiff(isize) = "ptrdiff_t";
}

/// `long double`: 16 bytes, because Rust has no such type.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct LongDouble(pub(crate) [u64; 2]);

macro_rules! complex {
    ($($type:ident($part:ty);)*) => {$(
        /// The real part and the imaginary part.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub(crate) struct $type(pub(crate) $part, pub(crate) $part);

        impl Numeric for $type {
            type Number = Self;
        }

        impl Arithmetic for $type {
            const ROUNDS: bool = true;

            fn plus(self, other: Self) -> Self {
                Self(self.0 + other.0, self.1 + other.1)
            }

            fn times(self, other: Self) -> Self {
                Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
            }
        }
    )*};
}
complex! {
    ComplexFloat(f32);
    ComplexDouble(f64);
}

/// Elements of `N` bytes without arithmetic, for routines such as `put64` and `putmem`.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Bytes<const N: usize>(pub(crate) [u8; N]);

pub(crate) type Bytes1 = Bytes<1>;
pub(crate) type Bytes2 = Bytes<2>;
pub(crate) type Bytes4 = Bytes<4>;
pub(crate) type Bytes8 = Bytes<8>;
pub(crate) type Bytes16 = Bytes<16>;

plain! {
    LongDouble = "long double";
    ComplexFloat = "shmem_complex_float";
    ComplexDouble = "shmem_complex_double";
    Bytes1 = "void";
    Bytes2 = "void";
    Bytes4 = "void";
    Bytes8 = "void";
    Bytes16 = "void";
}

/// `shmem_ctx_t`: a constant of the specification, or a [handle](crate::handles).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Ctx(pub(crate) usize);

impl Ctx {
    pub(crate) const DEFAULT: Self = Self(0);
    pub(crate) const INVALID: Self = Self(usize::MAX);
}

/// `shmem_team_t`: a constant of the specification, or a [handle](crate::handles).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Team(pub(crate) usize);

impl Team {
    pub(crate) const INVALID: Self = Self(0);
    pub(crate) const WORLD: Self = Self(1);
    pub(crate) const SHARED: Self = Self(2);
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct TeamConfig {
    pub(crate) num_contexts: c_int,
}

/// The mask bit of `num_contexts`, the only field of a [`TeamConfig`].
pub(crate) const SHMEM_TEAM_NUM_CONTEXTS: c_long = 1;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct SessionConfig {
    pub(crate) total_ops: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PartitionInfo {
    pub(crate) id: c_int,
    pub(crate) size: usize,
    pub(crate) page_size: usize,
    pub(crate) name: [c_char; 32],
}

pub(crate) const SHMEM_THREAD_SINGLE: c_int = 0;
pub(crate) const SHMEM_THREAD_MULTIPLE: c_int = 3;

pub(crate) const SHMEM_CTX_SERIALIZED: c_long = 1;
pub(crate) const SHMEM_CTX_PRIVATE: c_long = 2;

pub(crate) type Nothing = ();
