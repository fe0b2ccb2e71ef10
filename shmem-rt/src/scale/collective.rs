//! What a job does together, and which ways there are for it.

use shmem_launch::env::{CollectiveWay, CollectiveWays};

use super::shape::Shape;
use crate::collective::choose::{Form, Pattern};
use crate::model::Model;

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
            Self::Sum(bytes) => Some(Pattern::Reduction(bytes)),
            Self::ExactSum(bytes) => Some(Pattern::ExactReduction(bytes)),
            Self::Fcollect(bytes) => Some(Pattern::Fcollect(bytes)),
            Self::Alltoall(bytes) => Some(Pattern::Alltoall(bytes)),
        }
    }

    /// The way that all PEs of a job take for it, of which some may be asked for; whether its data lie in symmetric objects, and
    /// what is known of messages there.
    pub fn way(self, shape: Shape, asked: CollectiveWays, symmetric: bool, model: &Model) -> CollectiveWay {
        let form = if symmetric { Form::Symmetric } else { Form::Private };
        let way = |pattern| shape.choice(model).way(asked, pattern, form);
        self.pattern().map_or(CollectiveWay::Meetings, way)
    }

    /// All ways that there are for it, whether they pay or not.
    pub fn ways(self, shape: Shape, symmetric: bool) -> impl Iterator<Item = CollectiveWay> {
        let form = if symmetric { Form::Symmetric } else { Form::Private };
        let pattern = self.pattern();
        // Which ways there are is no question of time.
        let choice = shape.choice(&Model::FREE);
        CollectiveWay::ALL.into_iter().filter(move |way| match pattern {
            Some(pattern) => choice.has(*way, pattern, form),
            None => *way == CollectiveWay::Meetings,
        })
    }
}

#[cfg(test)]
mod tests {
    use shmem_core::transport::ofi::strided::row_of;

    use super::super::cost::Cost;
    use super::*;

    /// Jobs decide by the leading terms of what is counted here.
    #[test]
    fn what_is_taken_is_nearly_the_fastest_way() {
        use Collective::{Alltoall, Broadcast, ExactSum, Fcollect, Sum};
        let (mut slow, mut all) = (Vec::new(), 0);
        let shapes = [(2, 1), (3, 1), (16, 1), (33, 1), (2, 2), (2, 4), (4, 4), (3, 7), (8, 8)];
        for (nodes, per_node) in shapes {
            let shape = Shape { nodes, per_node };
            for family in [Broadcast, Sum, ExactSum, Fcollect, Alltoall] {
                for bytes in [8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 2 << 20] {
                    let collective: Collective = family(bytes);
                    let costs = collective
                        .ways(shape, false)
                        .map(|way| (way, Cost::of_way(way, collective, false, shape)));
                    let costs: Vec<_> = costs.collect();
                    for provider in ["tcp;ofi_rxm", "sockets", "verbs;ofi_rxm", "cxi"] {
                        let model = Model::from(row_of(provider));
                        let taken = collective.way(shape, CollectiveWays::default(), false, &model);
                        let times = costs.iter().map(|(way, cost)| (*way == taken, cost.time(shape, &model)));
                        let times: Vec<_> = times.collect();
                        let best = times.iter().fold(f64::INFINITY, |best, (_, time)| best.min(*time));
                        let taken = times.iter().find(|(is_taken, _)| *is_taken).unwrap().1;
                        all += 1;
                        if taken > 1.2 * best {
                            slow.push((taken / best, format!("{provider}: {collective:?} of {shape:?}")));
                        }
                    }
                }
            }
        }
        slow.sort_by(|a, b| b.0.total_cmp(&a.0));
        assert!(slow.len() * 50 < all && slow.iter().all(|(ratio, _)| *ratio < 1.8), "of {all}: {slow:#?}");
    }
}
