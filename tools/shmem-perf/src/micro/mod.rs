//! The usual micro-benchmarks between two PEs of a node, by the definitions of the OSU benchmarks, ours beside
//! those of [peers](crate::peers): latency, bandwidth, message rate, atomic operations and collectives.
//!
//! All do the same work: what is sent is the PE's own memory, a put is complete at its destination before the
//! next one begins (`quiet`), and messages of a window are completed together. A peer's program says in
//! `examples/peers/micro.h` what it does; ours is in `ours`. The lowest of the peers is no library: C over `mmap`,
//! whose `quiet` is a full fence as ours is.
//!
//! ```text
//! operation    what is measured, and what asks a peer for it
//! ours         the same by our own routines
//! comparison   ours and all peers, in turn
//! ```

mod comparison;
mod operation;
mod ours;

pub use comparison::{Comparison, beside};
pub use operation::{MicroCase, ONE_SIDED, Operation, QUICK, TWO_SIDED, WINDOW};
pub use ours::{Objects, Ours, Places};

/// What asks a peer for each case.
#[cfg(test)]
pub(crate) fn requests() -> impl Iterator<Item = crate::peers::Request> {
    ONE_SIDED.into_iter().chain(TWO_SIDED).map(MicroCase::request)
}
