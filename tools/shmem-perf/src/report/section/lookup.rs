//! What many partitions cost each operation.

use std::rc::Rc;

use super::{Plan, Section, Step, Topic};
use crate::fact::Fact;
use crate::lookup::{OSU_SIZES, PARTITIONS};
use crate::measure::lookup::{self, Fair, Name, Published};
use crate::measure::ofi::PROVIDER;
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, RATIO, Scale, Series, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Lookup,
    title: "Many partitions",
    source: "Symmetric Memory Partitions in OpenSHMEM, performance regression analysis (2017)",
    steps,
    headlines,
    show,
};

/// Sizes that show the whole range, where an operation takes as long as a thousand on one node.
const FAR_SIZES: [usize; 8] = [1, 8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20];
const QUICK_SIZES: [usize; 5] = [1, 8, 64, 4 << 10, 64 << 10];
const QUICK_FAR_SIZES: [usize; 2] = [8, 4 << 10];

/// Sizes that are called very small, in bytes.
const SMALL: [usize; 3] = [1, 8, 64];

/// Bytes up to which one buffer and 127 of them fit the same cache: beyond, the published form shows caches.
const MOST_SMALL: f64 = 256.0;

const NODE: &str = "node";
const NETWORK: &str = "network";

/// The facts that say what the network is.
const PLACE: &str = "place";

/// What is published: partitions, and how much slower puts of very small sizes are than with one.
const PUBLISHED: [(usize, &str, f64); 3] =
    [(7, "2 to 3 %, called noise", 3.0), (8, "about 2 % (talk)", 2.0), (127, "up to 6 %", 6.0)];

fn steps(plan: &Plan) -> Vec<Step> {
    let sizes = plan.either(&OSU_SIZES[..], &QUICK_SIZES);
    let far_sizes = plan.either(&FAR_SIZES[..], &QUICK_FAR_SIZES);
    let jobs = plan.either(3, 1);
    let numbers = || [1].into_iter().chain(PARTITIONS);
    let on_node = numbers().map(|n| {
        let seconds = plan.either(14.0, 0.8);
        Step::new(format!("{n} partitions on one node"), seconds, move |runner| {
            let job = lookup::of_sizes(runner, n, sizes, None);
            (0..jobs).try_for_each(|_| runner.repeat(&job))
        })
        .variant(NODE)
    });
    let far = numbers().map(|n| {
        let (seconds, hosts) = (plan.either(13.0, 2.2), Rc::clone(&plan.hosts));
        Step::new(format!("{n} partitions over libfabric"), seconds, move |runner| {
            let job = lookup::of_sizes(runner, n, far_sizes, Some(PROVIDER));
            let (job, place) = match hosts.hosts(runner) {
                Some(hosts) => (job.on(&hosts), "over libfabric, between two hosts"),
                None => (job, "over libfabric, on one host, whose shared memory is not used"),
            };
            runner.fact(Fact::new(PLACE, NETWORK, n.to_string(), place));
            runner.repeat(&job)
        })
        .variant(NETWORK)
    });
    on_node.chain(far).collect()
}

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let places = [(NODE, "", "6 % more at most"), (NETWORK, " over libfabric", "")];
    let headlines = places.map(|(variant, over, published)| {
        let put = evidence.case_in(variant, &Name::Published(Published::Put, 127, 8));
        let asked = format!("A put of 8 bytes{over} with 127 partitions, over one with one");
        Headline::new(asked, anchor(variant), RATIO, Cell::of(put, Column::Ratio)).published(published)
    });
    headlines.into()
}

/// What the first table of a place is called.
fn anchor(variant: &str) -> String {
    format!("lookup-{variant}")
}

fn show(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::text(
            "A library that looks for the segment of an address may pay for each partition that it has. As published, \
             two PEs have a buffer in each of so many partitions; 10,000 operations are done on a buffer that is drawn \
             anew for each (fewer where they move more than 64 MiB, and 200 over a network), then a quiet. What that \
             is compared with is the same on one buffer. But many buffers fill caches that one does not: so each is \
             shown beside a fair form, in which as many buffers at the same distances lie in one partition.",
        ),
        Block::text(
            "Puts and gets are putmem and getmem, whose segment is looked for. A fetch-add goes through the handle of \
             its object, which names the segment. On one buffer, each fetch-add of a node waits for the one before: \
             with many buffers it is faster.",
        ),
    ];
    let facts = evidence.facts(PLACE);
    let network = facts.first().map_or("over libfabric", |fact| fact.value.as_str());
    for (variant, place) in [(NODE, "on one node"), (NETWORK, network)] {
        let here: Vec<_> = evidence.named().filter(|(_, entry)| entry.variant == variant).collect();
        if !here.iter().any(|(name, _)| matches!(name, Name::Published(..))) {
            continue;
        }
        blocks.push(Block::heading(format!("Operations {place}")));
        let over = "time with so many partitions over time with one";
        let title = format!("Very small operations, as published: {over}");
        blocks.push(
            small(&title, &here, Name::Published, [Published::Put, Published::Get, Published::FetchAdd])
                .named(anchor(variant))
                .into(),
        );
        let title = format!("Very small operations, fair: {over}");
        blocks.push(small(&title, &here, Name::Fair, [Fair::Raw, Fair::Get, Fair::FetchAdd]).into());
        for (operation, in_fair) in [(Published::Put, Fair::Raw), (Published::Get, Fair::Get)] {
            let as_published = |n, bytes| Name::Published(operation, n, bytes);
            let said = operation.name();
            blocks.push(
                overhead(
                    format!("{said}, as published, small sizes"),
                    (&here, &as_published),
                    operation,
                    MOST_SMALL,
                )
                .into(),
            );
            let fair = |n, bytes| Name::Fair(in_fair, n, bytes);
            blocks.push(overhead(format!("{said}, fair"), (&here, &fair), operation, f64::MAX).into());
            blocks.push(latency(&here, operation).into());
        }
    }
    blocks
}

