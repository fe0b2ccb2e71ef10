//! Which algorithm a collective takes, by the size of what is combined and the size of the team.
//!
//! All of them give the same result, bit for bit: contributions are always combined in the order of
//! ranks. So the table is about time alone.

use shmem_core::system::SCRATCH_BYTES;

use super::passing::GRAIN;

/// How contributions are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Every member reads and combines all contributions: one meeting for each piece of scratch.
    Flat,
    /// Every member combines its slice of a piece, and reads the slices of the others while the next piece
    /// is combined: the work of one does not grow with the team.
    Sliced,
}

/// From how many members and bytes on an algorithm is taken.
struct Row {
    members: usize,
    bytes: usize,
    algorithm: Algorithm,
}

/// The last row that fits counts. What [`Algorithm::Sliced`] saves is reading; what it costs is one more
/// meeting, and for two members it saves nothing that the second meeting does not cost.
const TABLE: &[Row] = &[
    Row { members: 0, bytes: 0, algorithm: Algorithm::Flat },
    Row { members: 3, bytes: 32 << 10, algorithm: Algorithm::Sliced },
    Row { members: 5, bytes: 8 << 10, algorithm: Algorithm::Sliced },
    Row { members: 16, bytes: 2 << 10, algorithm: Algorithm::Sliced },
];

impl Algorithm {
    /// That for a reduction of `bytes` bytes on each of `members` members on `nodes` nodes.
    pub(super) fn of_reduction(members: usize, nodes: usize, bytes: usize) -> Self {
        if slice_bytes(members) == 0 || nodes > 1 {
            return Self::Flat;
        }
        let fits = |row: &&Row| members >= row.members && bytes >= row.bytes;
        TABLE.iter().rev().find(fits).map_or(Self::Flat, |row| row.algorithm)
    }
}

/// Bytes of a member's slice of a piece, where scratch has room for a piece and a slice. None, of very many.
pub(super) fn slice_bytes(members: usize) -> usize {
    SCRATCH_BYTES / (members + 1) / GRAIN * GRAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_that_has_no_room_is_not_taken() {
        for members in 1..5000 {
            if Algorithm::of_reduction(members, 1, 1 << 20) == Algorithm::Sliced {
                assert!(slice_bytes(members) > 0, "{members} members");
            }
        }
        assert_eq!(Algorithm::of_reduction(1000, 1, 1 << 20), Algorithm::Sliced);
    }

    #[test]
    fn more_members_and_bytes_never_go_back_to_flat() {
        for members in 0..100 {
            for bytes in (0..1 << 16).step_by(512) {
                let sliced = |members, bytes| Algorithm::of_reduction(members, 1, bytes) == Algorithm::Sliced;
                if sliced(members, bytes) {
                    assert!(sliced(members + 1, bytes) && sliced(members, bytes + 512));
                }
            }
        }
        assert_eq!(Algorithm::of_reduction(2, 1, 1 << 30), Algorithm::Flat);
        assert_eq!(Algorithm::of_reduction(16, 2, 1 << 30), Algorithm::Flat, "slices are read on one node");
        assert_eq!(Algorithm::of_reduction(16, 1, 8), Algorithm::Flat);
    }
}
