//! The published table.

use shmem_core::strided::{GAPS, PUBLISHED};

use crate::measure::strided::{Name, Published};
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Scale, Series, Table};
use crate::strided::Direction;

/// The directions, and the words of a title.
const DIRECTIONS: [(Direction, &str); 2] = [(Direction::Put, "Puts"), (Direction::Get, "Gets")];

pub(super) fn blocks(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::text(
        "A payload is moved in blocks of one size with gaps of one size between them, the same on both sides. Algorithm 1 makes \
         a put for each block (putmem), Algorithm 2 an iput for each column of 16, 8 or 4 bytes of the blocks, as wide as \
         strides allow; Algorithm 3 takes the one of them that the published table names. Ratios are times over that of \
         Algorithm 1 in the same round; the fastest of 1, 2 and this library's own choice is marked. Where the whole \
 payload takes long, a sample moves a part of it and the next sample the next part; the line of the number says so.",
    )];
    for (direction, title) in DIRECTIONS {
        blocks.push(table(evidence, direction, title).into());
        blocks.push(
            figure(
                evidence,
                Published::Two,
                direction,
                format!("{title}: columns (Algorithm 2) over blocks (Algorithm 1)"),
            )
            .into(),
        );
        let best = format!("{title}: this library's choice over the better one of Algorithms 1 and 2");
        blocks.push(figure(evidence, Published::AutoOverBest, direction, best).into());
    }
    let passes = evidence.facts("strided-published-passes");
    if !passes.is_empty() {
        let mut table = Table::new(
            "Cells whose payload and gaps do not fit this machine's memory, or more of it than a report should take",
            ["block", "gap", "moved in"],
        )
        .under(
            "They are moved in several passes over a smaller place, which is several times as large as the largest \
             cache, each pass some lines further than the one before.",
        );
        for fact in passes {
            table.row([Cell::text(&fact.row), Cell::text(&fact.column), Cell::fact(Some(fact))]);
        }
        blocks.push(table.into());
    }
    blocks
}

fn case(
    evidence: View<'_>,
    way: Published,
    direction: Direction,
    block: usize,
    gap: usize,
) -> Option<&Entry> {
    evidence.case(&Name::Published(way, direction, block, gap))
}

fn table(evidence: View<'_>, direction: Direction, title: &str) -> Table {
    let gaps = GAPS.map(|gap| format!("gap {gap}"));
    let heads = ["block".to_owned(), String::new()].into_iter().chain(gaps);
    let mut table = Table::new(format!("{title}: blocks by gaps, in bytes"), heads);
    let (mut measured, mut agreeing) = (0, 0);
    for (block, published) in PUBLISHED {
        let entries = |way| GAPS.map(|gap| case(evidence, way, direction, block, gap));
        let (two, three, auto) =
            (entries(Published::Two), entries(Published::Three), entries(Published::Auto));
        let ratio = |entry: Option<&Entry>| entry.map_or(f64::INFINITY, |entry| entry.case.ratio);
        for (entry, columns) in two.iter().flatten().zip(published) {
            measured += 1;
            agreeing += usize::from((entry.case.ratio < 1.0) == columns);
        }
        let best = |at: usize| ratio(two[at]).min(ratio(auto[at])).min(1.0);
        let mut row = |name: &str, cells: [Cell; 6]| {
            table.row([Cell::text(block.to_string()), Cell::text(name)].into_iter().chain(cells));
        };
        let at = [0, 1, 2, 3, 4, 5];
        row(
            "1: putmem, ms",
            at.map(|at| Cell::of(two[at], Column::Limit).chosen(two[at].is_some() && best(at) >= 1.0)),
        );
        row(
            "2: iput, over 1",
            at.map(|at| Cell::of(two[at], Column::Ratio).chosen(ratio(two[at]) <= best(at))),
        );
        row("3: the table's, over 1", three.map(|entry| Cell::of(entry, Column::Ratio)));
        row(
            "auto, over 1",
            at.map(|at| Cell::of(auto[at], Column::Ratio).chosen(ratio(auto[at]) <= best(at))),
        );
        row(
            "auto, over the better of 1 and 2",
            entries(Published::AutoOverBest).map(|entry| Cell::of(entry, Column::Ratio)),
        );
        row(
            "published winner",
            published.map(|columns| Cell::published(if columns { "iput" } else { "putmem" })),
        );
    }
    table.under(format!(
        "In {agreeing} of {measured} cells that were measured the published winner of Algorithms 1 and 2 (a Cray XC30, 64 MiB) is the \
         winner here, too."
    ))
}

fn figure(evidence: View<'_>, way: Published, direction: Direction, title: String) -> Figure {
    let mut even = Series::beside("as fast");
    PUBLISHED.iter().for_each(|(block, _)| even.push(*block as f64, 1.0, None));
    let mut figure = Figure::new(title, ("bytes of a block", Scale::Bytes), ("ratio", Scale::Log));
    for gap in GAPS {
        let entries = PUBLISHED.iter().filter_map(|&(block, _)| case(evidence, way, direction, block, gap));
        let block = |entry: &Entry| match entry.name()? {
            Name::Published(_, _, block, _) => Some(block as f64),
            _ => None,
        };
        figure = figure.with(Series::ratios(format!("gap {gap}"), entries, block));
    }
    figure.with(even)
}
