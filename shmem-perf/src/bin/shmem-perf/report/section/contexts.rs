//! Contexts, domains and threads.

use shmem::mapping::Design;
use shmem_perf::threads::{self, SIZES};
use shmem_perf::{fabric::quiet, tracking};

use super::{Plan, Section, Step, Topic};
use crate::Measure;
use crate::fabric::PROVIDER;
use crate::report::evidence::{Entry, View};
use crate::report::page::{Block, Cell, Column, Figure, Scale, Series, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Contexts,
    title: "Contexts and domains",
    source: "Contexts and Domains in Cray SHMEM (2016)",
    steps,
    show,
};

/// Threads with contexts over libfabric.
const MAPPED: [usize; 6] = [1, 2, 4, 8, 16, 36];
const QUICK_MAPPED: [usize; 2] = [1, 2];

/// What threads put through.
const CONTEXTS: [(&str, &str); 3] = [
    ("private", "a context each"),
    ("multiple", "one context for all"),
    ("locked", "one context behind a lock"),
];

/// A row's name, and the measure and the case that it shows.
type Shown = (&'static str, &'static str, &'static str);

/// What was found, in words, and the cases that say the same or something else.
const FOUND: [(&str, &[Shown]); 7] = [
    (
        "36 threads: no lock is faster than locks",
        &[
            ("36 threads, a context each", "threads", "36/private"),
            ("36 threads, one context for all", "threads", "36/multiple"),
            ("36 threads, one context behind a lock", "threads", "36/locked"),
        ],
    ),
    (
        "Design-0: small explicit events cost 60 % more",
        &[("events, 8 bytes", "tracking", "events/8"), ("events, 64 bytes", "tracking", "events/64")],
    ),
    (
        "large ones cost the same",
        &[("events, 64 KiB", "tracking", "events/65536"), ("events, 1 MiB", "tracking", "events/1048576")],
    ),
    (
        "events for large ones only: no penalty",
        &[("hybrid, 8 bytes", "tracking", "hybrid/8"), ("hybrid, 64 KiB", "tracking", "hybrid/65536")],
    ),
    (
        "Design-1 is better than Design-0",
        &[
            ("domain, 8 bytes", "tracking", "domain/8"),
            ("36 domains, events, 8 bytes", "tracking-domains", "events/36/8"),
            ("36 domains, domain, 8 bytes", "tracking-domains", "domain/36/8"),
        ],
    ),
    (
        "Design-1: contexts of a thread overlap badly",
        &[
            ("domain, one of 16, 8 bytes", "quiet", "domain/16/8"),
            ("domain, one of 16, 64 KiB", "quiet", "domain/16/65536"),
        ],
    ),
    (
        "Design-2: they overlap better (expected)",
        &[
            ("context, one of 16, 8 bytes", "quiet", "context/16/8"),
            ("context, one of 16, 64 KiB", "quiet", "context/16/65536"),
        ],
    ),
];

fn steps(plan: &Plan) -> Vec<Step> {
    let jobs = plan.either(3, 1);
    let sizes = plan.either(&SIZES[..], &[4 << 10]);
    let mapped = plan.either(&MAPPED[..], &QUICK_MAPPED);
    let several = |name: &str, seconds, measure, pes| {
        Step::new(name, seconds, move |runner| {
            let variables = if pes == 2 { threads::variables() } else { Vec::new() };
            let job = runner.job(measure, pes, 1, &variables);
            (0..jobs).try_for_each(|_| runner.repeat(&job))
        })
    };
    let mut steps = vec![
        several("words by threads", plan.either(9.0, 3.0), Measure::Threads, 2),
        Step::new("larger puts by threads", plan.either(20.0, 2.0), move |runner| {
            runner.repeat(&runner.threads_by_size(sizes))
        }),
        several("tracking on a null provider", plan.either(6.0, 2.0), Measure::Tracking, 1),
        several("tracking by domains", plan.either(9.0, 3.0), Measure::TrackingDomains, 1),
    ];
    for design in Design::ALL {
        let name = design.name();
        steps.push(Step::new(format!("mapping `{name}`"), plan.either(14.0, 0.6), move |runner| {
            runner.repeat(&runner.mapping_of(design, mapped, PROVIDER))
        }));
        steps.push(Step::new(format!("quiet in `{name}`"), plan.either(3.0, 0.6), move |runner| {
            runner.repeat(&runner.quiet_of(design, PROVIDER))
        }));
    }
    steps
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
    blocks.push(by_threads("8-byte puts", evidence.measure("threads"), "", Column::Value).into());
    for bytes in SIZES {
        let puts = evidence.measure("threads-by-size");
        let title = format!("puts of {bytes} bytes");
        blocks.push(by_threads(&title, puts, &format!("/{bytes}"), Column::Ratio).into());
    }
    blocks.push(Block::heading("Explicit and implicit events"));
    blocks.push(Block::text(
        "A null provider does what the processor does for an operation, and nothing of what an interface does: a \
         descriptor is written, and larger data copied. What is left is what tracking costs.",
    ));
    blocks.push(tracked(evidence).into());
    for bytes in tracking::DOMAIN_SIZES {
        let title = format!(
            "Operations of {bytes} bytes and their quiet, by threads with a domain each, behind its lock"
        );
        let names = tracking::DESIGNS.map(Design::name);
        blocks.push(by_design(title, evidence.measure("tracking-domains"), &names, bytes, "threads").into());
    }
    blocks.push(Block::heading("Contexts on endpoints"));
    blocks.push(Block::text(
        "Two PEs of one host reach each other through libfabric on the loopback interface. Threads have a context \
         each, and what they cost is held against as many bare threads with an endpoint each; locked: all use the \
         default context, in turn.",
    ));
    let names = [&Design::NAMES[..], &["locked"]].concat();
    for bytes in [8, 4 << 10, 64 << 10] {
        let title = format!("Puts of {bytes} bytes by threads, over libfabric");
        blocks.push(by_design(title, evidence.measure("mapping"), &names, bytes, "threads").into());
    }
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
    let heads = ["published", "here", "measure", "ratio", "quarters", ""];
    let mut table = Table::new("Findings of the publication, and the same here", heads).under(
        "What the ratios are over: threads and tracking-domains, as many threads that store; tracking, a counter for each \
         context; quiet, the quiet of all contexts.",
    );
    for (published, cases) in FOUND {
        for (k, (here, measure, case)) in cases.iter().enumerate() {
            let of = |column| Cell::of(evidence.case(measure, case), column);
            table.row([
                Cell::published(if k == 0 { published } else { "" }),
                Cell::text(*here),
                Cell::text(*measure),
                of(Column::Ratio),
                of(Column::RatioP25),
                of(Column::RatioP75),
            ]);
        }
    }
    table
}

/// Puts by threads, in each way of sharing contexts.
fn by_threads<'a>(
    title: &str,
    entries: impl Iterator<Item = &'a Entry>,
    bytes: &str,
    column: Column,
) -> Figure {
    let entries: Vec<_> = entries.collect();
    let (what, scale) = match column {
        Column::Ratio => ("time over that of memcpy", Scale::Linear),
        _ => ("ns for each put of a thread", Scale::Log),
    };
    let mut figure =
        Figure::new(format!("Time of {title} by threads"), ("threads", Scale::Bytes), (what, scale));
    for (name, words) in CONTEXTS {
        let of = format!("/{name}{bytes}");
        let at = |entry: &Entry| entry.case.case.strip_suffix(&of)?.parse().ok();
        let entries = entries.iter().copied();
        figure = match column {
            Column::Ratio => figure.with(Series::ratios(words, entries, at)),
            _ if name == "private" => {
                let limit = Series::limits("threads that store", entries.clone(), at);
                figure.with(Series::costs(words, entries, at)).with(limit)
            }
            _ => figure.with(Series::costs(words, entries, at)),
        };
    }
    figure
}

