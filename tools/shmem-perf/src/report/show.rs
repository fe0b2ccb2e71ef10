//! What sections show: rows of data, of which one function for each kind makes tables, figures or a line of what users ask.

use std::collections::BTreeSet;

use maud::{Markup, Render, html};

use super::evidence::{Entry, Evidence, Fact};
use super::plot::{Figure, Series};
use super::sections::{Row, Section};
use crate::measure;
use crate::pattern::{Found, named};
use crate::table::digits;

/// What was measured for a section.
#[derive(Clone, Copy)]
pub(super) struct View<'a>(pub(super) &'a Evidence, pub(super) &'static Section);

impl<'a> View<'a> {
    fn find<'p>(
        self,
        place: &'p str,
        pattern: &'p str,
    ) -> impl Iterator<Item = (Found<'p, 'a>, &'a Entry)> + use<'a, 'p> {
        self.0.find((self.1.name, place), pattern)
    }

    /// Shows a row of it: a heading, a text, figures or tables; steps and what users ask not here.
    pub(super) fn show(self, at: usize, row: &Row) -> Markup {
        match row.kind {
            "heading" => html! { h3 { (row.part(0)) } },
            "text" => html! { p { (row.part(0)) } },
            "plot" => self.plot(row),
            _ => html! { @for table in self.tables(at, row) { (table) } },
        }
    }

    /// The tables of a row, by its place.
    fn tables(self, at: usize, row: &Row) -> Vec<Table<'a>> {
        match row.kind {
            "facts" => vec![self.facts(row.part(0), row.part(1))],
            "cases" => {
                let of = |(pattern, published)| {
                    self.find(row.place, pattern).map(move |(_, entry)| (entry, published))
                };
                let found: Vec<_> = row.pairs(1).flat_map(of).collect();
                vec![cases_of(row.part(0), &found, row.place.is_empty()).named(self.id(at))]
            }
            "grid" => self.grid(self.id(at), row),
            _ => Vec::new(),
        }
    }

    /// Figures, one for each part.
    fn plot(self, row: &Row) -> Markup {
        let mut figures: Vec<(String, Figure)> = Vec::new();
        for (pattern, shown) in row.pairs(3) {
            let (of, name) = shown.split_once(", ").unwrap_or((shown, ""));
            for (found, entry) in self.find(row.place, pattern) {
                let Ok(at) = named(&found, "x").parse::<f64>() else { continue };
                let (part, case) = (named(&found, "part"), &entry.case);
                let point = match of {
                    "cost" => (case.value, case.p25, case.p75),
                    "ratio" => (case.ratio, case.ratio_p25, case.ratio_p75),
                    _ => (case.limit, case.limit_p25, case.limit_p75),
                };
                let label = format!("{name} {}", named(&found, "line")).trim().to_owned();
                let place = figures.iter().position(|(of, _)| *of == part).unwrap_or_else(|| {
                    let figure = Figure::new(titled(row.part(0), &part), [row.part(1), row.part(2)]);
                    figures.push((part.clone(), figure));
                    figures.len() - 1
                });
                figures[place].1.push(Series { label, is_beside: of == "limit" }, at, point);
            }
        }
        html! { @for (_, figure) in figures { (figure) } }
    }

    /// What links to a part lead to.
    fn id(self, at: usize) -> String {
        format!("{}-{at}", self.1.name)
    }

    fn grid(self, id: String, row: &Row) -> Vec<Table<'a>> {
        let found: Vec<_> = self.find(row.place, row.part(1)).collect();
        let shows: Vec<_> = row.part(2).split(' ').collect();
        let published: Vec<_> = row.pairs(3).collect();
        let parts = once(found.iter().map(|(found, _)| named(found, "part")));
        let mut tables = Vec::new();
        for part in parts {
            let here: Vec<_> = found.iter().filter(|(found, _)| named(found, "part") == part).collect();
            let names = once(here.iter().map(|(found, _)| named(found, "row")));
            let heads = once(here.iter().map(|(found, _)| named(found, "column")));
            let heads_of = |head: &String| shows.iter().map(|of| format!("{head}, {of}")).collect::<Vec<_>>();
            let mut table = Table::new(
                titled(row.part(0), &part),
                [String::new()].into_iter().chain(heads.iter().flat_map(heads_of)),
            );
            table.heads.extend((!published.is_empty()).then(|| "published".to_owned()));
            for name in names {
                let mut cells = vec![Cell::text(name.clone())];
                for head in &heads {
                    let is_it = |found| named(found, "row") == name && named(found, "column") == *head;
                    let entry = here.iter().find(|(found, _)| is_it(found)).map(|(_, entry)| *entry);
                    cells.extend(shows.iter().map(|&column| Cell::of(entry, column)));
                }
                let said = published.iter().find(|(of, _)| *of == name).map_or("", |(_, said)| said);
                cells.push(Cell::published(said));
                table.row(cells);
            }
            table.explain(here.iter().map(|(_, entry)| *entry));
            tables.push(if tables.is_empty() { table.named(id.clone()) } else { table });
        }
        tables
    }

    /// By the rows and columns of facts.
    fn facts(self, title: &str, table: &str) -> Table<'a> {
        let of = |fact: &&Fact| fact.section == self.1.name && fact.found.table == table;
        let facts: Vec<&Fact> = self.0.facts.iter().filter(of).collect();
        let columns = once(facts.iter().map(|fact| fact.found.column.clone()));
        let mut table = Table::new(title, [String::new()].into_iter().chain(columns.iter().cloned()));
        for row in once(facts.iter().map(|fact| fact.found.row.clone())) {
            let cell = |column: &String| {
                let fact = facts.iter().find(|fact| fact.found.row == row && fact.found.column == *column);
                fact.map_or(Cell::text(""), |fact| Cell {
                    fact: Some(fact.id),
                    ..Cell::text(&*fact.found.value)
                })
            };
            table.row([Cell::text(row.clone())].into_iter().chain(columns.iter().map(cell)));
        }
        table
    }

    /// A line of what users ask; none where it was not measured.
    pub(super) fn headline(self, row: &Row) -> Option<Vec<Cell<'a>>> {
        let first = |pattern: &str| self.find(row.place, pattern).map(|(_, entry)| entry).next();
        let (is_ratio, case) = (row.kind == "ratio", row.part(1));
        let peers = ["oshmem-micro", "mpi-micro", "lamellar", "floor"].map(|peer| format!("{case}/{peer}"));
        // The case, without one the first of those beside; cases whose limits are what OpenSHMEM, MPI, lamellar and the machine
        // take; and what is published.
        let (ours, beside, published) = match row.kind {
            "ratio" => (case, [""; 4], row.part(2)),
            "time" => (case, [row.part(2), row.part(3), "", ""], ""),
            "limit" => (case, ["", "", "", case], ""),
            _ => ("", peers.each_ref().map(|peer| &**peer), ""),
        };
        let ours = match ours {
            "" => beside.into_iter().find_map(first)?,
            ours => first(ours)?,
        };
        let limit = |pattern: &str| match pattern {
            "" => Cell::text(""),
            pattern => Cell::of(first(pattern), "limit"),
        };
        let [others @ .., machine] = beside.map(limit);
        let answer = Cell::of(Some(ours), if is_ratio { "ratio" } else { "value" });
        let mut answers: Vec<Cell<'_>> = [answer].into_iter().chain(others).collect();
        let numbers: Vec<f64> = answers.iter().filter_map(Cell::value).collect();
        // A ratio is over something of each library's own.
        if !is_ratio && numbers.len() > 1 {
            let best = numbers.into_iter().fold(f64::INFINITY, f64::min);
            answers.iter_mut().for_each(|cell| cell.chosen = cell.value() == Some(best));
        }
        // The table that shows the measure behind it.
        let shows = |row: &Row| {
            let patterns: Vec<_> = match row.kind {
                "cases" => row.pairs(1).map(|(pattern, _)| pattern).collect(),
                "grid" => vec![row.part(1)],
                _ => Vec::new(),
            };
            let is_it = |pattern| self.find(row.place, pattern).any(|(_, entry)| entry.id == ours.id);
            patterns.into_iter().any(is_it)
        };
        let table = self.1.rows.iter().position(shows);
        let asked = Cell { link: table.map(|at| self.id(at)), ..Cell::text(row.part(0)) };
        let unit = if is_ratio { "ratio" } else { &*ours.case.unit };
        let cells = [asked, Cell::text(unit)].into_iter().chain(answers);
        Some(cells.chain([machine, Cell::published(published)]).collect())
    }
}

