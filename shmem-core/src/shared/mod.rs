//! Loads, stores and copies of memory that other PEs and threads access concurrently.
//!
//! Outside phases every PE, and every thread of a `multiple` world, may write symmetric memory while
//! others read it. With plain accesses that would be a data race: undefined behaviour. So symmetric
//! memory is accessed in two ways only:
//!
//! * A number (`u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `usize`, `isize`) that an operation names: by one
//!   relaxed atomic access of its size, which the compiler inlines. Types determine numbers, so other accesses
//!   to the number have the same place and size, or are assembly.
//! * Everything else (structs, arrays, slices, bytes, blocks of strided transfers): by instructions that the
//!   compiler cannot see into, here and in the kernels of strided transfers. To Rust, a block of assembly stands
//!   for any code with its effect. Ours stands for relaxed atomic accesses of every byte, in any order, joined
//!   to words where another access is by words. The processor does exactly that, so there is no race. A read
//!   may mix several writes, and is still a value: every bit pattern is valid.
//!
//! Processes share the memory with the same instructions. The processor must make a store of at most 8 aligned bytes
//! one store, and order all earlier accesses before locked instructions and the fences of `loom_atomics`.
//!
//! Other processors than x86-64 and 64-bit Arm, Miri, and builds with `--cfg shmem_words` copy by relaxed atomic words and
//! bytes (`words`). That is for ThreadSanitizer, which does not see assembly: in such a build, it checks
//! that no plain access races with the accesses of this module. The assembly itself is not checked; its
//! callers prove which memory it accesses.

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
use accesses::copy_long;
pub use accesses::zero;
pub(crate) use register::{Ends, One, Quad, Register, Registers};

/// Upper limit on the bytes that [`copy`] copies by inline instructions.
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

/// Reads a value: in one access if it is a number, or has 1, 2, 4 or 8 bytes at a multiple of its size.
///
/// # Safety
///
/// `from` must be aligned and readable, and not from a shared reference, because an atomic claims write permission. For the
/// program's own memory, use `read`.
#[inline(always)]
pub unsafe fn load<T: Pod>(from: *const T) -> T {
    macro_rules! word {
        ($atomic:ident) => {{
            // SAFETY: a number of that size, aligned and readable (caller). All other accesses are atomics of its size, or
            // assembly.
            let word = unsafe { $atomic::from_ptr(from.cast_mut().cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }};
    }
    // Branches on constants: each instance keeps one.
    match (size_of::<T>(), is_number::<T>()) {
        (8, true) => word!(AtomicU64),
        (4, true) => word!(AtomicU32),
        (2, true) => word!(AtomicU16),
        (1, true) => word!(AtomicU8),
        // SAFETY: aligned and readable (caller).
        _ => unsafe { read(from) },
    }
}

/// As [`load`], but also of the program's own memory, borrowed for reading only. There, a reference to an atomic would
/// claim write permission.
///
/// # Safety
///
/// `from` must be aligned and readable.
#[inline(always)]
pub unsafe fn read<T: Pod>(from: *const T) -> T {
    // In registers, because through memory a long read would wait for shorter writes.
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
            // SAFETY: `from` is readable (caller) and `value` writable for a `T`.
            unsafe { copy(value.as_mut_ptr().cast(), from.cast(), bytes) };
            // SAFETY: all its bytes were written, and every bit pattern is a `T` (`Pod`).
            unsafe { value.assume_init() }
        }
    }
}

/// Writes a value: in one access if it is a number, or has 1, 2, 4 or 8 bytes at a multiple of its size.
///
/// # Safety
///
/// `to` must be aligned and writable.
#[inline(always)]
pub unsafe fn store<T: Pod>(to: *mut T, value: T) {
    macro_rules! word {
        ($word:ident, $atomic:ident) => {
            if is_number::<T>() {
                // SAFETY: a number of that size, aligned and writable (caller). All other accesses are atomics of its size, or
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

/// Writes any value, such as an initial value, by a [`copy`] of its bytes.
///
/// # Safety
///
/// `to` must be writable, and `T` have no padding.
#[inline(always)]
pub unsafe fn write<T>(to: *mut T, value: T) {
    let value = core::mem::ManuallyDrop::new(value);
    // SAFETY: `value` is readable, and `to` writable (caller).
    unsafe { copy(to.cast(), (&raw const value).cast(), size_of::<T>()) };
}

/// Copies bytes while others may access both sides. The sides may overlap. With a constant length of at most
/// 64 bytes, it is a few instructions.
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

/// Copies between slices of equal length, which nobody else writes meanwhile. For long slices this is faster than
/// [`copy_from_slice`](slice::copy_from_slice) if low address bits collide (`assembly`), as with private
/// memory and chunks of the runtime. Panics if the lengths differ.
#[inline(always)]
pub fn copy_slice(to: &mut [u8], from: &[u8]) {
    assert!(to.len() == from.len(), "{} bytes to {}", from.len(), to.len());
    // SAFETY: slices of equal length, borrowed for reading and writing.
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
            // SAFETY: both sides are valid for `bytes` bytes (caller).
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

#[cfg(test)]
mod tests;
