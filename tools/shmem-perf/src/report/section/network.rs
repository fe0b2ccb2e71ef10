//! The usual micro-benchmarks between nodes, and how collectives grow with a job: a part of their section.

use std::rc::Rc;
use std::sync::Arc;

use shmem::scale::{Cost, Shape};

use super::{Plan, Step};
use crate::fabric::{OperationName, State};
use crate::fact::Fact;
use crate::hosts::Hosts;
use crate::measure::network::{self, Name};
use crate::measure::ofi::{At, PROVIDER};
use crate::measure::{collective, indexed, ofi};
use crate::name::Part as _;
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, SPEED, Scale, Series, Table};
use crate::runner::Runner;
use crate::scale::{COLLECTIVES, SHAPES};
use crate::task::Done;

/// Where the same cases are measured, and how that is called.
const PLACES: [(&str, &str); 2] = [("loopback", "loopback"), ("hosts", "two hosts")];

/// What is shown by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BySize {
    Put,
    Get,
    Bandwidth,
    BothWays,
}

impl BySize {
    const ALL: [Self; 4] = [Self::Put, Self::Get, Self::Bandwidth, Self::BothWays];

    const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Bandwidth => "bandwidth",
            Self::BothWays => "both-ways",
        }
    }

    /// What its table is called.
    fn table(self) -> String {
        format!("network-{}", self.name())
    }

    /// What a case shows, and of how many bytes.
    fn of(name: &Name) -> Option<(Self, f64)> {
        let (of, bytes) = match name {
            Name::OneSided(At(OperationName::Put, State::Polling), bytes, _) => (Self::Put, bytes),
            Name::OneSided(At(OperationName::Get, State::Polling), bytes, _) => (Self::Get, bytes),
            Name::OneSided(At(OperationName::Bandwidth, State::Polling), bytes, _) => {
                (Self::Bandwidth, bytes)
            }
            Name::BothWays(bytes, _) => (Self::BothWays, bytes),
            _ => return None,
        };
        Some((of, *bytes as f64))
    }
}

pub(super) fn steps(plan: &Plan) -> Vec<Step> {
    let (few, jobs) = (plan.quick, plan.either(3, 1));
    let seconds = plan.either(50.0, 6.0);
    let hosts = Rc::clone(&plan.hosts);
    vec![
        Step::new("over libfabric, loopback", seconds, move |runner| {
            (0..jobs).try_for_each(|_| network::micro(runner, few, None, PROVIDER))?;
            lists(runner, few, None)
        })
        .variant(PLACES[0].0),
        Step::new("over libfabric, two hosts", seconds, move |runner| {
            let Some(hosts) = hosts.hosts(runner) else { return Ok(()) };
            runner.fact(Fact::new("places", "two hosts", "", hosts.describe()));
            (0..jobs).try_for_each(|_| network::micro(runner, few, Some(&hosts), PROVIDER))?;
            lists(runner, few, Some(&hosts))
        })
        .variant(PLACES[1].0),
        Step::new("scale model", 5.0, |runner| {
            let models = network::model(runner, PROVIDER)?;
            for (state, model) in State::ALL.iter().zip(models) {
                for (name, collective) in COLLECTIVES {
                    for shape in SHAPES {
                        let microseconds = Cost::of(collective, shape, &model).time(shape, &model) / 1e3;
                        let table = format!("predicted, {}", state.name());
                        runner.fact(Fact::new(&table, name, column(shape), format!("{microseconds:.1}")));
                    }
                }
            }
            Ok(())
        }),
    ]
}

/// Lists of indices, in one job.
fn lists(runner: &mut Runner, few: bool, hosts: Option<&Arc<Hosts>>) -> Done {
    if few {
        return Ok(());
    }
    let jobs = std::mem::replace(&mut runner.jobs, 1);
    let done = indexed::over_network(runner, hosts, PROVIDER);
    runner.jobs = jobs;
    done
}

/// The name of a job.
fn column(shape: Shape) -> String {
    format!("{} PEs ({} x {})", shape.pes(), shape.nodes, shape.per_node)
}

