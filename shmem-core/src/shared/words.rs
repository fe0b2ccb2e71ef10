//! The accesses of [`shared`](super) by relaxed atomic words and bytes, for targets and tools without our assembly.
//!
//! A copy by words and a copy by bytes may access the same memory. Rust does not define atomics of mixed sizes yet. In the
//! compiler's own memory model, which is by bytes, they mean what the head of [`shared`](super) says.

use core::sync::atomic::Ordering;

use super::register::Register;

#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Sixteen([u8; 16]);

const WORD: usize = size_of::<u64>();

macro_rules! registers {
    ($($register:ty: $atomic:ident;)*) => {$(
        impl Register for $register {
            const BYTES: usize = size_of::<$register>();

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                use core::sync::atomic::$atomic;
                if cfg!(miri) {
                    // To Miri, an atomic claims write permission, which shared borrows lack.
                    // SAFETY: `from` is readable (caller), and no test that Miri runs writes there meanwhile.
                    return unsafe { from.cast::<Self>().read_unaligned() };
                }
                if from.addr().is_multiple_of(Self::BYTES) {
                    // SAFETY: `from` is readable (caller), and was found aligned.
                    return unsafe { $atomic::from_ptr(from.cast_mut().cast()) }.load(Ordering::Relaxed);
                }
                // SAFETY: all bytes of the register are readable (caller).
                <$register>::from_ne_bytes(core::array::from_fn(|i| unsafe { u8::load(from.wrapping_add(i)) }))
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                use core::sync::atomic::$atomic;
                if cfg!(miri) {
                    // Miri does not support atomics of mixed sizes.
                    // SAFETY: `to` is writable (caller), and no test that Miri runs reads there meanwhile.
                    return unsafe { to.cast::<Self>().write_unaligned(self) };
                }
                if to.addr().is_multiple_of(Self::BYTES) {
                    // SAFETY: `to` is writable (caller), and was found aligned.
                    return unsafe { $atomic::from_ptr(to.cast()) }.store(self, Ordering::Relaxed);
                }
                for (i, value) in self.to_ne_bytes().into_iter().enumerate() {
                    // SAFETY: all bytes of the register are writable (caller).
                    unsafe { value.store(to.wrapping_add(i)) };
                }
            }
        }
    )*};
}

registers! {
    u8: AtomicU8;
    u16: AtomicU16;
    u32: AtomicU32;
    u64: AtomicU64;
}

impl Register for Sixteen {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: both words of the register are readable (caller).
        Self(bytemuck::cast([0, WORD].map(|at| unsafe { u64::load(from.wrapping_add(at)) })))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        let [first, second]: [u64; 2] = bytemuck::cast(self.0);
        // SAFETY: the first word of the register is writable (caller).
        unsafe { first.store(to) };
        // SAFETY: the second word of the register is writable (caller).
        unsafe { second.store(to.wrapping_add(WORD)) };
    }
}

/// Copies any number of bytes that others may access at the same time. Source and destination may overlap.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised.
pub(super) unsafe fn copy_long(to: *mut u8, from: *const u8, bytes: usize) {
    // Copies by words if source and destination have equal offsets in a word.
    let alike = to.addr() % WORD == from.addr() % WORD;
    let head = if alike { (from.addr().wrapping_neg() % WORD).min(bytes) } else { bytes };
    let words = (bytes - head) / WORD;
    let behind = head + words * WORD;
    let copy_byte = |at: usize| {
        // SAFETY: `at` is below `bytes`, so the byte is readable (caller).
        let value = unsafe { u8::load(from.wrapping_add(at)) };
        // SAFETY: `at` is below `bytes`, so the byte is writable (caller).
        unsafe { value.store(to.wrapping_add(at)) };
    };
    let copy_word = |word: usize| {
        let at = head + word * WORD;
        // SAFETY: the word is inside the `bytes` bytes, so readable (caller).
        let value = unsafe { u64::load(from.wrapping_add(at)) };
        // SAFETY: the word is inside the `bytes` bytes, so writable (caller).
        unsafe { value.store(to.wrapping_add(at)) };
    };
    // Copies backwards if `to` is inside the source.
    if to.addr().wrapping_sub(from.addr()) < bytes {
        (behind..bytes).rev().for_each(copy_byte);
        (0..words).rev().for_each(copy_word);
        (0..head).rev().for_each(copy_byte);
    } else {
        (0..head).for_each(copy_byte);
        (0..words).for_each(copy_word);
        (behind..bytes).for_each(copy_byte);
    }
}

/// Writes zeroes.
///
/// # Safety
///
/// `to` must be writable for `bytes` bytes.
pub unsafe fn zero(to: *mut u8, bytes: usize) {
    let head = (to.addr().wrapping_neg() % WORD).min(bytes);
    let behind = bytes - (bytes - head) % WORD;
    // SAFETY: the bytes before the first word and behind the last are writable (caller).
    (0..head).chain(behind..bytes).for_each(|at| unsafe { 0_u8.store(to.wrapping_add(at)) });
    // SAFETY: the words are inside the `bytes` bytes, so writable (caller).
    (head..behind).step_by(WORD).for_each(|at| unsafe { 0_u64.store(to.wrapping_add(at)) });
}
