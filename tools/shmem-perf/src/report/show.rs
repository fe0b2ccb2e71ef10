//! Tables of the report, made from the lines of its sections. Each kind of line has a function.

use std::collections::BTreeSet;

use maud::{Markup, Render, html};

use super::evidence::Results;
use crate::bench::TextResult;
use crate::case::Case;
use crate::measure;
use crate::pattern::{self, Found, named};
use crate::sheet::{Section, SheetLine};
use crate::table::digits;

#[derive(Clone, Copy)]
pub(super) struct View<'a>(pub(super) &'a Results, pub(super) &'static Section);

impl<'a> View<'a> {
    /// Returns the section's cases that match a pattern, in the order of measurement; with a `place`, only those measured there.
    fn find<'p>(
        self,
        place: &'p str,
        pattern: &'p str,
    ) -> impl Iterator<Item = (Found<'p, 'a>, &'a Case)> + use<'a, 'p> {
        let of =
            move |entry: &&Case| entry.section == self.1.name && (place.is_empty() || entry.variant == place);
        let find = move |entry: &'a Case| Some((pattern::find(pattern, &entry.measure, &entry.case)?, entry));
        self.0.cases.iter().filter(of).filter_map(find)
    }

    /// Renders a line of the section: a heading, a paragraph, or tables.
    pub(super) fn show(self, at: usize, row: &SheetLine) -> Markup {
        match row.kind {
            "heading" => html! { h3 { (row.part(0)) } },
            "text" => html! { p { (row.part(0)) } },
            _ => html! { @for table in self.tables(at, row) { (table) } },
        }
    }

    fn tables(self, at: usize, row: &SheetLine) -> Vec<ReportTable<'a>> {
        let of =
            |(pattern, published)| self.find(row.place, pattern).map(move |(_, entry)| (entry, published));
        let mut tables = match row.kind {
            "facts" => return vec![self.facts(row.part(0), row.part(1))],
            "cases" => {
                let found: Vec<_> = row.pairs(1).flat_map(of).collect();
                vec![cases_of(row.part(0), &found, row.place.is_empty())]
            }
            "grid" => self.grid(row),
            _ => Vec::new(),
        };
        tables.iter_mut().take(1).for_each(|first| first.id = Some(self.id(at)));
        tables
    }

    fn id(self, at: usize) -> String {
        format!("{}-{at}", self.1.name)
    }

    fn grid(self, row: &SheetLine) -> Vec<ReportTable<'a>> {
        let found: Vec<_> = self.find(row.place, row.part(1)).collect();
        let published: Vec<_> = row.pairs(3).collect();
        let of_part = |part: String| {
            let here = || found.iter().filter(|(found, _)| named(found, "part") == part);
            let cells = here().flat_map(|(found, entry)| {
                let (name, column) = (named(found, "row"), named(found, "column"));
                let cell = move |of| (name.clone(), format!("{column}, {of}"), Cell::of(Some(entry), of));
                row.part(2).split(' ').map(cell)
            });
            let mut table = ReportTable::of(titled(row.part(0), &part), cells.collect(), &Cell::of(None, ""));
            table.heads.extend((!published.is_empty()).then(|| "published".to_owned()));
            for cells in &mut table.rows {
                let said = published.iter().find(|(of, _)| *of == cells[0].text).map_or("", |(_, said)| said);
                cells.push(Cell::new("published", said));
            }
            table.explain(here().map(|(_, entry)| *entry));
            table
        };
        once(found.iter().map(|(found, _)| named(found, "part"))).into_iter().map(of_part).collect()
    }

    fn facts(self, title: &str, table: &str) -> ReportTable<'a> {
        let of = |fact: &&TextResult| fact.section == self.1.name && fact.table == table;
        let cells = self.0.facts.iter().filter(of).map(|TextResult { id, row, column, value, .. }| {
            let cell = Cell { fact: Some(*id), ..Cell::text(&**value) };
            (row.clone(), column.clone(), cell)
        });
        ReportTable::of(title, cells.collect(), &Cell::text(""))
    }

    /// Makes a row of the table "What users ask"; `None` if nothing was measured for it.
    pub(super) fn headline(self, row: &SheetLine) -> Option<Vec<Cell<'a>>> {
        let first = |pattern: &str| self.find(row.place, pattern).map(|(_, entry)| entry).next();
        let (is_ratio, case) = (row.kind == "ratio", row.part(1));
        // Cases that compare this operation with OpenSHMEM, with MPI, and with the machine.
        let peers = ["oshmem-micro", "mpi-micro", "floor"].map(|peer| format!("{case}/{peer}"));
        let beside = match row.kind {
            "time" => [row.part(2), row.part(3), ""],
            "limit" => ["", "", case],
            "peers" => peers.each_ref().map(String::as_str),
            _ => [""; 3],
        };
        let ours = first(case).or_else(|| beside.into_iter().find_map(first))?;
        let answer = Cell::of(Some(ours), if is_ratio { "ratio" } else { "value" });
        let limits = beside.map(|pattern| match pattern {
            "" => Cell::text(""),
            pattern => Cell::of(first(pattern), "limit"),
        });
        let mut answers: Vec<Cell<'_>> = [answer].into_iter().chain(limits).collect();
        // Marks the fastest library. Ratios are not marked, because each library's ratio has a baseline of its own.
        let numbers: Vec<f64> = answers[..3].iter().filter_map(Cell::value).collect();
        if !is_ratio && numbers.len() > 1 {
            let best = numbers.into_iter().reduce(f64::min);
            answers[..3].iter_mut().for_each(|cell| cell.chosen = cell.value() == best);
        }
        // Whether this line of the sheet produces a table with the case, to which the row of the summary links.
        let shows = |row: &SheetLine| {
            let patterns = match row.kind {
                "cases" => usize::MAX,
                "grid" => 1,
                _ => 0,
            };
            let is_it = |(pattern, _)| self.find(row.place, pattern).any(|(_, entry)| entry.id == ours.id);
            row.pairs(1).take(patterns).any(is_it)
        };
        let table = self.1.lines.iter().position(shows);
        let asked = Cell { link: table.map(|at| self.id(at)), ..Cell::text(row.part(0)) };
        let unit = Cell::text(if is_ratio { "ratio" } else { &*ours.unit });
        let published = Cell::new("published", if is_ratio { row.part(2) } else { "" });
        Some([asked, unit].into_iter().chain(answers).chain([published]).collect())
    }
}

