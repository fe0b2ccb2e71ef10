//! Instructions of x86-64 that the compiler cannot see into.
//!
//! Long copies are a call of the C library's `memmove`, which knows the machine, made by an instruction of our own:
//! called by its name, the compiler would know what it does, and take it for a plain copy.

use core::arch::asm;
use core::arch::x86_64::__m128i;

use super::piece::Piece;

/// 16 bytes.
pub(crate) type Sixteen = __m128i;

macro_rules! pieces {
    ($($piece:ty: $class:ident $load:literal $store:literal;)*) => {$(
        impl Piece for $piece {
            const BYTES: usize = size_of::<$piece>();

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                let piece;
                // SAFETY: reads as many bytes, which are readable (caller); every bit pattern is a piece.
                unsafe {
                    asm!($load, out($class) piece, in(reg) from, options(nostack, preserves_flags, readonly));
                }
                piece
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: writes as many bytes, which are writable (caller).
                unsafe { asm!($store, in($class) self, in(reg) to, options(nostack, preserves_flags)) };
            }
        }
    )*};
}

pieces! {
    u16: reg "movzx {0:e}, word ptr [{1}]" "mov word ptr [{1}], {0:x}";
    u32: reg "mov {0:e}, dword ptr [{1}]" "mov dword ptr [{1}], {0:e}";
    u64: reg "mov {0:r}, qword ptr [{1}]" "mov qword ptr [{1}], {0:r}";
    u8: reg_byte "mov {0}, byte ptr [{1}]" "mov byte ptr [{1}], {0}";
}

// What the surrounding code is made of: mixing both costs some processors time.
#[cfg(target_feature = "avx")]
pieces!(__m128i: xmm_reg "vmovdqu {0}, xmmword ptr [{1}]" "vmovdqu xmmword ptr [{1}], {0}";);
#[cfg(not(target_feature = "avx"))]
pieces!(__m128i: xmm_reg "movdqu {0}, xmmword ptr [{1}]" "movdqu xmmword ptr [{1}], {0}";);

/// Bytes up to which no C library copies by the processor's own copy instruction.
const PART: usize = 2048;

/// Bytes from which on a C library goes round the caches, which is worth more than what parts save.
const HUGE: usize = 1 << 20;

/// Bytes of a page, and of a line.
const PAGE: usize = 4096;
const LINE: usize = 64;

/// As [`copy`](super::copy), of any length.
///
/// The C library copies some KiB by the processor's own instruction, `rep movsb`. Where the destination begins up to a
/// line further inside of its page than the source, processors that tell addresses apart by their low 12 bits
/// take each of its loads for one of what it has just stored: on AMD's Zen 3, a copy takes 25 times as long. In
/// parts, for which the library takes vectors, it takes its usual time.
///
/// # Safety
///
/// As [`copy`](super::copy).
#[inline(always)]
pub(super) unsafe fn copy_long(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes > PART && follows_itself(to, from, bytes) {
        // SAFETY: the caller's promise; the sides do not overlap, as just seen.
        unsafe { copy_in_parts(to, from, bytes) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { memmove(to, from, bytes) };
    }
}

/// Whether what is stored looks like what is loaded next, by the low bits of addresses, though the sides do not overlap.
#[inline]
fn follows_itself(to: *mut u8, from: *const u8, bytes: usize) -> bool {
    let ahead = to.addr().wrapping_sub(from.addr());
    (1..LINE).contains(&(ahead % PAGE)) && bytes < HUGE && ahead >= bytes && ahead.wrapping_neg() >= bytes
}

/// As [`copy_long`], part for part.
///
/// # Safety
///
/// As [`copy`](super::copy); the sides must not overlap.
#[cold]
#[inline(never)]
unsafe fn copy_in_parts(mut to: *mut u8, mut from: *const u8, mut bytes: usize) {
    while bytes > 0 {
        let part = bytes.min(PART);
        // SAFETY: a part of both sides (caller).
        unsafe { memmove(to, from, part) };
        (to, from, bytes) = (to.wrapping_add(part), from.wrapping_add(part), bytes - part);
    }
}

/// The C library's copy.
///
/// # Safety
///
/// As [`copy`](super::copy).
#[inline(always)]
unsafe fn memmove(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: a call of `memmove` as the C ABI has it, with sides that are valid for `bytes` bytes (caller); what
    // it may change is said, and the stack is aligned where nobody says `nostack`.
    unsafe {
        asm!(
            "call qword ptr [rip + {memmove}@GOTPCREL]",
            memmove = sym libc::memmove,
            inout("rdi") to => _,
            inout("rsi") from => _,
            inout("rdx") bytes => _,
            clobber_abi("C"),
        );
    }
}

/// As [`zero`](super::zero), by the C library's `memset`.
///
/// # Safety
///
/// As [`zero`](super::zero).
#[inline]
pub(super) unsafe fn zero_long(to: *mut u8, bytes: usize) {
    // SAFETY: a call of `memset` as the C ABI has it, for memory that is writable for `bytes` bytes (caller); what
    // it may change is said, and the stack is aligned where nobody says `nostack`.
    unsafe {
        asm!(
            "call qword ptr [rip + {memset}@GOTPCREL]",
            memset = sym libc::memset,
            inout("rdi") to => _,
            inout("esi") 0 => _,
            inout("rdx") bytes => _,
            clobber_abi("C"),
        );
    }
}
