//! What a team cannot be, or cannot do.

/// What a team cannot be, or cannot do. The same value on every member of the team that was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// More contexts than the team was made for.
    #[error(
        "no further context of this team: it was made for {limit}; drop one, or make the team with \
         `TeamConfig::with_contexts`"
    )]
    Contexts {
        /// How many it was made for.
        limit: usize,
    },
    /// A team that cannot be made or destroyed, or whose memory has no room, in words.
    #[error("{0}")]
    Refused(String),
}