/// What users ask of two hosts.
pub(super) fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let asked = [
        (OperationName::Put, 8, "Between hosts: write 8 bytes, complete there", "us"),
        (OperationName::Get, 8, "Between hosts: read 8 bytes", "us"),
        (OperationName::FetchAdd, 8, "Between hosts: add to a word, and get what it was", "us"),
        (
            OperationName::Bandwidth,
            1 << 20,
            "Between hosts: write 1 MiB again and again, 64 under way",
            SPEED,
        ),
    ];
    let headlines = asked.map(|(operation, bytes, asked, unit)| {
        let name = Name::OneSided(At(operation, State::Polling), bytes, PROVIDER.to_owned());
        let entry = evidence.case_in(PLACES[1].0, &name);
        let of = |column| match Cell::of(entry, column) {
            cell if unit == SPEED => cell.over(bytes as f64 * 1e3),
            cell => cell.times(1e-3),
        };
        let table = BySize::of(&name).map_or(OTHERS.to_owned(), |(of, _)| of.table());
        Headline::new(asked, table, unit, of(Column::Value)).limit(of(Column::Limit))
    });
    headlines.into()
}

/// What the table of what has one size is called.
const OTHERS: &str = "network-others";

pub(super) fn show(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::heading("Over libfabric"),
        Block::text(
            "Two PEs through the provider tcp;ofi_rxm: over the loopback interface of one host, and between two hosts. The \
             limit is a bare program that calls libfabric in the same way and does nothing else, in turn between the same \
             two processes. A put counts when it is complete at the other PE. The other PE polls where nothing else is \
             said. A window is 64 puts and one quiet.",
        ),
    ];
    let hosts = evidence.facts("places").into_iter().map(|fact| format!("{}: {}.", fact.row, fact.value));
    blocks.extend(hosts.map(Block::text));
    for (place, called) in PLACES {
        blocks.extend(figures(evidence, place, called));
    }
    let microseconds = |cell: Cell, _| cell.times(1e-3);
    let megabytes = |cell: Cell, bytes: f64| cell.over(bytes * 1e3);
    let messages = |cell: Cell, _| cell.over(1e6);
    let both = |cell: Cell, bytes: f64| cell.over(2.0 * bytes * 1e3);
    blocks.extend([
        by_size(evidence, BySize::Put, "Latency of a put, us", microseconds)
            .named(BySize::Put.table())
            .into(),
        by_size(evidence, BySize::Get, "Latency of a get, us", microseconds)
            .named(BySize::Get.table())
            .into(),
        by_size(evidence, BySize::Bandwidth, "Bandwidth, MB/s", megabytes)
            .named(BySize::Bandwidth.table())
            .into(),
        by_size(evidence, BySize::Bandwidth, "Message rate, thousands in a second", messages).into(),
        by_size(evidence, BySize::BothWays, "Bandwidth of both directions, MB/s", both).into(),
        others(evidence).into(),
        Table::cases(
            "Collectives over puts of as many bytes in both directions at once, by the bare program",
            evidence.all(|name| matches!(name, Name::BesideBothWays(..) | Name::DirectBesideBothWays(..))),
        )
        .into(),
    ]);
    for (place, called) in PLACES {
        let is_far = |name: &indexed::Name| {
            matches!(name, indexed::Name::Network(_) | indexed::Name::Rate(_) | indexed::Name::Short(_))
        };
        let mut lists = evidence.all(is_far).filter(|entry| entry.variant == place).peekable();
        if lists.peek().is_some() {
            let title =
                format!("An element of lists of indices of another node, {called}; of short ones, a list");
            blocks.push(Table::cases(title, lists).under(LISTS).into());
        }
    }
    blocks.extend(scale(evidence));
    blocks
}

const LISTS: &str = "Of 1 Mi elements, over as many bytes by the bare program, and packing and applying in memory; rates of two PEs that \
    send each other lists at the same time, over single operations of both; short lists over single reads.";

