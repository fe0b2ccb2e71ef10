//! Each implementation's strided routines against its own loop of puts or gets.

use shmem_perf::strided::peers::own::{ELEMENTS, STRIDES};

use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Scale, Series, Table};

const MEASURE: &str = "strided-own";

/// As cases begin, and as it is written.
const LIBRARIES: [(&str, &str); 3] =
    [("ours", "this library"), ("oshmem", "OpenSHMEM of Open MPI"), ("mpi", "MPI, vector types")];

const DIRECTIONS: [(&str, &str); 2] =
    [("put", "iput against own loop of puts"), ("get", "iget against own loop of gets")];

pub(super) fn blocks(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![table(evidence).into()];
    blocks.extend(DIRECTIONS.map(|(direction, title)| figure(evidence, direction, title).into()));
    blocks
}

fn case<'a>(
    evidence: View<'a>,
    library: &str,
    direction: &str,
    stride: usize,
    elements: usize,
) -> Option<&'a Entry> {
    evidence.case(MEASURE, &format!("{library}/{direction}/{stride}/{elements}"))
}

fn table(evidence: View<'_>) -> Table {
    let columns =
        || DIRECTIONS.iter().flat_map(|(direction, _)| ELEMENTS.map(|elements| (*direction, elements)));
    let heads = ["library".to_owned(), "stride".to_owned()];
    let heads =
        heads.into_iter().chain(columns().map(|(direction, elements)| format!("{direction} of {elements}")));
    let mut table = Table::new("Strided routines, each library against its own loop", heads).under(
        "Doubles at a stride, in doubles, on both sides. The ratio is the time of the strided routine over that of a loop of the \
         same library's put or get, each of one element and all complete at the end. As in the publication, it says what each \
         library makes of its strided routines, and nothing of one library beside another: a slow loop makes a good ratio.",
    );
    for (library, name) in LIBRARIES {
        for stride in STRIDES {
            let ratios = columns().map(|(direction, elements)| {
                Cell::of(case(evidence, library, direction, stride, elements), Column::Ratio)
            });
            table.row([Cell::text(name), Cell::text(stride.to_string())].into_iter().chain(ratios));
        }
    }
    table
}

fn figure(evidence: View<'_>, direction: &str, title: &str) -> Figure {
    let elements = ELEMENTS[ELEMENTS.len() - 1];
    let title = format!("{title}, {elements} doubles");
    let mut figure = Figure::new(title, ("stride, in doubles", Scale::Bytes), ("ratio", Scale::Log));
    for (library, name) in LIBRARIES {
        let entries =
            STRIDES.iter().filter_map(|&stride| case(evidence, library, direction, stride, elements));
        let stride = |entry: &Entry| entry.case.case.split('/').nth(2)?.parse().ok();
        figure = figure.with(Series::ratios(name, entries, stride));
    }
    let mut even = Series::beside("as fast as the loop");
    STRIDES.iter().for_each(|stride| even.push(*stride as f64, 1.0, None));
    figure.with(even)
}
