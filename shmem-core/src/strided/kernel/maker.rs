//! Who has made this processor: what is fast differs by that, and nothing else tells.

/// Makers whose processors were found to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::strided) enum Maker {
    /// AMD.
    Amd,
    /// Intel, or whoever else.
    Other,
}

impl Maker {
    /// That of the processor that this runs on.
    #[cfg(all(target_arch = "x86_64", not(any(miri, shmem_words))))]
    #[allow(unused_unsafe, reason = "a safe function since Rust 1.94")]
    pub(in crate::strided) fn find() -> Self {
        // SAFETY: every x86-64 has this instruction, and leaf 0.
        let name = unsafe { core::arch::x86_64::__cpuid(0) };
        let name = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes).concat();
        if name == b"AuthenticAMD" { Self::Amd } else { Self::Other }
    }

    /// That of the processor that this runs on, which cannot be asked here.
    #[cfg(any(not(target_arch = "x86_64"), miri, shmem_words))]
    pub(in crate::strided) fn find() -> Self {
        Self::Other
    }
}
