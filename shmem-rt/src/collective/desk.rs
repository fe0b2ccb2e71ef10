//! Where values are put together on their way between nodes.

use bytemuck::Pod;
use shmem_core::pe::Pe;
use shmem_core::system::{DESK_BYTES, MIRROR_BYTES, SCRATCH_BYTES};

use super::blocks::is_alone;
use super::census::Round;
use super::passing::GRAIN;
use super::placement::Placement;
use super::rooms;
use crate::group::{Collective, Team};

/// The rooms for the values that come to a node, and for those that are made there: as many on all nodes, whatever each
/// needs, so that who sends knows where they go. Each value has as many numbers as a member contributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Desk<'c> {
    placement: &'c Placement,
    half: usize,
    /// Bytes of a value.
    bytes: usize,
    /// Whether one value stands for any number of nodes.
    is_exact: bool,
    /// Whether the values of the node itself are put together here. The only member of each node has them.
    has_own: bool,
}

/// A room of a desk, by its first byte on the node's first member, from the start of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot(usize);

impl<'c> Desk<'c> {
    /// For the sum of values of so many bytes at the meeting with a number.
    ///
    /// # Panics
    ///
    /// If that is more than there is [room for](Self::most_of_sum).
    pub(super) fn of_sum(team: &'c Team, meeting: u64, bytes: usize, is_exact: bool) -> Self {
        assert!(bytes <= Self::most_of_sum(team, is_exact), "values of {bytes} bytes are too long");
        Self { bytes, half: (meeting % 2) as usize, ..Self::empty(team, is_exact, !is_alone(team)) }
    }

    /// For the sums of lower ranks, likewise.
    ///
    /// # Panics
    ///
    /// If that is more than there is [room for](Self::most_of_scan).
    pub(super) fn of_scan(team: &'c Team, meeting: u64, bytes: usize) -> Self {
        assert!(bytes <= Self::most_of_scan(team), "values of {bytes} bytes are too long");
        Self { bytes, half: (meeting % 2) as usize, ..Self::empty(team, false, true) }
    }

    /// Most bytes of a value of a sum, a multiple of [`GRAIN`].
    pub(super) fn most_of_sum(team: &'c Team, is_exact: bool) -> usize {
        let alone = is_alone(team);
        let desk = Self::empty(team, is_exact, !alone);
        desk.most().min(if alone { MIRROR_BYTES } else { SCRATCH_BYTES })
    }

    /// Most bytes of a value of a scan, a multiple of [`GRAIN`].
    pub(super) fn most_of_scan(team: &'c Team) -> usize {
        Self::empty(team, false, true).most().min(SCRATCH_BYTES)
    }

    fn empty(team: &'c Team, is_exact: bool, has_own: bool) -> Self {
        Self { placement: Placement::of(team), half: 0, bytes: 0, is_exact, has_own }
    }

    fn most(&self) -> usize {
        let rounds = || Round::all(self.placement.nodes());
        let arriving: usize = rounds().map(|round| self.values(round.distance)).sum();
        let rooms = if rounds().count() > 1 { 4 } else { 1 };
        let made = self.own_values() + rooms * self.values_of_others();
        (MIRROR_BYTES / arriving).min(DESK_BYTES / made) / GRAIN * GRAIN
    }

    /// Numbers of a value.
    ///
    /// # Panics
    ///
    /// If they are aligned more than rooms are.
    pub(super) fn numbers<N>(&self) -> usize {
        assert!(align_of::<N>() <= GRAIN, "numbers are aligned to {}", align_of::<N>());
        self.bytes / size_of::<N>()
    }

