//! What a team cannot be, or cannot do.

use shmem_core::system::MAX_TEAMS;
use shmem_core::text::counted;

/// What a team cannot be, or cannot do. The same value on every member of the team that was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// Members that the team has not.
    #[error(
        "no team can have {}, from rank {start} on every {stride}: the team that is split has ranks 0..{parent}; all ranks \
         must lie in there", counted(*.size, "member")
    )]
    Outside {
        /// The first rank.
        start: usize,
        /// From one rank to the next.
        stride: isize,
        /// Number of members.
        size: usize,
        /// Members of the team that was to be split.
        parent: usize,
    },
    /// A team of nobody.
    #[error("a team has at least one member; {what} has none")]
    Empty {
        /// What was asked for.
        what: &'static str,
    },
    /// All members at one rank.
    #[error(
        "a team of {} cannot have stride 0: each rank of the team that is split is a member once", counted(*.size, "member")
    )]
    Repeated {
        /// Number of members.
        size: usize,
    },
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