fn titled(title: &str, part: &str) -> String {
    if part.is_empty() { title.to_owned() } else { format!("{title}: {part}") }
}

fn once(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.filter(|name| seen.insert(name.clone())).collect()
}

/// Makes a table with a row for each case. `places` adds the place of each case to its name.
fn cases_of<'a>(title: &str, found: &[(&'a Case, &'static str)], places: bool) -> ReportTable<'a> {
    let heads = ["case", "cost", "limit", "unit", "ratio", "quarters", "to", "pairs", "PEs", "cores", "goal"];
    let beside_puts = found.iter().any(|(entry, _)| entry.vs_a1.is_some());
    let is_published = found.iter().any(|(_, published)| !published.is_empty());
    let more = [beside_puts.then_some("A1"), is_published.then_some("published")];
    let mut table = ReportTable::new(title, heads.into_iter().chain(more.into_iter().flatten()));
    for &(entry, published) in found {
        let (of, case) = (|column| Cell::of(Some(entry), column), entry);
        let place = if places { &*entry.variant } else { "" };
        let mut cells = vec![
            Cell::text(format!("{} {} {place}", case.measure, case.case).trim_end()),
            of("value"),
            of("limit"),
            Cell::text(&*case.unit),
            of("ratio"),
            of("ratio_p25"),
            of("ratio_p75"),
            of("n"),
            Cell::text(case.pes.to_string()),
            Cell::text(if case.shared_cores { "shared" } else { "one each" }),
            Cell::text(measure::goal(case).map_or_else(String::new, |goal| goal.to_string())),
        ];
        cells.extend(beside_puts.then(|| of("vs_a1")));
        cells.extend(is_published.then(|| Cell::new("published", published)));
        table.rows.push(cells);
    }
    table.explain(found.iter().map(|(entry, _)| *entry));
    table
}

