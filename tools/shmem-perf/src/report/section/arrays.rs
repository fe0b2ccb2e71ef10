//! Arrays on NUMA nodes.

use super::{Plan, Section, Step, Topic};
use crate::array::name::{Name, StorageName, Way};
use crate::measure::placement::{self as places, Subject};
use crate::measure::{array as arrays, ofi, placing};
use crate::report::evidence::{Entry, Fact, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, RATIO, Scale, Series, Table};
use crate::{array, placement};

pub(super) const SECTION: Section = Section {
    topic: Topic::Arrays,
    title: "Arrays on NUMA nodes",
    source: "Chapel, NUMA-Aware Array Storage (CHIP 18)",
    steps,
    headlines,
    show,
};

/// Arrays that are made and freed over a network.
const FAR: &str = "tcp";

/// PEs and bytes of arrays that are made and freed. Small ones of PEs that share cores are waiting, and take long.
const LAYERS: [(usize, &[usize]); 2] =
    [(2, &[array::SIZES[0], array::SIZES[2], array::SIZES[3]]), (8, &[array::SIZES[2], array::SIZES[3]])];

/// A loop over an array of a storage.
type Loop = fn(StorageName) -> Name;

/// Ways to go through an array.
const WAYS: [(Loop, &str); 18] = [
    (|storage| Name::Loop(storage, Way::Index), "write by index: for i in A.domain do A(i) = i"),
    (|storage| Name::Loop(storage, Way::Read), "read by index"),
    (|storage| Name::Loop(storage, Way::Iter), "by element: for a in A"),
    (|storage| Name::Loop(storage, Way::Each), "by element: for_each"),
    (|storage| Name::Loop(storage, Way::Zip), "zipped: for (a, i) in zip(A, A.domain) do a = i"),
    (|storage| Name::Loop(storage, Way::Chunks), "by chunk, each by index"),
    (|storage| Name::Shaped(storage, Way::Index, 2), "write by index, two dimensions"),
    (|storage| Name::Shaped(storage, Way::Iter, 2), "by element, two dimensions"),
    (|storage| Name::Shaped(storage, Way::Index, 3), "write by index, three dimensions"),
    (|storage| Name::Shaped(storage, Way::Iter, 3), "by element, three dimensions"),
    (|storage| Name::Loop(storage, Way::ParIndex), "all threads, zipped: forall (a, i) in zip(A, A.domain)"),
    (|storage| Name::Loop(storage, Way::ParIter), "all threads, by element: forall a in A"),
    (|storage| Name::Loop(storage, Way::ParRead), "all threads, read by index: forall i in A.domain"),
    (|storage| Name::Loop(storage, Way::ParChunks), "all threads, by chunk"),
    (|storage| Name::Cached(storage, Way::Index), "write by index, 256 KiB in a cache"),
    (|storage| Name::Cached(storage, Way::Read), "read by index, 256 KiB in a cache"),
    (|storage| Name::Cached(storage, Way::Iter), "by element, 256 KiB in a cache"),
    (|storage| Name::Cached(storage, Way::Zip), "zipped, 256 KiB in a cache"),
];

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    let mut steps = vec![
        Step::new("where arrays lie", plan.either(20.0, 0.2), move |runner| {
            places::anywhere(runner, Subject::Arrays, guest.as_deref())
        }),
        Step::new("loops over arrays", plan.either(16.0, 3.0), {
            let task = plan.either(arrays::ARRAY, arrays::ARRAY_BRIEF);
            move |runner| arrays::loops(runner, &task)
        }),
        Step::new("arrays made and freed", plan.either(7.0, 2.5), {
            let layers = plan.either(&LAYERS[..], &LAYERS[..1]);
            move |runner| layers.iter().try_for_each(|(pes, bytes)| arrays::layers(runner, *pes, bytes))
        }),
    ];
    if !plan.quick {
        steps.extend([
            Step::new("loops by all threads", 7.0, arrays::loops_by_all_threads),
            Step::new("arrays made and freed over tcp", 4.0, |runner| {
                arrays::far_layers(runner, ofi::PROVIDER)
            })
            .variant(FAR),
            Step::new("memory placed and touched", 2.0, |runner| {
                placing::measure(runner, &placing::SIZES[..1])
            }),
        ]);
    }
    steps
}

