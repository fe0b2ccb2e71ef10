//! Plans of collectives and of strided transfers, for people.

use std::fmt::Write as _;

use clap::ValueEnum;
use shmem::calibration;
use shmem::env::{CollectiveWay, Settings};
use shmem::scale::{Collective, Cost, Model, Shape};
use shmem_core::columns::Columns;
use shmem_core::partition::show_size;
use shmem_core::strided::{self as regions, Advice, Algorithm, Level, Pattern, Plan};
use shmem_core::text::counted;
use shmem_core::transport::ofi::strided;

use crate::error::InfoError;

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

/// What is asked of a job.
pub(crate) struct Question {
    pub(crate) family: Family,
    /// Bytes of each PE, of the root of a broadcast, and of each part of an alltoall.
    pub(crate) bytes: usize,
    pub(crate) pes: usize,
    /// PEs on each node.
    pub(crate) per_node: usize,
    /// Whether data lie in symmetric objects.
    pub(crate) symmetric: bool,
}

impl Question {
    fn collective(&self) -> Collective {
        match self.family {
            Family::Barrier => Collective::Barrier,
            Family::Broadcast => Collective::Broadcast(self.bytes),
            Family::Sum => Collective::Sum(self.bytes),
            Family::ExactSum => Collective::ExactSum(self.bytes),
            Family::Scan => Collective::Scan(self.bytes),
            Family::Fcollect => Collective::Fcollect(self.bytes),
            Family::Alltoall => Collective::Alltoall(self.bytes),
        }
    }

    /// Bytes that a PE has, of what it gives or of what it is given.
    fn of_a_pe(&self) -> usize {
        match self.family {
            Family::Fcollect | Family::Alltoall => self.bytes.saturating_mul(self.pes),
            _ => self.bytes,
        }
    }

    /// What is asked, in words.
    fn title(&self, shape: Shape) -> String {
        let bytes = show_size(self.bytes as u64);
        let what = match self.family {
            Family::Barrier => "a barrier".to_owned(),
            Family::Broadcast => format!("a broadcast of {bytes}"),
            Family::Sum => format!("a sum of floating point, {bytes} of each PE"),
            Family::ExactSum => format!("a sum of whole numbers, {bytes} of each PE"),
            Family::Scan => format!("a scan, {bytes} of each PE"),
            Family::Fcollect => format!("an fcollect, {bytes} of each PE"),
            Family::Alltoall => format!("an alltoall, {bytes} for each pair of PEs"),
        };
        let place = if self.symmetric { ", in symmetric objects" } else { "" };
        match shape.nodes {
            1 => format!("{what}{place}: {} on one node", counted(self.pes, "PE")),
            nodes => {
                format!(
                    "{what}{place}: {}, {} on each of {nodes} nodes",
                    counted(self.pes, "PE"),
                    shape.per_node
                )
            }
        }
    }
}

/// How a job in this environment would do what is asked, by each way that there is, and what is predicted by what is known of a
/// provider: measured on this machine, or compiled in.
///
/// # Errors
///
/// If nodes cannot have as many PEs each, or there is more than plans are made for.
pub(crate) fn collectives(
    question: &Question,
    provider: &str,
    settings: &Settings,
) -> Result<String, InfoError> {
    let Question { pes, per_node, symmetric, .. } = *question;
    if !(1..=MOST_PES).contains(&pes) {
        return Err(InfoError::Pes { pes, most: MOST_PES });
    }
    if per_node == 0 || !pes.is_multiple_of(per_node) {
        return Err(InfoError::Uneven { pes, per_node });
    }
    if question.of_a_pe() > MOST_BYTES {
        let [bytes, most] = [question.bytes, MOST_BYTES].map(|bytes| show_size(bytes as u64));
        return Err(InfoError::Long { bytes, pes, most });
    }
    let (collective, shape) = (question.collective(), Shape { nodes: pes / per_node, per_node });
    let (measured, warning) = calibration::load(settings.strided_table.as_deref());
    strided::install(measured.rows);
    let model = Model::from(strided::row_of(provider));
    let taken = collective.way(shape, settings.collective_ways, symmetric, &model);
    let mut columns =
        Columns::new(["", "WAY", "PLAN", "ROUNDS", "MESSAGES", "BYTES", "TIME"], &[3, 4, 5, 6]).indented();
    let counted = |count: String| if shape.nodes == 1 { "-".to_owned() } else { count };
    for way in collective.ways(shape, symmetric) {
        let cost = Cost::of_way(way, collective, symmetric, shape);
        columns.push([
            if way == taken { "taken" } else { "" }.to_owned(),
            way.name().to_owned(),
            plan(way, collective, symmetric, shape, &cost),
            counted(cost.rounds.to_string()),
            counted(cost.messages.to_string()),
            counted(cost.bytes.to_string()),
            counted(time(cost.time(shape, &model))),
        ]);
    }
    let mut text = format!("{}\n{columns}", question.title(shape));
    let _ = match shape.nodes {
        1 => writeln!(text, "  nothing goes between nodes: what goes on one is not counted here"),
        _ => writeln!(
            text,
            "  counts are exact, of all nodes together; times are predicted, for {provider}: there and back {}, a message more {}, \
             a byte {} ns",
            time(model.alpha),
            time(model.gap),
            model.beta
        ),
    };
    if let Some(warning) = warning {
        let _ = writeln!(text, "  warning: {warning}");
    }
    Ok(text)
}

