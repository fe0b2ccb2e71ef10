//! What a job does together, and which ways there are for it.

use shmem_launch::env::{CollectiveWay, CollectiveWays};

use super::shape::Shape;
use crate::collective::choice::{Form, Pattern};

/// A collective, with the bytes of each PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// `barrier_all`.
    Barrier,
    /// `broadcast`: bytes of the root.
    Broadcast(usize),
    /// `sum` of floating-point numbers, for all or for one (`sum_to`), or whatever else is done in order (`reduce`,
    /// `reduce_to`): bytes of each member.
    Sum(usize),
    /// `sum` of whole numbers, for all or for one, or whatever else can be done in any order: bytes of each member. `min_at` and
    /// `max_at` bring 40.
    ExactSum(usize),
    /// `sum_inscan`, `sum_exscan`, or those by an operation of the program: bytes of each member.
    Scan(usize),
    /// `fcollect`: bytes of each member.
    Fcollect(usize),
    /// `alltoall`: bytes for each pair of members.
    Alltoall(usize),
}

impl Collective {
    /// Whose data go where. None, if a collective has no choice of ways.
    fn pattern(self) -> Option<Pattern> {
        match self {
            Self::Barrier | Self::Scan(_) => None,
            Self::Broadcast(bytes) => Some(Pattern::Broadcast(bytes)),
            Self::Sum(bytes) | Self::ExactSum(bytes) => Some(Pattern::Reduction(bytes)),
            Self::Fcollect(bytes) => Some(Pattern::Fcollect(bytes)),
            Self::Alltoall(bytes) => Some(Pattern::Alltoall(bytes)),
        }
    }

    /// The way that all PEs of a job take for it, of which some may be asked for; whether its data lie in symmetric objects.
    pub fn way(self, shape: Shape, asked: CollectiveWays, symmetric: bool) -> CollectiveWay {
        let form = if symmetric { Form::Symmetric } else { Form::Private };
        let way = |pattern| shape.choice().way(asked, pattern, form);
        self.pattern().map_or(CollectiveWay::Meetings, way)
    }

    /// All ways that there are for it, whether they pay or not.
    pub fn ways(self, shape: Shape, symmetric: bool) -> impl Iterator<Item = CollectiveWay> {
        let form = if symmetric { Form::Symmetric } else { Form::Private };
        let pattern = self.pattern();
        CollectiveWay::ALL.into_iter().filter(move |way| match pattern {
            Some(pattern) => shape.choice().has(*way, pattern, form),
            None => *way == CollectiveWay::Meetings,
        })
    }
}
