//! How start-up and collectives grow with a job: what the model of [`shmem::scale`] is asked, and what a start costs, which is
//! counted as well (`tests/scale.rs`).

use shmem::World;
pub use shmem::bootstrap::Exchanged;
use shmem::scale::{Collective, Cost, Model, Shape};
use shmem::thread::ThreadLevel;
use shmem_core::columns::Columns;

use crate::measure::collective::{CollectiveCase, Operation};

impl From<CollectiveCase> for Collective {
    fn from(CollectiveCase { operation, bytes }: CollectiveCase) -> Self {
        match operation {
            Operation::Barrier => Self::Barrier,
            Operation::Broadcast => Self::Broadcast(bytes),
            Operation::Sum => Self::Sum(bytes),
            Operation::Fcollect => Self::Fcollect(bytes),
            Operation::Alltoall => Self::Alltoall(bytes),
        }
    }
}

/// What a start costs one PE by way of the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Times that all PEs wait for each other: as many for every number of PEs.
    pub rounds: u64,
    /// Values that a PE offers.
    pub values: u64,
    /// Bytes of these.
    pub bytes: u64,
}

impl Start {
    /// That of the calling PE so far, and what it has taken of all.
    pub fn counted<L: ThreadLevel>(world: &World<L>) -> (Self, Exchanged) {
        let counted = world.exchanged();
        let Exchanged { rounds, puts, bytes_put, .. } = counted;
        (Self { rounds, values: puts, bytes: bytes_put }, counted)
    }

    /// What the PE has exchanged in a job of `pes` PEs that offer so many bytes together.
    pub fn exchanged(&self, pes: usize, bytes_of_all: u64) -> Exchanged {
        let Self { rounds, values, bytes } = *self;
        Exchanged {
            rounds,
            puts: values,
            bytes_put: bytes,
            gets: pes as u64 * values,
            bytes_got: bytes_of_all,
        }
    }

    /// Nanoseconds by a model: a launcher that brings values up a binary tree of nodes and all of them down
    /// again, and a PE that takes each.
    pub fn time(&self, shape: Shape, model: &Model) -> f64 {
        let there_and_back = shape.rounds() as f64 * model.alpha;
        self.rounds as f64 * there_and_back + (shape.pes() as u64 * self.bytes) as f64 * model.beta
    }
}

/// Jobs of which the model is asked: 2 PEs to 100,000.
pub const SHAPES: [Shape; 6] = [
    Shape { nodes: 2, per_node: 1 },
    Shape { nodes: 4, per_node: 2 },
    Shape { nodes: 32, per_node: 2 },
    Shape { nodes: 64, per_node: 16 },
    Shape { nodes: 160, per_node: 64 },
    Shape { nodes: 1000, per_node: 100 },
];

/// What is asked for each.
pub const COLLECTIVES: [(&str, Collective); 9] = [
    ("barrier", Collective::Barrier),
    ("broadcast 8 B", Collective::Broadcast(8)),
    ("broadcast 1 MiB", Collective::Broadcast(1 << 20)),
    ("sum 8 B", Collective::Sum(8)),
    ("sum 1 MiB", Collective::Sum(1 << 20)),
    ("sum 8 B, whole", Collective::ExactSum(8)),
    ("scan 8 B", Collective::Scan(8)),
    ("fcollect 8 B", Collective::Fcollect(8)),
    ("alltoall 8 B", Collective::Alltoall(8)),
];

/// Numbers of PEs, each as if on a node of its own, of which collectives are measured beside the model.
pub const MEASURED: [usize; 3] = [2, 4, 8];

/// What is measured of them.
pub const MEASURED_CASES: [CollectiveCase; 5] = {
    use Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
    const fn of(operation: Operation, bytes: usize) -> CollectiveCase {
        CollectiveCase { operation, bytes }
    }
    [of(Barrier, 0), of(Broadcast, 8), of(Sum, 8), of(Fcollect, 8), of(Alltoall, 8)]
};

/// Costs and predicted times of all collectives in all shapes.
pub fn table(model: &Model) -> String {
    let heads = ["", "nodes x PEs", "rounds", "messages", "bytes", "time by the model"];
    let mut columns = Columns::new(heads, &[1, 2, 3, 4, 5]);
    for (name, collective) in COLLECTIVES {
        for shape in SHAPES {
            let cost = Cost::of(collective, shape, model);
            columns.push([
                name.to_owned(),
                format!("{} x {}", shape.nodes, shape.per_node),
                cost.rounds.to_string(),
                cost.messages.to_string(),
                cost.bytes.to_string(),
                format!("{:.1} us", cost.time(shape, model) / 1e3),
            ]);
        }
    }
    columns.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_predicted_grows_with_the_job() {
        let model = Model { alpha: 20_000.0, gap: 4_000.0, beta: 0.5 };
        for (name, collective) in COLLECTIVES {
            let times = SHAPES.map(|shape| Cost::of(collective, shape, &model).time(shape, &model));
            // Nodes of more PEs do more of a sum inside, so it may be a little less.
            let grows = |two: &[f64]| two[1] > 0.95 * two[0];
            assert!(times.windows(2).all(grows), "{name}: {times:?}");
        }
        assert_eq!(table(&model).lines().count(), 1 + SHAPES.len() * COLLECTIVES.len());
    }
}
