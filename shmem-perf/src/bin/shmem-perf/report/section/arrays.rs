//! Arrays on NUMA nodes.

use shmem_core::array::StorageKind;
use shmem_perf::{array, placement, placing};

use super::{Plan, Section, Step, Topic};
use crate::placement::Subject;
use crate::report::evidence::{Fact, View};
use crate::report::page::{Block, Cell, Column, Figure, Scale, Series, Table};
use crate::{Measure, array as arrays, fabric};

pub(super) const SECTION: Section = Section {
    topic: Topic::Arrays,
    title: "Arrays on NUMA nodes",
    source: "Chapel, NUMA-Aware Array Storage (CHIP 18)",
    steps,
    show,
};

/// Arrays that are made and freed over a network.
const FAR: &str = "tcp";

/// PEs and bytes of arrays that are made and freed. Small ones of PEs that share cores are waiting, and take long.
const LAYERS: [(usize, &[usize]); 2] =
    [(2, &[array::SIZES[0], array::SIZES[2], array::SIZES[3]]), (8, &[array::SIZES[2], array::SIZES[3]])];

/// Ways to go through an array, by what they are called in cases.
const WAYS: [(&str, &str); 18] = [
    ("index", "write by index: for i in A.domain do A(i) = i"),
    ("read", "read by index"),
    ("iter", "by element: for a in A"),
    ("each", "by element: for_each"),
    ("zip", "zipped: for (a, i) in zip(A, A.domain) do a = i"),
    ("chunks", "by chunk, each by index"),
    ("index/2", "write by index, two dimensions"),
    ("iter/2", "by element, two dimensions"),
    ("index/3", "write by index, three dimensions"),
    ("iter/3", "by element, three dimensions"),
    ("par-index", "all threads, zipped: forall (a, i) in zip(A, A.domain)"),
    ("par-iter", "all threads, by element: forall a in A"),
    ("par-read", "all threads, read by index: forall i in A.domain"),
    ("par-chunks", "all threads, by chunk"),
    ("index/cache", "write by index, 256 KiB in a cache"),
    ("read/cache", "read by index, 256 KiB in a cache"),
    ("iter/cache", "by element, 256 KiB in a cache"),
    ("zip/cache", "zipped, 256 KiB in a cache"),
];

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    let mut steps = vec![
        Step::new("where arrays lie", plan.either(20.0, 0.2), move |runner| {
            runner.placement_anywhere(Subject::Arrays, guest.as_deref())
        }),
        Step::new("loops over arrays", plan.either(16.0, 3.0), {
            let measure = plan.either(Measure::Array, Measure::ArrayBrief);
            move |runner| runner.array_loops(measure)
        }),
        Step::new("arrays made and freed", plan.either(7.0, 2.5), {
            let layers = plan.either(&LAYERS[..], &LAYERS[..1]);
            move |runner| layers.iter().try_for_each(|(pes, bytes)| runner.array_layers(*pes, bytes))
        }),
    ];
    if !plan.quick {
        steps.extend([
            Step::new("loops by all threads", 7.0, |runner| runner.array_in_parallel()),
            Step::new("arrays made and freed over tcp", 4.0, |runner| runner.far_layers(fabric::PROVIDER))
                .variant(FAR),
            Step::new("memory placed and touched", 2.0, |runner| runner.placing(&placing::SIZES[..1])),
        ]);
    }
    steps
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![
        Block::text(
            "An array is cut into a chunk for each NUMA node, and threads of that node work on it. Four storages have its \
             memory there: one range of the heap (single), a range of its own (separate), blocks on the nodes in turn \
             (cyclic), a range for each chunk (multi). Beside them stand the two ways that need no arrays: a PE on each \
             node, and memory that lies where it was touched first.",
        ),
        chart(evidence).into(),
        Block::heading("Where elements lie"),
        affinity(evidence).into(),
        Block::heading("What finding them costs"),
        loops(evidence).into(),
        figure(evidence).into(),
        Block::heading("Making and freeing"),
        churn(evidence).into(),
        Table::cases("Ways to use all CPUs, against a first touch", techniques(evidence))
            .under(
                "64 MiB multiplied in place by all CPUs. Limit: memory of one process, touched first by the threads that work \
                 on it. On one node all of it is near: this is what each way costs, not what nearness gains. Published for \
                 separate arrays against arrays that are not placed: 2.5 times the speed in stream, in a stencil and in a \
                 reduction (Chapel, pull request 6947). Left out of quick reports and without the feature rayon.",
            )
            .into(),
        Table::cases("Placing memory, against touching it first", evidence.measure("placing"))
            .under("Four chunks bound to a node each and populated; limit: all CPUs touch each page. Left out of quick reports.")
            .into(),
    ]
}

