//! Strided transfers of other libraries, to stand beside our own.
//!
//! ```text
//! comparison    our routines beside a peer's        transfer    what is transferred, by which operation
//! ```

mod comparison;
mod transfer;

pub use comparison::{Arrays, Comparison, Ours, compare};
pub use transfer::{Operation, TRANSFERS, Transfer, request};
