//! The one right of a process to a world, and how many worlds live in it.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// Whether this process has had its world: 0 never, 1 has or had.
static WORLD: AtomicU8 = AtomicU8::new(0);

/// Worlds that live in this process: one at most, or one for each PE over loopback.
static WORLDS: AtomicUsize = AtomicUsize::new(0);

/// How many worlds live in this process.
pub(crate) fn worlds() -> usize {
    WORLDS.load(Ordering::Relaxed)
}

/// Counts a world while it lives.
pub(crate) struct Counted(());

impl Counted {
    pub(crate) fn new() -> Self {
        WORLDS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        WORLDS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes the one right to a world of this process.
pub(crate) fn claim() -> Result<()> {
    if WORLD.swap(1, Ordering::Relaxed) == 0 { Ok(()) } else { Err(Error::SecondWorld) }
}
