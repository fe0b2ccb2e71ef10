//! Faults planted in the algorithms, which tests and models must find.

/// Whether the fault `name` is switched on. Then the model or the test that watches for this fault must fail (`ci/loom.sh`,
/// `ci/mutants.sh`). Only builds for these scripts have faults. In other builds this returns `false`, and the faulty code is left
/// out.
#[cfg(not(any(loom, mutants)))]
#[doc(hidden)]
#[inline(always)]
pub const fn mutant(_name: &str) -> bool {
    false
}

/// Whether the fault `name` is switched on, by the variable `MUTANT`.
#[cfg(any(loom, mutants))]
#[doc(hidden)]
pub fn mutant(name: &str) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("MUTANT").ok()).as_deref() == Some(name)
}
