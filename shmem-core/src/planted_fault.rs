//! Faults planted in the algorithms, which tests and models must find.

/// Whether the fault `name` is switched on: each model, and each test of an order, must then fail
/// (`ci/loom.sh`, `ci/mutants.sh`). Faults exist in builds for these scripts only; in every other build
/// this is `false`, and the faulty code is left out.
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
