//! What a partition is asked to be, as people write it: sizes, kinds of memory, policies, traits, and the name that a
//! mistyped one probably meant; and the algorithms of strided transfers.
//!
//! Macros read it when a program is built, the environment when a job starts. Both ask this crate, so that a text that
//! means something in one place means the same in the other, or nothing in either. It imports no other crate of
//! `shmem-rt`.

// Where documentation of another crate finds it while its own is being made.
#![doc(html_root_url = "https://docs.rs/shmem-grammar/0.1.0")]
#![forbid(unsafe_code)]

mod grammar;
mod kind;
mod nearest;
mod page;
mod size;
#[cfg(test)]
mod tests;

pub use grammar::{TraitError, check_traits, parse_traits, parse_traits_and_file};
pub use kind::{Kind, Policy, Traits};
pub use nearest::{did_you_mean, nearest};
pub use page::{MIN_PAGE, PageSizeError, check_page_size};
pub use size::{SizeError, parse_size, parse_size_prefix, round_size, short_size, show_size};

/// The algorithms of strided transfers: the name that people write, and the variant of `Algorithm` in `shmem-core`.
pub const ALGORITHMS: [(&str, &str); 4] = [("1", "One"), ("2", "Two"), ("3", "Three"), ("auto", "Auto")];

/// Largest partition ID.
pub const MAX_PARTITION_ID: u32 = 255;

/// Most bytes of the name of a partition.
pub const MAX_PARTITION_NAME: usize = 32;
