//! How start-up and collectives grow with a job: what the model of [`shmem::scale`] is asked, and what a start costs, which is
//! counted as well (`tests/scale.rs`).

use shmem::World;
pub use shmem::bootstrap::Exchanged;
use shmem::scale::{Collective, Cost, Model, Shape};
use shmem::thread::ThreadLevel;
use shmem_core::columns::Columns;
use shmem_core::transport::ofi::Footprint;

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

/// What a start costs one PE of one node by way of the launcher.
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
    /// Values that each PE offers: what it has of memory.
    pub const OF_EACH: u64 = 1;

    /// Values that PE 0 offers besides: how it is set up, and the thresholds of strided plans. Of more nodes the first PE of each
    /// has thresholds.
    pub const OF_FIRST: u64 = 2;

    /// That of the calling PE so far, and what it has taken of all.
    pub fn counted<L: ThreadLevel>(world: &World<L>) -> (Self, Exchanged) {
        let counted = world.exchanged();
        let Exchanged { rounds, puts, bytes_put, .. } = counted;
        (Self { rounds, values: puts, bytes: bytes_put }, counted)
    }

    /// What the PE has exchanged in a job of `pes` PEs that offer so many bytes together: each value is taken once.
    pub fn exchanged(&self, pes: usize, bytes_of_all: u64) -> Exchanged {
        let Self { rounds, values, bytes } = *self;
        Exchanged {
            rounds,
            puts: values,
            bytes_put: bytes,
            gets: pes as u64 * Self::OF_EACH + Self::OF_FIRST,
            bytes_got: bytes_of_all,
        }
    }
}

/// What a PE and a node keep of a start, in bytes, beside symmetric memory: as jobs count it (`shmem-rt/tests/scale_memory.rs`,
/// `Footprint` of the fabric, `members` of the runtime) where PEs of a node follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// By each PE.
    pub by_pe: u64,
    /// By a node, once for all of its PEs.
    pub by_node: u64,
}

impl Kept {
    /// By each PE whatever the job is: on this many partitions and names of a machine with one kind of memory.
    pub const OF_ITS_OWN: u64 = 17_000;

    /// By each PE for each of its node.
    pub const FOR_EACH_NEIGHBOUR: u64 = 88;

    /// By each PE for each node: its first PE, thrice (all of the job, the world, and the launcher's word with 8 bytes more).
    pub const FOR_EACH_NODE: u64 = 20;

    /// By a node for each PE of the job: its place; over TCP, its address besides.
    pub const FOR_EACH_PE: (u64, u64) = (8, 16);

    /// That of a job; what lies between nodes is the tables of the fabric, of which nobody was addressed.
    pub fn of(shape: Shape) -> Self {
        let Shape { nodes, per_node } = shape;
        let pes = shape.pes();
        let (place, address) = Self::FOR_EACH_PE;
        let mut kept = Self {
            by_pe: Self::OF_ITS_OWN + Self::FOR_EACH_NEIGHBOUR * per_node as u64,
            by_node: place * pes as u64,
        };
        if nodes > 1 {
            let footprint = Footprint::with_messages_of(MESSAGE);
            let tables = footprint.tables(pes, 0) + footprint.first;
            kept.by_pe += Self::FOR_EACH_NODE * nodes as u64 + tables as u64;
            kept.by_node += address * pes as u64;
        }
        kept
    }
}

/// Bytes of a message; they are not counted among what is kept.
pub(crate) const MESSAGE: usize = 64 << 10;

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
    fn a_pe_of_a_large_job_keeps_less_than_64_kib() {
        for shape in SHAPES {
            let Kept { by_pe, by_node } = Kept::of(shape);
            println!("{shape:?}: {by_pe} bytes of each PE, {by_node} of each node");
            assert!(by_pe <= 64 << 10, "{shape:?}: {by_pe} bytes");
            assert!(by_node <= 32 * shape.pes() as u64 + (64 << 10), "{shape:?}: {by_node} bytes");
        }
    }

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
