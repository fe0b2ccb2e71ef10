//! Loads and stores of vectors of 32 and 64 bytes, each by one instruction. (Smaller registers are in `shared`.)
//!
//! Loads and stores are assembly, as are all accesses to memory that other PEs may change (`shared`). So the compiler does not
//! change a kernel: with `-C target-cpu=native` it would turn a loop over words into gathers and scatters, three times slower.

#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
pub(super) use x86::{load512, store512_of};

pub(super) use crate::shared::{Register as Vector, Sixteen};

#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
mod x86 {
    use core::arch::asm;
    use core::arch::x86_64::{__m256i, __m512i};

    use super::Vector;

    /// Implements [`Vector`] by one instruction for each load and store. The instructions are in functions, because only a function
    /// can enable the features that registers need. The functions are inlined into loops with the same features.
    macro_rules! moves {
        ($($vector:ty, $feature:literal: $class:ident $mov:literal, $load:ident $store:ident;)*) => {$(
            impl Vector for $vector {
                const BYTES: usize = size_of::<Self>();

                #[inline(always)]
                unsafe fn load(from: *const u8) -> Self {
                    // SAFETY: a vector is readable at `from`, and the machine has the instruction (caller).
                    unsafe { $load(from) }
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut u8) {
                    // SAFETY: a vector is writable at `to`, and the machine has the instruction (caller).
                    unsafe { $store(self, to) };
                }
            }

            /// # Safety
            ///
            /// A vector must be readable at `from`, and the machine must have the instruction.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(in super::super) unsafe fn $load(from: *const u8) -> $vector {
                let vector;
                // SAFETY: reads a vector at `from`, which is readable (caller).
                unsafe {
                    asm!(concat!($mov, " {}, [{}]"), out($class) vector, in(reg) from,
                        options(nostack, preserves_flags, readonly));
                }
                vector
            }

            /// # Safety
            ///
            /// A vector must be writable at `to`, and the machine must have the instruction.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn $store(vector: $vector, to: *mut u8) {
                // SAFETY: writes a vector at `to`, which is writable (caller).
                unsafe {
                    asm!(concat!($mov, " [{}], {}"), in(reg) to, in($class) vector,
                        options(nostack, preserves_flags));
                }
            }
        )*};
    }

    moves! {
        __m256i, "avx": ymm_reg "vmovdqu", load256 store256;
        __m512i, "avx512f": zmm_reg "vmovdqu64", load512 store512;
    }

    /// Writes the lanes of 4 bytes that are set in `mask`, and no other memory.
    ///
    /// # Safety
    ///
    /// The lanes in `mask` must be writable, and the machine must have AVX-512.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(in super::super) unsafe fn store512_of(mask: u16, vector: __m512i, to: *mut u8) {
        // SAFETY: writes only the lanes in `mask`, which are writable (caller). Other lanes cause no fault.
        unsafe {
            asm!("vmovdqu32 [{}] {{{}}}, {}", in(reg) to, in(kreg) mask, in(zmm_reg) vector,
                options(nostack, preserves_flags));
        }
    }
}
