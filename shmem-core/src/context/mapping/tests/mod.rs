//! The mapping, on its own.

mod invariants;
mod scenario;
mod share;
