//! Memory accesses in assembly, for x86-64 and 64-bit Arm. The compiler cannot see into them.
//!
//! Long copies call the C library's `memmove`, which is tuned for the machine, from assembly. The compiler would recognise a call
//! in Rust, and treat it as a copy by plain accesses.

use core::arch::asm;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__m128i;

use super::register::Register;

#[cfg(target_arch = "x86_64")]
pub(crate) type Sixteen = __m128i;

#[cfg(target_arch = "aarch64")]
pub(crate) type Sixteen = core::arch::aarch64::uint8x16_t;

macro_rules! registers {
    ($($register:ty: $class:ident $load:literal $store:literal;)*) => {$(
        impl Register for $register {
            const BYTES: usize = size_of::<$register>();

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                let register;
                // SAFETY: reads `BYTES` bytes at `from`, which are readable (caller). Every bit pattern is valid.
                unsafe {
                    asm!($load, out($class) register, in(reg) from, options(nostack, preserves_flags, readonly));
                }
                register
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: writes `BYTES` bytes at `to`, which are writable (caller).
                unsafe { asm!($store, in($class) self, in(reg) to, options(nostack, preserves_flags)) };
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
registers! {
    u16: reg "movzx {0:e}, word ptr [{1}]" "mov word ptr [{1}], {0:x}";
    u32: reg "mov {0:e}, dword ptr [{1}]" "mov dword ptr [{1}], {0:e}";
    u64: reg "mov {0:r}, qword ptr [{1}]" "mov qword ptr [{1}], {0:r}";
    u8: reg_byte "mov {0}, byte ptr [{1}]" "mov byte ptr [{1}], {0}";
}

// AVX instructions if the surrounding code has them, because mixing AVX and SSE is slow on some processors.
#[cfg(all(target_arch = "x86_64", target_feature = "avx"))]
registers!(__m128i: xmm_reg "vmovdqu {0}, xmmword ptr [{1}]" "vmovdqu xmmword ptr [{1}], {0}";);
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx")))]
registers!(__m128i: xmm_reg "movdqu {0}, xmmword ptr [{1}]" "movdqu xmmword ptr [{1}], {0}";);

#[cfg(target_arch = "aarch64")]
registers! {
    u8: reg "ldrb {0:w}, [{1}]" "strb {0:w}, [{1}]";
    u16: reg "ldrh {0:w}, [{1}]" "strh {0:w}, [{1}]";
    u32: reg "ldr {0:w}, [{1}]" "str {0:w}, [{1}]";
    u64: reg "ldr {0:x}, [{1}]" "str {0:x}, [{1}]";
    Sixteen: vreg "ldr {0:q}, [{1}]" "str {0:q}, [{1}]";
}

/// Calls a function of three arguments by the C ABI, whose clobbers are declared. Without `nostack`, the compiler aligns the stack.
macro_rules! call {
    ($function:path, $first:expr, $second:expr, $third:expr) => {{
        #[cfg(target_arch = "x86_64")]
        asm!(
            "call qword ptr [rip + {function}@GOTPCREL]",
            function = sym $function,
            inout("rdi") $first => _,
            inout("rsi") $second => _,
            inout("rdx") $third => _,
            clobber_abi("C"),
        );
        #[cfg(target_arch = "aarch64")]
        asm!(
            "bl {function}",
            function = sym $function,
            inout("x0") $first => _,
            inout("x1") $second => _,
            inout("x2") $third => _,
            clobber_abi("C"),
        );
    }};
}

/// Size of a part, in bytes. No C library copies that few bytes by `rep movsb`.
const PART: usize = 2048;

/// Number of bytes from which on C libraries bypass the caches, which saves more time than copying in parts.
const HUGE: usize = 1 << 20;

const PAGE: usize = 4096;
const LINE: usize = 64;

/// Copies any number of bytes that others may access at the same time. Source and destination may overlap.
///
/// The C library copies lengths of some KiB by `rep movsb`. If the destination's offset in its page is above the source's by less
/// than a cache line, processors that compare only the low 12 bits of addresses take each load for one of a byte just stored (4K
/// aliasing). On AMD's Zen 3, such a copy takes 25 times as long, unless it is in parts, which the library copies by vectors.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised.
#[inline(always)]
pub(super) unsafe fn copy_long(to: *mut u8, from: *const u8, bytes: usize) {
    if cfg!(target_arch = "x86_64") && bytes > PART && follows_itself(to, from, bytes) {
        // SAFETY: both sides are valid for `bytes` bytes (caller), and do not overlap (`follows_itself`).
        unsafe { copy_in_parts(to, from, bytes) };
    } else {
        // SAFETY: both sides are valid for `bytes` bytes (caller).
        unsafe { memmove(to, from, bytes) };
    }
}

/// Whether a copy is shorter than [`HUGE`], suffers from 4K aliasing, and has no overlap of source and destination.
#[inline]
fn follows_itself(to: *mut u8, from: *const u8, bytes: usize) -> bool {
    let ahead = to.addr().wrapping_sub(from.addr());
    (1..LINE).contains(&(ahead % PAGE)) && bytes < HUGE && ahead >= bytes && ahead.wrapping_neg() >= bytes
}

/// Copies in parts of [`PART`] bytes.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised. The two must not overlap.
#[cold]
#[inline(never)]
unsafe fn copy_in_parts(mut to: *mut u8, mut from: *const u8, mut bytes: usize) {
    while bytes > 0 {
        let part = bytes.min(PART);
        // SAFETY: `part` bytes from here on are inside both sides (caller).
        unsafe { memmove(to, from, part) };
        (to, from, bytes) = (to.wrapping_add(part), from.wrapping_add(part), bytes - part);
    }
}

/// Copies by the C library's `memmove`.
///
/// # Safety
///
/// `from` must be readable and `to` writable for `bytes` bytes, which are initialised.
#[inline(always)]
unsafe fn memmove(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: calls `memmove` with sides that are valid for `bytes` bytes (caller).
    unsafe { call!(libc::memmove, to, from, bytes) };
}

/// Writes zeroes, by the C library's `memset`.
///
/// # Safety
///
/// `to` must be writable for `bytes` bytes.
#[inline]
pub unsafe fn zero(to: *mut u8, bytes: usize) {
    // SAFETY: calls `memset` for memory that is writable for `bytes` bytes (caller).
    unsafe { call!(libc::memset, to, 0_usize, bytes) };
}
