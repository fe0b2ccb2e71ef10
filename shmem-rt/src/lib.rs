//! One-sided programming.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod bootstrap;
pub mod env;
pub mod info;

pub use shmem_macros::{Symmetric, collective, main, partitions, symmetric, test};

/// The built-in partitions, as types that `#[symmetric(partition = "..")]` can name.
pub mod partition {
    pub use shmem_core::partition::{default, fast, normal};
}
