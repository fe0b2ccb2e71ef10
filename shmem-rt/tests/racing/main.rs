//! What PEs may rely on, in programs in which some write the same bytes at once on purpose, or ask for what is refused.

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
/// Runs of many short programs, in which an outcome is looked for that may not be: order, atomicity, and no tearing.
mod histories {
    mod linearizability;
    mod litmus;
    mod races;
}
mod nonblocking;
mod phase;
mod reach;
mod statistics;
mod strided;
mod team;
mod testing;
mod threads;
