//! Strided transfers.
//!
//! ```text
//! published    the table of blocks and gaps     own         each library against its own loop
//! exchange     the halo exchange                layouts     orientations, and what predicates lose
//! ```

mod exchange;
mod layouts;
mod own;
mod published;

use super::{Plan, Section, Step, Topic};
use shmem::strided::Algorithm;

use crate::measure::{peers, strided};
use crate::name::Shape;
use crate::peers::Peer;
use crate::report::evidence::View;
use crate::report::page::{Block, Cell, Column, Headline, RATIO, Table};
use crate::strided::exchange::Edges;
use crate::strided::peers::{Kind, Transfer};

pub(super) const SECTION: Section = Section {
    topic: Topic::Strided,
    title: "Strided transfers",
    source: "Extending Strided Communication Interface in OpenSHMEM (2015)",
    steps,
    headlines,
    show,
};

/// Layouts of each kind whose regret is measured in a whole report.
const LAYOUTS: usize = 32;

fn steps(plan: &Plan) -> Vec<Step> {
    let quick = plan.quick;
    let others: &[Peer] = if plan.peers { &Peer::STRIDED } else { &[] };
    let mut steps = vec![
        Step::new("strided: the published table", plan.either(120.0, 8.0), move |runner| {
            strided::published_table(runner, quick)
        }),
        Step::new("strided: iput and iget against own loops", plan.either(6.0, 3.0), move |runner| {
            peers::own_loops(runner, others)
        }),
        Step::new("strided: the published halo exchange", plan.either(15.0, 2.0), move |runner| {
            strided::published_exchange(runner, quick)
        }),
        Step::new("strided: orientations", plan.either(8.0, 3.0), move |runner| {
            runner.several(if quick { 1 } else { 5 }, strided::orientations)
        }),
        Step::new("strided: regret of predicates", plan.either(30.0, 2.0), move |runner| match quick {
            true => strided::regret_of_a_few(runner),
            false => strided::regret_of(runner, None, LAYOUTS),
        }),
    ];
    if plan.peers && !quick {
        steps.push(Step::new("strided: beside other libraries", 8.0, move |runner| {
            runner.several(3, peers::beside)
        }));
    }
    steps
}

/// The field of the publication: 128 MiB of doubles.
const FIELD: Shape = Shape([4096, 4096]);

/// What the table beside other libraries is called.
const BESIDE: &str = "strided-beside";

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let column = |kind| {
        let transfer = Transfer::ALL.iter().find(|transfer| transfer.name.name() == "column/128");
        transfer.and_then(|transfer| evidence.case(&peers::Name::Transfer(kind, transfer.name)))
    };
    let (oshmem, mpi) = (column(Kind::Oshmem), column(Kind::Mpi));
    let theirs = [Cell::of(oshmem, Column::Limit), Cell::of(mpi, Column::Limit), Cell::text("")];
    let ours = Cell::of(oshmem.or(mpi), Column::Value);
    let mut headlines = vec![
        Headline::new("A column of 1000 doubles, each 1 KiB behind the last", BESIDE, "ns", ours)
            .others(theirs),
    ];
    headlines.extend(own::headline(evidence));
    for (edges, said) in [(Edges::Cached, "nothing else"), (Edges::Evicted, "computing in between")] {
        let exchange = evidence.case(&strided::Name::Exchange(Algorithm::Auto, FIELD, edges));
        let asked = format!("The halo of a field of 128 MiB and {said}, over a loop of puts");
        let headline = Headline::new(asked, exchange::TABLE, RATIO, Cell::of(exchange, Column::Ratio));
        headlines.push(headline.published("0.36 or 0.61 (64 %)"));
    }
    headlines
}

fn show(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = published::blocks(evidence);
    blocks.extend(own::blocks(evidence));
    let mut beside = evidence.all(|name| matches!(name, peers::Name::Transfer(..))).peekable();
    if beside.peek().is_some() {
        let table = Table::cases("Strided transfers beside other libraries", beside).named(BESIDE).under(
            "The same transfers by this library and by another one, in turn, each complete at its destination. mpi and oshmem: \
             iput (or ibput for blocks) against their fastest call; a1: this library's loop of puts against theirs. Same sets: \
             both sides lie in the same sets of caches and of the TLB.",
        );
        blocks.push(table.into());
    }
    blocks.extend(exchange::blocks(evidence));
    blocks.extend(layouts::blocks(evidence));
    blocks
}
