//! Contexts, domains and threads.

use shmem::mapping::Design;

use super::{Plan, Section, Step, Topic};
use crate::fabric::quiet;
use crate::measure::mapping::{self, Name as Mapped};
use crate::measure::ofi::PROVIDER;
use crate::measure::threads::{self, Name as Puts, SIZES, Sharing};
use crate::measure::tracking::{self, DESIGNS, Name as Tracked, Over};
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Headline, RATIO, Scale, Series, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Contexts,
    title: "Contexts and domains",
    source: "Contexts and Domains in Cray SHMEM (2016)",
    steps,
    headlines,
    show,
};

/// Threads with contexts over libfabric.
const MAPPED: [usize; 6] = [1, 2, 4, 8, 16, 36];
const QUICK_MAPPED: [usize; 2] = [1, 2];

/// What threads put through.
const SHARINGS: [(Sharing, &str); 3] = [
    (Sharing::Private, "a context each"),
    (Sharing::Multiple, "one context for all"),
    (Sharing::Locked, "one context behind a lock"),
];

/// A row's name, and the case that it shows.
type Shown<'a> = (&'static str, Option<&'a Entry>);

/// What was found, in words, and the cases that say the same or something else.
fn findings(evidence: View<'_>) -> [(&'static str, Vec<Shown<'_>>); 7] {
    use Design::{Context, Domain, Events, Hybrid};
    let words = |sharing| evidence.case(&Puts::Words(36, sharing));
    let at_once =
        |design, bytes| evidence.case(&Tracked::Batch(design, bytes, Over::AtOnce.name().to_owned()));
    let far = |design, bytes| evidence.case(&Tracked::Batch(design, bytes, Over::Network.name().to_owned()));
    let mapped = |design, threads| evidence.case(&Mapped::Contexts(design, threads, 8));
    let quiet = |design, bytes| evidence.case(&Mapped::Quiet(design, 16, bytes));
    [
        (
            "36 threads: no lock is faster than locks",
            vec![
                ("36 threads, a context each", words(Sharing::Private)),
                ("36 threads, one context for all", words(Sharing::Multiple)),
                ("36 threads, one context behind a lock", words(Sharing::Locked)),
            ],
        ),
        (
            "Design-0: small explicit events cost 60 % more",
            vec![
                ("events, 8 bytes, complete at once", at_once(Events, 8)),
                ("events, 64 bytes, complete at once", at_once(Events, 64)),
                ("events, 8 bytes, over tcp", far(Events, 8)),
            ],
        ),
        (
            "large ones cost the same",
            vec![
                ("events, 64 KiB, complete at once", at_once(Events, 64 << 10)),
                ("events, 1 MiB, complete at once", at_once(Events, 1 << 20)),
                ("events, 64 KiB, over tcp", far(Events, 64 << 10)),
            ],
        ),
        (
            "events for large ones only: no penalty",
            vec![
                ("hybrid, 8 bytes, complete at once", at_once(Hybrid, 8)),
                ("hybrid, 64 KiB, complete at once", at_once(Hybrid, 64 << 10)),
                ("hybrid, 8 bytes, over tcp", far(Hybrid, 8)),
            ],
        ),
        (
            "Design-1 is better than Design-0",
            vec![
                ("domain, 8 bytes, complete at once", at_once(Domain, 8)),
                ("domain, 8 bytes, over tcp", far(Domain, 8)),
                ("36 threads, events, 8 bytes, over tcp", mapped(Events, 36)),
                ("36 threads, domain, 8 bytes, over tcp", mapped(Domain, 36)),
            ],
        ),
        (
            "Design-1: contexts of a thread overlap badly",
            vec![
                ("domain, one of 16, 8 bytes", quiet(Domain, 8)),
                ("domain, one of 16, 64 KiB", quiet(Domain, 64 << 10)),
            ],
        ),
        (
            "Design-2: they overlap better (expected)",
            vec![
                ("context, one of 16, 8 bytes", quiet(Context, 8)),
                ("context, one of 16, 64 KiB", quiet(Context, 64 << 10)),
            ],
        ),
    ]
}