/// The cases of one operation in one place.
fn entries<'a>(evidence: View<'a>, place: &str, of: BySize) -> Vec<&'a Entry> {
    let here = evidence.named().filter(|(_, entry)| entry.variant == place);
    here.filter(|(name, _)| BySize::of(name).is_some_and(|(found, _)| found == of))
        .map(|(_, entry)| entry)
        .collect()
}

fn bytes(entry: &Entry) -> Option<f64> {
    BySize::of(&entry.name()?).map(|(_, bytes)| bytes)
}

fn figures(evidence: View<'_>, place: &str, called: &str) -> [Block; 3] {
    let of = |one| entries(evidence, place, one);
    let mut latency = Figure::new(format!("Latency, {called}"), ("bytes", Scale::Bytes), ("ns", Scale::Log));
    for one in [BySize::Put, BySize::Get] {
        let bare = Series::limits(format!("{}, bare", one.name()), of(one), bytes).of(one.name());
        latency = latency.with(Series::costs(one.name(), of(one), bytes)).with(bare);
    }
    let mut speed =
        Figure::new(format!("Bandwidth, {called}"), ("bytes", Scale::Bytes), ("MB/s", Scale::Log));
    for (one, directions) in [(BySize::Bandwidth, 1.0), (BySize::BothWays, 2.0)] {
        let mut ours = Series::new(one.name());
        let mut bare = Series::beside(format!("{}, bare", one.name())).of(one.name());
        for entry in of(one) {
            let Some(bytes) = bytes(entry) else { continue };
            let speed = |nanoseconds: f64| directions * bytes * 1e3 / nanoseconds;
            let case = &entry.case;
            ours.push(bytes, speed(case.value), Some((speed(case.p75), speed(case.p25))));
            bare.push(bytes, speed(case.limit), None);
        }
        speed = speed.with(ours).with(bare);
    }
    let mut ratio = Figure::new(
        format!("Over the bare program, {called}"),
        ("bytes", Scale::Bytes),
        ("ratio", Scale::Linear),
    );
    for one in BySize::ALL {
        ratio = ratio.with(Series::ratios(one.name(), of(one), bytes));
    }
    [latency.into(), speed.into(), ratio.under("Smaller is better: time over time.").into()]
}

/// Rows by size, with columns for each place.
fn by_size(evidence: View<'_>, one: BySize, title: &str, unit: impl Fn(Cell, f64) -> Cell) -> Table {
    let mut table = Table::new(title, heads("bytes"));
    let of_it = |(name, _): (Name, _)| BySize::of(&name).filter(|(of, _)| *of == one).map(|(_, bytes)| bytes);
    let mut sizes: Vec<f64> = evidence.named().filter_map(of_it).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    for size in sizes {
        let of = |place| entries(evidence, place, one).into_iter().find(|entry| bytes(entry) == Some(size));
        table.row(row(Cell::text(format!("{size:.0}")), of, |cell| unit(cell, size)));
    }
    table
}

/// Atomic operations, PEs that sleep, and collectives.
fn others(evidence: View<'_>) -> Table {
    let title = "Atomic operations, a PE that sleeps in its own code, and collectives of two PEs, us";
    let mut table = Table::new(title, heads("operation/bytes")).named(OTHERS);
    let shown = |name: &Name| match name {
        Name::OneSided(operation, bytes, _) => Some((operation.show().into_owned(), *bytes)),
        Name::Collective(operation, bytes, _) => Some((operation.name().to_owned(), *bytes)),
        Name::Direct(operation, bytes, _) => Some((operation.show().into_owned(), *bytes)),
        Name::BothWays(..)
        | Name::BesideBothWays(..)
        | Name::DirectBesideBothWays(..)
        | Name::BareBothWays(..)
        | Name::BareChunks(..)
        | Name::Scale(..) => None,
    };
    let mut names: Vec<Name> = Vec::new();
    for (name, _) in evidence.named().filter(|(name, _)| BySize::of(name).is_none() && shown(name).is_some())
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let of = |place| evidence.case_in(place, &name);
        let (operation, bytes) = shown(&name).unwrap_or_default();
        table.row(row(Cell::text(format!("{operation}/{bytes}")), of, |cell| cell.times(1e-3)));
    }
    table.under(
        "The limit of a collective is a put of as many bytes by the bare program and its quiet, which is there and back; \
         the barrier's is one of 8 bytes. Direct: in place, on symmetric objects.",
    )
}

