//! Programs that must not compile, and the messages of the compiler.
//!
//! Each `.rs` file below `tests/misuse` is a subject. Each mistake in it is in a line that ends with `//~`, and has one error. The
//! `.stderr` file beside it has all messages of the compiler [`WRITTEN_FOR`]: [`Case::judge`] compares them with those of this compiler
//! alone, since words of rustc differ from version to version. With any other compiler, it compares the lines of errors.

mod case;
mod compiler;
mod diagnostic;
mod source;

pub use case::{Case, cases};
pub use compiler::{Compiler, Product};
pub use source::shipped;

/// The version of rustc whose messages the `.stderr` files have.
pub const WRITTEN_FOR: &str = "1.95.0";