fn steps(plan: &Plan) -> Vec<Step> {
    let jobs = plan.either(3, 1);
    let sizes = plan.either(&SIZES[..], &[4 << 10]);
    let mapped = plan.either(&MAPPED[..], &QUICK_MAPPED);
    let mut steps = vec![
        Step::new("words by threads", plan.either(9.0, 3.0), move |runner| {
            (0..jobs).try_for_each(|_| runner.repeat(&threads::of_words(runner)))
        }),
        Step::new("larger puts by threads", plan.either(20.0, 2.0), move |runner| {
            runner.repeat(&threads::of_sizes(runner, sizes))
        }),
        Step::new("tracking where writes are complete at once", plan.either(15.0, 5.0), move |runner| {
            runner.several(jobs, |runner| tracking::measure(runner, Over::AtOnce))
        }),
        Step::new("tracking over tcp", plan.either(15.0, 5.0), move |runner| {
            runner.several(jobs, |runner| tracking::measure(runner, Over::Network))
        }),
    ];
    for design in Design::ALL {
        let name = design.name();
        steps.push(Step::new(format!("mapping `{name}`"), plan.either(14.0, 0.6), move |runner| {
            runner.repeat(&mapping::threads_of(runner, design, mapped, PROVIDER))
        }));
        steps.push(Step::new(format!("quiet in `{name}`"), plan.either(3.0, 0.6), move |runner| {
            runner.repeat(&mapping::quiet_of(runner, design, PROVIDER))
        }));
    }
    steps
}

/// What the table of findings is called.
const FOUND: &str = "contexts-found";

fn headlines(evidence: View<'_>) -> Vec<Headline> {
    let words = |sharing| evidence.case(&Puts::Words(36, sharing));
    let at_once = |design| evidence.case(&Tracked::Batch(design, 8, Over::AtOnce.name().to_owned()));
    let headline = |asked: &str, published, entry| {
        Headline::new(asked, FOUND, RATIO, Cell::of(entry, Column::Ratio)).published(published)
    };
    vec![
        headline(
            "36 threads put with a context each, over threads that store",
            "faster than locks",
            words(Sharing::Private),
        ),
        headline("36 threads put with one context behind a lock, over the same", "", words(Sharing::Locked)),
        headline("A put of 8 bytes with a counter, over a bare program", "", at_once(Design::Domain)),
        headline(
            "A put of 8 bytes with an explicit event, over the same",
            "60 % more",
            at_once(Design::Events),
        ),
        headline(
            "The quiet of one of 16 contexts, over that of all",
            "they overlap better (expected)",
            evidence.case(&Mapped::Quiet(Design::Context, 16, 8)),
        ),
    ]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![
        Block::text(
            "Contexts tell the completion of one stream of operations from that of another. Published are three \
             designs of what a context is mapped to: a resource of the network for each domain, with an explicit \
             event for each operation (Design-0, here events; with events for large operations only, hybrid); \
             the same with a counter for the whole domain (Design-1, domain); and a resource for each context \
             (Design-2, context). auto is what this library does if nobody chooses.",
        ),
        Block::text(
            "Publications show plots whose values are not known; what is said about them stands beside what is \
             measured here. Threads beyond the cores take turns on them.",
        ),
        found(evidence).into(),
        Block::heading("Lock and no lock"),
        Block::text(
            "Threads of one PE put to another one of the node, each to words of its own, against as many threads that \
             store to the same words, or copy to the same bytes.",
        ),
    ];
    blocks.push(by_threads(evidence, "8-byte puts", None).into());
    for bytes in SIZES {
        blocks.push(by_threads(evidence, &format!("puts of {bytes} bytes"), Some(bytes)).into());
    }
    blocks.push(Block::heading("Explicit and implicit events"));
    blocks.push(Block::text(
        "Puts of the library itself through four contexts of a domain in turn, each batch with its quiet, in each mapping. Beside \
         them stand, in the same processes and in turn, the same puts by a bare program, which has one endpoint and its counter \
         in every mapping. Once over a provider whose writes are complete at once: it copies the bytes, counts, \
         reports what is to be reported, and nothing goes out, so that what is left is what the library does; and once over tcp.",
    ));
    blocks.extend([Over::AtOnce, Over::Network].map(|over| tracked(evidence, over).into()));
    blocks.push(Block::heading("Contexts on endpoints"));
    blocks.push(Block::text(
        "Two PEs of one host reach each other through libfabric on the loopback interface. Threads have a context \
         each, and what they cost is held against as many bare threads with an endpoint each; locked: all use the \
         default context, in turn.",
    ));
    blocks.extend([8, 4 << 10, 64 << 10].map(|bytes| by_design(evidence, bytes).into()));
    blocks.push(Block::heading("Quiet of one context, and of all"));
    blocks.push(Block::text(
        "One thread has started puts on so many contexts of one domain, and completes one of them, each in turn: \
         against completing all. The best that can be is one part of as many. (The quiet of the world completes the \
         default context only, as OpenSHMEM says.)",
    ));
    for bytes in quiet::SIZES {
        blocks.push(quiets(evidence, bytes).into());
    }
    blocks
}