    /// Where the members' ranks lie.
    pub(super) fn placement(&self) -> &'c Placement {
        self.placement
    }

    /// Which of the two sets of rooms the meeting uses.
    pub(super) fn half(&self) -> usize {
        self.half
    }

    /// What comes in a round.
    pub(super) fn arriving(&self, team: &Team, round: Round) -> Spot {
        let before = Round::all(self.placement.nodes()).take(round.number);
        let offset: usize = before.map(|round| self.room(self.values(round.distance))).sum();
        Spot(rooms::mirror(team, self.half) + offset)
    }

    /// What this node has itself.
    #[expect(clippy::unused_self, reason = "it is the first room of every desk")]
    pub(super) fn own(&self, team: &Team) -> Spot {
        Spot(rooms::desk(team))
    }

    /// What is to be sent, where that is made first.
    pub(super) fn outgoing(&self, team: &Team) -> Spot {
        self.others(team, 1)
    }

    /// What other nodes have, joined in a round.
    pub(super) fn joined(&self, team: &Team, round: Round) -> Spot {
        self.others(team, 2 + round.number % 2)
    }

    /// What all members of the node read in the end.
    pub(super) fn result(&self, team: &Team) -> Spot {
        self.others(team, 0)
    }

    /// So many values there.
    ///
    /// # Safety
    ///
    /// They have been written, as numbers of this kind, and nobody writes there for as long as the result is used.
    pub(super) unsafe fn values_at<'v, N: Pod>(
        &self,
        collective: &Collective<'v>,
        spot: Spot,
        values: usize,
    ) -> &'v [N] {
        let numbers = values * self.numbers::<N>();
        // SAFETY: a room on the first member of this node has as many (`new`), at a multiple of `GRAIN` from the start of a
        // slot, which is enough for them (`numbers`), and any bytes are numbers; the rest is the caller's promise. It is mapped
        // for as long as the endpoint is borrowed.
        unsafe { core::slice::from_raw_parts(self.start(collective, spot).cast_const().cast(), numbers) }
    }

    /// Room for so many values there.
    ///
    /// # Safety
    ///
    /// Nobody else reads or writes there for as long as the result is used.
    pub(super) unsafe fn room_at<'v, N: Pod>(
        &self,
        collective: &Collective<'v>,
        spot: Spot,
        values: usize,
    ) -> &'v mut [N] {
        let numbers = values * self.numbers::<N>();
        // SAFETY: a room on the first member of this node has as many (`new`), at a multiple of `GRAIN` from the start of a
        // slot, which is enough for them (`numbers`), and any bytes are numbers; the rest is the caller's promise. It is mapped
        // for as long as the endpoint is borrowed.
        unsafe { core::slice::from_raw_parts_mut(self.start(collective, spot).cast(), numbers) }
    }

    /// What a member of this node has contributed.
    ///
    /// # Safety
    ///
    /// It has done so at this meeting, as numbers of this kind.
    pub(super) unsafe fn contribution<'v, N: Pod>(&self, collective: &Collective<'v>, member: Pe) -> &'v [N] {
        let Collective { team, endpoint, .. } = *collective;
        let from = endpoint.mapped(member, rooms::scratch(team, self.half));
        let from = from.unwrap_or_else(|| unreachable!("it is on this node"));
        // SAFETY: the room has as many (`new`) and begins at a multiple of `GRAIN` from the start of a slot, which is enough
        // for them (`numbers`); any bytes are numbers. Its owner writes there again before the next meeting but one, which it
        // cannot come to before this PE has come to the one in between.
        unsafe { core::slice::from_raw_parts(from.cast_const().cast(), self.numbers::<N>()) }
    }

    /// The first byte of a room.
    pub(super) fn start(&self, collective: &Collective<'_>, Spot(offset): Spot) -> *mut u8 {
        rooms::address(collective.team, collective.endpoint, offset)
    }

    /// Most values that stand for so many nodes in a row.
    fn values(&self, nodes: usize) -> usize {
        if self.is_exact { 1 } else { self.placement.most_values(nodes) }
    }

    fn own_values(&self) -> usize {
        if self.has_own { self.values(1) } else { 0 }
    }

    fn values_of_others(&self) -> usize {
        self.values(self.placement.nodes() - 1)
    }

    /// Bytes of room for so many values.
    fn room(&self, values: usize) -> usize {
        (values * self.bytes).next_multiple_of(GRAIN)
    }

    /// Behind the own values, one of several rooms for those of all other nodes.
    fn others(&self, team: &Team, which: usize) -> Spot {
        let Spot(own) = self.own(team);
        Spot(own + self.room(self.own_values()) + which * self.room(self.values_of_others()))
    }
}

impl Spot {
    /// Where it lies from the start of a slot.
    pub(super) fn offset(self) -> usize {
        self.0
    }
}