/// What tables are called.
const CHART: &str = "arrays-chart";
const LOOPS: &str = "arrays-loops";

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let storage = StorageName::Multi;
    let index = Cell::of(evidence.case(&Name::Loop(storage, Way::Index)), Column::Ratio);
    vec![
        Headline::new("An array over NUMA nodes by index, over a slice", LOOPS, RATIO, index)
            .published("8; at best 3"),
        Headline::new(
            "Elements of such an array on the right node, at least",
            CHART,
            "share",
            affine(evidence, storage),
        )
        .published("best of all storages"),
    ]
}

/// The least share of elements on the right node.
fn affine(evidence: View<'_>, storage: StorageName) -> Cell {
    let shares = evidence.facts(placement::AFFINITY).into_iter().filter(|fact| fact.column == storage.name());
    let share = |fact: &&Fact| fact.value.parse::<f64>().unwrap_or(f64::NAN);
    Cell::fact(shares.min_by(|a, b| share(a).total_cmp(&share(b))))
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
        Table::cases("Placing memory, against touching it first", evidence.all(|_: &placing::Name| true))
            .under("Four chunks bound to a node each and populated; limit: all CPUs touch each page. Left out of quick reports.")
            .into(),
    ]
}

/// The chart of the source, with what was found below each of its judgements.
fn chart(evidence: View<'_>) -> Table {
    let heads = std::iter::once("").chain(StorageName::NAMED.map(StorageName::name));
    let mut table = Table::new("The chart of the source, and what was found here", heads).named(CHART).under(
        "Affinity: the least share of elements on the right node in the cases below. Access: writing by index, over the \
         same loop over a slice. Use of locality: the largest array below that 2 PEs make, fill and free, over an object \
         of the heap, which exists already; network: the same over tcp, where what is made is registered. The source \
         has no judgement of cyclic storage.",
    );
    let published = |table: &mut Table, what: &str, [single, separate, multi]: [&str; 3]| {
        let [single, separate, multi] = [single, separate, multi].map(Cell::published);
        table.row([Cell::text(format!("{what}, published")), single, separate, Cell::text(""), multi]);
    };
    let found = |table: &mut Table, what: &str, cell: &dyn Fn(StorageName) -> Cell| {
        let cells = StorageName::NAMED.map(cell);
        table.row(std::iter::once(Cell::text(format!("{what}, here"))).chain(cells));
    };
    let ratio = |variant: &str, name: Name| Cell::of(evidence.case_in(variant, &name), Column::Ratio);
    published(&mut table, "affinity", ["fair", "fair", "best"]);
    found(&mut table, "affinity", &|storage| affine(evidence, storage));
    published(&mut table, "access speed", ["best", "best", "bad to fair"]);
    found(&mut table, "access speed", &|storage| ratio("", Name::Loop(storage, Way::Index)));
    published(&mut table, "balance", ["fair", "fair", "best"]);
    found(&mut table, "balance", &|_| Cell::text("chunks differ by one at most"));
    published(&mut table, "use of locality", ["poor", "fair", "good"]);
    let largest = |variant| {
        layers(evidence).iter().filter(|made| made.0 == variant && made.2 == 2).map(|made| made.1).max()
    };
    let bytes = largest("").unwrap_or_default();
    found(&mut table, "use of locality", &|storage| ratio("", Name::NextLayer(storage, bytes, 2)));
    published(&mut table, "network cooperation", ["poor", "fair", "good"]);
    let bytes = largest(FAR).unwrap_or_default();
    found(&mut table, "network cooperation", &|storage| ratio(FAR, Name::NextLayer(storage, bytes, 2)));
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

/// Storages, and as they are shown.
fn storages() -> impl Iterator<Item = (StorageName, &'static str)> {
    let shown = |&storage: &StorageName| match storage {
        StorageName::Chosen => (storage, "none named"),
        _ => (storage, storage.name()),
    };
    StorageName::ALL.iter().map(shown)
}

fn loops(evidence: View<'_>) -> Table {
    let heads = ["loop"].into_iter().chain(storages().map(|(_, shown)| shown)).chain(["published for multi"]);
    let mut table = Table::new("A loop over an array, over the same loop over a slice", heads).named(LOOPS).under(
        "64 MiB of 8-byte elements in four chunks; smaller is better. Published: access by index is 8 times as slow as that \
         of an array in one range, 3 times is what may be hoped for. A quick report has one dimension only, and loops by \
         all threads need the feature rayon.",
    );
    for (way, shown) in WAYS {
        let of = |storage| evidence.case(&way(storage));
        if storages().all(|(storage, _)| of(storage).is_none()) {
            continue;
        }
        let published = match way(StorageName::Multi) {
            Name::Loop(_, Way::Index | Way::Read | Way::ParRead)
            | Name::Cached(_, Way::Index | Way::Read) => Cell::published("8; at best 3"),
            Name::Loop(_, Way::ParIter | Way::ParIndex) => Cell::published("as one range"),
            _ => Cell::text(""),
        };
        let ratios = storages().map(|(storage, _)| Cell::of(of(storage), Column::Ratio));
        table.row(std::iter::once(Cell::text(shown)).chain(ratios).chain([published]));
    }
    table
}

fn figure(evidence: View<'_>) -> Figure {
    use Way::{Chunks, Each, Index, Iter, ParIndex, ParIter, ParRead, Read, Zip};
    let ways = [Index, Read, Iter, Each, Zip, Chunks, ParIndex, ParIter, ParRead];
    let names = Scale::Names(ways.map(|way| way.name().to_owned()).into());
    let figure = Figure::new("Loops over 64 MiB, one dimension", ("loop", names), ("ratio", Scale::Linear))
        .under("Ratio: the time over that of the same loop over a slice. Bars: quarters.");
    storages().fold(figure, |figure, (storage, shown)| {
        let at = |entry: &Entry| {
            let Name::Loop(_, way) = entry.name()? else { return None };
            ways.iter().position(|one| *one == way).map(|at| at as f64)
        };
        let own = evidence.all(move |name| matches!(name, Name::Loop(of, _) if *of == storage));
        figure.with(Series::ratios(shown, own, at))
    })
}

/// Arrays that were made and freed: where, bytes, and PEs, those of one node first.
fn layers(evidence: View<'_>) -> Vec<(&str, usize, usize)> {
    let mut all = Vec::new();
    for (name, entry) in evidence.named() {
        if let Name::NextLayer(_, bytes, pes) = name
            && !all.contains(&(entry.variant.as_str(), bytes, pes))
        {
            all.push((entry.variant.as_str(), bytes, pes));
        }
    }
    all.sort_by_key(|(variant, ..)| *variant == FAR);
    all
}

fn churn(evidence: View<'_>) -> Table {
    let names = StorageName::NAMED;
    let times = names.iter().map(|storage| format!("{}, us", storage.name()));
    let ratios = names.iter().map(|storage| format!("{}, ratio", storage.name()));
    let heads =
        ["array".to_owned(), "object of the heap, us".to_owned()].into_iter().chain(times).chain(ratios);
    let mut table = Table::new("An array made, filled and freed in a loop, over an object of the heap", heads).under(
        "The loop of layers, the one program that the source found to be sensitive to registration. A range of its own is \
         mapped, made known to all PEs and, over a network, registered each time; a heap and the pools of multi are once. \
         Over tcp: two PEs that reach each other through libfabric. PEs beyond the cores share them.",
    );
    for (variant, bytes, pes) in layers(evidence) {
        let of = |storage| evidence.case_in(variant, &Name::NextLayer(storage, bytes, pes));
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

fn techniques(evidence: View<'_>) -> impl Iterator<Item = &Entry> {
    evidence.all(|name| matches!(name, Name::Technique(_) | Name::Pes(_)))
}
