//! What PEs may rely on, in programs without a mistake: whatever they do is in order, so checked mode (`SHMEM_CHECK`) finds
//! nothing in them (`ci/check.sh`).

#[path = "../asleep/mod.rs"]
mod asleep;
#[path = "../dice/mod.rs"]
mod dice;
#[path = "../asleep/pes.rs"]
mod pes;

mod arrays_of_words;
mod basic;
mod channel;
mod contribution;
mod create_partition;
mod domain;
mod fields;
mod futures;
mod grid;
mod halo;
mod heap;
mod lock;
mod numbers;
mod padded;
mod queue;
mod regions;
mod segments;
mod session;
mod sync;