fn titled(title: &str, part: &str) -> String {
    if part.is_empty() { title.to_owned() } else { format!("{title}: {part}") }
}

/// Names, each where it comes first.
fn once(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.filter(|name| seen.insert(name.clone())).collect()
}

/// A line for each case, with what is published of it, and with its place if they are of several.
fn cases_of<'a>(title: &str, found: &[(&'a Entry, &'static str)], places: bool) -> Table<'a> {
    let heads = ["case", "cost", "limit", "unit", "ratio", "quarters", "to", "pairs", "PEs", "cores", "goal"];
    let beside_puts = found.iter().any(|(entry, _)| entry.case.vs_a1.is_some());
    let is_published = found.iter().any(|(_, published)| !published.is_empty());
    let more = [beside_puts.then_some("A1"), is_published.then_some("published")];
    let mut table = Table::new(title, heads.into_iter().chain(more.into_iter().flatten()));
    for &(entry, published) in found {
        let (of, case) = (|column| Cell::of(Some(entry), column), &entry.case);
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
        cells.extend(is_published.then(|| Cell::published(published)));
        table.row(cells);
    }
    table.explain(found.iter().map(|(entry, _)| *entry));
    table
}

/// A line for each measure: its best, its middle and its worst case.
pub(super) fn measures(evidence: &Evidence) -> Markup {
    let heads =
        ["section", "measure", "cases", "best ratio", "middle", "worst", "the worst case", "goals met"];
    let mut table = Table::new("Each measure, from its best case to its worst", heads);
    let key = |entry: &Entry| format!("{} {} {}", entry.section, entry.case.measure, entry.variant);
    for name in once(evidence.cases.iter().map(key)) {
        let mut group: Vec<&Entry> = evidence.cases.iter().filter(|entry| key(entry) == name).collect();
        group.sort_by(|a, b| a.case.ratio.total_cmp(&b.case.ratio));
        let (best, middle, worst) = (group[0], group[group.len() / 2], group[group.len() - 1]);
        let met = |entry: &&Entry| Some(measure::goal(&entry.case)?.is_met(&entry.case));
        let goals: Vec<bool> = group.iter().filter_map(met).collect();
        let (met, all) = (goals.iter().filter(|met| **met).count(), goals.len());
        let ratios = [best, middle, worst].map(|entry| Cell::of(Some(entry), "ratio"));
        let measure = format!("{} {}", best.case.measure, best.variant);
        let names = [best.section.clone(), measure, group.len().to_string()].map(Cell::text);
        let met = if all == 0 { String::new() } else { format!("{met} of {all}") };
        let behind = [worst.case.case.clone(), met].map(Cell::text);
        table.row(names.into_iter().chain(ratios).chain(behind));
    }
    table.render()
}

