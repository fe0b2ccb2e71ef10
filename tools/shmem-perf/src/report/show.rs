//! What sections show: rows of data, of which one function for each kind makes tables, figures or a line of what users ask.

use std::collections::BTreeSet;

use maud::{Markup, Render, html};

use super::evidence::{Entry, Evidence, Fact};
use super::plot::{Figure, Series};
use super::sections::{Form, Headline, Section, Show};
use crate::measure;
use crate::pattern::{Found, named};
use crate::table::digits;

/// What was measured for a section.
#[derive(Clone, Copy)]
pub(super) struct View<'a>(pub(super) &'a Evidence, pub(super) &'static Section);

impl<'a> View<'a> {
    fn find(
        self,
        place: &'static str,
        pattern: &'static str,
    ) -> impl Iterator<Item = (Found<'static, 'a>, &'a Entry)> {
        self.0.find((self.1.name, place), pattern)
    }

    /// Shows one part of it.
    pub(super) fn show(self, at: usize) -> Markup {
        match &self.1.shows[at] {
            Show::Heading(text) => html! { h3 { (text) } },
            Show::Text(text) => html! { p { (text) } },
            Show::Cases { title, place, form: Form::Plot(axes, lines) } => {
                self.plot((*title, *place), *axes, lines)
            }
            _ => html! { @for table in self.tables(at) { (table) } },
        }
    }

