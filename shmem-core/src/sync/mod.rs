//! Waiting without burning a shared core: spin or yield briefly, then sleep in the kernel.
//!
//! * [`Doorbell`]: one per PE. Whoever changes a word that its owner may wait for rings it.
//! * [`NodeBarrier`]: a checked barrier of the PEs of one node.
//! * [`MeetingLines`]: a checked meeting of few PEs, each of which looks at all others.
//! * [`RingWords`]: chunks that one PE fills and others take, several on their way.
//! * [`Statement`]: what a PE has come to a meeting for, word for word.
//! * [`Turns`]: exchanges between neighbours through two buffers, without a barrier.
//! * [`Patience`]: how long to look before sleeping, and whether to keep the CPU meanwhile.
//!
//! The algorithms import their atomics from [`primitive`](crate::primitive) and are checked
//! exhaustively with loom (`ci/loom.sh`), lost wake-ups included.

mod barrier;
mod doorbell;
mod exchange;
mod lines;
mod patience;
mod ring;

pub use barrier::{Arrival, NodeBarrier, STATEMENT_WORDS, Statement};
pub use doorbell::Doorbell;
pub use exchange::{Turn, Turns};
pub use lines::{LINE_BYTES, MeetingLines, Shown};
pub use patience::Patience;
pub use ring::RingWords;

/// A line of its own: 128 bytes, because processors fetch lines in pairs.
#[derive(Debug)]
#[repr(C, align(128))]
struct OwnLine<T>(T);
