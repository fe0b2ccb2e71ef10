//! Loads, stores and copies of memory that other PEs and threads access concurrently.
//!
//! Outside phases (`World::local`, `frozen`) every PE, and every thread of a `multiple` world, may write symmetric memory while
//! others read it. With plain accesses that would be a data race: undefined behaviour. So symmetric memory is accessed in two ways
//! only:
//!
//! * A single number (`u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `usize`, `isize`) is accessed by one relaxed atomic of its size,
//!   which the compiler inlines. The type of an object determines where its numbers are, so other atomics access the number at the
//!   same address and with the same size. All other accesses to the number are assembly.
//! * Everything else (structs, arrays, slices, bytes, blocks of strided transfers) is accessed by instructions that the compiler
//!   cannot see into, here and in the kernels of strided transfers. To Rust, a block of assembly stands for any code with its
//!   effect. Ours stands for relaxed atomic accesses in any order: to words where another access is by words, else to bytes.
//!   That is what the processor does, so there is no race. A read may mix bytes of several writes, and its result is still valid,
//!   because every bit pattern is.
//!
//! Other processes access the memory by the same instructions. The processor must carry out a store of at most 8 aligned bytes as
//! one store, and order all earlier accesses before locked instructions and before the fences of `loom_atomics`.
//!
//! Other processors than x86-64 and 64-bit Arm, Miri, and builds with `--cfg shmem_words` copy by relaxed atomic words and bytes
//! (`words`). The option is for ThreadSanitizer, which does not see assembly: in such a build, it checks that no plain access races
//! with the accesses of this module. The assembly itself is not checked; its callers prove which memory it accesses.

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

/// Whether `T` is a number of at most 8 bytes, which one atomic instruction accesses. The compiler evaluates this.
#[inline(always)]
pub(crate) fn is_number<T: 'static>() -> bool {
    macro_rules! is_one_of {
        ($($number:ty)*) => {
            $(TypeId::of::<T>() == TypeId::of::<$number>())||*
        };
    }
    is_one_of!(u64 f64 i64 usize isize u32 f32 i32 u8 i8 u16 i16)
}

/// Reads a value. This is one access if `T` is a number, or has 1, 2, 4 or 8 bytes at a multiple of its size.
///
/// # Safety
///
/// `from` must be aligned and readable, and not derived from a shared reference, because an atomic claims write permission. For the
/// program's own memory, use `read`.
#[inline(always)]
pub unsafe fn load<T: Pod>(from: *const T) -> T {
    macro_rules! word {
        ($atomic:ident) => {{
            // SAFETY: `from` is an aligned, readable number of this size (caller). All other accesses are atomics of this size, or
            // assembly.
            let word = unsafe { $atomic::from_ptr(from.cast_mut().cast()) };
            bytemuck::cast(word.load(Ordering::Relaxed))
        }};
    }
    // The conditions are constant: each instance of this function has one of the branches.
    match (size_of::<T>(), is_number::<T>()) {
        (8, true) => word!(AtomicU64),
        (4, true) => word!(AtomicU32),
        (2, true) => word!(AtomicU16),
        (1, true) => word!(AtomicU8),
        // SAFETY: `from` is aligned and readable (caller).
        _ => unsafe { read(from) },
    }
}

/// Reads a value as [`load`] does, also from memory that is borrowed for reading only, where an atomic would claim write
/// permission.
///
/// # Safety
///
/// `from` must be aligned and readable.
#[inline(always)]
pub unsafe fn read<T: Pod>(from: *const T) -> T {
    // Reads into registers, because a long read of a temporary in memory would wait for the shorter writes before it.
    macro_rules! word {
        ($word:ident) => {
            // SAFETY: `from` is readable for the size of a `T` (caller).
            bytemuck::cast(unsafe { $word::load(from.cast()) })
        };
    }
    match size_of::<T>() {
        8 => word!(u64),
        4 => word!(u32),
        2 => word!(u16),
        1 => word!(u8),
        16 => {
            // SAFETY: `from` is readable for the size of a `T` (caller).
            let register = unsafe { Sixteen::load(from.cast()) };
            // SAFETY: both types have 16 bytes, and every bit pattern is a `T` (`Pod`).
            unsafe { core::mem::transmute_copy(&register) }
        }
        bytes => {
            let mut value = MaybeUninit::<T>::uninit();
            // SAFETY: `from` is readable (caller) and `value` writable for a `T`.
            unsafe { copy(value.as_mut_ptr().cast(), from.cast(), bytes) };
            // SAFETY: all bytes of `value` were written, and every bit pattern is a `T` (`Pod`).
            unsafe { value.assume_init() }
        }
    }
}

/// Writes a value. This is one access if `T` is a number, or has 1, 2, 4 or 8 bytes at a multiple of its size.
///
/// # Safety
///
/// `to` must be aligned and writable.
#[inline(always)]
pub unsafe fn store<T: Pod>(to: *mut T, value: T) {
    macro_rules! word {
        ($word:ident, $atomic:ident) => {
            if is_number::<T>() {
                // SAFETY: `to` is an aligned, writable number of this size (caller). All other accesses are atomics of this size,
                // or assembly.
                let word = unsafe { $atomic::from_ptr(to.cast()) };
                word.store(bytemuck::cast(value), Ordering::Relaxed);
            } else {
                // SAFETY: `to` is writable for the size of a `T` (caller).
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
            // SAFETY: both types have 16 bytes, and every bit pattern is a `Sixteen`.
            let register: Sixteen = unsafe { core::mem::transmute_copy(&value) };
            // SAFETY: `to` is writable for the size of a `T` (caller).
            unsafe { register.store(to.cast()) };
        }
        // SAFETY: `to` is writable for the size of a `T` (caller).
        _ => unsafe { write(to, value) },
    }
}

/// Writes any value, such as an initial value, by a [`copy`] of its bytes.
///
/// # Safety
///
/// `to` must be writable, and `T` must have no padding.
#[inline(always)]
pub unsafe fn write<T>(to: *mut T, value: T) {
    let value = core::mem::ManuallyDrop::new(value);
    // SAFETY: `value` is readable, and `to` writable (caller).
    unsafe { copy(to.cast(), (&raw const value).cast(), size_of::<T>()) };
}

/// Copies bytes that others may access at the same time. Source and destination may overlap. A constant length up to 64 bytes is
/// copied inline.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised.
#[inline(always)]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes <= SHORT {
        // SAFETY: both sides are valid for `bytes` bytes (caller).
        unsafe { copy_short(to, from, bytes) };
    } else {
        // SAFETY: both sides are valid for `bytes` bytes (caller).
        unsafe { copy_long(to, from, bytes) };
    }
}

/// Copies between slices of equal length, which nobody else writes meanwhile. For long slices this is faster than
/// [`copy_from_slice`](slice::copy_from_slice) if the low address bits of the slices collide (`assembly`), as those of private
/// memory and receive buffers of collectives do. Panics if the lengths differ.
#[inline(always)]
pub fn copy_slice(to: &mut [u8], from: &[u8]) {
    assert!(to.len() == from.len(), "{} bytes to {}", from.len(), to.len());
    // SAFETY: the slices have equal length, and are borrowed for writing and for reading.
    unsafe { copy(to.as_mut_ptr(), from.as_ptr(), from.len()) };
}

/// Copies at most [`SHORT`] bytes. All bytes are read before any is written, so source and destination may overlap.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised.
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
