//! What examples have besides their subjects: a command line, parts of equal size, rows of matrices, and times against one process.
//!
//! A program of your own needs none of it.

#![forbid(unsafe_code)]

#[cfg(doctest)]
mod documents;
pub mod options;
pub mod rows;
pub mod shares;
pub mod speedup;