/// What was published, beside what was found here.
fn found(evidence: View<'_>) -> Table {
    let heads = ["published", "here", "ratio", "quarters", ""];
    let mut table = Table::new("Findings of the publication, and the same here", heads).named(FOUND).under(
        "What the ratios are over: of 36 threads, as many that store, and over tcp as many bare threads with an endpoint each; of \
         puts that are complete at once, and of the same over tcp, a bare program with one endpoint and its counter; of one of 16, \
         the quiet of all 16.",
    );
    for (published, cases) in findings(evidence) {
        for (k, (here, entry)) in cases.into_iter().enumerate() {
            let of = |column| Cell::of(entry, column);
            table.row([
                Cell::published(if k == 0 { published } else { "" }),
                Cell::text(here),
                of(Column::Ratio),
                of(Column::RatioP25),
                of(Column::RatioP75),
            ]);
        }
    }
    table
}

/// Puts by threads, in each way of sharing contexts: of words, or of so many bytes.
fn by_threads(evidence: View<'_>, what: &str, of: Option<usize>) -> Figure {
    let (axis, scale) = match of {
        Some(_) => ("time over that of memcpy", Scale::Linear),
        None => ("ns for each put of a thread", Scale::Log),
    };
    let mut figure =
        Figure::new(format!("Time of {what} by threads"), ("threads", Scale::Bytes), (axis, scale));
    let threads = |entry: &Entry| match entry.name()? {
        Puts::Words(threads, _) | Puts::BySize(threads, ..) => Some(threads as f64),
    };
    for (sharing, words) in SHARINGS {
        let is_wanted = move |name: &Puts| match *name {
            Puts::Words(_, one) => of.is_none() && one == sharing,
            Puts::BySize(_, one, bytes) => of == Some(bytes) && one == sharing,
        };
        let entries = || evidence.all(is_wanted);
        figure = match of {
            Some(_) => figure.with(Series::ratios(words, entries(), threads)),
            None => figure.with(Series::costs(words, entries(), threads)),
        };
        if of.is_none() && sharing == Sharing::Private {
            figure = figure.with(Series::limits("threads that store", entries(), threads));
        }
    }
    figure
}

/// What knowing of completions costs, by size.
fn tracked(evidence: View<'_>, over: Over) -> Figure {
    let place = match over {
        Over::AtOnce => "complete at once",
        Over::Network => "over tcp",
    };
    let axes = (("bytes", Scale::Bytes), ("time over that of a bare program", Scale::Linear));
    let mut figure = Figure::new(format!("Puts of four contexts in turn, {place}"), axes.0, axes.1);
    for design in DESIGNS {
        let bytes = |entry: &Entry| match entry.name()? {
            Tracked::Batch(_, bytes, _) => Some(bytes as f64),
            Tracked::Quiet(..) => None,
        };
        let is_wanted = move |name: &Tracked| matches!(name, Tracked::Batch(of, _, provider) if *of == design && provider == over.name());
        figure = figure.with(Series::ratios(design.name(), evidence.all(is_wanted), bytes));
    }
    figure
}

/// Puts of so many bytes by threads with contexts, a line for each design; with the limit.
fn by_design(evidence: View<'_>, bytes: usize) -> Figure {
    let title = format!("Puts of {bytes} bytes by threads, over libfabric");
    let axes = (("threads", Scale::Bytes), ("ns for each of a thread", Scale::Log));
    let mut figure = Figure::new(title, axes.0, axes.1);
    let threads = |entry: &Entry| match entry.name()? {
        Mapped::Contexts(_, threads, _) | Mapped::Locked(threads, _) => Some(threads as f64),
        Mapped::Quiet(..) => None,
    };
    let of = |design| {
        evidence.all(
            move |name| matches!(*name, Mapped::Contexts(one, _, size) if one == design && size == bytes),
        )
    };
    for design in Design::ALL {
        figure = figure.with(Series::costs(design.name(), of(design), threads));
    }
    let locked = evidence.all(|name| matches!(*name, Mapped::Locked(_, size) if size == bytes));
    figure = figure.with(Series::costs("locked", locked, threads));
    figure.with(Series::limits("limit", of(Design::Context), threads))
}

/// The quiet of one context over that of all, by their number.
fn quiets(evidence: View<'_>, bytes: usize) -> Figure {
    let title = format!("Quiet of one context over that of all, puts of {bytes} bytes");
    let mut figure = Figure::new(title, ("contexts", Scale::Bytes), ("time over that of all", Scale::Linear));
    let contexts = |entry: &Entry| match entry.name()? {
        Mapped::Quiet(_, contexts, _) => Some(contexts as f64),
        Mapped::Contexts(..) | Mapped::Locked(..) => None,
    };
    for design in Design::ALL {
        let of = evidence
            .all(move |name| matches!(*name, Mapped::Quiet(one, _, size) if one == design && size == bytes));
        figure = figure.with(Series::ratios(design.name(), of, contexts));
    }
    let mut part = Series::beside("one part of as many");
    quiet::CONTEXTS.iter().for_each(|&n| part.push(n as f64, 1.0 / n as f64, None));
    figure.with(part)
}
