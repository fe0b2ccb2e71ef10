//! The C library: its routines beside those of Open MPI and beside the same calls in Rust.

use super::{Plan, Section, Step, Topic};
use crate::measure::c::{self, Name, Routine};
use crate::measure::goal;
use crate::micro::Operation;
use crate::peers::Peer;
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Headline, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::C,
    title: "Programs in C",
    source: "Open MPI's OpenSHMEM, by the same programs; and the same calls in Rust",
    steps,
    headlines,
    show,
};

/// What the tables are called.
const ROUTINES: &str = "c-routines";
const RUST: &str = "c-rust";
const JOBS: &str = "c-jobs";

fn steps(plan: &Plan) -> Vec<Step> {
    let peers = plan.peers;
    // The library, its programs, and what calls cost.
    vec![Step::new("programs in C", plan.either(20.0, 12.0), move |runner| {
        let wanted = |peer: &Peer| peers || *peer != Peer::OshmemRoutines;
        let programs: Vec<Peer> = c::PROGRAMS.into_iter().filter(wanted).collect();
        c::measure(runner, &programs)
    })]
}

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let of = |name: Name, column| Cell::of(evidence.case(&name), column);
    let beside = |asked: &str, routine, number| {
        let name = || Name::Oshmem(routine, number);
        let theirs = of(name(), Column::Limit);
        Headline::new(asked, ROUTINES, "ns", of(name(), Column::Value)).others([
            theirs,
            Cell::text(""),
            Cell::text(""),
        ])
    };
    let rust = |asked: &str, table, unit, name: Name| {
        Headline::new(asked, table, unit, of(name.clone(), Column::Value)).limit(of(name, Column::Limit))
    };
    vec![
        beside("shmem_long_p in C, one behind the other", Routine::P8, 8),
        beside("shmem_long_atomic_fetch_add in C", Routine::FetchAdd, 8),
        beside("shmem_double_iput in C of 1024, 129 apart", Routine::Iput, 129),
        rust("shmem_barrier_all in C, over the same in Rust", RUST, "ns", Name::Rust(Operation::Barrier, 0)),
        rust("A put in C to a PE that sleeps, where PEs outnumber cores", JOBS, "us", Name::Wake),
        rust("Start and end of 4 PEs in C, over the same in Rust", JOBS, "ms", Name::Start(c::STARTED)),
    ]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    let of = |wanted: fn(&Name) -> bool| evidence.all(wanted);
    vec![
        Block::text(
            "One program calls single routines of OpenSHMEM, one behind the other, between two processes of a node with a core \
             each. It is compiled with this library and with Open MPI's, and both take their samples in turn.",
        ),
        table(
            ("Single routines of two libraries", ROUTINES),
            "Open MPI",
            of(|name| matches!(name, Name::Oshmem(..))),
            "p8 is shmem_long_p, put8 shmem_put64 of one word, fetch-add shmem_long_atomic_fetch_add on one word, iput \
             shmem_double_iput of 1024 elements so many doubles apart on both sides.",
        )
        .into(),
        table(
            ("A global of the program beside the heap", "c-global"),
            "heap",
            of(|name| matches!(name, Name::Global)),
            "put8 to a variable of the executable, over one to what shmem_malloc gave.",
        )
        .into(),
        Block::text(
            "The micro-benchmarks by a program in C, and by one in Rust, on one runtime. Collectives of OpenSHMEM are between \
             symmetric objects, those of Rust between private memory.",
        ),
        table(
            ("C and Rust", RUST),
            "Rust",
            of(|name| matches!(name, Name::Rust(..))),
            "By operation and bytes. A word costs the call of a library more, and the look whether somebody sleeps.",
        )
        .into(),
        table(
            ("Sleeping PEs, and starts", JOBS),
            "limit",
            of(|name| matches!(name, Name::Wake | Name::WakePlain | Name::Start(_))),
            "wake: a step of a word that goes round by shmem_long_p, twice as many PEs as cores; wake-plain: from the plain store of a \
             thread until its own PE goes on, the longest of 8; both over the kernel's wait and wake alone. start: a hello, over the \
             same in Rust.",
        )
        .into(),
    ]
}

fn table<'a>(
    (title, name): (&str, &str),
    limit: &str,
    entries: impl Iterator<Item = &'a Entry>,
    under: &str,
) -> Table {
    let heads = ["case", "ours", limit, "unit", "ratio", "quarters", "", "goal"];
    let mut table = Table::new(title, heads).named(name).under(under);
    for entry in entries {
        let of = |column| Cell::of(Some(entry), column);
        let goal = goal(&entry.case).map_or_else(String::new, |goal| goal.to_string());
        table.row([
            Cell::text(&entry.case.case),
            of(Column::Value),
            of(Column::Limit),
            Cell::text(&entry.case.unit),
            of(Column::Ratio),
            of(Column::RatioP25),
            of(Column::RatioP75),
            Cell::text(goal),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::CaseName as _;

    #[test]
    fn every_case_with_a_goal_stands_in_a_table() {
        let names = [
            Name::Oshmem(Routine::P8, 8),
            Name::Global,
            Name::Rust(Operation::Put, 4096),
            Name::Wake,
            Name::WakePlain,
            Name::Start(c::STARTED),
        ];
        let mut evidence = crate::report::evidence::Evidence::default();
        let mut samples = crate::samples::Samples::new();
        samples.push(1.0, 2.0);
        let site = crate::case::Site::near(2);
        let records =
            names.iter().map(|name| crate::case::Record::new(&site, name, "ns", "", samples.clone()));
        let kept = crate::runner::Kept { records: records.collect(), ..Default::default() };
        evidence.add(Topic::C, "a step", "", kept, None);
        let html = crate::report::page::html(&[&SECTION], &evidence);
        for name in names {
            let cell = format!(">{name}<");
            let in_tables =
                html.split("<section id=\"c\">").nth(1).unwrap().split("</section>").next().unwrap();
            assert!(in_tables.contains(&cell), "{cell} of {}", name.measure());
            assert!(html.contains("at most 50"), "goals are shown");
        }
    }
}
