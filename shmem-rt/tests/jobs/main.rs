//! How jobs start, run and end, and what they print. Their PEs are copies of this program.

#[path = "../asleep/attempts.rs"]
mod attempts;
#[path = "../calls/mod.rs"]
mod calls;
#[path = "../scenario/mod.rs"]
mod scenario;

mod agreement;
mod check;
mod ends;
mod environment;
mod failure;
mod phase_exit;
mod pmix;
mod standstill;
mod trace;
