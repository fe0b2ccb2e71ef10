//! One-sided programming.

pub mod bootstrap;
