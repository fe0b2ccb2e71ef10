//! The rooms of a team: memory of the runtime in which its members leave words and data for each other.

use shmem_core::context::Endpoint;
use shmem_core::sync::Statement;
use shmem_core::system::{MIRROR_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea};

use crate::group::Team;

/// Where the words of a team lie, from the start of a PE's slot. So are all offsets here.
pub(super) fn area(team: &Team) -> usize {
    core::mem::offset_of!(SystemArea, teams) + team.index() * size_of::<TeamArea>()
}

/// Where a node's first member has the word of a round.
pub(super) fn word_of(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, rounds) + (half * ROUNDS + round) * size_of::<u64>()
}

/// Where a node's first member has the word of what comes straight from other nodes.
pub(super) fn straight(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, straight) + half * size_of::<u64>()
}

/// Where a node's first member has another node's signature, which a round brings.
pub(super) fn signature(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, brought) + (half * ROUNDS + round) * size_of::<Statement>()
}

/// Where each member contributes: [`SCRATCH_BYTES`].
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Where a node's first member has what comes from other nodes: [`MIRROR_BYTES`].
pub(super) fn mirror(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, mirror) + half * MIRROR_BYTES
}

/// Where whoever acts for a node works, on its first member: [`DESK_BYTES`](shmem_core::system::DESK_BYTES).
pub(super) fn desk(team: &Team) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, desk)
}

/// The address of an offset on the first member of this node.
pub(super) fn address(team: &Team, endpoint: &Endpoint, offset: usize) -> *mut u8 {
    let leader = team.leader(team.node());
    endpoint.mapped(leader, offset).unwrap_or_else(|| unreachable!("a neighbour is on this node"))
}

/// Room for the calling PE's part of a piece.
pub(super) trait Room {
    /// `bytes` bytes at an offset, to be written.
    fn room(&mut self, at: usize, bytes: usize) -> &mut [u8];
}

/// A piece that has come.
pub(super) trait Piece {
    /// `bytes` bytes at an offset of what a rank has written.
    fn slice(&self, rank: usize, at: usize, bytes: usize) -> &[u8];
}
