//! The grammar of partitions: sizes, kinds of memory, policies, traits, and suggestions for mistyped names. Also the
//! names of the algorithms of strided transfers.
//!
//! Macros and the environment both use this crate, so that a text means the same in a program and in a variable. It imports no
//! crate of the project.

// The address to which other crates' documentation links.
#![doc(html_root_url = "https://docs.rs/shmem-grammar/0.1.0")]
#![forbid(unsafe_code)]

mod grammar;
mod kind;
mod size;
#[cfg(test)]
mod tests;

pub use grammar::{TraitError, check_traits, parse_traits, parse_traits_and_file};
pub use kind::{Kind, Policy, Traits};
pub use size::{
    MIN_PAGE, SizeError, check_page_size, parse_size, parse_size_prefix, round_size, short_size, show_size,
};

/// The algorithms of strided transfers: name, and variant of `Algorithm` in `shmem-core`.
pub const ALGORITHMS: [(&str, &str); 4] = [("1", "One"), ("2", "Two"), ("3", "Three"), ("auto", "Auto")];

/// Largest partition ID.
pub const MAX_PARTITION_ID: u32 = 255;

/// Upper limit on the bytes of a partition's name.
pub const MAX_PARTITION_NAME: usize = 32;

/// Returns the candidate nearest to `name`, ignoring case, or `None` if no candidate is near enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let limit = (name.len().max(candidate.len()) / 3).max(2);
            // The lengths alone show that the distance is too large.
            if name.len().abs_diff(candidate.len()) > limit {
                return None;
            }
            let distance = strsim::damerau_levenshtein(&name, &candidate.to_ascii_lowercase());
            (distance <= limit && distance < candidate.len()).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns `; did you mean X?` for an error text, or an empty text.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}