pub(super) fn missed(evidence: &Results) -> ReportTable<'_> {
    let is_missed = |entry: &&Case| measure::goal(entry).is_some_and(|goal| !goal.is_met(entry));
    let found: Vec<_> = evidence.cases.iter().filter(is_missed).map(|entry| (entry, "")).collect();
    ReportTable { under: Vec::new(), ..cases_of("What does not reach its goal", &found, true) }
}

/// A table of the report. Its first column has the names of the rows.
pub(super) struct ReportTable<'a> {
    id: Option<String>,
    title: String,
    pub(super) under: Vec<String>,
    heads: Vec<String>,
    /// Rows of cells. A cell beyond the last column head is not shown.
    pub(super) rows: Vec<Vec<Cell<'a>>>,
}

impl<'a> ReportTable<'a> {
    pub(super) fn new<H: Into<String>>(title: impl Into<String>, heads: impl IntoIterator<Item = H>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Self { id: None, title: title.into(), under: Vec::new(), heads, rows: Vec::new() }
    }

    /// Makes a table from (row, column, cell). Rows and columns are in order of appearance, and gaps get `none`.
    fn of(title: impl Into<String>, cells: Vec<(String, String, Cell<'a>)>, none: &Cell<'a>) -> Self {
        let columns = once(cells.iter().map(|(_, column, _)| column.clone()));
        let mut table = Self::new(title, [String::new()].into_iter().chain(columns.iter().cloned()));
        for name in once(cells.iter().map(|(row, ..)| row.clone())) {
            let cell = |column| {
                let found = cells.iter().find(|(row, of, _)| *row == name && of == column);
                found.map_or(none, |(.., cell)| cell).clone()
            };
            table.rows.push([Cell::text(&*name)].into_iter().chain(columns.iter().map(cell)).collect());
        }
        table
    }

    fn explain(&mut self, entries: impl Iterator<Item = &'a Case>) {
        let rows = entries.filter_map(|entry| measure::row_of(&entry.measure, &entry.case));
        self.under.extend(once(rows.map(measure::Row::sentence)));
    }

    /// Returns whether a column has texts only.
    fn is_text(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        !cells.any(|cell| cell.number.is_some() || ["missing", "published"].contains(&cell.class))
    }
}

impl Render for ReportTable<'_> {
    fn render(&self) -> Markup {
        let columns = self.heads.len();
        html! {
            h3 id=[self.id.as_ref()] { (self.title) }
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
                            // Cells with the same comparison as their row do not repeat it.
                            @let about = row.iter().find_map(Cell::about);
                            tr title=[&about] { @for cell in row.iter().take(columns) { (cell.render(about.as_ref(), columns)) } }
                        }
                    }
                } }
            }
            @for text in &self.under { p.under { (text) } }
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Cell<'a> {
    text: String,
    class: &'static str,
    fact: Option<usize>,
    link: Option<String>,
    /// A number, with its case and its column of `cases.csv`.
    number: Option<(f64, &'a Case, &'a str)>,
    chosen: bool,
}

impl<'a> Cell<'a> {
    /// Makes a cell with a text. The class `group` makes the cell a heading over all columns; `published` marks a figure of the
    /// literature.
    pub(super) fn new(class: &'static str, text: impl Into<String>) -> Self {
        Self { text: text.into(), class, ..Self::default() }
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::new("text", text)
    }

    /// Makes a cell with the number in a column of a case, or with "not measured".
    fn of(entry: Option<&'a Case>, column: &'a str) -> Self {
        let number = entry.and_then(|entry| Some((entry.number(column)?, entry, column)));
        let Some((value, ..)) = number else { return Self::new("missing", "not measured") };
        let text = if column == "n" { format!("{value:.0}") } else { digits(value) };
        let class = match value {
            // A ratio that is printed as 1.00 is neither better nor worse.
            _ if column != "ratio" || (0.995..1.005).contains(&value) => "",
            1.0.. => "worse",
            _ => "better",
        };
        Self { number, ..Self::new(class, text) }
    }

    fn value(&self) -> Option<f64> {
        self.number.map(|(value, ..)| value)
    }

