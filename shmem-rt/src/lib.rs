#![doc = include_str!("../../README.md")]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod bootstrap;
pub mod launch;
