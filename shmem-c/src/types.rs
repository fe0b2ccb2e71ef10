//! What C programs hand over: its types, as types of their own where C tells apart what Rust does not.
//!
//! `long`, `long long`, `int64_t` and `ptrdiff_t` are one type of Rust and four families of routines. Each is a transparent
//! struct here, so that a row of the table knows what its type is called in C.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::fmt;
use std::ops::{Add as _, Mul as _};

use bytemuck::{Pod, Zeroable};

/// A type of C, by its name in a prototype.
pub trait Spelled {
    /// As C writes it.
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

/// An element of C's: any bytes are one, and it moves as its bytes.
pub trait Item: Pod + Spelled {}

/// An element that is compared, in waits.
pub trait Compared: Item + PartialOrd + fmt::Display {}

impl<T: Item + PartialOrd + fmt::Display> Compared for T {}

/// An element that is reduced as a number.
pub trait Numeric: Item {
    /// The number: of Rust, where Rust has it.
    type Number: Arithmetic;
}

/// A number that is added and multiplied: integers wrap, reals round.
pub trait Arithmetic: Pod {
    /// Whether a sum depends on the order.
    const ROUNDS: bool;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
}

/// A number that is changed atomically.
pub trait Number: Arithmetic {
    /// One.
    const ONE: Self;
    /// Its bits, in the low ones of a word.
    fn bits(self) -> u64;
    /// What has these bits.
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
            #[doc = concat!("`", $name, "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
            #[repr(transparent)]
            pub struct $type(pub $inner);

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

// What any bytes are.
macro_rules! plain {
    ($($type:ty = $name:literal;)*) => {
        $(
            // SAFETY: numbers, of which all zeroes are one.
            unsafe impl Zeroable for $type {}
            // SAFETY: numbers that fill it (`repr`), and of which any bits are one.
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

/// `long double`: 16 bytes, of which Rust knows no number.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct LongDouble(pub [u64; 2]);

macro_rules! complex {
    ($($type:ident($part:ty) = $name:literal;)*) => {$(
        #[doc = concat!("`", $name, "`: the real part, and the imaginary one.")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub struct $type(pub $part, pub $part);

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
    ComplexFloat(f32) = "float complex";
    ComplexDouble(f64) = "double complex";
}

/// Elements of so many bytes, and no number: what `put64` and `putmem` move.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Bytes<const N: usize>(pub [u8; N]);

/// Elements of one byte.
pub type Bytes1 = Bytes<1>;
/// Elements of two bytes.
pub type Bytes2 = Bytes<2>;
/// Elements of four bytes.
pub type Bytes4 = Bytes<4>;
/// Elements of eight bytes.
pub type Bytes8 = Bytes<8>;
/// Elements of sixteen bytes.
pub type Bytes16 = Bytes<16>;

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

/// `shmem_ctx_t`: [`Ctx::DEFAULT`], [`Ctx::INVALID`], or the place of a context with the turn in which it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ctx(pub usize);

impl Ctx {
    /// `SHMEM_CTX_DEFAULT`.
    pub const DEFAULT: Self = Self(0);
    /// `SHMEM_CTX_INVALID`.
    pub const INVALID: Self = Self(usize::MAX);
}

/// `shmem_team_t`: a constant, or the address of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Team(pub usize);

impl Team {
    /// `SHMEM_TEAM_INVALID`.
    pub const INVALID: Self = Self(0);
    /// `SHMEM_TEAM_WORLD`.
    pub const WORLD: Self = Self(1);
    /// `SHMEM_TEAM_SHARED`.
    pub const SHARED: Self = Self(2);
}

/// `shmem_team_config_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TeamConfig {
    /// Contexts that the team may have.
    pub num_contexts: c_int,
}

/// `SHMEM_TEAM_NUM_CONTEXTS`: the field of a [`TeamConfig`] that is meant.
pub const TEAM_NUM_CONTEXTS: c_long = 1;

/// `shmem_ctx_session_config_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SessionConfig {
    /// Operations of the session, at most.
    pub total_ops: usize,
}

/// What `shmemx_partition_info` tells.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PartitionInfo {
    /// Its number.
    pub id: c_int,
    /// Bytes of its heap.
    pub size: usize,
    /// Bytes of the pages that it was given on this PE.
    pub page_size: usize,
    /// Its name, closed by a zero.
    pub name: [c_char; 32],
}

/// `SHMEM_THREAD_SINGLE` to `SHMEM_THREAD_MULTIPLE`.
pub mod threads {
    use std::ffi::c_int;

    /// One thread.
    pub const SINGLE: c_int = 0;
    /// The first thread alone communicates.
    pub const FUNNELED: c_int = 1;
    /// One thread at a time does.
    pub const SERIALIZED: c_int = 2;
    /// Any does.
    pub const MULTIPLE: c_int = 3;
}

/// Options of contexts.
pub mod options {
    use std::ffi::c_long;

    /// `SHMEM_CTX_SERIALIZED`.
    pub const SERIALIZED: c_long = 1;
    /// `SHMEM_CTX_PRIVATE`.
    pub const PRIVATE: c_long = 2;
    /// `SHMEM_CTX_NOSTORE`.
    pub const NOSTORE: c_long = 4;
}

/// What a row of the table has for a type where it has none.
pub type Nothing = ();
