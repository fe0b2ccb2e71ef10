//! Which specification this library follows, and which release it is.
//!
//! ```
//! use shmem::version::{NAME, OPENSHMEM, Version};
//!
//! assert!(OPENSHMEM >= Version { major: 1, minor: 5 });
//! println!("{NAME}, after OpenSHMEM {OPENSHMEM}");
//! ```

use std::fmt;

/// A version of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Number of the edition.
    pub major: u32,
    /// Number of the revision.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The specification that names and meanings are taken from.
///
/// Source: OpenSHMEM 1.6, `shmem_info_get_version`.
pub const OPENSHMEM: Version = Version { major: 1, minor: 6 };

/// This library and its release.
///
/// Source: OpenSHMEM 1.6, `shmem_info_get_name`.
pub const NAME: &str = concat!("shmem-rt ", env!("CARGO_PKG_VERSION"));
