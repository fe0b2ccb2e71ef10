//! How the members of a team meet.

use shmem_core::sync::NodeBarrier;
use shmem_launch::env::BarrierChoice;

/// How the members of a team meet: the same for everything they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// Each looks at a line of each other.
    Lines,
    /// Each counts itself at the first member of its node.
    Counter,
}

/// Most members that meet in lines. Each looks at all others, so this grows with the square, and the wait
/// with the number.
const MOST_IN_LINES: usize = 8;

impl Meeting {
    /// How `members` on `nodes` nodes meet. `has_cores` says that there is one for each of them. Who
    /// sleeps is woken once by a counter, but in lines by each that comes.
    pub(crate) fn choose(wanted: BarrierChoice, members: usize, nodes: usize, has_cores: bool) -> Self {
        assert!(members <= NodeBarrier::MAX_PES * nodes, "{members} PEs on {nodes} nodes are too many");
        let possible = nodes == 1;
        match wanted {
            BarrierChoice::Lines if possible => Self::Lines,
            BarrierChoice::Auto if possible && has_cores && members <= MOST_IN_LINES => Self::Lines,
            _ => Self::Counter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_with_cores_on_one_node_meet_in_lines() {
        let auto =
            |members, nodes, has_cores| Meeting::choose(BarrierChoice::Auto, members, nodes, has_cores);
        assert_eq!(auto(8, 1, true), Meeting::Lines);
        assert_eq!(auto(9, 1, true), Meeting::Counter);
        assert_eq!(auto(2, 1, false), Meeting::Counter);
        assert_eq!(auto(2, 2, true), Meeting::Counter, "lines are seen on one node only");
        let wanted = |choice, nodes| Meeting::choose(choice, 20, nodes, false);
        assert_eq!(wanted(BarrierChoice::Lines, 1), Meeting::Lines);
        assert_eq!(wanted(BarrierChoice::Lines, 2), Meeting::Counter);
        assert_eq!(wanted(BarrierChoice::Counter, 1), Meeting::Counter);
    }
}
