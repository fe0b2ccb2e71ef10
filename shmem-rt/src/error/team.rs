//! What a team cannot be, or cannot do.

use shmem_core::system::MAX_TEAMS;
use shmem_core::text::counted;

/// What a team cannot be, or cannot do. The same value on every member of the team that was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// Ranks that no team can have.
    #[error("{0}")]
    Ranks(String),
    /// No index is left.
    #[error(
        "no team can be made: PE {pe} is in {used} of {MAX_TEAMS} teams; destroy one on all its members. The index \
         of a team whose handle was forgotten does not come back"
    )]
    Exhausted {
        /// The first member without one.
        pe: usize,
        /// Teams it is in, or has dropped while others have not.
        used: usize,
    },
    /// More contexts than the team was made for.
    #[error(
        "no further context of this team: it was made for {limit}; drop one, or make the team with \
         `TeamConfig::with_contexts`"
    )]
    Contexts {
        /// How many it was made for.
        limit: usize,
    },
    /// Something of the team is in use.
    #[error(
        "the team cannot be destroyed: PE {pe} uses {contexts} of its contexts and {objects} of its objects; drop \
         them first. The handle is gone: the rest follows when they are dropped"
    )]
    InUse {
        /// The first member that uses something.
        pe: usize,
        /// Contexts of the team alive there.
        contexts: usize,
        /// Objects of the team alive there.
        objects: usize,
    },
    /// The memory of teams has no room.
    #[error(
        "the memory of teams has no room for {} at one place of all members: PE {pe} has {free} free of {size}; drop \
         objects of teams on all members, or raise SHMEM_TEAM_SIZE", counted(*.bytes, "byte")
    )]
    NoRoom {
        /// Bytes asked for.
        bytes: usize,
        /// The member with the least room.
        pe: usize,
        /// Bytes that are free there.
        free: usize,
        /// Bytes there are.
        size: usize,
    },
}
