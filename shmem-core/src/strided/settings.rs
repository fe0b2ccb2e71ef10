//! What plans that are made while the program runs follow.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use super::algorithm::Algorithm;
use super::kernel::Maker;
use super::predicate::Thresholds;

/// The algorithm and the thresholds of plans made at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// How transfers are carried out.
    pub algorithm: Algorithm,
    /// What the choice of a kernel compares with.
    pub thresholds: Thresholds,
}

impl Default for Thresholds {
    /// What holds on this processor, unless somebody has measured.
    fn default() -> Self {
        Self::of(Maker::find())
    }
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

static DEFAULT: LazyLock<Settings> = LazyLock::new(Settings::default);

impl Settings {
    /// Makes these count for the rest of the process. Only the first call does; before it, the defaults
    /// count.
    pub fn install(self) {
        // Threads that stand for PEs all bring the same.
        if SETTINGS.set(self).is_ok() {
            IS_FIXED.store(self.algorithm != Algorithm::Auto, Ordering::Relaxed);
        }
    }
}

/// Whether an algorithm other than [`Algorithm::Auto`] counts: beside the settings, because every short
/// transfer asks.
static IS_FIXED: AtomicBool = AtomicBool::new(false);

/// Whether transfers are carried out as [`Algorithm::Auto`] says.
#[inline(always)]
pub(super) fn follows_auto() -> bool {
    !IS_FIXED.load(Ordering::Relaxed)
}

/// The settings that count.
#[inline]
pub fn settings() -> &'static Settings {
    SETTINGS.get().unwrap_or_else(|| &DEFAULT)
}
