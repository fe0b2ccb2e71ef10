//! Which vectors this machine has.

use core::sync::atomic::{AtomicU8, Ordering};

/// Sets of vector instructions, each including those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// What every processor of the architecture has.
    Baseline,
    /// Vectors of 32 bytes.
    Avx2,
    /// Vectors of 64 bytes, and stores of single lanes.
    Avx512,
}

impl Isa {
    /// All of them, narrowest first.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// The widest set that this machine has, asked for once.
    #[inline]
    pub fn best() -> Self {
        match BEST.load(Ordering::Relaxed) {
            1 => Self::Baseline,
            2 => Self::Avx2,
            3 => Self::Avx512,
            _ => Self::find(),
        }
    }

    #[cold]
    fn find() -> Self {
        let found = detect();
        BEST.store(found as u8 + 1, Ordering::Relaxed);
        found
    }
}

/// One more than the set, or 0 before the first question.
static BEST: AtomicU8 = AtomicU8::new(0);

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn detect() -> Isa {
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    match (wide, is_x86_feature_detected!("avx2")) {
        (true, true) => Isa::Avx512,
        (false, true) => Isa::Avx2,
        (_, false) => Isa::Baseline,
    }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn detect() -> Isa {
    Isa::Baseline
}
