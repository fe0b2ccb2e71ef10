//! Reductions and scans between nodes: members of a node are combined first, and nodes bring each other what they have of
//! [sums](super::sum) and [prefixes](super::prefix). Items are numbers, or whatever else the program combines.

use bytemuck::Pod;
use shmem_core::system::SCRATCH_BYTES;

use super::blocks::{is_alone, room_of_each};
use super::desk::Desk;
use super::extent::Extent;
use super::passing::GRAIN;
use super::placement::Placement;
use super::prefix::Prefix;
use super::rooms;
use super::sum::Sum;
use super::tree::{fold, with_partials};
use crate::group::{Collective, Purpose};

impl Collective<'_> {
    /// Combines the numbers of members on several nodes. Exact operations may be done in any order. Here all data between
    /// nodes pass, whatever their length.
    pub(super) fn reduce_between_nodes<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        extent: Extent,
        data: &mut [N],
        exact: bool,
        op: &impl Fn(N, N) -> N,
    ) {
        let Some(most) = self.most_between_nodes::<N>(extent, exact) else {
            return self.reduce_gathered(purpose, extent, data, op);
        };
        // At least one piece, so that empty data meets as well.
        let empty = data.is_empty().then(Default::default);
        for piece in data.chunks_mut(most).chain(empty) {
            match extent {
                Extent::All => self.add_up(purpose, piece, exact, op),
                _ => self.scan(purpose, extent, piece, op),
            }
        }
    }

    /// How many numbers of each member are combined at one meeting, if nodes bring each other what they have of them: not of
    /// ranks that are dealt out, nor of items that are large, or that rooms are not aligned for.
    pub(super) fn most_between_nodes<N>(&self, extent: Extent, exact: bool) -> Option<usize> {
        let in_order = Placement::of(self.team).is_in_order();
        let most = match extent {
            Extent::All if exact || in_order => Desk::most_of_sum(self.team, exact),
            Extent::UpTo | Extent::Before if in_order => Desk::most_of_scan(self.team),
            _ => return None,
        };
        let numbers = most.checked_div(size_of::<N>())?;
        (numbers > 0 && align_of::<N>() <= GRAIN).then_some(numbers)
    }

    /// A piece of a reduction over all members.
    fn add_up<N: Pod>(&self, purpose: &Purpose<'_>, piece: &mut [N], exact: bool, op: &impl Fn(N, N) -> N) {
        let desk = Desk::of_sum(self.team, self.next_meeting(), size_of_val(piece), exact);
        if is_alone(self.team) {
            return self.meet_passing(purpose, &mut Sum::new(desk, Some(piece), exact, op));
        }
        self.contribute(&desk, piece);
        self.meet_passing(purpose, &mut Sum::new(desk, None, exact, op));
        // SAFETY: who acted for the node has written them, and nobody writes there before this PE comes to the next meeting.
        piece.copy_from_slice(unsafe { desk.values_at(self, desk.result(self.team), 1) });
    }

    /// A piece of a scan, of members whose ranks lie in order.
    fn scan<N: Pod>(&self, purpose: &Purpose<'_>, extent: Extent, piece: &mut [N], op: &impl Fn(N, N) -> N) {
        let desk = Desk::of_scan(self.team, self.next_meeting(), size_of_val(piece));
        self.contribute(&desk, piece);
        let mut prefix = Prefix::new(desk, op);
        self.meet_passing(purpose, &mut prefix);
        match extent.members(self.team) {
            0 => piece.fill(N::zeroed()),
            members => prefix.combine(self, members, piece),
        }
    }

    /// Writes what this PE contributes to its room, before a meeting.
    fn contribute<N: Pod>(&self, desk: &Desk<'_>, piece: &[N]) {
        let to = self.endpoint.mine(rooms::scratch(self.team, desk.half()));
        let bytes = size_of_val(piece);
        assert!(bytes <= SCRATCH_BYTES, "{bytes} bytes in a room of {SCRATCH_BYTES}");
        // SAFETY: the room has that many bytes, as just checked, and nobody reads it now: its last readers
        // have since met this PE, at the meeting before this one, whatever each has come for. No other
        // thread of this PE is in a collective of the team (`Team::enter`).
        unsafe { core::ptr::copy_nonoverlapping(piece.as_ptr().cast(), to, bytes) };
    }

    /// Every member gets the numbers of all, and combines them. For ranks that are dealt out to nodes in another order, of which
    /// a node's cover would have nearly as many values as it has members, and for what is larger than a room, on one node as
    /// well.
    pub(super) fn reduce_gathered<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        extent: Extent,
        data: &mut [N],
        op: &impl Fn(N, N) -> N,
    ) {
        let (team, (most, _)) = (self.team, room_of_each(self.team));
        let most = (most / size_of::<N>()).max(1);
        let mut all = vec![N::zeroed(); most.min(data.len()) * team.size()];
        let empty = data.is_empty().then(Default::default);
        for piece in data.chunks_mut(most).chain(empty) {
            let numbers = piece.len();
            let all = &mut all[..numbers * team.size()];
            self.gather_equal(purpose, bytemuck::cast_slice(piece), bytemuck::cast_slice_mut(all));
            let operand = |rank: usize| &all[rank * numbers..][..numbers];
            match extent.members(team) {
                0 => piece.fill(N::zeroed()),
                members => with_partials(members, |partials| fold(members, operand, piece, partials, op)),
            }
        }
    }
}
