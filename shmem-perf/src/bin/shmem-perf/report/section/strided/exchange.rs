//! The published halo exchange.

use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Scale, Series, Table};

const MEASURE: &str = "strided-exchange";

/// As cases begin, and as it is written.
const ALGORITHMS: [(&str, &str); 3] =
    [("2", "Algorithm 2"), ("3", "Algorithm 3"), ("auto", "this library's choice")];

/// As cases end, and as it is written.
const STATES: [(&str, &str); 2] = [("cached", "edges cached"), ("evicted", "edges evicted")];

pub(super) fn blocks(evidence: View<'_>) -> Vec<Block> {
    let shapes = shapes(evidence);
    let mut blocks = vec![table(evidence, &shapes).into()];
    blocks.extend(STATES.map(|state| figure(evidence, &shapes, state).into()));
    blocks
}

/// Rows and columns of the fields that were measured, as cases name them.
fn shapes(evidence: View<'_>) -> Vec<String> {
    let of = |entry: &Entry| entry.case.case.split('/').nth(1).map(str::to_owned);
    let mut shapes: Vec<String> = evidence.measure(MEASURE).filter_map(of).collect();
    shapes.dedup();
    let mut seen = Vec::new();
    shapes.retain(|shape| {
        !seen.contains(shape) && {
            seen.push(shape.clone());
            true
        }
    });
    shapes
}

fn case<'a>(evidence: View<'a>, algorithm: &str, shape: &str, state: &str) -> Option<&'a Entry> {
    evidence.case(MEASURE, &format!("{algorithm}/{shape}/{state}"))
}

fn table(evidence: View<'_>, shapes: &[String]) -> Table {
    let heads = ["field", "", "Algorithm 1, us", "2 over 1", "3 over 1", "auto over 1", "3, published"];
    let mut table = Table::new("Exchange of the halo of a field by two PEs", heads).under(
        "Rows and columns of doubles; each PE has a half of the columns and sends one column to each side, and its \
         first and last row to itself. The publication gives 64 % for the choice by its table (Algorithm 3) on 128 MiB: a ratio of \
         0.36 if that is time saved, of 0.61 if it is speed gained. Edges cached: nothing but exchanges. Evicted: every cell of the field is visited between two \
 exchanges, as in a program that computes.",
    );
    for shape in shapes {
        for (state, name) in STATES {
            let entries = ALGORITHMS.map(|(algorithm, _)| case(evidence, algorithm, shape, state));
            let best = entries.iter().flatten().map(|entry| entry.case.ratio).fold(1.0, f64::min);
            let first = Cell::of(entries[0], Column::Limit).chosen(entries[0].is_some() && best >= 1.0);
            let ratios = entries.map(|entry| {
                Cell::of(entry, Column::Ratio).chosen(entry.is_some_and(|entry| entry.case.ratio <= best))
            });
            let before = [Cell::text(shape), Cell::text(name), first];
            table.row(before.into_iter().chain(ratios).chain([Cell::published("64 %")]));
        }
    }
    table
}

fn figure(evidence: View<'_>, shapes: &[String], (state, name): (&str, &str)) -> Figure {
    let rows = |entry: &Entry| entry.case.case.split('/').nth(1)?.split_once('x')?.0.parse().ok();
    let of = |algorithm| shapes.iter().filter_map(move |shape| case(evidence, algorithm, shape, state));
    let axis = "rows of the field, which are the cells of a column";
    let title = format!("An exchange by the shape of a field of one size, {name}");
    let mut figure = Figure::new(title, (axis, Scale::Bytes), ("us", Scale::Log));
    for (algorithm, name) in ALGORITHMS {
        figure = figure.with(Series::costs(name, of(algorithm), rows));
    }
    figure.with(Series::limits("Algorithm 1", of(ALGORITHMS[0].0), rows))
}
