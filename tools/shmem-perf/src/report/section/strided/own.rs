//! Each implementation's strided routines against its own loop of puts or gets.

use crate::measure::peers::{Library, Name};
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, RATIO, Scale, Series, Table};
use crate::strided::Direction;
use crate::strided::peers::own::{ELEMENTS, STRIDES};

/// Libraries, and as they are written.
const LIBRARIES: [(Library, &str); 3] = [
    (Library::Ours, "this library"),
    (Library::Oshmem, "OpenSHMEM of Open MPI"),
    (Library::Mpi, "MPI, vector types"),
];

const DIRECTIONS: [(Direction, &str); 2] =
    [(Direction::Put, "iput against own loop of puts"), (Direction::Get, "iget against own loop of gets")];

/// What the table is called.
const TABLE: &str = "strided-own";

/// What users ask of it, if it was measured.
pub(super) fn headline(evidence: View<'_>) -> Option<Headline> {
    let (elements, stride) = (ELEMENTS[ELEMENTS.len() - 1], *STRIDES.get(STRIDES.len() / 2)?);
    let of = |library| Cell::of(case(evidence, library, Direction::Put, stride, elements), Column::Ratio);
    let asked =
        format!("iput of {elements} doubles at a stride of {stride}, over the same library's loop of puts");
    let [ours, oshmem, mpi] = LIBRARIES.map(|(library, _)| of(library));
    Some(Headline::new(asked, TABLE, RATIO, ours).others([oshmem, mpi, Cell::text("")]))
}

pub(super) fn blocks(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![table(evidence).into()];
    blocks.extend(DIRECTIONS.map(|(direction, title)| figure(evidence, direction, title).into()));
    blocks
}

fn case(
    evidence: View<'_>,
    library: Library,
    direction: Direction,
    stride: usize,
    elements: usize,
) -> Option<&Entry> {
    evidence.case(&Name::Own(library, direction, stride, elements))
}

fn table(evidence: View<'_>) -> Table {
    let columns =
        || DIRECTIONS.iter().flat_map(|(direction, _)| ELEMENTS.map(|elements| (*direction, elements)));
    let heads = ["library".to_owned(), "stride".to_owned()];
    let heads = heads
        .into_iter()
        .chain(columns().map(|(direction, elements)| format!("{} of {elements}", direction.name())));
    let mut table = Table::new("Strided routines, each library against its own loop", heads).named(TABLE).under(
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

fn figure(evidence: View<'_>, direction: Direction, title: &str) -> Figure {
    let elements = ELEMENTS[ELEMENTS.len() - 1];
    let title = format!("{title}, {elements} doubles");
    let mut figure = Figure::new(title, ("stride, in doubles", Scale::Bytes), ("ratio", Scale::Log));
    for (library, name) in LIBRARIES {
        let entries =
            STRIDES.iter().filter_map(|&stride| case(evidence, library, direction, stride, elements));
        let stride = |entry: &Entry| match entry.name()? {
            Name::Own(_, _, stride, _) => Some(stride as f64),
            Name::Transfer(..) => None,
        };
        figure = figure.with(Series::ratios(name, entries, stride));
    }
    let mut even = Series::beside("as fast as the loop");
    STRIDES.iter().for_each(|stride| even.push(*stride as f64, 1.0, None));
    figure.with(even)
}
