//! Where the PEs stand in their collectives, and whether they can ever leave them.
//!
//! A PE in a collective waits for every member of the team that has not come to it. PEs that wait for each
//! other in a circle have entered collectives in different orders, whatever the teams are.

use shmem_core::system::MAX_TEAMS;

/// How far a PE has come in the meetings of a team. All zeroes: nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Entered {
    /// The members on this node, by slot: an index may have belonged to another team before.
    pub(super) members: u64,
    /// Number of the last one.
    pub(super) count: u64,
}

/// The collective in which a PE is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Standing {
    /// 1 or 0.
    pub(super) is_inside: u32,
    pub(super) team: u32,
    pub(super) entered: Entered,
    /// Its line.
    pub(super) site: u32,
}

/// Where a PE stands in its collectives, and how far it has come in those of each team. All zeroes: nowhere.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Position {
    pub(super) standing: Standing,
    pub(super) entered: [Entered; MAX_TEAMS],
}

impl Position {
    /// Whether this PE has come to where `other` is.
    fn has_reached(&self, other: &Standing) -> bool {
        let mine = self.entered[other.team as usize % MAX_TEAMS];
        mine.members == other.entered.members && mine.count >= other.entered.count
    }
}

/// The members for whom the PE in `slot` waits.
pub(super) fn missing(positions: &[Position], slot: usize) -> Vec<usize> {
    let standing = &positions[slot].standing;
    if standing.is_inside == 0 {
        return Vec::new();
    }
    let is_member = |other: &usize| standing.entered.members & (1 << other) != 0;
    let is_missing =
        |other: &usize| *other != slot && is_member(other) && !positions[*other].has_reached(standing);
    (0..positions.len()).filter(is_missing).collect()
}

/// PEs that wait for each other in a circle, `from` the first, if there are such.
pub(super) fn circle(positions: &[Position], from: usize) -> Option<Vec<usize>> {
    let mut visited = vec![false; positions.len()];
    let mut path = vec![(from, missing(positions, from))];
    while let Some((_, open)) = path.last_mut() {
        let Some(next) = open.pop() else {
            path.pop();
            continue;
        };
        if next == from {
            return Some(path.iter().map(|(slot, _)| *slot).collect());
        }
        if !std::mem::replace(&mut visited[next], true) {
            path.push((next, missing(positions, next)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PEs that are in collective `count` of a team of `members`, and have entered these before.
    fn position(team: u32, members: u64, count: u64, before: &[(u32, u64, u64)]) -> Position {
        let mut entered = [Entered::default(); MAX_TEAMS];
        for &(team, members, count) in before.iter().chain([&(team, members, count)]) {
            entered[team as usize] = Entered { members, count };
        }
        let standing = Standing { is_inside: 1, team, entered: Entered { members, count }, site: 0 };
        Position { standing, entered }
    }

    fn outside(before: &[(u32, u64, u64)]) -> Position {
        let mut position = position(0, 0, 0, before);
        position.standing.is_inside = 0;
        position
    }

    #[test]
    fn two_teams_in_different_orders_are_a_circle() {
        let positions = [position(1, 0b11, 1, &[]), position(2, 0b11, 1, &[])];
        assert_eq!(circle(&positions, 0), Some(vec![0, 1]));
        assert_eq!(circle(&positions, 1), Some(vec![1, 0]));
        // PE 1 has been in the collective of team 1 already.
        let positions = [position(1, 0b11, 1, &[]), position(2, 0b11, 1, &[(1, 0b11, 1)])];
        assert_eq!(circle(&positions, 0), None);
    }

    #[test]
    fn three_pes_in_three_teams_are_one_too() {
        let positions = [position(1, 0b011, 1, &[]), position(2, 0b110, 1, &[]), position(3, 0b101, 1, &[])];
        assert_eq!(circle(&positions, 0), Some(vec![0, 1, 2]));
        let mut open = positions;
        open[2] = outside(&[]);
        assert_eq!(circle(&open, 0), None, "PE 2 may come to both");
        assert_eq!(missing(&open, 1), [2]);
    }

    #[test]
    fn a_team_that_is_gone_does_not_count() {
        let positions = [position(1, 0b11, 1, &[]), position(2, 0b11, 1, &[(1, 0b101, 7)])];
        assert_eq!(circle(&positions, 0), Some(vec![0, 1]), "that was another team 1");
        assert_eq!(circle(&[position(1, 0b11, 3, &[]), position(1, 0b11, 3, &[])], 0), None);
    }
}
