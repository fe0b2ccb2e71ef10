//! Which way the data of a collective go: a function of what all members know alike, so that all take the same.
//!
//! | way | |
//! |---|---|
//! | [`Meetings`](Way::Meetings) | with the words of [meetings](super::step), a piece with each |
//! | [`Rings`](Way::Rings) | on one node by [rings](super::ring); of a reduction every member combines its slice |
//! | [`Direct`](Way::Direct) | on one node, [from where they lie to where they belong](super::direct) |
//! | [`Windows`](Way::Windows) | between nodes by [windows](super::stream); what lies at one place of all members only past them |
//!
//! Every way gives the same result, bit for bit; that of a reduction is the one of the [tree](super::tree). So what is
//! decided here is time alone. A way that the environment asks for (`SHMEM_COLLECTIVE_ALGORITHM`) is taken wherever there is
//! such a one, whether it pays or not. Nothing is reached and nothing is sent: these are functions of numbers.

use shmem_core::system::{CHUNK_BYTES, MIRROR_BYTES, MOST_TOLD};

use shmem_launch::env::{CollectiveFamily, CollectiveWay as Way, CollectiveWays};

use super::census::Round;
use super::passing::GRAIN;
use super::plan::Radices;
use crate::group::Team;

/// What the choice depends on of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) members: usize,
    /// How many nodes have members.
    pub(crate) nodes: usize,
    /// Whether it has windows: the world has, and other teams if they find room.
    pub(crate) has_windows: bool,
}

/// From whom to whom data go, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// From one to all: bytes of the root.
    Broadcast(usize),
    /// From all, combined, to all: bytes of each member.
    Reduction(usize),
    /// From all to all: bytes of each member.
    Fcollect(usize),
    /// From each, a part for each: bytes of a part.
    Alltoall(usize),
}

/// In which form they are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// They lie wherever the program has them.
    Private,
    /// They lie at one place of all members, and what is written is apart from what others read.
    Symmetric,
}

/// Least bytes for which a direct form is faster than two copies.
const LEAST_DIRECT: usize = 1 << 10;

/// Least bytes that a member gives to others for which there is a ring instead of a meeting for each piece.
const LEAST_OF_RING: usize = 16 << 10;

/// From how many members and bytes on slices are faster. What they save is reading and combining; what they cost is that
/// one more chunk is waited for.
const LEAST_SLICED: [(usize, usize); 2] = [(2, 32 << 10), (5, 16 << 10)];

/// The least part for another member that is a message of its own where nodes have several: a message takes about as
/// long as so many bytes.
const LEAST_PART: usize = 4 << 10;

impl Team {
    /// Which way data go, of the members of this team.
    pub(crate) fn way(&self, pattern: Pattern, form: Form) -> Way {
        Shape::of(self).way(self.job.settings.collective_ways, pattern, form)
    }

    /// Whether objects that lie at one place of all members are written where they lie.
    pub(super) fn is_in_place(&self, pattern: Pattern) -> bool {
        matches!(self.way(pattern, Form::Symmetric), Way::Direct | Way::Windows)
    }
}

impl Shape {
    /// Most members of a direct reduction.
    pub(crate) const MOST_DIRECT: usize = 127;

    /// That of a team.
    pub(crate) fn of(team: &Team) -> Self {
        let (members, nodes) = (team.size(), team.node_count());
        Self { members, nodes, has_windows: nodes > 1 && team.has_windows() == Some(true) }
    }

    /// Which way data go: the one that is asked for, if there is such a one, or the first that there is, and that pays.
    pub(crate) fn way(self, asked: CollectiveWays, pattern: Pattern, form: Form) -> Way {
        if let Some(way) = asked.of(pattern.family()).filter(|way| self.has(*way, pattern, form)) {
            return way;
        }
        let is_taken = |way: &Way| self.has(*way, pattern, form) && self.pays(*way, pattern);
        [Way::Direct, Way::Rings, Way::Windows].into_iter().find(is_taken).unwrap_or(Way::Meetings)
    }

    /// Whether data that lie anywhere would go by windows, if it had any.
    pub(super) fn would_open_windows(self, asked: CollectiveWays, pattern: Pattern) -> bool {
        let shape = Self { has_windows: self.nodes > 1, ..self };
        shape.way(asked, pattern, Form::Private) == Way::Windows
    }

