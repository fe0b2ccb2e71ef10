//! Pieces of fixed size that one instruction reads and one writes: words of 1 to 8 bytes everywhere,
//! vectors of 16, 32 and 64 where the machine has them.
//!
//! As in `transport::shm`, another process may change the memory meanwhile; every bit pattern is a
//! value. No address needs to be aligned, and an aligned word is written by one store.

/// A piece that is read and written whole.
pub(super) trait Vector: Copy {
    /// How many bytes it has.
    const BYTES: usize;

    /// Reads a piece.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be readable, and the machine must have the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes a piece.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be writable, and the machine must have the instructions.
    unsafe fn store(self, to: *mut u8);
}

/// A word passes through a register that the optimiser cannot see into. Otherwise `-C
/// target-cpu=native` turns a loop over words into gathers and scatters, which are three times slower.
macro_rules! words {
    ($($word:ty: $class:ident $text:literal),*) => {$(
        impl Vector for $word {
            const BYTES: usize = size_of::<$word>();

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: readable (caller); every bit pattern is a word.
                let word = unsafe { from.cast::<$word>().read_unaligned() };
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                let word = {
                    let mut word = word;
                    // SAFETY: no instruction at all, and a register that keeps its value.
                    unsafe {
                        core::arch::asm!($text, inout($class) word,
                            options(nomem, nostack, preserves_flags));
                    }
                    word
                };
                word
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: writable (caller).
                unsafe { to.cast::<$word>().write_unaligned(self) };
            }
        }
    )*};
}

words!(u8: reg_byte "/* {0} */", u16: reg "/* {0:x} */", u32: reg "/* {0:e} */", u64: reg "/* {0} */");

/// 16 bytes by whatever the compiler takes: one register on aarch64, two elsewhere.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Portable16([u64; 2]);

#[cfg(any(not(target_arch = "x86_64"), miri))]
impl Vector for Portable16 {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: readable (caller); every bit pattern is a pair of words.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: writable (caller).
        unsafe { to.cast::<Self>().write_unaligned(self) };
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use core::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256,
        _mm256_storeu_si256, _mm512_loadu_si512, _mm512_storeu_si512,
    };

    use super::Vector;

    macro_rules! vectors {
        ($($vector:ty: $load:ident $store:ident),*) => {$(
            impl Vector for $vector {
                const BYTES: usize = size_of::<$vector>();

                #[inline(always)]
                unsafe fn load(from: *const u8) -> Self {
                    #[cfg(target_feature = "avx")]
                    let from = hidden(from);
                    // SAFETY: readable, and the machine has the instruction (caller).
                    unsafe { $load(from.cast()) }
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut u8) {
                    // SAFETY: writable, and the machine has the instruction (caller).
                    unsafe { $store(to.cast(), self) };
                }
            }
        )*};
    }

    /// The same address, of which the optimiser does not know that it is next to another. Told by `-C
    /// target-cpu=native` that there are wider vectors, it would make one of two neighbours, which is not
    /// what a kernel has chosen: a brake needs narrow stores, and some machines have slow wide ones.
    #[cfg(target_feature = "avx")]
    #[inline(always)]
    fn hidden(mut address: *const u8) -> *const u8 {
        // SAFETY: no instruction at all, and a register that keeps its value.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) address, options(nomem, nostack, preserves_flags));
        }
        address
    }

    vectors!(
        __m128i: _mm_loadu_si128 _mm_storeu_si128,
        __m256i: _mm256_loadu_si256 _mm256_storeu_si256,
        __m512i: _mm512_loadu_si512 _mm512_storeu_si512
    );
}
