//! One-sided programming.

pub mod bootstrap;
pub mod launch;
