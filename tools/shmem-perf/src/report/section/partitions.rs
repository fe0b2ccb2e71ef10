//! Kinds of memory and sizes of pages.

use super::arrays::rows;
use super::{Plan, Section, Step, Topic};
use crate::measure::partitions::{self, Name};
use crate::measure::placement::{self as places, Subject};
use crate::measure::{ofi, pages};
use crate::placement;
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, RATIO, Scale, Series, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Partitions,
    title: "Kinds of memory, sizes of pages",
    source: "Symmetric Memory Partitions in OpenSHMEM (2017)",
    steps,
    headlines,
    show,
};

/// What is registered with a provider.
const FAR: &str = "tcp";

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    let mut steps = vec![
        Step::new("where partitions lie", plan.either(20.0, 0.5), move |runner| {
            places::anywhere(runner, Subject::Partitions, guest.as_deref())
        }),
        Step::new("small and large pages", 3.0, pages::measure),
        Step::new("partitions made and mapped", 1.0, partitions::at_start),
        Step::new("partitions made later", 2.0, partitions::at_run_time),
    ];
    if !plan.quick {
        let registered = |runner: &mut crate::runner::Runner| ofi::registered(runner, ofi::PROVIDER);
        steps.push(Step::new("partitions registered", 10.0, registered).variant(FAR));
    }
    steps
}

/// What the table of pages is called.
const PAGES: &str = "partitions-pages";

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let columns = evidence.named().filter_map(|(name, entry)| match name {
        pages::Name::Column(touched) => Some((touched, entry)),
        pages::Name::Stencil(_) => None,
    });
    let longest = columns.max_by_key(|(touched, _)| *touched);
    let headline = longest.map(|(touched, entry)| {
        let asked = format!("A column over {touched} pages, in pages of 2 MiB over small ones");
        Headline::new(asked, PAGES, RATIO, Cell::of(Some(entry), Column::Ratio))
    });
    headline.into_iter().collect()
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![
        Block::text(
            "The published stencil uses the default heap and nothing else. What that is made of, which kind of memory and \
             which size of pages, is said in the environment, and the program stays as it is. Here it is a stencil on two \
             grids whose columns go to both neighbours behind each step.",
        ),
        Block::heading("Where the pages of partition 1 are"),
        placed(evidence).into(),
        Block::heading("What the size of pages does to time"),
        Table::cases("Pages of 2 MiB against small ones", evidence.all(|_: &pages::Name| true))
            .named(PAGES)
            .under(
                "The same program on the same machine, in both. stencil/n: a step on n x n cells of each PE, time for \
                 each cell. column: a strided put that touches so many small pages, time for each element. The publication \
                 shows 4 KiB and 64 MiB without figures; this processor has 2 MiB, and 1 GiB where they are reserved.",
            )
            .into(),
        columns(evidence).into(),
        Block::heading("What partitions cost"),
        footprint(evidence).into(),
        Table::cases("Partitions against one, on one host", made(evidence))
            .under("Time for each partition; what is kept, in all.")
            .into(),
        Table::cases("The same over tcp", registered(evidence))
            .under("ofi-register: regions of 1 MiB registered by hand, beside partitions that the library makes.")
            .into(),
    ]
}

fn placed(evidence: View<'_>) -> Table {
    let facts = evidence.facts(placement::PARTITIONS);
    let mut pes: Vec<&str> =
        facts.iter().map(|fact| fact.column.as_str()).filter(|column| column.starts_with("PE ")).collect();
    pes.sort_unstable();
    pes.dedup();
    let before = ["given", "pages are", "kind"].into_iter();
    let columns: Vec<_> = before.chain(pes).chain(["said", "refused"]).collect();
    let on: Vec<_> = evidence.facts("machine").iter().map(|fact| fact.value.clone()).collect();
    let heads = std::iter::once("SHMEM_SYMMETRIC_PARTITION1").chain(columns.iter().copied());
    let mut table = Table::new("What was asked, what was given, and which nodes the pages are on", heads).under(format!(
        "Kinds N and F, policies M (mandatory) and P (preferred), pages per node as the kernel says behind the stencil. \
         PEs are bound to a node each. Published: 500M in pages of 4K and 64M, on N and F; pages of 64M are no size of this \
         processor, which has to be refused where they are mandatory. Run on {}. An emulated machine proves where pages \
         are, never how fast they are.",
        on.join(": ")
    ));
    for row in rows(&facts) {
        let cell = |column: &&str| {
            let fact = facts.iter().copied().find(|fact| fact.row == row && fact.column == **column);
            fact.map_or_else(|| Cell::text(""), |fact| Cell::fact(Some(fact)))
        };
        table.row(std::iter::once(Cell::text(row)).chain(columns.iter().map(cell)));
    }
    table
}

fn columns(evidence: View<'_>) -> Figure {
    let touched = |entry: &Entry| match entry.name()? {
        pages::Name::Column(touched) => Some(touched as f64),
        pages::Name::Stencil(_) => None,
    };
    Figure::new("Columns", ("small pages that the column touches", Scale::Bytes), ("ns for each element", Scale::Linear))
        .with(Series::costs("pages of 2 MiB", evidence.all(|_: &pages::Name| true), touched))
        .with(Series::limits("small pages", evidence.all(|_: &pages::Name| true), touched))
        .under("Beyond the number of pages that a core finds by its TLB, each element in a small page costs a walk through the page table.")
}

/// A line for each number of partitions.
fn footprint(evidence: View<'_>) -> Table {
    let heads = [
        "partitions",
        "make one, us",
        "map a neighbour's, us",
        "enter it in the tables, us",
        "mappings",
        "descriptors",
        "KiB resident",
        "make one later, us",
        "make one later over tcp, us",
        "register a region, us",
    ];
    let mut table = Table::new("For each partition, and what a process keeps for all of them", heads).under(
        "A node with 4 PEs. All partitions of a PE with one size of pages lie in one file and one mapping. The publication \
         names these costs and gives no figures. One made at run time has a file of its own, and is made known to all PEs; \
         of these there are 124 in the last line, beside three that every job has.",
    );
    for (n, later) in partitions::PARTITIONS.into_iter().zip(partitions::LATER) {
        let of = |variant: &str, name: Name| Cell::of(evidence.case_in(variant, &name), Column::Value);
        table.row([
            Cell::text(n.to_string()),
            of("", Name::Create(n)),
            of("", Name::Attach(n)),
            of("", Name::Register(n)),
            of("", Name::Mappings(n)),
            of("", Name::Descriptors(n)),
            of("", Name::Resident(n)),
            of("", Name::Later(later)),
            of(FAR, Name::Later(later)),
            Cell::of(evidence.case_in(FAR, &ofi::Name::Register(n)), Column::Value).times(1e-3),
        ]);
    }
    table
}

fn made(evidence: View<'_>) -> impl Iterator<Item = &Entry> {
    evidence.all(|_: &Name| true).filter(|entry| entry.variant.is_empty())
}

fn registered(evidence: View<'_>) -> impl Iterator<Item = &Entry> {
    let regions = evidence.all(|name| matches!(name, ofi::Name::Register(_)));
    evidence.all(|_: &Name| true).chain(regions).filter(|entry| entry.variant == FAR)
}