/// What knowing of completions costs, by size.
fn tracked(evidence: View<'_>) -> Figure {
    let axes = (("bytes", Scale::Bytes), ("time over that of a counter for each context", Scale::Linear));
    let mut figure = Figure::new("Operations of four contexts in turn, by design", axes.0, axes.1);
    for design in tracking::DESIGNS.map(Design::name) {
        let of = format!("{design}/");
        let at = |entry: &Entry| entry.case.case.strip_prefix(&of)?.parse().ok();
        figure = figure.with(Series::ratios(design, evidence.measure("tracking"), at));
    }
    figure
}

/// Cases `design/number/bytes`, a line for each design, by number; with the limit.
fn by_design<'a>(
    title: String,
    entries: impl Iterator<Item = &'a Entry>,
    designs: &[&str],
    bytes: usize,
    number: &str,
) -> Figure {
    let entries: Vec<_> = entries.collect();
    let mut figure = Figure::new(title, (number, Scale::Bytes), ("ns for each of a thread", Scale::Log));
    let place = |design: &str, entry: &Entry| number_of(&entry.case.case, design, bytes);
    for design in designs {
        figure = figure.with(Series::costs(*design, entries.iter().copied(), |entry| place(design, entry)));
    }
    let limit = entries.iter().copied();
    figure.with(Series::limits("limit", limit, |entry| place(Design::Context.name(), entry)))
}

/// The quiet of one context over that of all, by their number.
fn quiets(evidence: View<'_>, bytes: usize) -> Figure {
    let title = format!("Quiet of one context over that of all, puts of {bytes} bytes");
    let mut figure = Figure::new(title, ("contexts", Scale::Bytes), ("time over that of all", Scale::Linear));
    for design in Design::NAMES {
        let at = |entry: &Entry| number_of(&entry.case.case, design, bytes);
        figure = figure.with(Series::ratios(design, evidence.measure("quiet"), at));
    }
    let mut part = Series::beside("one part of as many");
    quiet::CONTEXTS.iter().for_each(|&n| part.push(n as f64, 1.0 / n as f64, None));
    figure.with(part)
}

/// The number in `design/number/bytes`, if the case is one of these.
fn number_of(case: &str, design: &str, bytes: usize) -> Option<f64> {
    let mut parts = case.split('/');
    let is_wanted = parts.next()? == design;
    let number = parts.next()?.parse().ok()?;
    (is_wanted && parts.next()?.parse() == Ok(bytes)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_says_how_many_there_are() {
        assert_eq!(number_of("events/36/8", "events", 8), Some(36.0));
        assert_eq!(number_of("events/36/64", "events", 8), None);
        assert_eq!(number_of("hybrid/36/8", "events", 8), None);
        assert_eq!(number_of("events/quiet", "events", 8), None);
    }
}
