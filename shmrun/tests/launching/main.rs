//! How `shmrun` and the library behind it start, watch and end PEs, which are copies of this program.

#[path = "../../../shmem-rt/tests/asleep/mod.rs"]
mod asleep;
#[path = "../../../shmem-rt/tests/asleep/attempts.rs"]
mod attempts;

mod command;
mod entry;
mod hosts;
mod launch;
mod output;
mod signals;
