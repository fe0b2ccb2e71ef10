//! Loads, stores and copies of memory that others may read and write at the same time.
//!
//! Outside phases every PE may write everywhere, and so may every thread of a `multiple` world, while
//! others read there. As plain accesses that would be a data race, which is undefined behaviour, so there are
//! none. Symmetric memory is touched in two ways:
//!
//! * A number (`u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `usize`, `isize`) where an operation names one: by one
//!   relaxed atomic access of its size, which the compiler inlines. Types say what is a number, so such an
//!   access always meets others of the same place and size, or assembly.
//! * Everything else (structs, arrays, slices, bytes, blocks of strided transfers): by instructions that the
//!   compiler cannot see into, here and in the kernels of strided transfers. To Rust, a block of assembly is as
//!   good as any code that has its effect. Ours stands for relaxed atomic accesses of every byte, in
//!   any order, joined to words where somebody else accesses a word: what the processor does. So it races with
//!   nobody. What is read may be mixed from several writes, and is a value all the same: every bit pattern is one.
//!
//! Several processes share the same memory with the same instructions. The processor must make a store of at most 8 aligned bytes
//! one store, and order all earlier accesses before locked instructions and the fences of `primitive`.
//!
//! Other processors than x86-64 and 64-bit Arm, Miri, and builds with `--cfg shmem_words` copy by relaxed atomic words and
//! bytes (`words`). That is for ThreadSanitizer, which knows nothing of assembly: it checks in such a
//! build that no plain access is left beside the accesses of this module. Of the assembly itself it sees
//! nothing; what that may touch is what its callers prove.

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(any(miri, shmem_words))))]
mod assembly;
mod register;
#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri, shmem_words))]
mod words;

use core::any::TypeId;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use bytemuck::Pod;

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(any(miri, shmem_words))))]
use assembly as accesses;
#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri, shmem_words))]
use words as accesses;

pub(crate) use accesses::Sixteen;
use accesses::{copy_long, zero_long};
pub(crate) use register::{Ends, One, Quad, Register, Registers};

/// Bytes up to which [`copy`] has instructions of its own.
const SHORT: usize = 64;

/// Whether a type is a number of at most 8 bytes, accessed by one atomic instruction. Known while compiling.
#[inline(always)]
pub(crate) fn is_number<T: 'static>() -> bool {
    macro_rules! is_one_of {
        ($($number:ty)*) => {
            $(TypeId::of::<T>() == TypeId::of::<$number>())||*
        };
    }
    is_one_of!(u64 f64 i64 usize isize u32 f32 i32 u8 i8 u16 i16)
}