/// The chart of the source, with what was found below each of its judgements.
fn chart(evidence: View<'_>) -> Table {
    let heads = std::iter::once("").chain(StorageKind::ALL.map(StorageKind::name));
    let mut table = Table::new("The chart of the source, and what was found here", heads).under(
        "Affinity: the least share of elements on the right node in the cases below. Access: writing by index, over the \
         same loop over a slice. Use of locality: the largest array below that 2 PEs make, fill and free, over an object \
         of the heap, which exists already; network: the same over tcp, where what is made is registered. The source \
         has no judgement of cyclic storage.",
    );
    let published = |table: &mut Table, what: &str, [single, separate, multi]: [&str; 3]| {
        let [single, separate, multi] = [single, separate, multi].map(Cell::published);
        table.row([Cell::text(format!("{what}, published")), single, separate, Cell::text(""), multi]);
    };
    let found = |table: &mut Table, what: &str, cell: &dyn Fn(&str) -> Cell| {
        let cells = StorageKind::ALL.map(|kind| cell(kind.name()));
        table.row(std::iter::once(Cell::text(format!("{what}, here"))).chain(cells));
    };
    let ratio =
        |variant: &str, case: String| Cell::of(evidence.case_in(variant, "array", &case), Column::Ratio);
    let least = |storage: &str| {
        let shares = evidence.facts(placement::AFFINITY).into_iter().filter(|fact| fact.column == storage);
        let share = |fact: &&Fact| fact.value.parse::<f64>().unwrap_or(f64::NAN);
        Cell::fact(shares.min_by(|a, b| share(a).total_cmp(&share(b))))
    };
    published(&mut table, "affinity", ["fair", "fair", "best"]);
    found(&mut table, "affinity", &least);
    published(&mut table, "access speed", ["best", "best", "bad to fair"]);
    found(&mut table, "access speed", &|storage| ratio("", format!("{storage}/index")));
    published(&mut table, "balance", ["fair", "fair", "best"]);
    found(&mut table, "balance", &|_| Cell::text("chunks differ by one at most"));
    published(&mut table, "use of locality", ["poor", "fair", "good"]);
    let bytes = array::SIZES[3];
    found(&mut table, "use of locality", &|storage| ratio("", format!("next-layer/{storage}/{bytes}/2")));
    published(&mut table, "network cooperation", ["poor", "fair", "good"]);
    let bytes = arrays::FAR_SIZES[1];
    found(&mut table, "network cooperation", &|storage| {
        ratio(FAR, format!("next-layer/{storage}/{bytes}/2"))
    });
    table
}

fn affinity(evidence: View<'_>) -> Table {
    let columns = [
        "made as",
        "single",
        "separate",
        "cyclic",
        "multi",
        "one PE per node",
        "first touch by all threads",
        "first touch by one thread",
    ];
    let heads = std::iter::once("array of the source").chain(columns);
    let on: Vec<_> = evidence.facts("machine").iter().map(|fact| fact.value.clone()).collect();
    let mut table = Table::new("Share of elements on the node of the thread that owns their chunk", heads).under(format!(
        "As the kernel says. Arrays are scaled down together, where the memory of the nodes asks for it. Run on {}. An \
         emulated machine proves where pages are, never how fast they are.",
        on.join(": ")
    ));
    for row in rows(&evidence.facts(placement::AFFINITY)) {
        let cell = |column: &str| {
            let facts = evidence.facts(placement::AFFINITY);
            Cell::fact(facts.into_iter().find(|fact| fact.row == row && fact.column == column))
        };
        table.row(std::iter::once(Cell::text(row)).chain(columns.map(cell)));
    }
    table
}

/// The rows of a table of facts, in their order, each once.
pub(super) fn rows<'a>(facts: &[&'a Fact]) -> Vec<&'a str> {
    let mut rows: Vec<&str> = facts.iter().map(|fact| fact.row.as_str()).collect();
    rows.dedup();
    rows
}