/// Cases with their names.
type Named<'a> = (Name, &'a Entry);

/// Ratios of very small operations, puts, gets and fetch-adds of a form, beside what was published.
fn small<K: Copy>(
    title: &str,
    entries: &[Named<'_>],
    name: fn(K, usize, usize) -> Name,
    [put, get, fetch_add]: [K; 3],
) -> Table {
    let columns = || {
        let transfers = [("put", put), ("get", get)].into_iter();
        let transfers = transfers.flat_map(|of| SMALL.map(|bytes| (of, bytes)));
        transfers.chain([4, 8].map(|bytes| (("fetch-add", fetch_add), bytes)))
    };
    let heads = ["partitions".to_owned(), "published, put".to_owned()].into_iter();
    let heads = heads.chain(columns().map(|((said, _), bytes)| format!("{said} {bytes}")));
    let mut table = Table::new(title, heads).under(
        "Each operation with its bytes. 1 partition compares the same with the same, and shows how sure the others are.",
    );
    for n in [1].into_iter().chain(PARTITIONS) {
        let said = PUBLISHED.iter().find(|(partitions, ..)| *partitions == n);
        let said = said.map_or_else(|| Cell::text(""), |(_, said, _)| Cell::published(*said));
        let of = |kind, bytes| {
            let wanted = name(kind, n, bytes);
            entries.iter().find(|(name, _)| *name == wanted).map(|(_, entry)| *entry)
        };
        let found: Vec<_> = columns().map(|((_, kind), bytes)| of(kind, bytes)).collect();
        if found.iter().any(Option::is_some) {
            let ratios = found.into_iter().map(|entry| Cell::of(entry, Column::Ratio));
            table.row([Cell::text(n.to_string()), said].into_iter().chain(ratios));
        }
    }
    table
}

/// How much slower an operation is, by its size, of so many bytes at most.
fn overhead(
    title: String,
    (entries, name): (&[Named<'_>], &dyn Fn(usize, usize) -> Name),
    operation: Published,
    most: f64,
) -> Figure {
    let axes = (("bytes", Scale::Bytes), ("percent more time", Scale::Linear));
    let mut figure = Figure::new(format!("Overhead of partitions: {title}"), axes.0, axes.1);
    for n in PARTITIONS {
        let mut series = Series::new(format!("{n} partitions"));
        for (entry, bytes) in by_size(entries, name, n).filter(|(_, bytes)| *bytes <= most) {
            let quarters = (percent(entry.ratio.p25), percent(entry.ratio.p75));
            series.push(bytes, percent(entry.case.ratio), Some(quarters));
        }
        figure = figure.with(series);
    }
    for (n, _, most) in PUBLISHED.into_iter().filter(|_| operation != Published::Get) {
        let mut series =
            Series::beside(format!("published for {n}, very small sizes")).of(format!("{n} partitions"));
        SMALL.iter().for_each(|&bytes| series.push(bytes as f64, most, None));
        figure = figure.with(series);
    }
    figure
}

/// What an operation takes, by its size.
fn latency(entries: &[Named<'_>], operation: Published) -> Figure {
    let name = |n, bytes| Name::Published(operation, n, bytes);
    let axes = (("bytes", Scale::Bytes), ("ns for each", Scale::Log));
    let mut figure = Figure::new(format!("Time of a {}, as published", operation.name()), axes.0, axes.1);
    for n in [1].into_iter().chain(PARTITIONS) {
        let mut series =
            Series::new(if n == 1 { "1 partition".to_owned() } else { format!("{n} partitions") });
        for (entry, bytes) in by_size(entries, &name, n) {
            series.push(bytes, entry.case.value, Some((entry.case.p25, entry.case.p75)));
        }
        figure = figure.with(series);
    }
    figure
}

/// The cases of an operation with so many partitions, with their bytes.
fn by_size<'a>(
    entries: &[Named<'a>],
    name: &dyn Fn(usize, usize) -> Name,
    n: usize,
) -> impl Iterator<Item = (&'a Entry, f64)> {
    entries.iter().filter_map(move |(found, entry)| {
        let (Name::Fair(_, _, bytes) | Name::Published(_, _, bytes)) = *found;
        (*found == name(n, bytes)).then_some((*entry, bytes as f64))
    })
}

fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}