/// Reads a value: a number in one access, and so whatever has 1, 2, 4 or 8 bytes at a multiple of its size.
///
/// # Safety
///
/// `from` must be aligned and readable, and no pointer from a shared reference: an atomic is one that may write. What
/// may be the program's own is `read`.
#[inline(always)]
pub unsafe fn load<T: Pod>(from: *const T) -> T {
    macro_rules! word {
        ($atomic:ident) => {{
            // SAFETY: a number of that size, aligned and readable (caller); others access it by atomics of its size, or by
            // assembly.
            let word = unsafe { $atomic::from_ptr(from.cast_mut().cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }};
    }
    // Branches on constants: one is left in each instance.
    match (size_of::<T>(), is_number::<T>()) {
        (8, true) => word!(AtomicU64),
        (4, true) => word!(AtomicU32),
        (2, true) => word!(AtomicU16),
        (1, true) => word!(AtomicU8),
        // SAFETY: aligned and readable (caller).
        _ => unsafe { read(from) },
    }
}

/// As [`load`], of memory that may also be the program's own, borrowed for reading only: there, a reference to an atomic
/// would claim that it may be written.
///
/// # Safety
///
/// `from` must be aligned and readable.
#[inline(always)]
pub(crate) unsafe fn read<T: Pod>(from: *const T) -> T {
    // In registers: by way of memory, a longer read would wait for shorter writes.
    macro_rules! word {
        ($word:ident) => {
            // SAFETY: readable for the size of a `T` (caller).
            bytemuck::cast(unsafe { $word::load(from.cast()) })
        };
    }
    match size_of::<T>() {
        8 => word!(u64),
        4 => word!(u32),
        2 => word!(u16),
        1 => word!(u8),
        16 => {
            // SAFETY: readable for the size of a `T` (caller).
            let register = unsafe { Sixteen::load(from.cast()) };
            // SAFETY: both have 16 bytes, and every bit pattern is a `T` (`Pod`).
            unsafe { core::mem::transmute_copy(&register) }
        }
        bytes => {
            let mut value = MaybeUninit::<T>::uninit();
            // SAFETY: readable for the size of a `T` (caller), and as much is writable here.
            unsafe { copy(value.as_mut_ptr().cast(), from.cast(), bytes) };
            // SAFETY: all its bytes were written, and every bit pattern is a `T` (`Pod`).
            unsafe { value.assume_init() }
        }
    }
}

/// Writes a value: a number in one access, and so whatever has 1, 2, 4 or 8 bytes at a multiple of its size.
///
/// # Safety
///
/// `to` must be aligned and writable.
#[inline(always)]
pub unsafe fn store<T: Pod>(to: *mut T, value: T) {
    macro_rules! word {
        ($word:ident, $atomic:ident) => {
            if is_number::<T>() {
                // SAFETY: a number of that size, aligned and writable (caller); others access it by atomics of its size, or by
                // assembly.
                let word = unsafe { $atomic::from_ptr(to.cast()) };
                word.store(bytemuck::cast(value), Ordering::Relaxed);
            } else {
                // SAFETY: writable for the size of a `T` (caller).
                unsafe { bytemuck::cast::<T, $word>(value).store(to.cast()) };
            }
        };
    }
    match size_of::<T>() {
        8 => word!(u64, AtomicU64),
        4 => word!(u32, AtomicU32),
        2 => word!(u16, AtomicU16),
        1 => word!(u8, AtomicU8),
        16 => {
            // SAFETY: both have 16 bytes, and every bit pattern is a `Sixteen`.
            let register: Sixteen = unsafe { core::mem::transmute_copy(&value) };
            // SAFETY: writable for the size of a `T` (caller).
            unsafe { register.store(to.cast()) };
        }
        // SAFETY: writable for the size of a `T` (caller).
        _ => unsafe { write(to, value) },
    }
}

/// Writes any value, by a [`copy`] of its bytes: what an object begins as.
///
/// # Safety
///
/// `to` must be writable, and `T` have no padding.
#[inline(always)]
pub unsafe fn write<T>(to: *mut T, value: T) {
    let value = core::mem::ManuallyDrop::new(value);
    // SAFETY: as much is readable at `value`, and writable (caller).
    unsafe { copy(to.cast(), (&raw const value).cast(), size_of::<T>()) };
}

/// Copies bytes, either side of which others may access at the same time. They may overlap. Of a constant
/// length of up to 64 bytes it is a few instructions.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised.
#[inline(always)]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes <= SHORT {
        // SAFETY: the caller's promise.
        unsafe { copy_short(to, from, bytes) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { copy_long(to, from, bytes) };
    }
}

/// Copies between slices of the same length, of which nobody else writes either meanwhile. For long ones this is faster than
/// [`copy_from_slice`](slice::copy_from_slice) where sides lie badly to each other (`assembly`), as private
/// memory and chunks of the runtime do. Panics if they differ in length.
#[inline(always)]
pub fn copy_slice(to: &mut [u8], from: &[u8]) {
    assert!(to.len() == from.len(), "{} bytes to {}", from.len(), to.len());
    // SAFETY: slices of as many bytes, borrowed for reading and for writing.
    unsafe { copy(to.as_mut_ptr(), from.as_ptr(), from.len()) };
}

/// Copies at most [`SHORT`] bytes: everything is read before anything is written, so sides may overlap.
///
/// # Safety
///
/// As [`copy`].
#[inline]
unsafe fn copy_short(to: *mut u8, from: *const u8, bytes: usize) {
    macro_rules! by {
        ($registers:ty) => {
            // SAFETY: both sides are valid for the bytes (caller), which the registers fill.
            unsafe { <$registers>::of(bytes).copy(to, from) }
        };
    }
    match bytes {
        0 => {}
        1 => by!(One<u8>),
        2 => by!(One<u16>),
        4 => by!(One<u32>),
        8 => by!(One<u64>),
        16 => by!(One<Sixteen>),
        3 => by!(Ends<u16>),
        5..8 => by!(Ends<u32>),
        9..16 => by!(Ends<u64>),
        17..=32 => by!(Ends<Sixteen>),
        _ => by!(Quad<Sixteen>),
    }
}

/// Writes zeroes.
///
/// # Safety
///
/// `to` must be writable for `bytes` bytes.
#[inline]
pub unsafe fn zero(to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { zero_long(to, bytes) };
}

#[cfg(test)]
mod tests;
