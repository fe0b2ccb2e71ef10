//! The page of the report: a single HTML file.
//!
//! Each number in a table names its source: `data-id` and `data-field` are a line and a column of `cases.csv`. A text with
//! `data-fact` is the unchanged value of that line of `facts.csv`.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::SECTIONS;
use super::evidence::{self, Note, Results};
use super::show::{self, Cell, ReportTable, View};
use crate::sheet::Section;

const STYLE: &str = include_str!("style.css");

const TITLE: &str = "Measured: one-sided communication in Rust";

/// Kinds of sheet lines that are rows of the first table, "What users ask".
const ASKED: [&str; 4] = ["ratio", "time", "peers", "limit"];

pub(super) fn html(sections: &[&'static Section], evidence: &Results) -> String {
    let shown: Vec<_> = sections.iter().copied().filter(|section| evidence.knows(section.name)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (TITLE) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (TITLE) }
                    @for text in prose("page") { p { (text) } }
                    @if evidence.known(evidence::TOOK).is_none() {
                        p.warning { "Not complete: the run is still going on, or was ended." }
                    }
                    @if evidence.known(evidence::EXTENT) == Some(evidence::QUICK) {
                        p.warning { "A quick report: fewer cases and smaller sizes than the whole one." }
                    }
                    @if evidence.known(evidence::PRODUCT).is_some_and(|product| product.ends_with(evidence::DEBUG)) {
                        p.warning { "Measured with a debug build: no figure here means anything." }
                    }
                }
                nav {
                    ol {
                        li { a href="#summary" { "At a glance" } }
                        li { a href="#machine" { "The machine" } }
                        li { a href="#method" { "How it is measured" } }
                        @for section in &shown { li { a href={ "#" (section.name) } { (section.title) } } }
                        li { a href="#measures" { "Goals" } }
                        li { a href="#data" { "Data" } }
                    }
                }
                main {
                    section id="summary" { h2 { "At a glance" } (headlines(&shown, evidence)) }
                    section id="machine" {
                        h2 { "The machine" }
                        div.scroll { table { tbody {
                            @for fact in evidence.facts.iter().filter(|fact| fact.section.is_empty()) {
                                tr { th scope="row" { (fact.row) } td data-fact=(fact.id) { (fact.value) } }
                            }
                        } } }
                    }
                    section id="method" { h2 { "How it is measured" } @for text in prose("method") { p { (text) } } }
                    @for section in shown {
                        section id=(section.name) {
                            h2 { (section.title) }
                            p.source { "Beside: " @for row in section.of(&["beside"]) { (row.part(0)) } }
                            @for (row, at) in section.lines.iter().zip(0..) { (View(evidence, section).show(at, row)) }
                            @let mut notes = evidence.notes.iter().filter(|note| note.section == section.name).peekable();
                            @if notes.peek().is_some() {
                                h3 { "Said while it was measured" }
                                ul.notes {
                                    @for Note { step, failed, text, .. } in notes {
                                        @let failed = failed == "yes";
                                        li.failed[failed] { b { (step) @if failed { " failed" } ": " } span { (text) } }
                                    }
                                }
                            }
                        }
                    }
                    section id="measures" {
                        h2 { "Goals" }
                        (show::missed(evidence))
                    }
                    section id="data" { h2 { "Data" } (data(evidence)) }
                }
            }
        }
    };
    page.into_string()
}

pub(super) fn headlines<'a>(sections: &[&'static Section], evidence: &'a Results) -> ReportTable<'a> {
    let heads = ["asked", "unit", "this library", "OpenSHMEM", "MPI", "the limit", "published"];
    let mut table = ReportTable::new("What users ask", heads);
    table.under.extend(prose("summary"));
    for section in sections {
        let mut lines = section.of(&ASKED).filter_map(|row| View(evidence, section).headline(row)).peekable();
        table.rows.extend(lines.peek().is_some().then(|| vec![Cell::new("group", section.title)]));
        table.rows.extend(lines);
    }
    table
}

/// Returns the paragraphs of a section of `sections.txt` that describes the page itself.
fn prose(name: &str) -> impl Iterator<Item = String> {
    let section = SECTIONS.iter().find(move |section| section.name == name);
    section.into_iter().flat_map(|section| &section.lines).map(|line| line.part(0).replace('\n', " "))
}

fn data(evidence: &Results) -> Markup {
    html! {
        p { "Beside this page lie "
            a href="cases.csv" { "cases.csv" } " (" (evidence.cases.len()) " lines: what was compared with what, medians, \
            quarters, ratios; every figure of this page), "
            a href="facts.csv" { "facts.csv" } " (the machine, placements)"
            @if !evidence.notes.is_empty() { " and " a href="notes.csv" { "notes.csv" } " (remarks and failures)" }
            ". Point at a number in a table to see its line in cases.csv, and what was compared." }
    }
}