fn heads(first: &str) -> Vec<String> {
    let of = |(_, called): (&str, &str)| ["ours", "bare", "ratio"].map(|what| format!("{called}: {what}"));
    [first.to_owned()].into_iter().chain(PLACES.into_iter().flat_map(of)).collect()
}

fn row<'a>(
    first: Cell,
    of: impl Fn(&'static str) -> Option<&'a Entry>,
    unit: impl Fn(Cell) -> Cell,
) -> Vec<Cell> {
    let mut cells = vec![first];
    for (place, _) in PLACES {
        let cell = |column| Cell::of(of(place), column);
        cells.extend([unit(cell(Column::Value)), unit(cell(Column::Limit)), cell(Column::Ratio)]);
    }
    cells
}

/// What the model predicts, and what small jobs take.
fn scale(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::heading("The scale model"),
        Block::text(
            "Not measured, but predicted: what collectives would take in jobs of up to 100,000 PEs, by rounds, messages and \
             bytes that are counted, and three numbers that are measured between two PEs (alpha, a put of 8 bytes and its \
             quiet; gap, one put among 64; beta, a byte). The model knows no contention and no spread of arrivals.",
        ),
        Table::cases(
            "The three numbers, over the first one",
            evidence.all(|name| matches!(name, ofi::Name::Number(..))),
        )
        .into(),
    ];
    let mut figure = Figure::new(
        "A model: predicted for PEs that poll, and measured for small jobs",
        ("PEs", Scale::Log),
        ("us", Scale::Log),
    );
    for &state in State::ALL {
        let facts = evidence.facts(&format!("predicted, {}", state.name()));
        let heads = [String::new()].into_iter().chain(SHAPES.map(column));
        let mut table = Table::new(format!("Predicted by the model, PEs {}, us", state.name()), heads);
        for (name, _) in COLLECTIVES {
            let of =
                |shape| facts.iter().find(|fact| fact.row == name && fact.column == column(shape)).copied();
            let found = SHAPES.map(of);
            table.row([Cell::text(name)].into_iter().chain(found.map(Cell::fact)));
            if state == State::Polling {
                let operation = name.split(' ').next().unwrap_or_default();
                let mut line =
                    Series::beside(format!("{name}, predicted")).of(format!("{operation}, measured"));
                let points = SHAPES.into_iter().zip(found);
                let points = points.filter_map(|(shape, fact)| Some((shape, fact?.value.parse().ok()?)));
                points.for_each(|(shape, value)| line.push(shape.pes() as f64, value, None));
                figure = figure.with(line);
            }
        }
        blocks.push(table.into());
    }
    use collective::Operation::{Alltoall, Barrier, Sum};
    for operation in [Barrier, Sum, Alltoall] {
        let mut line = Series::new(format!("{}, measured", operation.name()));
        for entry in evidence.all(|name| matches!(name, Name::Scale(of, ..) if *of == operation)) {
            let case = &entry.case;
            line.push(case.pes as f64, case.value / 1e3, Some((case.p25 / 1e3, case.p75 / 1e3)));
        }
        figure = figure.with(line);
    }
    blocks.push(figure.into());
    let is_small = |name: &Name| matches!(name, Name::Scale(..));
    let measured = Table::cases("Small jobs: measured over what the model predicts", evidence.all(is_small));
    let under = "PEs of one host, each told that it is on a node of its own. Where PEs share cores, what is measured is the \
                 scheduler as well, and the model does not know it.";
    blocks.push(measured.under(under).into());
    blocks
}
