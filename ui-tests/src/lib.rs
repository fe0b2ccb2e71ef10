//! Programs that must not compile, and what the compiler may say of them.
//!
//! Each `.rs` file below `tests/misuse` is a subject. Each mistake in it is in a line that ends with `//~`, and has one error, where
//! no other mistake hides it; the `.stderr` file beside it is all that the compiler says. The words of rustc differ from
//! version to version. So [`Case::judge`] compares texts with the compiler that they were written for ([`WRITTEN_FOR`]) alone; with
//! any other each mistake must have an error, in its line.
//! What rustc prints of files that are not the case itself depends on the components that are installed, and is left out of
//! all texts.

mod case;
mod compiler;
mod diagnostic;
mod source;

pub use case::{Case, Verdict, cases};
pub use compiler::{Compiler, Product};
pub use source::shipped;

/// The compiler whose words the `.stderr` files are.
pub const WRITTEN_FOR: &str = "1.95.0";
