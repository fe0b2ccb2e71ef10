//! The output section `plan`: a collective's algorithms in a job of any size, with their costs, and the one that the job chooses.

use clap::{Args, ValueEnum};
use shmem::cost_prediction::{Collective, Cost, JobShape, Model};
use shmem::env::Settings;
use shmem_core::partition::{parse_size, show_size};
use shmem_core::text::counted;
use shmem_core::text_table::Columns;
use shmem_core::transport::ofi::strided;

use crate::Fault;

/// Upper limits on bytes and PEs. Within them a plan takes seconds, and counts do not overflow.
const MOST_BYTES: usize = 1 << 34;
const MOST_PES: usize = 1 << 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Family {
    /// All PEs wait for each other.
    Barrier,
    /// One PE sends data to all PEs.
    Broadcast,
    /// Adds floating-point numbers.
    Sum,
    /// Adds integers, or reduces by another operation that allows any order.
    ExactSum,
    /// Adds floating-point numbers of each PE and all PEs before it.
    Scan,
    /// Each PE sends the same data to all PEs.
    Fcollect,
    /// Each PE sends a different part of its data to each PE.
    Alltoall,
}

/// A collective, and the job that it runs in.
#[derive(Args)]
pub(crate) struct CollectivePlan {
    /// The collective.
    #[arg(long)]
    collective: Family,
    /// Number of PEs of the job.
    #[arg(long)]
    pes: usize,
    /// Number of PEs on each node.
    #[arg(long, default_value_t = 1)]
    per_node: usize,
    /// Bytes of each PE, of a broadcast's root, or of an alltoall's part for one PE: a number and at most one of K, M, G, T.
    #[arg(long, default_value = "8", value_parser = parse_size)]
    bytes: u64,
    /// The data are in symmetric objects.
    #[arg(long)]
    symmetric: bool,
    /// libfabric's provider between nodes, for which times are predicted; `shmem-info transports` lists providers.
    #[arg(long, default_value = "tcp;ofi_rxm")]
    provider: String,
}

impl CollectivePlan {
    /// Returns a table of the collective's algorithms with their costs, and marks the one that a job in this environment chooses.
    pub(crate) fn show(&self, settings: &Settings) -> Result<String, Fault> {
        let Self { collective: family, pes, per_node, symmetric, ref provider, .. } = *self;
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        if !(1..=MOST_PES).contains(&pes) {
            return Err(format!("--pes {pes}: plans are made for 1 to {MOST_PES} PEs").into());
        }
        if per_node == 0 || !pes.is_multiple_of(per_node) {
            return Err(format!(
                "--pes {pes} --per-node {per_node}: nodes have equally many PEs in a plan; give a number of PEs that is a multiple of those on a node"
            )
            .into());
        }
        let (collective, of_a_pe, what) = family.of(bytes, pes);
        if of_a_pe > MOST_BYTES {
            let [bytes, most] = [bytes, MOST_BYTES].map(|bytes| show_size(bytes as u64));
            return Err(format!(
                "--bytes {bytes}: among {pes} PEs, one has more than {most} then, up to which plans are made; give fewer"
            )
            .into());
        }
        let shape = JobShape { nodes: pes / per_node, per_node };
        let model = Model::from(strided::row_of(provider));
        let taken = collective.way(shape, settings.collective_ways, symmetric, &model);
        let mut columns =
            Columns::new(["", "WAY", "ROUNDS", "MESSAGES", "BYTES", "TIME"], &[2, 3, 4, 5]).indented();
        let if_between = |count: String| if shape.nodes == 1 { "-".to_owned() } else { count };
        for way in collective.ways(shape, symmetric) {
            let cost = Cost::of_way(way, collective, symmetric, shape);
            columns.push([
                if way == taken { "taken" } else { "" }.to_owned(),
                way.name().to_owned(),
                if_between(cost.rounds.to_string()),
                if_between(cost.messages.to_string()),
                if_between(cost.bytes.to_string()),
                if_between(time(cost.time(shape, &model))),
            ]);
        }
        let place = if symmetric { ", in symmetric objects" } else { "" };
        let pes = counted(pes, "PE");
        let (nodes, counts) = match shape.nodes {
            1 => (
                "on one node".into(),
                "nothing goes between nodes: what goes on one is not counted here".into(),
            ),
            nodes => (
                format!("{per_node} on each of {nodes} nodes"),
                format!(
                    "counts are exact, of all nodes together; times are predicted, for {provider}: there and back {}, a message \
                     more {}, a byte {} ns",
                    time(model.alpha),
                    time(model.gap),
                    model.beta
                ),
            ),
        };
        let comma = if shape.nodes == 1 { "" } else { "," };
        Ok(format!("{what}{place}: {pes}{comma} {nodes}\n{columns}  {counts}\n"))
    }
}

impl Family {
    /// Returns the collective, the bytes of the larger one of a PE's source and destination, and a description.
    fn of(self, bytes: usize, pes: usize) -> (Collective, usize, String) {
        let (each, all) = (show_size(bytes as u64), bytes.saturating_mul(pes));
        match self {
            Self::Barrier => (Collective::Barrier, bytes, "a barrier".to_owned()),
            Self::Broadcast => (Collective::Broadcast(bytes), bytes, format!("a broadcast of {each}")),
            Self::Sum => {
                (Collective::Sum(bytes), bytes, format!("a sum of floating point, {each} of each PE"))
            }
            Self::ExactSum => {
                (Collective::ExactSum(bytes), bytes, format!("a sum of whole numbers, {each} of each PE"))
            }
            Self::Scan => (Collective::Scan(bytes), bytes, format!("a scan, {each} of each PE")),
            Self::Fcollect => (Collective::Fcollect(bytes), all, format!("an fcollect, {each} of each PE")),
            Self::Alltoall => {
                (Collective::Alltoall(bytes), all, format!("an alltoall, {each} for each pair of PEs"))
            }
        }
    }
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        short if short < 1e6 => format!("{:.1} us", short / 1e3),
        medium if medium < 1e9 => format!("{:.1} ms", medium / 1e6),
        long => format!("{:.1} s", long / 1e9),
    }
}