    /// Whether data can go a way, however many there are. Meetings bring all, and of nothing they are what there is to do.
    pub(crate) fn has(self, way: Way, pattern: Pattern, form: Form) -> bool {
        let is_near = self.nodes == 1 && self.members > 1;
        let is_there = match (way, pattern) {
            (Way::Meetings, _) => return true,
            (Way::Rings, Pattern::Reduction(_) | Pattern::Alltoall(_)) => is_near && self.room_of_chunk() > 0,
            (Way::Rings, Pattern::Broadcast(_) | Pattern::Fcollect(_)) => is_near,
            (Way::Direct, Pattern::Reduction(_)) if self.members > Self::MOST_DIRECT => false,
            (Way::Direct, _) => is_near && form == Form::Symmetric,
            // Of each member there is a word.
            (Way::Windows, Pattern::Alltoall(_)) => self.has_windows && self.members <= MOST_TOLD,
            (Way::Windows, _) => self.has_windows,
        };
        is_there && pattern.bytes() > 0
    }

    /// Whether a way that there is takes no longer than those behind it.
    fn pays(self, way: Way, pattern: Pattern) -> bool {
        let others = self.members - 1;
        match (way, pattern) {
            (Way::Meetings, _) => true,
            (Way::Direct, _) => pattern.bytes() >= LEAST_DIRECT,
            (Way::Rings, Pattern::Broadcast(bytes) | Pattern::Fcollect(bytes)) => bytes >= LEAST_OF_RING,
            (Way::Rings, Pattern::Alltoall(part)) => part.saturating_mul(others) >= LEAST_OF_RING,
            (Way::Rings, Pattern::Reduction(bytes)) => {
                LEAST_SLICED.into_iter().any(|(members, least)| self.members >= members && bytes >= least)
            }
            // What fits a meeting goes with it.
            (Way::Windows, Pattern::Broadcast(bytes) | Pattern::Reduction(bytes)) => bytes > MIRROR_BYTES,
            (Way::Windows, Pattern::Fcollect(bytes)) => {
                // Blocks go round in as many steps as there are others, however short they are. Meetings bring them in
                // fewer, if there is little.
                let all = bytes.saturating_mul(self.members);
                let met = all.div_ceil(MIRROR_BYTES) * Round::all(self.nodes).count();
                all > MIRROR_BYTES && met >= others
            }
            (Way::Windows, Pattern::Alltoall(part)) => {
                // Each part is a message of its own. Those of a node go together, if they are short.
                let goes_apart = part >= LEAST_PART || self.nodes == self.members;
                part.saturating_mul(others) > MIRROR_BYTES && goes_apart
            }
        }
    }

    /// Whether parts of so many bytes that each combines for itself are combined for all instead, and each takes its own: between
    /// nodes, where all members of a node would send theirs. `reduced` is how many messages a node sends one behind the other if
    /// that goes with meetings, and `exchanged` how many it sends if parts are brought by meetings to who combines them.
    pub(crate) fn combines_for_all(
        self,
        asked: CollectiveWays,
        part: usize,
        reduced: usize,
        exchanged: impl FnOnce() -> usize,
    ) -> bool {
        if self.nodes == 1 || part == 0 {
            return false;
        }
        let all = part.saturating_mul(self.members);
        let way = |pattern| self.way(asked, pattern, Form::Private);
        match (way(Pattern::Reduction(all)), way(Pattern::Alltoall(part))) {
            // Of much data each is sent twice, once to be combined and once to all.
            (Way::Windows, _) => self.members > 2 * self.nodes || part < LEAST_PART && self.nodes > 2,
            (_, Way::Windows) => false,
            _ => reduced < exchanged(),
        }
    }

    /// Bytes of a ring's chunk for each other member. None, of very many.
    pub(crate) fn room_of_chunk(self) -> usize {
        CHUNK_BYTES / (self.members - 1).max(1) / GRAIN * GRAIN
    }
}

