//! The published halo exchange.

use shmem::strided::Algorithm;

use crate::measure::strided::Name;
use crate::name::{Part as _, Shape};
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Scale, Series, Table};
use crate::strided::exchange::Edges;

/// What is compared with Algorithm 1, and as it is written.
const ALGORITHMS: [(Algorithm, &str); 3] = [
    (Algorithm::Two, "Algorithm 2"),
    (Algorithm::Three, "Algorithm 3"),
    (Algorithm::Auto, "this library's choice"),
];

/// As edges are found, and as it is written.
const STATES: [(Edges, &str); 2] = [(Edges::Cached, "edges cached"), (Edges::Evicted, "edges evicted")];

/// What the table is called.
pub(super) const TABLE: &str = "strided-exchange";

pub(super) fn blocks(evidence: View<'_>) -> Vec<Block> {
    let shapes = shapes(evidence);
    let mut blocks = vec![table(evidence, &shapes).into()];
    blocks.extend(STATES.map(|state| figure(evidence, &shapes, state).into()));
    blocks
}

/// Rows and columns of the fields that were measured.
fn shapes(evidence: View<'_>) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (name, _) in evidence.named() {
        if let Name::Exchange(_, shape, _) = name
            && !shapes.contains(&shape)
        {
            shapes.push(shape);
        }
    }
    shapes
}

fn case(evidence: View<'_>, algorithm: Algorithm, shape: Shape, state: Edges) -> Option<&Entry> {
    evidence.case(&Name::Exchange(algorithm, shape, state))
}

fn table(evidence: View<'_>, shapes: &[Shape]) -> Table {
    let heads = ["field", "", "Algorithm 1, us", "2 over 1", "3 over 1", "auto over 1", "3, published"];
    let mut table = Table::new("Exchange of the halo of a field by two PEs", heads).named(TABLE).under(
        "Rows and columns of doubles; each PE has a half of the columns and sends one column to each side, and its \
         first and last row to itself. The publication gives 64 % for the choice by its table (Algorithm 3) on 128 MiB: a ratio of \
         0.36 if that is time saved, of 0.61 if it is speed gained. Edges cached: nothing but exchanges. Evicted: every cell of the field is visited between two \
 exchanges, as in a program that computes.",
    );
    for &shape in shapes {
        for (state, name) in STATES {
            let entries = ALGORITHMS.map(|(algorithm, _)| case(evidence, algorithm, shape, state));
            let best = entries.iter().flatten().map(|entry| entry.case.ratio).fold(1.0, f64::min);
            let first = Cell::of(entries[0], Column::Limit).chosen(entries[0].is_some() && best >= 1.0);
            let ratios = entries.map(|entry| {
                Cell::of(entry, Column::Ratio).chosen(entry.is_some_and(|entry| entry.case.ratio <= best))
            });
            let before = [Cell::text(shape.show()), Cell::text(name), first];
            table.row(before.into_iter().chain(ratios).chain([Cell::published("64 %")]));
        }
    }
    table
}

fn figure(evidence: View<'_>, shapes: &[Shape], (state, name): (Edges, &str)) -> Figure {
    let rows = |entry: &Entry| match entry.name()? {
        Name::Exchange(_, Shape([rows, _]), _) => Some(rows as f64),
        _ => None,
    };
    let of = |algorithm| shapes.iter().filter_map(move |&shape| case(evidence, algorithm, shape, state));
    let axis = "rows of the field, which are the cells of a column";
    let title = format!("An exchange by the shape of a field of one size, {name}");
    let mut figure = Figure::new(title, (axis, Scale::Bytes), ("us", Scale::Log));
    for (algorithm, name) in ALGORITHMS {
        figure = figure.with(Series::costs(name, of(algorithm), rows));
    }
    figure.with(Series::limits("Algorithm 1", of(ALGORITHMS[0].0), rows))
}
