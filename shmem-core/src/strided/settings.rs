//! What plans that are made while the program runs follow.

use std::sync::OnceLock;

use super::algorithm::Algorithm;
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
    fn default() -> Self {
        Self::DEFAULT
    }
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

static DEFAULT: Settings = Settings { algorithm: Algorithm::Auto, thresholds: Thresholds::DEFAULT };

impl Settings {
    /// Makes these count for the rest of the process. Only the first call does; before it, the defaults
    /// count.
    pub fn install(self) {
        // Threads that stand for PEs all bring the same.
        let _ = SETTINGS.set(self);
    }
}

/// The settings that count.
#[inline]
pub fn settings() -> &'static Settings {
    SETTINGS.get().unwrap_or(&DEFAULT)
}
