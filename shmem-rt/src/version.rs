//! The specification that this library follows, and the release of this library.
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
    /// Number of the edition: the part before the dot.
    pub major: u32,
    /// Number of the revision: the part after the dot.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The version of OpenSHMEM from which names and semantics are taken.
///
/// Source: OpenSHMEM 1.6, `shmem_info_get_version`.
pub const OPENSHMEM: Version = Version { major: 1, minor: 6 };

/// Name and release of this library.
///
/// Source: OpenSHMEM 1.6, `shmem_info_get_name`.
pub const NAME: &str = concat!("shmem-rt ", env!("CARGO_PKG_VERSION"));
