//! Programs in which PEs write the same bytes at the same time on purpose, or in which calls are refused.

#[path = "../asleep/mod.rs"]
mod asleep;
#[path = "../asleep/attempts.rs"]
mod attempts;
#[path = "../calls/mod.rs"]
mod calls;
#[path = "../dice/mod.rs"]
mod dice;
#[path = "../held/mod.rs"]
mod held;
#[path = "../panics/mod.rs"]
mod panics;

mod array_strided;
mod arrays;
mod context;
/// Short programs that run many times. Each has a forbidden outcome that concerns order, atomicity or tearing.
mod histories {
    mod linearizability;
    mod litmus;
    mod races;
}
mod nonblocking;
mod phase;
mod statistics;
mod strided;
mod team;
mod testing;
mod threads;