/// The cases that have a goal and do not reach it.
pub(super) fn missed(evidence: &Evidence) -> Markup {
    let is_missed = |entry: &&Entry| measure::goal(&entry.case).is_some_and(|goal| !goal.is_met(&entry.case));
    let found: Vec<_> = evidence.cases.iter().filter(is_missed).map(|entry| (entry, "")).collect();
    let mut table = cases_of("What does not reach its goal", &found, true);
    table.under.clear();
    table.render()
}

/// A table. Its first column says what the row is.
pub(super) struct Table<'a> {
    id: Option<String>,
    title: String,
    /// What the cases in it are.
    under: Vec<String>,
    heads: Vec<String>,
    rows: Vec<Vec<Cell<'a>>>,
}

impl<'a> Table<'a> {
    pub(super) fn new<H: Into<String>>(title: impl Into<String>, heads: impl IntoIterator<Item = H>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Self { id: None, title: title.into(), under: Vec::new(), heads, rows: Vec::new() }
    }

    fn named(self, id: String) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Adds a line, of as many cells as there are columns.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        self.rows.push(cells.into_iter().take(self.heads.len()).collect());
    }

    /// Adds what is said below.
    pub(super) fn under(&mut self, text: &str) {
        self.under.push(text.to_owned());
    }

    /// Says below what is compared in these cases.
    fn explain(&mut self, entries: impl Iterator<Item = &'a Entry>) {
        let rows = entries.filter_map(|entry| measure::row_of(&entry.case.measure, &entry.case.case));
        self.under.extend(once(rows.map(measure::Row::sentence)));
    }

    /// Whether a column has words in it, and no numbers.
    fn is_text(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        !cells.any(|cell| cell.number.is_some() || ["missing", "published"].contains(&cell.class))
    }
}

