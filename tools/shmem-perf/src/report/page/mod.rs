//! The page: HTML that stands alone, with its plots inside.
//!
//! ```text
//! block      what a section shows: texts, tables, figures
//! headline   what users ask, and the answers
//! plot       figures as SVG, on axes with round numbers (axis)
//! summary    all measures in a table
//! ```
//!
//! Each number in a table carries the line that it comes from: `data-id` and `data-field` a line and a column of
//! `cases.csv`; where the number shown is another one, `data-times` (the column times so much) or `data-over` (so
//! much over the column). `data-fact` is a line of `facts.csv`, whose value is shown as it is.

mod axis;
mod block;
mod headline;
mod plot;
mod summary;

pub(crate) use axis::Scale;
pub(crate) use block::{Block, Cell, Column, Table};
pub(crate) use headline::{GAIN, Headline, RATIO, SPEED};
use maud::{DOCTYPE, Markup, PreEscaped, html};
pub(crate) use plot::{Figure, Series};

use super::evidence::{Evidence, Note};
use super::machine;
use super::section::Section;

const STYLE: &str = include_str!("style.css");

/// The whole page. Nothing is in it that is not in the evidence; a section that nothing was measured or said for is not there.
pub(crate) fn html(sections: &[&Section], evidence: &Evidence) -> String {
    let is_known = |section: &&&Section| evidence.knows(section.topic);
    let shown: Vec<_> = sections
        .iter()
        .filter(is_known)
        .map(|section| (*section, (section.show)(evidence.of(section.topic))))
        .collect();
    let asked =
        sections.iter().map(|section| (section.title, (section.headlines)(evidence.of(section.topic))));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Measured: one-sided communication in Rust" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "Measured: one-sided communication in Rust" }
                    p { "Each figure of the publications behind this library, measured on one machine in one run, beside \
                         the limits of the machine and beside other libraries." }
                    @if evidence.known(machine::TOOK).is_none() {
                        p.warning { "Not complete: the run is still going on, or was ended." }
                    }
                    @if evidence.known(machine::EXTENT) == Some(machine::QUICK) {
                        p.warning { "A quick report: fewer cases and smaller sizes than the whole one." }
                    }
                    @if evidence.known(machine::PRODUCT).is_some_and(|product| product.ends_with(machine::DEBUG)) {
                        p.warning { "Measured with a debug build: no figure here means anything." }
                    }
                }
                nav {
                    ol {
                        li { a href="#summary" { "At a glance" } }
                        li { a href="#machine" { "The machine" } }
                        li { a href="#method" { "How it is measured" } }
                        @for (section, _) in &shown {
                            li { a href={ "#" (section.topic.name()) } { (section.title) } }
                        }
                        li { a href="#measures" { "All measures" } }
                        li { a href="#data" { "Data" } }
                    }
                }
                main {
                    section id="summary" {
                        h2 { "At a glance" }
                        (Block::from(Headline::table(asked)))
                    }
                    section id="machine" { h2 { "The machine" } (machine_facts(evidence)) }
                    section id="method" { h2 { "How it is measured" } (method()) }
                    @for (section, blocks) in &shown {
                        section id=(section.topic.name()) {
                            h2 { (section.title) }
                            p.source { "Beside: " (section.source) }
                            @for block in blocks { (block) }
                            (notes(evidence.notes().iter().filter(|note| note.topic == section.topic)))
                        }
                    }
                    section id="measures" {
                        h2 { "All measures" }
                        @for block in summary::blocks(evidence) { (block) }
                    }
                    section id="data" { h2 { "Data" } (data(evidence)) }
                }
            }
        }
    };
    page.into_string()
}

fn machine_facts(evidence: &Evidence) -> Markup {
    let facts = evidence.facts().iter().filter(|fact| fact.topic.is_none());
    html! {
        div.scroll { table { tbody {
            @for fact in facts {
                tr { th scope="row" { (fact.row) } td data-fact=(fact.id) { (fact.value) } }
            }
        } } }
    }
}

fn method() -> Markup {
    html! {
        p { "A time on a shared machine means little; a ratio of two things that were measured at the same moment means \
             much. Each measure runs what it is about and its limit in turn, in the same processes, and keeps their \
             times as pairs, at least 11. The ratio is the median of the ratios of the pairs: the cost over the limit's \
             cost, so that smaller is better everywhere, also where others would give a bandwidth. A ratio above 1 is \
             slower than what stands beside it, one below 1 faster." }
        p { "Other libraries run beside the first PE as programs of their own, on the same cores, and answer for one \
             sample at a time. Processes are kept on a core each where there are enough. Where PEs or threads share \
             cores, the table says so. Quarters: a quarter of the samples is not above the lower, and a quarter not \
             below the upper one; plots draw them as bars." }
    }
}

fn notes<'a>(notes: impl Iterator<Item = &'a Note>) -> Markup {
    let notes: Vec<_> = notes.collect();
    html! {
        @if !notes.is_empty() {
            h3 { "Said while it was measured" }
            ul.notes {
                @for note in notes {
                    li.failed[note.failed] {
                        b { (note.step) @if note.failed { " failed" } ": " }
                        span { (note.text) }
                    }
                }
            }
        }
    }
}

fn data(evidence: &Evidence) -> Markup {
    html! {
        p { "Beside this page lie "
            a href="cases.csv" { "cases.csv" } " (" (evidence.entries().len()) " lines: what was compared with what, medians, \
            quarters, ratios; every figure of this page), "
            a href="facts.csv" { "facts.csv" } " (the machine, placements) and "
            a href="notes.csv" { "notes.csv" } " (what was said and what has failed). Point at a number in a table to see \
            its line in cases.csv, and what was compared." }
    }
}
