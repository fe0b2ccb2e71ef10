//! The page: HTML that stands alone, with its plots inside.
//!
//! Each number in a table carries the line that it comes from: `data-id` and `data-field` a line and a column of `cases.csv`.
//! `data-fact` is a line of `facts.csv`, whose value is shown as it is.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use super::evidence::{Entry, Evidence, Note};
use super::machine;
use super::sections::Section;
use super::show::{self, Show, View};
use crate::table::digits;

const STYLE: &str = include_str!("style.css");

const TITLE: &str = "Measured: one-sided communication in Rust";

/// The whole page. Nothing is in it that is not in the evidence; a section that nothing was measured or said for is not there.
pub(super) fn html(sections: &[&Section], evidence: &Evidence) -> String {
    let shown: Vec<_> = sections.iter().filter(|section| evidence.knows(section.name)).collect();
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
                        @for section in &shown { li { a href={ "#" (section.name) } { (section.title) } } }
                        li { a href="#measures" { "All measures" } }
                        li { a href="#data" { "Data" } }
                    }
                }
                main {
                    section id="summary" { h2 { "At a glance" } (headlines(&shown, evidence)) }
                    section id="machine" { h2 { "The machine" } (machine_facts(evidence)) }
                    section id="method" { h2 { "How it is measured" } (method()) }
                    @for section in shown {
                        section id=(section.name) {
                            h2 { (section.title) }
                            p.source { "Beside: " (section.source) }
                            @for show in section.shows { (shown_of(View(evidence, section.name), show)) }
                            (notes(evidence.notes.iter().filter(|note| note.section == section.name)))
                        }
                    }
                    section id="measures" {
                        h2 { "All measures" }
                        (show::measures(evidence))
                        (show::missed(evidence))
                    }
                    section id="data" { h2 { "Data" } (data(evidence)) }
                }
            }
        }
    };
    page.into_string()
}

fn shown_of(view: View<'_>, show: &Show) -> Markup {
    match show {
        Show::Heading(text) => html! { h3 { (text) } },
        Show::Text(text) => html! { p { (text) } },
        Show::Cases(row) => view.cases(row).render(),
        Show::Grid(row) => view.grid(row).render(),
        Show::Plot(row) => view.plot(row).render(),
        Show::Facts(row) => view.facts(row).render(),
    }
}

fn headlines(sections: &[&&Section], evidence: &Evidence) -> Markup {
    let heads = ["asked", "unit", "this library", "OpenSHMEM", "MPI", "Lamellar", "the limit", "published"];
    let under = "Each question leads to its measure, with more sizes, the quarters and what exactly is compared. A ratio is a time \
                 over another one. OpenSHMEM and MPI are those of Open MPI. The limit is the machine's: the same by a few lines of C over \
                 shared memory, between hosts by a bare program on libfabric. The best library of a line is marked, but no ratio, \
                 which is over something of each library's own. An empty field: there is no such thing, or nothing was published.";
    let mut table = Table::new("", "What users ask", under, heads);
    for section in sections {
        let view = View(evidence, section.name);
        let lines: Vec<_> = section.headlines.iter().filter_map(|row| view.headline(row)).collect();
        if !lines.is_empty() {
            table.row([Cell::Group(section.title)]);
        }
        lines.into_iter().for_each(|line| table.row(line));
    }
    table.render()
}

fn machine_facts(evidence: &Evidence) -> Markup {
    html! {
        div.scroll { table { tbody {
            @for fact in evidence.facts.iter().filter(|fact| fact.section.is_empty()) {
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
                @for Note { step, failed, text, .. } in notes {
                    @let failed = failed == "yes";
                    li.failed[failed] { b { (step) @if failed { " failed" } ": " } span { (text) } }
                }
            }
        }
    }
}

fn data(evidence: &Evidence) -> Markup {
    html! {
        p { "Beside this page lie "
            a href="cases.csv" { "cases.csv" } " (" (evidence.cases.len()) " lines: what was compared with what, medians, \
            quarters, ratios; every figure of this page), "
            a href="facts.csv" { "facts.csv" } " (the machine, placements) and "
            a href="notes.csv" { "notes.csv" } " (what was said and what has failed). Point at a number in a table to see \
            its line in cases.csv, and what was compared." }
    }
}

/// A table. Its first column says what the row is.
pub(super) struct Table {
    /// What links lead to; none: nothing.
    name: &'static str,
    title: &'static str,
    under: &'static str,
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new<H: Into<String>>(
        name: &'static str,
        title: &'static str,
        under: &'static str,
        heads: impl IntoIterator<Item = H>,
    ) -> Self {
        Self { name, title, under, heads: heads.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a line, of as many cells as there are columns.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().take(self.heads.len()).collect());
    }

    /// Whether a column has words in it, and no numbers.
    fn is_text(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        !cells.any(|cell| matches!(cell, Cell::Number { .. } | Cell::Missing | Cell::Published(_)))
    }
}

impl Render for Table {
    fn render(&self) -> Markup {
        html! {
            h3 id=[Some(self.name).filter(|name| !name.is_empty())] { (self.title) }
            @if self.rows.is_empty() {
                p.under { "Nothing was measured." }
            } @else {
                div.scroll { table {
                    thead { tr {
                        @for (head, at) in self.heads.iter().zip(0..) {
                            th scope="col" class=[self.is_text(at).then_some("text")] { (head) }
                        }
                    } }
                    tbody {
                        @for row in &self.rows {
                            // What was compared is said once for a row.
                            @let about = row.iter().find_map(Cell::about);
                            tr title=[about] { @for cell in row { (cell.render(about, self.heads.len())) } }
                        }
                    }
                } }
            }
            @if !self.under.is_empty() { p.under { (self.under) } }
        }
    }
}

/// A column of `cases.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Value,
    Limit,
    Ratio,
    RatioP25,
    RatioP75,
    /// How many times faster than a loop of puts.
    VsA1,
    P95,
    Pairs,
}

impl Column {
    /// As it is called there.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Limit => "limit",
            Self::Ratio => "ratio",
            Self::RatioP25 => "ratio_p25",
            Self::RatioP75 => "ratio_p75",
            Self::VsA1 => "vs_a1",
            Self::P95 => "p95",
            Self::Pairs => "n",
        }
    }

    /// The number there, if the line has one.
    fn read(self, entry: &Entry) -> Option<f64> {
        let case = &entry.case;
        Some(match self {
            Self::Value => case.value,
            Self::Limit => case.limit,
            Self::Ratio => case.ratio,
            Self::RatioP25 => entry.ratio_p25,
            Self::RatioP75 => entry.ratio_p75,
            Self::VsA1 => case.vs_a1?,
            Self::P95 => case.p95?,
            Self::Pairs => case.n as f64,
        })
    }
}