    fn about(&self) -> Option<String> {
        self.number.map(|(_, entry, _)| entry.compared())
    }

    /// Renders the cell of a table with `columns` columns. `said` is the comparison that the row shows already.
    fn render(&self, said: Option<&String>, columns: usize) -> Markup {
        let Self { text, class, fact, link, number, chosen } = self;
        if *class == "group" {
            return html! { th.group scope="rowgroup" colspan=(columns) { (text) } };
        }
        let class = format!("{class} {}", if *chosen { "chosen" } else { "" });
        let class = Some(class.trim()).filter(|class| !class.is_empty());
        let about = self.about().filter(|about| said != Some(about));
        html! {
            td class=[class] data-fact=[fact]
                data-id=[number.map(|(_, entry, _)| entry.id)] data-field=[number.map(|(.., column)| column)] title=[about] {
                @if let Some(to) = link { a href={ "#" (to) } { (text) } } @else { (text) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    use super::*;
    use crate::report::SECTIONS;
    use crate::report::page::headlines;

    /// Columns of the page for which the document has no room.
    const LEFT_OUT: [&str; 5] = ["quarters", "to", "pairs", "PEs", "cores"];

    impl ReportTable<'_> {
        fn markdown(&self) -> String {
            let is_shown = |&at: &usize| at == 0 || !LEFT_OUT.contains(&&*self.heads[at]);
            let columns: Vec<_> = (0..self.heads.len()).filter(is_shown).collect();
            let row = |cell: &dyn Fn(usize) -> String| {
                let cells: Vec<_> = columns.iter().map(|at| cell(*at).replace('|', "\\|")).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            let rule = "|---".repeat(columns.len()) + "|\n";
            let title = if self.title.is_empty() { String::new() } else { format!("**{}**\n\n", self.title) };
            let rows = self
                .rows
                .iter()
                .map(|cells| row(&|at| cells.get(at).map_or_else(String::new, Cell::markdown)));
            title + &row(&|at| self.heads[at].clone()) + &rule + &rows.collect::<String>()
        }
    }

    impl Cell<'_> {
        fn markdown(&self) -> String {
            match self.class {
                "missing" => String::new(),
                _ if self.chosen || self.class == "group" => format!("**{}**", self.text),
                _ => self.text.clone(),
            }
        }
    }

    /// The tables of a line whose first word is a section; or the table of what users ask.
    fn tables(evidence: &Results, asked: &str) -> String {
        if asked == "summary" {
            return headlines(&SECTIONS.iter().collect::<Vec<_>>(), evidence).markdown();
        }
        let (section, line) = asked.split_once(' ').unwrap_or_default();
        let section = Box::leak(Box::new(Section::parse(format!("{section} \n{line}").leak())));
        let rows = section.lines.iter().enumerate();
        let all = rows.flat_map(|(at, row)| View(evidence, section).tables(at, row));
        all.map(|table| table.markdown()).collect::<Vec<_>>().join("\n")
    }

    /// The text of docs/performance.md between `<!-- report SECTION LINE -->` and `<!-- end -->` is tables of docs/report, by a
    /// line as in `sections.txt`. `BLESS=1` writes them.
    #[test]
    fn the_document_shows_what_was_measured() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let (file, evidence) = (docs.join("performance.md"), Results::read(&docs.join("report")).unwrap());
        let text = fs::read_to_string(&file).unwrap();
        let mut parts = text.split("<!-- report ");
        let mut expected = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (asked, rest) = part.split_once(" -->\n").expect("a line of a section, closed");
            let (_, behind) = rest.split_once("<!-- end -->").expect("an end of the tables");
            let tables = tables(&evidence, asked);
            assert!(tables.lines().count() > 2, "nothing was measured that `{asked}` shows");
            expected += &format!("<!-- report {asked} -->\n{tables}<!-- end -->{behind}");
        }
        if env::var_os("BLESS").is_some() {
            fs::write(&file, expected).unwrap();
        } else {
            assert!(
                text == expected,
                "{}: BLESS=1 cargo test -p shmem-perf --lib writes its tables",
                file.display()
            );
        }
    }
}