/// How a collective is carried out a way.
fn plan(way: CollectiveWay, collective: Collective, symmetric: bool, shape: Shape, cost: &Cost) -> String {
    let chunk = || show_size(collective.chunk(symmetric, shape) as u64);
    let each = || {
        let groups: Vec<_> = collective.groups(shape).iter().map(ToString::to_string).collect();
        groups.join(", ")
    };
    match (way, collective) {
        (CollectiveWay::Rings, _) => "chunks of a ring for each PE".to_owned(),
        (CollectiveWay::Direct, _) => "from where they lie to where they belong".to_owned(),
        (CollectiveWay::Meetings, _) if shape.nodes == 1 => "a piece with each meeting".to_owned(),
        (CollectiveWay::Meetings, Collective::Alltoall(_)) => "straight from node to node".to_owned(),
        (CollectiveWay::Meetings, _) => {
            let rounds = shape.rounds();
            format!("{} x {rounds} rounds", cost.rounds / rounds as u64)
        }
        (CollectiveWay::Windows, Collective::Broadcast(_)) => format!("two trees, chunks of {}", chunk()),
        (CollectiveWay::Windows, Collective::Fcollect(_)) => {
            format!("blocks go round, in chunks of {}", chunk())
        }
        (CollectiveWay::Windows, Collective::Alltoall(_)) => {
            format!("to each in turn, in chunks of {}", chunk())
        }
        (CollectiveWay::Windows, _) if collective.groups(shape).is_empty() => {
            format!("each gives the other all, in chunks of {}", chunk())
        }
        (CollectiveWay::Windows, _) => format!("groups of {}, and back, in chunks of {}", each(), chunk()),
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
) -> Result<String, InfoError> {
    if let Some(stride) = [to, from].into_iter().find(|stride| count > 1 && *stride < block) {
        return Err(InfoError::Overlap { block, stride });
    }
    let end = |stride: usize| count.saturating_sub(1).saturating_mul(stride).saturating_add(block);
    if let Some(stride) = [to, from].into_iter().find(|stride| end(*stride) > isize::MAX as usize) {
        return Err(InfoError::Endless { block, count, stride });
    }
    let (measured, warning) = calibration::load(settings.strided_table.as_deref());
    let pattern = Pattern::blocks(block, count, to, from);
    // Symmetric objects start on lines; how far in the blocks do is not known here.
    let align = 1 << (block | to | from).trailing_zeros().min(6);
    let mut text = String::new();
    let constant = regions::Settings::default().thresholds;
    let _ = writeln!(text, "constant  {}", Plan::of(pattern, align, Algorithm::Auto, &constant));
    for algorithm in Algorithm::ALL {
        let plan = Plan::of(pattern, align, algorithm, &measured.thresholds);
        let chosen = if algorithm == settings.strided_algorithm { "  (this environment's)" } else { "" };
        let _ = writeln!(text, "{:8}  {plan}{chosen}", algorithm.name());
    }
    if let Some(advice) = Advice::of_blocks(block, Level { count, to, from }) {
        let _ = writeln!(text, "advice    {advice}");
    }
    if let Some(warning) = warning {
        let _ = writeln!(text, "warning   {warning}");
    }
    Ok(text)
}
