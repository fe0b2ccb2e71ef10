//! Orientations, and what predicates lose.

use crate::measure::strided::{Layouts, Name, Policy};
use crate::report::evidence::View;
use crate::report::page::{Block, Cell, Column, Table};
use crate::strided::cases::LayoutName;

/// The orientations of the publication, and how their names begin.
const ORIENTATIONS: [(&str, &[&str]); 5] = [
    ("contiguous", &["contiguous/"]),
    ("elements", &["column/", "column-"]),
    ("blocks", &["column4", "blocks/", "matrix/row-", "matrix/column"]),
    ("structs", &["aos/"]),
    ("checkerboard", &["checkerboard-", "matrix/checkerboard"]),
];
const MATRIX: (&str, &[&str]) = ("matrix", &["matrix/element", "matrix/group-"]);

/// What chooses, and as it is written.
const PREDICATES: [(Policy, &str); 5] = [
    (Policy::Auto, "this library's predicate"),
    (Policy::Published, "the published table (Algorithm 3)"),
    (Policy::Ideal, "the better one of 1 and 2, always"),
    (Policy::AlwaysOne, "always Algorithm 1"),
    (Policy::AlwaysTwo, "always Algorithm 2"),
];

/// Layouts that regret is measured at, and as they are written.
const KINDS: [(Layouts, &str); 3] = [
    (Layouts::Grid, "published layouts"),
    (Layouts::Random, "random layouts"),
    (Layouts::Sample, "a few published layouts"),
];

pub(super) fn blocks(evidence: View<'_>) -> Vec<Block> {
    vec![orientations(evidence).into(), regret(evidence).into()]
}

fn orientations(evidence: View<'_>) -> Table {
    let heads =
        ["orientation", "case", "ns", "limit", "over the limit", "quarters", "", "times faster than 1"];
    let mut table = Table::new("Orientations", heads).under(
        "The limit is a load and a store for each cache line of the blocks. The last column: how many times faster than a loop of \
         puts by a function that does no more than it must, which is Algorithm 1. Names: number of blocks, bytes, stride; \
         docs/performance.md has all of them.",
    );
    for (orientation, begins) in ORIENTATIONS.into_iter().chain([MATRIX]) {
        let of = |layout: &LayoutName| begins.iter().any(|begin| layout.name().starts_with(begin));
        for entry in evidence.all(|name| matches!(name, Name::Layout(layout, _) if of(layout))) {
            let cell = |column| Cell::of(Some(entry), column);
            table.row([
                Cell::text(orientation),
                Cell::text(&entry.case.case),
                cell(Column::Value),
                cell(Column::Limit),
                cell(Column::Ratio),
                cell(Column::RatioP25),
                cell(Column::RatioP75),
                cell(Column::VsA1),
            ]);
        }
    }
    table
}

fn regret(evidence: View<'_>) -> Table {
    let kinds = KINDS.iter().filter(|(kind, _)| evidence.case(&Name::Regret(Policy::Auto, *kind)).is_some());
    let heads = kinds.clone().flat_map(|(_, name)| [*name, "p95", "over auto", "layouts"]);
    let heads = ["predicate"].into_iter().chain(heads);
    let mut table = Table::new("Regret of predicates", heads).under(
        "Regret is the time of what a predicate chooses over that of the fastest of all ways there are, for one layout: 1 is a \
         perfect choice. Each layout counts once, with the median of its samples; shown are geometric means over layouts, and what \
         95 of 100 layouts do not exceed. Published layouts: the blocks and gaps of the table above, in spans from 16 KiB to 64 MiB; a few of \
 them: those that fit into caches.",
    );
    for (predicate, name) in PREDICATES {
        let numbers = kinds.clone().flat_map(|(kind, _)| {
            let entry = evidence.case(&Name::Regret(predicate, *kind));
            let cell = |column| Cell::of(entry, column);
            let over = if predicate == Policy::Auto { Cell::text("") } else { cell(Column::Ratio) };
            [cell(Column::Value), cell(Column::P95), over, cell(Column::Pairs)]
        });
        table.row([Cell::text(name)].into_iter().chain(numbers));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_has_one_orientation() {
        for name in LayoutName::all().map(LayoutName::name) {
            let all = ORIENTATIONS.into_iter().chain([MATRIX]);
            let of = all.filter(|(_, begins)| begins.iter().any(|begin| name.starts_with(begin)));
            assert_eq!(of.count(), 1, "{name}");
        }
    }
}
