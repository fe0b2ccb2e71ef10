//! Where the rooms of a team lie, from the start of a PE's slot.

use shmem_core::context::Endpoint;
use shmem_core::sync::Statement;
use shmem_core::system::{MIRROR_BYTES, ROUNDS, SCRATCH_BYTES, SystemArea, TeamArea};

use crate::group::Team;

fn area(team: &Team) -> usize {
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

/// Where a node's first member has what a round brings of another node's purpose.
pub(super) fn brought(team: &Team, half: usize, round: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, brought) + (half * ROUNDS + round) * size_of::<Statement>()
}

/// Where each member contributes.
pub(super) fn scratch(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, scratch) + half * SCRATCH_BYTES
}

/// Where a node's first member holds what comes.
pub(super) fn mirror(team: &Team, half: usize) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, mirror) + half * MIRROR_BYTES
}

/// Where on a node's first member whoever acts for the node works.
pub(super) fn desk(team: &Team) -> usize {
    area(team) + core::mem::offset_of!(TeamArea, desk)
}

/// An address on the first member of this node.
pub(super) fn address(team: &Team, endpoint: &Endpoint, offset: usize) -> *mut u8 {
    let leader = team.leader(team.node());
    endpoint.mapped(leader, offset).unwrap_or_else(|| unreachable!("a neighbour is on this node"))
}