impl Pattern {
    fn family(self) -> CollectiveFamily {
        match self {
            Self::Broadcast(_) => CollectiveFamily::Broadcast,
            Self::Reduction(_) => CollectiveFamily::Reduce,
            Self::Fcollect(_) => CollectiveFamily::Fcollect,
            Self::Alltoall(_) => CollectiveFamily::Alltoall,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Broadcast(bytes)
            | Self::Reduction(bytes)
            | Self::Fcollect(bytes)
            | Self::Alltoall(bytes) => bytes,
        }
    }
}

/// How many groups of each level of a [reduction](super::plan::Levels) become one of the next.
pub(crate) fn radices(members: usize) -> Vec<usize> {
    Radices::of(members).each().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Shape = Shape { members: 0, nodes: 1, has_windows: false };

    fn of(members: usize, nodes: usize) -> Shape {
        Shape { members, nodes, has_windows: nodes > 1 }
    }

    fn private(shape: Shape, pattern: Pattern) -> Way {
        shape.way(CollectiveWays::default(), pattern, Form::Private)
    }

    #[test]
    fn a_slice_that_has_no_room_is_not_taken() {
        for members in 1..5000 {
            let shape = Shape { members, ..NEAR };
            for pattern in [Pattern::Reduction(1 << 20), Pattern::Alltoall(1 << 20)] {
                assert!(
                    private(shape, pattern) != Way::Rings || shape.room_of_chunk() > 0,
                    "{members} members"
                );
            }
        }
        assert_eq!(private(of(1000, 1), Pattern::Reduction(1 << 20)), Way::Rings);
    }

    #[test]
    fn more_members_and_bytes_never_go_back_from_slices() {
        for members in 1..100 {
            for bytes in (0..1 << 16).step_by(512) {
                let sliced =
                    |members, bytes| private(of(members, 1), Pattern::Reduction(bytes)) == Way::Rings;
                if sliced(members, bytes) {
                    assert!(sliced(members + 1, bytes) && sliced(members, bytes + 512));
                }
            }
        }
        assert_eq!(private(of(1, 1), Pattern::Reduction(1 << 30)), Way::Meetings);
        assert_eq!(private(of(16, 1), Pattern::Reduction(8)), Way::Meetings);
    }

    /// A way that is taken from so many bytes on.
    type Boundary = (Shape, fn(usize) -> Pattern, usize, Way);

    #[test]
    fn each_boundary_is_where_it_is_said_to_be() {
        use Pattern::{Alltoall, Broadcast, Fcollect, Reduction};
        let mirror = MIRROR_BYTES;
        let cases: [Boundary; 12] = [
            (of(2, 1), Broadcast, 16 << 10, Way::Rings),
            (of(2, 1), Reduction, 32 << 10, Way::Rings),
            (of(5, 1), Reduction, 16 << 10, Way::Rings),
            (of(3, 1), Fcollect, 16 << 10, Way::Rings),
            (of(3, 1), Alltoall, 8 << 10, Way::Rings),
            (of(2, 2), Broadcast, mirror + 1, Way::Windows),
            (of(6, 2), Reduction, mirror + 1, Way::Windows),
            (of(2, 2), Fcollect, mirror / 2 + 1, Way::Windows),
            (of(64, 4), Fcollect, 31 * 1024 + 1, Way::Windows),
            (of(2, 2), Alltoall, mirror + 1, Way::Windows),
            (of(1024, 64), Alltoall, 4 << 10, Way::Windows),
            (of(1024, 1024), Alltoall, mirror / 1023 + 1, Way::Windows),
        ];
        for (shape, pattern, least, way) in cases {
            assert_eq!(private(shape, pattern(least)), way, "{shape:?} {:?}", pattern(least));
            assert_eq!(private(shape, pattern(least - 1)), Way::Meetings, "{shape:?} {:?}", pattern(least));
        }
        for members in [1, 7, 11] {
            // One goes nowhere.
            let goes = private(of(members, members), Reduction(1 << 20)) == Way::Windows;
            assert_eq!(goes, members > 1, "{members} members");
        }
        assert_eq!(private(of(1025, 1025), Alltoall(1 << 20)), Way::Meetings, "each has a word");
        let team = Shape { has_windows: false, ..of(4, 2) };
        assert_eq!(private(team, Broadcast(1 << 20)), Way::Meetings, "it has no windows");
    }

    #[test]
    fn what_lies_at_one_place_is_reached_there() {
        let symmetric =
            |shape: Shape, pattern| shape.way(CollectiveWays::default(), pattern, Form::Symmetric);
        assert_eq!(symmetric(of(2, 1), Pattern::Reduction(1 << 10)), Way::Direct);
        assert_eq!(symmetric(of(2, 1), Pattern::Reduction(1023)), Way::Meetings);
        assert_eq!(symmetric(of(1, 1), Pattern::Broadcast(1 << 20)), Way::Meetings);
        assert_eq!(symmetric(of(2, 2), Pattern::Broadcast(1 << 20)), Way::Windows);
        assert_eq!(symmetric(of(127, 1), Pattern::Reduction(1 << 20)), Way::Direct);
        assert_eq!(symmetric(of(128, 1), Pattern::Reduction(1 << 20)), Way::Rings);
        assert_eq!(symmetric(of(128, 1), Pattern::Fcollect(1 << 20)), Way::Direct);
    }

    #[test]
    fn parts_are_combined_for_all_where_that_is_less() {
        let combines = |shape: Shape, part, reduced, exchanged| {
            shape.combines_for_all(CollectiveWays::default(), part, reduced, || exchanged)
        };
        // By messages, where all of it goes with meetings.
        assert!(combines(of(64, 64), 8, 6, 63) && !combines(of(3, 3), 8, 2, 2));
        // By bytes, where there is much.
        assert!(combines(of(1024, 64), 64 << 10, 1, 1) && !combines(of(64, 64), 64 << 10, 1, 1));
        assert!(combines(of(1000, 1000), 1 << 10, 1, 1) && !combines(of(2, 2), 64 << 10, 1, 1));
        assert!(!combines(of(4, 1), 8, 0, 9) && !combines(of(64, 64), 0, 0, 9));
    }

    #[test]
    fn what_is_asked_for_is_taken_where_there_is_such_a_way() {
        let patterns = [Pattern::Broadcast, Pattern::Reduction, Pattern::Fcollect, Pattern::Alltoall];
        let taken = |shape: Shape, way: Way, form, bytes| {
            patterns.map(|pattern| {
                let pattern: Pattern = pattern(bytes);
                let asked = format!("{}:{}", pattern.family().name(), way.name());
                shape.way(asked.parse().unwrap(), pattern, form)
            })
        };
        let team = Shape { has_windows: false, ..of(4, 2) };
        for bytes in [8, 1 << 20] {
            for (shape, form, ways) in [
                (of(4, 1), Form::Private, &[Way::Meetings, Way::Rings][..]),
                (of(4, 1), Form::Symmetric, &[Way::Meetings, Way::Rings, Way::Direct]),
                (of(4, 2), Form::Symmetric, &[Way::Meetings, Way::Windows]),
                (team, Form::Symmetric, &[Way::Meetings]),
                (of(1, 1), Form::Symmetric, &[Way::Meetings]),
            ] {
                for way in [Way::Meetings, Way::Rings, Way::Direct, Way::Windows] {
                    let otherwise =
                        patterns.map(|pattern| shape.way(CollectiveWays::default(), pattern(bytes), form));
                    let expected = if ways.contains(&way) { [way; 4] } else { otherwise };
                    assert_eq!(taken(shape, way, form, bytes), expected, "{way:?} of {shape:?}, {bytes}");
                }
            }
        }
        for way in [Way::Rings, Way::Direct] {
            assert_eq!(
                taken(of(4, 1), way, Form::Symmetric, 0),
                [Way::Meetings; 4],
                "there is nothing to bring"
            );
        }
        assert_eq!(taken(of(4, 4), Way::Windows, Form::Private, 0), [Way::Meetings; 4]);
        let all: CollectiveWays = "broadcast:meetings,reduce:rings".parse().unwrap();
        assert_eq!(of(4, 1).way(all, Pattern::Broadcast(1 << 20), Form::Private), Way::Meetings);
        assert_eq!(of(4, 1).way(all, Pattern::Reduction(8), Form::Symmetric), Way::Rings);
        assert_eq!(of(4, 1).way(all, Pattern::Fcollect(8), Form::Private), Way::Meetings);
    }
}
