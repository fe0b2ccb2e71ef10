//! Jobs between pretend hosts whose network is slowed down, cut and reset: run by `ci/network-faults.sh`.

#[path = "../launching/command.rs"]
mod command;
mod faults;
