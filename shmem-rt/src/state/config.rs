//! How a team will be used.

/// How a team will be used. All members give the same.
///
/// Source: OpenSHMEM 1.6, `shmem_team_config_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TeamConfig {
    /// Most contexts of the team that each member will have at the same time.
    pub contexts: usize,
}

impl TeamConfig {
    /// A team of which each member will have at most so many contexts at the same time.
    #[must_use]
    pub const fn with_contexts(contexts: usize) -> Self {
        Self { contexts }
    }
}