    /// The tables of a part; none of a text and of a figure.
    fn tables(self, at: usize) -> Vec<Table<'a>> {
        match &self.1.shows[at] {
            Show::Facts { title, table } => vec![self.facts(title, table)],
            Show::Cases { title, place, form: Form::Lines(cases) } => {
                let of = |&(pattern, published): &(&'static str, &'static str)| {
                    self.find(place, pattern).map(move |(_, entry)| (entry, published))
                };
                let found: Vec<_> = cases.iter().flat_map(of).collect();
                vec![cases_of(title, &found, place.is_empty()).named(self.id(at))]
            }
            Show::Cases { title, place, form: Form::Grid(cases, shows, published) } => {
                self.grid(self.id(at), (*title, *place, *cases), shows, published)
            }
            _ => Vec::new(),
        }
    }

    /// Figures, one for each part.
    fn plot(
        self,
        (title, place): (&str, &'static str),
        axes: [&'static str; 2],
        lines: &[(&'static str, &'static str, &'static str)],
    ) -> Markup {
        let mut figures: Vec<(String, Figure)> = Vec::new();
        for &(pattern, of, name) in lines {
            for (found, entry) in self.find(place, pattern) {
                let Ok(at) = named(&found, "x").parse::<f64>() else { continue };
                let (part, case) = (named(&found, "part"), &entry.case);
                let point = match of {
                    "cost" => (case.value, case.p25, case.p75),
                    "ratio" => (case.ratio, case.ratio_p25, case.ratio_p75),
                    _ => (case.limit, case.limit_p25, case.limit_p75),
                };
                let label = format!("{name} {}", named(&found, "line")).trim().to_owned();
                let place = figures.iter().position(|(of, _)| *of == part).unwrap_or_else(|| {
                    figures.push((part.clone(), Figure::new(titled(title, &part), axes)));
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

    fn grid(
        self,
        id: String,
        (title, place, cases): (&str, &'static str, &'static str),
        shows: &[&'static str],
        published: &[(&'static str, &'static str)],
    ) -> Vec<Table<'a>> {
        let found: Vec<_> = self.find(place, cases).collect();
        let parts = once(found.iter().map(|(found, _)| named(found, "part")));
        let mut tables = Vec::new();
        for part in parts {
            let here: Vec<_> = found.iter().filter(|(found, _)| named(found, "part") == part).collect();
            let names = once(here.iter().map(|(found, _)| named(found, "row")));
            let heads = once(here.iter().map(|(found, _)| named(found, "column")));
            let heads_of = |head: &String| shows.iter().map(|of| format!("{head}, {of}")).collect::<Vec<_>>();
            let mut table = Table::new(
                titled(title, &part),
                [String::new()].into_iter().chain(heads.iter().flat_map(heads_of)),
            );
            table.heads.extend((!published.is_empty()).then(|| "published".to_owned()));
            for name in names {
                let mut cells = vec![Cell::Text(name.clone())];
                for head in &heads {
                    let is_it = |found| named(found, "row") == name && named(found, "column") == *head;
                    let entry = here.iter().find(|(found, _)| is_it(found)).map(|(_, entry)| *entry);
                    cells.extend(shows.iter().map(|&column| Cell::of(entry, column)));
                }
                cells.push(Cell::Published(
                    published.iter().find(|(of, _)| *of == name).map_or("", |(_, said)| said),
                ));
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
                fact.map_or(Cell::Text(String::new()), |fact| Cell::Fact(fact))
            };
            table.row([Cell::Text(row.clone())].into_iter().chain(columns.iter().map(cell)));
        }
        table
    }

    /// A line of what users ask; none where it was not measured.
    pub(super) fn headline(self, row: &'static Headline) -> Option<Vec<Cell<'a>>> {
        let first = |pattern: &'static str| self.find(row.place, pattern).map(|(_, entry)| entry).next();
        let ours = match row.ours {
            "" => row.beside.iter().find_map(|pattern| first(pattern))?,
            ours => first(ours)?,
        };
        let limit = |pattern: &'static String| match &**pattern {
            "" => Cell::Text(String::new()),
            pattern => Cell::of(first(pattern), "limit"),
        };
        let [others @ .., machine] = row.beside.each_ref().map(limit);
        let answer = Cell::of(Some(ours), if row.is_ratio { "ratio" } else { "value" });
        let mut answers: Vec<Cell<'_>> = [answer].into_iter().chain(others).collect();
        let numbers: Vec<f64> = answers.iter().filter_map(Cell::number).collect();
        // A ratio is over something of each library's own.
        if !row.is_ratio && numbers.len() > 1 {
            let best = numbers.into_iter().fold(f64::INFINITY, f64::min);
            answers.iter_mut().for_each(|cell| cell.choose(best));
        }
        // The table that shows the measure behind it.
        let shows = |show: &Show| {
            let Show::Cases { place, form: form @ (Form::Lines(_) | Form::Grid(..)), .. } = show else {
                return false;
            };
            form.patterns()
                .iter()
                .any(|pattern| self.find(place, pattern).any(|(_, entry)| entry.id == ours.id))
        };
        let table = self.1.shows.iter().position(shows);
        let asked = table.map_or(Cell::Text(row.asked.into()), |at| Cell::Link(row.asked, self.id(at)));
        let unit = if row.is_ratio { "ratio" } else { &*ours.case.unit };
        let cells = [asked, Cell::Text(unit.into())].into_iter().chain(answers);
        Some(cells.chain([machine, Cell::Published(row.published)]).collect())
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
        let text = |text: String| Cell::Text(text);
        let mut cells = vec![
            text(format!("{} {} {place}", case.measure, case.case).trim_end().to_owned()),
            of("value"),
            of("limit"),
            text(case.unit.clone()),
            of("ratio"),
            of("ratio_p25"),
            of("ratio_p75"),
            of("n"),
            text(case.pes.to_string()),
            text(if case.shared_cores { "shared" } else { "one each" }.to_owned()),
            text(measure::goal(case).map_or_else(String::new, |goal| goal.to_string())),
        ];
        cells.extend(beside_puts.then(|| of("vs_a1")));
        cells.extend(is_published.then_some(Cell::Published(published)));
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
        let names = [best.section.clone(), measure, group.len().to_string()].map(Cell::Text);
        let met = if all == 0 { String::new() } else { format!("{met} of {all}") };
        let behind = [worst.case.case.clone(), met].map(Cell::Text);
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
        !cells.any(|cell| matches!(cell, Cell::Number { .. } | Cell::Missing | Cell::Published(_)))
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
                            tr title=[about] { @for cell in row { (cell.render(about, self.heads.len())) } }
                        }
                    }
                } }
            }
            @for text in &self.under { p.under { (text) } }
        }
    }
}

/// One cell of a table.
#[derive(Clone)]
pub(super) enum Cell<'a> {
    Text(String),
    Fact(&'a Fact),
    /// What the next lines are about, over all columns.
    Group(&'static str),
    /// What leads to a table of the page.
    Link(&'static str, String),
    /// From the literature, not measured here.
    Published(&'static str),
    Missing,
    /// In a column of a line of `cases.csv`; made to stand out, if so.
    Number {
        entry: &'a Entry,
        column: &'static str,
        number: f64,
        chosen: bool,
    },
}

impl<'a> Cell<'a> {
    /// A number of a line, or that there is none.
    fn of(entry: Option<&'a Entry>, column: &'static str) -> Self {
        let number = entry.and_then(|entry| Some((entry, entry.number(column)?)));
        number.map_or(Self::Missing, |(entry, number)| Self::Number { entry, column, number, chosen: false })
    }

    /// The number, if it is one.
    fn number(&self) -> Option<f64> {
        if let Self::Number { number, .. } = self { Some(*number) } else { None }
    }

    /// Makes it stand out if it is the best of a row.
    fn choose(&mut self, best: f64) {
        if let Self::Number { number, chosen, .. } = self {
            *chosen = *number == best;
        }
    }

    fn about(&self) -> Option<&'a str> {
        if let Self::Number { entry, .. } = self { Some(&entry.case.compared) } else { None }
    }

    /// In a row which says what was compared, and so need not be said again, of a table with so many columns.
    fn render(&self, said: Option<&str>, columns: usize) -> Markup {
        match self {
            Self::Text(text) => html! { td.text { (text) } },
            Self::Fact(fact) => html! { td.text data-fact=(fact.id) { (fact.found.value) } },
            Self::Group(text) => html! { th.group scope="rowgroup" colspan=(columns) { (text) } },
            Self::Link(text, to) => html! { td.text { a href={ "#" (to) } { (text) } } },
            Self::Published(text) => html! { td.published { (text) } },
            Self::Missing => html! { td.missing { "not measured" } },
            Self::Number { entry, column, number, chosen } => {
                // What is written as 1.00 is neither.
                let is_ratio = *column == "ratio" && !(0.995..1.005).contains(number);
                let colour = is_ratio.then_some(if *number >= 1.0 { "worse" } else { "better" });
                let class: Vec<_> = colour.into_iter().chain(chosen.then_some("chosen")).collect();
                let written = if *column == "n" { format!("{number:.0}") } else { digits(*number) };
                let about = self.about().filter(|about| said != Some(about));
                html! {
                    td class=[(!class.is_empty()).then(|| class.join(" "))] data-id=(entry.id) data-field=(column)
                        title=[about] { (written) }
                }
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
            match self {
                Self::Text(text) => text.clone(),
                Self::Fact(fact) => fact.found.value.clone(),
                Self::Group(text) => format!("**{text}**"),
                Self::Link(text, _) | Self::Published(text) => (*text).to_owned(),
                Self::Missing => String::new(),
                Self::Number { number, chosen: true, .. } => format!("**{}**", digits(*number)),
                Self::Number { number, .. } => digits(*number),
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
        let all = (0..section.shows.len()).flat_map(|at| View(evidence, section).tables(at));
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
