//! Vector instructions of this machine, and the maker of its processor.

use core::sync::atomic::{AtomicU8, Ordering};

/// Number of the best set, from 1; 0 before detection. Every strided call reads it: a `LazyLock` would cost a nanosecond.
static BEST: AtomicU8 = AtomicU8::new(0);

/// A set of vector instructions. Each set includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// The instructions of every processor of the architecture.
    Baseline,
    /// Vectors of 32 bytes.
    Avx2,
    /// AVX-512 on a machine that moves 64 bytes in two steps. Masked accesses have 64 bytes, but plain copies 32, which is faster.
    Masked,
    /// AVX-512 on a machine that moves 64 bytes in one step.
    Avx512,
}

impl Isa {
    /// All instruction sets, narrowest first.
    pub const ALL: [Self; 4] = [Self::Baseline, Self::Avx2, Self::Masked, Self::Avx512];

    /// Whether this machine has the instructions of the set. With `Masked` as its best set, it also has those of `Avx512`.
    pub fn is_available(self) -> bool {
        match self {
            Self::Masked | Self::Avx512 => Self::best() >= Self::Masked,
            _ => Self::best() >= self,
        }
    }

    /// Returns the instruction set that is fastest on this machine, detected once.
    #[inline]
    pub fn best() -> Self {
        let number = BEST.load(Ordering::Relaxed);
        // Compiles to one comparison.
        Self::ALL.into_iter().find(|isa| *isa as u8 + 1 == number).unwrap_or_else(Self::find)
    }

    #[cold]
    fn find() -> Self {
        let found = detect();
        BEST.store(found as u8 + 1, Ordering::Relaxed);
        found
    }
}

#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
fn detect() -> Isa {
    let lanes = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    match (lanes, is_x86_feature_detected!("avx2")) {
        (true, true) if in_two_steps() => Isa::Masked,
        (true, true) => Isa::Avx512,
        (false, true) => Isa::Avx2,
        (_, false) => Isa::Baseline,
    }
}

/// Whether a machine with AVX-512 moves 64 bytes in two steps: AMD's family 19h (Zen 4).
#[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
#[allow(unused_unsafe, reason = "a safe function since Rust 1.94")]
fn in_two_steps() -> bool {
    // SAFETY: every x86-64 processor has the `cpuid` instruction with leaf 1.
    let signature = unsafe { core::arch::x86_64::__cpuid(1) }.eax;
    let (family, extended) = (signature >> 8 & 0xf, signature >> 20 & 0xff);
    Maker::find() == Maker::Amd && family + extended == 0x19
}

#[cfg(any(not(target_arch = "x86_64"), miri, shmem_words))]
fn detect() -> Isa {
    Isa::Baseline
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strided) enum Maker {
    #[cfg_attr(
        any(not(target_arch = "x86_64"), miri, shmem_words),
        allow(dead_code, reason = "others are not asked")
    )]
    Amd,
    /// Intel and others.
    Other,
}

impl Maker {
    #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
    #[allow(unused_unsafe, reason = "a safe function since Rust 1.94")]
    pub(in crate::strided) fn find() -> Self {
        // SAFETY: every x86-64 processor has the `cpuid` instruction with leaf 0.
        let name = unsafe { core::arch::x86_64::__cpuid(0) };
        let name = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes).concat();
        if name == b"AuthenticAMD" { Self::Amd } else { Self::Other }
    }

    #[cfg(any(not(target_arch = "x86_64"), miri, shmem_words))]
    pub(in crate::strided) fn find() -> Self {
        Self::Other
    }
}