/// Storages by their names in cases, and as they are shown.
fn storages() -> impl Iterator<Item = (&'static str, &'static str)> {
    StorageKind::ALL.map(|kind| (kind.name(), kind.name())).into_iter().chain([("chosen", "none named")])
}

fn loops(evidence: View<'_>) -> Table {
    let heads = ["loop"].into_iter().chain(storages().map(|(_, shown)| shown)).chain(["published for multi"]);
    let mut table = Table::new("A loop over an array, over the same loop over a slice", heads).under(
        "64 MiB of 8-byte elements in four chunks; smaller is better. Published: access by index is 8 times as slow as that \
         of an array in one range, 3 times is what may be hoped for. A quick report has one dimension only, and loops by \
         all threads need the feature rayon.",
    );
    for (way, shown) in WAYS {
        let of = |storage: &str| evidence.case("array", &format!("{storage}/{way}"));
        if storages().all(|(storage, _)| of(storage).is_none()) {
            continue;
        }
        let published = match way {
            "index" | "read" | "index/cache" | "read/cache" | "par-read" => Cell::published("8; at best 3"),
            "par-iter" | "par-index" => Cell::published("as one range"),
            _ => Cell::text(""),
        };
        let ratios = storages().map(|(storage, _)| Cell::of(of(storage), Column::Ratio));
        table.row(std::iter::once(Cell::text(shown)).chain(ratios).chain([published]));
    }
    table
}

fn figure(evidence: View<'_>) -> Figure {
    let ways = ["index", "read", "iter", "each", "zip", "chunks", "par-index", "par-iter", "par-read"];
    let at =
        |case: &str| ways.iter().position(|way| case.split_once('/').is_some_and(|(_, rest)| rest == *way));
    let names = Scale::Names(ways.map(str::to_owned).into());
    let figure = Figure::new("Loops over 64 MiB, one dimension", ("loop", names), ("ratio", Scale::Linear))
        .under("Ratio: the time over that of the same loop over a slice. Bars: quarters.");
    let entries: Vec<_> = evidence.measure("array").collect();
    storages().fold(figure, |figure, (storage, shown)| {
        let own = entries.iter().copied().filter(|entry| entry.case.case.split('/').next() == Some(storage));
        figure.with(Series::ratios(shown, own, |entry| at(&entry.case.case).map(|at| at as f64)))
    })
}

fn churn(evidence: View<'_>) -> Table {
    let names = StorageKind::ALL.map(StorageKind::name);
    let times = names.iter().map(|name| format!("{name}, us"));
    let ratios = names.iter().map(|name| format!("{name}, ratio"));
    let heads =
        ["array".to_owned(), "object of the heap, us".to_owned()].into_iter().chain(times).chain(ratios);
    let mut table = Table::new("An array made, filled and freed in a loop, over an object of the heap", heads).under(
        "The loop of layers, the one program that the source found to be sensitive to registration. A range of its own is \
         mapped, made known to all PEs and, over a network, registered each time; a heap and the pools of multi are once. \
         Over tcp: two PEs that reach each other through libfabric. PEs beyond the cores share them.",
    );
    let near = LAYERS.iter().flat_map(|(pes, sizes)| sizes.iter().map(move |bytes| ("", *pes, *bytes)));
    let far = arrays::FAR_SIZES.into_iter().map(|bytes| (FAR, 2, bytes));
    for (variant, pes, bytes) in near.chain(far) {
        let of = |storage: &str| {
            evidence.case_in(variant, "array", &format!("next-layer/{storage}/{bytes}/{pes}"))
        };
        if of(names[0]).is_none() {
            continue;
        }
        let place = if variant == FAR { ", over tcp" } else { "" };
        let mut cells = vec![
            Cell::text(format!("{} KiB, {pes} PEs{place}", bytes >> 10)),
            Cell::of(of(names[0]), Column::Limit),
        ];
        cells.extend(names.map(|storage| Cell::of(of(storage), Column::Value)));
        cells.extend(names.map(|storage| Cell::of(of(storage), Column::Ratio)));
        table.row(cells);
    }
    table
}

fn techniques(evidence: View<'_>) -> impl Iterator<Item = &crate::report::evidence::Entry> {
    evidence.measure("array").filter(|entry| entry.case.case.starts_with("technique/"))
}
