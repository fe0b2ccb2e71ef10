//! How jobs start, run and end, and what they say: their PEs are copies of this program.

#[path = "../asleep/mod.rs"]
mod asleep;
#[path = "../asleep/attempts.rs"]
mod attempts;
#[path = "../asleep/pes.rs"]
mod pes;

mod advice;
mod agreement;
mod check;
mod ends;
mod environment;
mod failure;
mod flights;
mod init;
mod phase_exit;
mod pmix;
mod scenario;
mod sharing;
mod standstill;
mod trace;