impl Render for Table<'_> {
    fn render(&self) -> Markup {
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
                            // What was compared is said once for a row.
                            @let about = row.iter().find_map(Cell::about);
                            tr title=[&about] { @for cell in row { (cell.render(about.as_ref(), self.heads.len())) } }
                        }
                    }
                } }
            }
            @for text in &self.under { p.under { (text) } }
        }
    }
}

/// One cell of a table.
#[derive(Clone, Default)]
pub(super) struct Cell<'a> {
    text: String,
    /// What it is, for `style.css`.
    class: &'static str,
    /// A line of `facts.csv`.
    fact: Option<usize>,
    /// A table of the page.
    link: Option<String>,
    /// A number, and the line and the column of `cases.csv` that have it.
    number: Option<(f64, &'a Entry, &'a str)>,
    /// Whether it is made to stand out.
    chosen: bool,
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), class: "text", ..Self::default() }
    }

    /// What the next lines are about, over all columns.
    pub(super) fn group(text: &str) -> Self {
        Self { class: "group", ..Self::text(text) }
    }

    /// From the literature, not measured here.
    fn published(text: &str) -> Self {
        Self { class: "published", ..Self::text(text) }
    }

    /// A number of a line, or that there is none.
    fn of(entry: Option<&'a Entry>, column: &'a str) -> Self {
        let number = entry.and_then(|entry| Some((entry.number(column)?, entry, column)));
        let Some((value, ..)) = number else {
            return Self { class: "missing", ..Self::text("not measured") };
        };
        let text = if column == "n" { format!("{value:.0}") } else { digits(value) };
        // What is written as 1.00 is neither.
        let is_ratio = column == "ratio" && !(0.995..1.005).contains(&value);
        let class = if value >= 1.0 { "worse" } else { "better" };
        Self { text, class: if is_ratio { class } else { "" }, number, ..Self::default() }
    }

    fn value(&self) -> Option<f64> {
        self.number.map(|(value, ..)| value)
    }

    fn about(&self) -> Option<String> {
        self.number.map(|(_, entry, _)| entry.case.compared())
    }

    /// In a row which says what was compared, and so need not be said again, of a table with so many columns.
    fn render(&self, said: Option<&String>, columns: usize) -> Markup {
        let Self { text, class, fact, link, number, chosen } = self;
        if *class == "group" {
            return html! { th.group scope="rowgroup" colspan=(columns) { (text) } };
        }
        let classes: Vec<_> = [*class, if *chosen { "chosen" } else { "" }]
            .into_iter()
            .filter(|class| !class.is_empty())
            .collect();
        let about = self.about().filter(|about| said != Some(about));
        html! {
            td class=[(!classes.is_empty()).then(|| classes.join(" "))] data-fact=[fact]
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
    use crate::report::page::headlines;
    use crate::report::sections::SECTIONS;

    /// How a number came about, which the page tells and a document has no room for.
    const LEFT_OUT: [&str; 5] = ["quarters", "to", "pairs", "PEs", "cores"];

    impl Table<'_> {
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

    /// The tables that a line shows, whose first word is a section; or what users ask.
    fn tables(evidence: &Evidence, asked: &str) -> String {
        if asked == "summary" {
            return headlines(&SECTIONS.iter().collect::<Vec<_>>(), evidence).markdown();
        }
        let (section, line) = asked.split_once(' ').unwrap_or_default();
        let section = Box::leak(Box::new(Section::parse(format!("{section} \n{line}").leak())));
        let rows = section.rows.iter().enumerate();
        let all = rows.flat_map(|(at, row)| View(evidence, section).tables(at, row));
        all.map(|table| table.markdown()).collect::<Vec<_>>().join("\n")
    }

    /// What stands in docs/performance.md between `<!-- report SECTION LINE -->` and `<!-- end -->` are tables of docs/report, of a
    /// line as `sections.txt` has them. `BLESS=1` writes them.
    #[test]
    fn the_document_shows_what_was_measured() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let (file, evidence) = (docs.join("performance.md"), Evidence::read(&docs.join("report")).unwrap());
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
