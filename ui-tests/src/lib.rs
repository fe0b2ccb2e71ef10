//! Programs that must not compile, and the compiler's diagnostics for them.
//!
//! Each `.rs` file below `tests/misuse` has one subject. Each mistake is on a line that ends with `//~`, and causes one error. The
//! file's `.stderr` file has all diagnostics of the compiler [`WRITTEN_FOR`]. [`Case::judge`] compares these texts only if this
//! compiler is used, because they differ between versions of rustc. With other compilers it compares the lines of errors.

mod case;
mod compiler;
mod diagnostic;
mod source;

pub use case::{Case, cases};
pub use compiler::{Compiler, Product};
pub use source::shipped;

/// The version of rustc whose diagnostics the `.stderr` files contain.
pub const WRITTEN_FOR: &str = "1.95.0";