/// One cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    /// What the next lines are about, over all columns.
    Group(&'static str),
    /// What leads to a table of the page.
    Link {
        text: &'static str,
        to: &'static str,
    },
    /// From the literature, not measured here.
    Published(&'static str),
    Missing,
    /// Of a line, with what was compared; made to stand out, if so.
    Number {
        id: usize,
        column: Column,
        number: f64,
        about: String,
        chosen: bool,
    },
    Fact {
        id: usize,
        value: String,
    },
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) const fn published(text: &'static str) -> Self {
        Self::Published(text)
    }

    pub(super) fn fact(id: usize, value: &str) -> Self {
        Self::Fact { id, value: value.to_owned() }
    }

    /// A number of a line, or that there is none.
    pub(super) fn of(entry: Option<&Entry>, column: Column) -> Self {
        let number = entry.and_then(|entry| Some((entry, column.read(entry)?)));
        number.map_or(Self::Missing, |(entry, number)| {
            let about = entry.case.compared.clone();
            Self::Number { id: entry.id, column, number, about, chosen: false }
        })
    }

    /// The number, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number { number, .. } = self { Some(*number) } else { None }
    }

    /// Makes it stand out: the best of a row.
    pub(super) fn choose(&mut self) {
        if let Self::Number { chosen, .. } = self {
            *chosen = true;
        }
    }

    fn about(&self) -> Option<&str> {
        if let Self::Number { about, .. } = self { Some(about) } else { None }
    }

    /// In a row which says what was compared, and so need not be said again, of a table with so many columns.
    fn render(&self, said: Option<&str>, columns: usize) -> Markup {
        match self {
            Self::Text(text) => html! { td.text { (text) } },
            Self::Group(text) => html! { th.group scope="rowgroup" colspan=(columns) { (text) } },
            Self::Link { text, to } => html! { td.text { a href={ "#" (to) } { (text) } } },
            Self::Published(text) => html! { td.published { (text) } },
            Self::Missing => html! { td.missing { "not measured" } },
            Self::Fact { id, value } => html! { td.text data-fact=(id) { (value) } },
            Self::Number { id, column, number, about, chosen } => {
                // What is written as 1.00 is neither.
                let is_ratio = *column == Column::Ratio;
                let colour = if is_ratio && *number >= 1.005 { "worse" } else { "better" };
                let colour = Some(colour).filter(|_| is_ratio && !(0.995..1.005).contains(number));
                let class =
                    [colour, chosen.then_some("chosen")].into_iter().flatten().collect::<Vec<_>>().join(" ");
                let written = if *column == Column::Pairs { format!("{number:.0}") } else { digits(*number) };
                html! {
                    td class=[Some(class).filter(|class| !class.is_empty())] data-id=(id) data-field=(column.name())
                        title=[Some(about.as_str()).filter(|about| said != Some(*about))] { (written) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Kept;
    use crate::table::tests::record;

    #[test]
    fn a_number_carries_its_line_and_what_was_compared_is_said_once() {
        let mut evidence = Evidence::default();
        let mut record = record("put", "8", &[(3.0, 2.0)]);
        record.compared = "a put <against> a store".to_owned();
        let mut other = record.clone();
        (other.case, other.compared) = ("9".to_owned(), "gets".to_owned());
        evidence.add("s", "", "", Kept { records: vec![record, other], ..Kept::default() }, None);
        let of = |at: usize, column| Cell::of(Some(&evidence.cases[at]), column);
        let mut table = Table::new("", "", "", ["", "a", "b", "c"]);
        table.row([
            Cell::text("row"),
            of(0, Column::Value),
            of(0, Column::Ratio),
            of(1, Column::Limit),
            Cell::text("behind"),
        ]);
        table.row([Cell::text("row"), of(0, Column::VsA1)]);
        let html = table.render().into_string();
        assert!(html.contains(r#"data-id="1" data-field="value">3.00<"#), "{html}");
        assert!(html.contains(r#"class="worse" data-id="1" data-field="ratio">1.50<"#), "{html}");
        assert_eq!(html.matches("a put &lt;against&gt; a store").count(), 1, "{html}");
        assert!(html.contains(r#"title="gets">2.00<"#) && html.contains("not measured"), "{html}");
        assert!(!html.contains("behind"), "{html}");
        assert!(Table::new("", "", "", [""]).render().into_string().contains("Nothing was measured."));
    }
}
