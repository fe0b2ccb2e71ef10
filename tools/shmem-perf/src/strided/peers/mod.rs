//! Strided transfers of other libraries, to stand beside our own.
//!
//! ```text
//! comparison    our routines beside a peer's        transfer    what is transferred, by which operation
//! own           each library's routines beside its own loop of puts or gets
//! ```

mod comparison;
pub mod own;
mod transfer;

pub use comparison::{Arrays, Comparison, Kind, Ours, compare};
pub use transfer::{Operation, TRANSFERS, Transfer, TransferName, request};
