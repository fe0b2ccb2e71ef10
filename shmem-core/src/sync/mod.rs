//! Synchronisation of PEs through shared memory: they spin or yield briefly, then sleep in the kernel.
//!
//! * [`Doorbell`]: one per PE, rung after a change of a word for which its owner may wait.
//! * [`NodeBarrier`]: a barrier of the PEs of one node, by a counter. It checks that all arrive for one purpose.
//! * [`BarrierLines`]: such a barrier of few PEs, each of which reads the flags of all others.
//! * [`RingWords`]: counters of a ring buffer between one PE and the others.
//! * [`SignatureWords`]: the call signature of a PE in a barrier, word for word.
//! * [`Turns`]: exchanges between neighbours through two buffers, without a barrier.
//! * [`Patience`]: how long to spin or yield before sleeping.
//!
//! The algorithms import their atomics from `loom_atomics`. Loom checks them exhaustively, lost wake-ups included (`ci/loom.sh`).

mod counter_barrier;
mod doorbell;
mod flag_barrier;
mod neighbour_exchange;
mod patience;
mod ring_counters;

pub use counter_barrier::{Arrival, NodeBarrier, SIGNATURE_WORDS, SignatureWords};
pub use doorbell::Doorbell;
pub use flag_barrier::{BarrierLines, LINE_BYTES, Shown};
pub use neighbour_exchange::{Turn, Turns};
pub use patience::Patience;
pub use ring_counters::RingWords;

/// A value on cache lines of its own: 128 bytes, because processors fetch lines in pairs.
#[derive(Debug)]
#[repr(C, align(128))]
struct OwnLine<T>(T);
