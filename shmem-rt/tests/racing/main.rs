//! What PEs may rely on, in programs in which some write the same bytes at once on purpose, or ask for what is refused.

#[path = "../asleep/mod.rs"]
mod asleep;
#[path = "../asleep/attempts.rs"]
mod attempts;
#[path = "../dice/mod.rs"]
mod dice;

mod array_strided;
mod arrays;
mod context;
mod hints;
mod histories;
mod iput;
mod long_signals;
mod nonblocking;
mod phase;
mod reach;
mod statistics;
mod strided;
mod team;
mod testing;
mod threads;
