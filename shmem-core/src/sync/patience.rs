//! How long to spin before sleeping.

use std::time::{Duration, Instant};

/// How long a PE spins before it sleeps in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    spin: Duration,
}

/// Longer than a round trip between cores and shorter than what a sleep and wake-up cost twice:
/// who waits longer than this is not waiting for a neighbour in the same loop.
const SPIN: Duration = Duration::from_micros(50);

/// What a byte may take from one node to another.
const BYTE: Duration = Duration::from_nanos(1);

/// Looks before each one at the clock, which takes as long as many a wait: some microseconds.
const LOOKS: u32 = 256;

impl Patience {
    /// For `pes` on this node sharing `cores`.
    ///
    /// When PEs outnumber cores, the one waited for may need the very core that the waiter spins
    /// on: then nobody spins.
    pub fn for_node(pes: usize, cores: usize) -> Self {
        Self { spin: if pes > cores { Duration::ZERO } else { SPIN } }
    }

    /// That for who waits until so many bytes have come from another node, of which it is known that they are on their way: in
    /// their time nothing else may change.
    #[must_use]
    pub fn for_bytes(self, bytes: usize) -> Self {
        if self.spins() {
            Self { spin: self.spin + BYTE * bytes.min(u32::MAX as usize) as u32 }
        } else {
            self
        }
    }

    /// Whether it spins at all: there is a core for each PE.
    pub fn spins(self) -> bool {
        !self.spin.is_zero()
    }

    /// Spins until `done`, or until patience ends; says which.
    #[inline]
    pub fn spin_until(self, mut done: impl FnMut() -> bool) -> bool {
        if done() {
            return true;
        }
        if !self.spins() {
            return false;
        }
        let mut start = None;
        loop {
            for _ in 0..LOOKS {
                if done() {
                    return true;
                }
                crate::primitive::spin_loop();
            }
            if start.get_or_insert_with(Instant::now).elapsed() >= self.spin {
                return false;
            }
        }
    }
}
