//! Plans of collectives and of strided transfers, for people.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use shmem::env::Settings;
use shmem::scale::{Collective, Cost, JobShape, Model};
use shmem_core::columns::Columns;
use shmem_core::partition::{parse_size, show_size};
use shmem_core::strided::{self as regions, Algorithm, Pattern, Plan};
use shmem_core::text::counted;
use shmem_core::transport::ofi::strided;

use crate::Fault;

/// Most bytes that a PE has of what a plan is made for, and most PEs: nobody waits long for what is counted, and all of it
/// has room in a word.
const MOST_BYTES: usize = 1 << 34;
const MOST_PES: usize = 1 << 18;

/// What a job does together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// Meets.
    Barrier,
    /// Gives all what one has.
    Broadcast,
    /// Adds up numbers of floating point.
    Sum,
    /// Combines whole numbers, or what else can be combined in any order.
    ExactSum,
    /// Adds up numbers of floating point up to each PE.
    Scan,
    /// Gives all what each has.
    Fcollect,
    /// Gives each a part of what each has.
    Alltoall,
}

/// A collective of a job, which may be of any size.
#[derive(Args)]
pub(crate) struct Together {
    /// What PEs do together.
    #[arg(long, requires = "pes", conflicts_with_all = ["block", "count", "to", "from"])]
    collective: Option<Family>,
    /// Number of PEs.
    #[arg(long, requires = "collective")]
    pes: Option<usize>,
    /// PEs on each node.
    #[arg(long, requires = "collective", default_value_t = 1)]
    per_node: usize,
    /// Bytes of each PE, of the root of a broadcast, and of each part of an alltoall: a number and at most one of K, M, G, T.
    #[arg(long, requires = "collective", default_value = "8", value_parser = parse_size)]
    bytes: u64,
    /// Data lie in symmetric objects.
    #[arg(long, requires = "collective")]
    symmetric: bool,
    /// Provider of libfabric between nodes, as `shmem-info transports` names it: by what is known of it, times are predicted.
    #[arg(long, requires = "collective", default_value = "tcp;ofi_rxm")]
    provider: String,
}

impl Together {
    /// How a job in this environment would do what is asked, if it is, by each way that there is, and what is predicted by what is
    /// known of a provider.
    ///
    /// # Errors
    ///
    /// If nodes cannot have as many PEs each, or there is more than plans are made for.
    pub(crate) fn plan(&self, settings: &Settings) -> Result<Option<String>, Fault> {
        let Self { collective: Some(family), pes: Some(pes), per_node, symmetric, ref provider, .. } = *self
        else {
            return Ok(None);
        };
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
        Ok(Some(format!("{what}{place}: {pes}{comma} {nodes}\n{columns}  {counts}\n")))
    }
}

impl Family {
    /// A collective of so many bytes, how many of them a PE has, of what it gives or of what it is given, and what it is in words.
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

/// Nanoseconds in a unit of their size.
fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        short if short < 1e6 => format!("{:.1} us", short / 1e3),
        medium if medium < 1e9 => format!("{:.1} ms", medium / 1e6),
        long => format!("{:.1} s", long / 1e9),
    }
}

/// How a job in this environment would move `count` blocks of `block` bytes, `to` bytes apart at the
/// destination and `from` at the source, by each algorithm; and how `strided!` would, where the regions are
/// constant.
///
/// # Errors
///
/// If blocks overlap, or reach further than any memory.
pub(crate) fn transfers(
    block: usize,
    count: usize,
    to: usize,
    from: usize,
    settings: &Settings,
) -> Result<String, Fault> {
    if let Some(stride) = [to, from].into_iter().find(|stride| count > 1 && *stride < block) {
        return Err(format!(
            "blocks of {block} bytes overlap at a stride of {stride}; the stride must be at least the block"
        )
        .into());
    }
    let end = |stride: usize| count.saturating_sub(1).saturating_mul(stride).saturating_add(block);
    if let Some(stride) = [to, from].into_iter().find(|stride| end(*stride) > isize::MAX as usize) {
        return Err(format!(
            "{count} blocks of {block} bytes at a stride of {stride} are more than any memory has"
        )
        .into());
    }
    let pattern = Pattern::blocks(block, count, to, from);
    // Symmetric objects start on lines; how far in the blocks do is not known here.
    let align = 1 << (block | to | from).trailing_zeros().min(6);
    let mut text = String::new();
    let thresholds = regions::Settings::default().thresholds;
    let _ = writeln!(text, "constant  {}", Plan::of(pattern, align, Algorithm::Auto, &thresholds));
    for algorithm in Algorithm::ALL {
        let plan = Plan::of(pattern, align, algorithm, &thresholds);
        let chosen = if algorithm == settings.strided_algorithm { "  (this environment's)" } else { "" };
        let _ = writeln!(text, "{:8}  {plan}{chosen}", algorithm.name());
    }
    Ok(text)
}
