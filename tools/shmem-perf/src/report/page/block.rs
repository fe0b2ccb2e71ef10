//! What a section shows: texts, tables and figures.

use maud::{Markup, Render, html};

use super::plot::Figure;
use crate::report::evidence::{Entry, Fact};
use crate::table::digits;

/// A part of a section.
pub(crate) enum Block {
    Heading(String),
    Text(String),
    Table(Table),
    Figure(Figure),
}

impl Block {
    pub(crate) fn heading(text: impl Into<String>) -> Self {
        Self::Heading(text.into())
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

impl Render for Block {
    fn render(&self) -> Markup {
        match self {
            Self::Heading(text) => html! { h3 { (text) } },
            Self::Text(text) => html! { p { (text) } },
            Self::Table(table) => table.render(),
            Self::Figure(figure) => figure.render(),
        }
    }
}

/// A table. Its first column says what the row is.
pub(crate) struct Table {
    title: String,
    /// What links lead to.
    name: Option<String>,
    under: String,
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new<H: Into<String>>(title: impl Into<String>, heads: impl IntoIterator<Item = H>) -> Self {
        let heads = heads.into_iter().map(Into::into).collect();
        Self { title: title.into(), name: None, under: String::new(), heads, rows: Vec::new() }
    }

    /// With a name that links lead to.
    pub(crate) fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// With a remark below.
    pub(crate) fn under(self, text: impl Into<String>) -> Self {
        Self { under: text.into(), ..self }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a line that says what the next ones are about.
    pub(super) fn group(&mut self, text: impl Into<String>) {
        self.rows.push(vec![Content::Group(text.into()).into()]);
    }

    /// The usual table of cases: what each cost, its limit, and the ratio.
    pub(crate) fn cases<'a>(title: impl Into<String>, entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let heads = ["case", "cost", "limit", "unit", "ratio", "quarters", "", "pairs", "PEs", "cores"];
        let mut table = Self::new(title, heads);
        for entry in entries {
            let of = |column| Cell::of(Some(entry), column);
            let case = &entry.case;
            table.row([
                Cell::text(&case.case),
                of(Column::Value),
                of(Column::Limit),
                Cell::text(&case.unit),
                of(Column::Ratio),
                of(Column::RatioP25),
                of(Column::RatioP75),
                of(Column::Pairs),
                Cell::text(case.pes.to_string()),
                Cell::text(if case.shared_cores { "shared" } else { "one each" }),
            ]);
        }
        table
    }

    /// Whether a column has words in it, and no numbers.
    fn is_text(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| &cell.content);
        let is_number = |content: &Content| {
            matches!(content, Content::Number { .. } | Content::Missing | Content::Published(_))
        };
        !cells.any(is_number)
    }

    fn render(&self) -> Markup {
        let all = most(self.rows.iter().flatten().filter_map(Cell::about));
        html! {
            h3 id=[self.name.as_deref()] { (self.title) }
            @if self.rows.is_empty() {
                p.under { "Nothing was measured." }
            } @else {
                div.scroll { table title=[all] {
                    thead { tr {
                        @for (head, at) in self.heads.iter().zip(0..) {
                            th scope="col" class=[self.is_text(at).then_some("text")] { (head) }
                        }
                    } }
                    tbody {
                        @for row in &self.rows {
                            @let about = most(row.iter().filter_map(Cell::about));
                            tr title=[about.filter(|about| Some(*about) != all)] {
                                @for cell in row { (cell.under(about, self.heads.len())) }
                            }
                        }
                    }
                } }
            }
            @if !self.under.is_empty() { p.under { (self.under) } }
        }
    }
}

/// What most of some cells say: it is written once, at what is around them.
fn most<'a>(all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut times: Vec<(&str, usize)> = Vec::new();
    for about in all {
        match times.iter_mut().find(|(known, _)| *known == about) {
            Some((_, times)) => *times += 1,
            None => times.push((about, 1)),
        }
    }
    // The first of several.
    times.into_iter().rev().max_by_key(|(_, times)| *times).map(|(about, _)| about)
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
    const fn name(self) -> &'static str {
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
    pub(crate) fn read(self, entry: &Entry) -> Option<f64> {
        let case = &entry.case;
        Some(match self {
            Self::Value => case.value,
            Self::Limit => case.limit,
            Self::Ratio => case.ratio,
            Self::RatioP25 => entry.ratio.p25,
            Self::RatioP75 => entry.ratio.p75,
            Self::VsA1 => case.vs_a1?,
            Self::P95 => case.p95?,
            Self::Pairs => case.n as f64,
        })
    }
}

/// How a number is shown that is not shown as it stands in its line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    None,
    Times(f64),
    Over(f64),
}

impl Change {
    fn of(self, number: f64) -> f64 {
        match self {
            Self::None => number,
            Self::Times(factor) => number * factor,
            Self::Over(dividend) => dividend / number,
        }
    }
}

/// One cell of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    content: Content,
    chosen: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Text(String),
    /// What the next lines are about, over all columns.
    Group(String),
    /// What leads to a table of the page.
    Link {
        text: String,
        to: String,
    },
    /// From the literature, not measured here.
    Published(String),
    Missing,
    Number {
        id: usize,
        column: Column,
        number: f64,
        change: Change,
        about: String,
    },
    Fact {
        id: usize,
        value: String,
    },
}

impl From<Content> for Cell {
    fn from(content: Content) -> Self {
        Self { content, chosen: false }
    }
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into()).into()
    }

    /// What leads to a table of the page, by its name.
    pub(super) fn link(text: impl Into<String>, to: impl Into<String>) -> Self {
        Content::Link { text: text.into(), to: to.into() }.into()
    }

    /// What a publication says.
    pub(crate) fn published(text: impl Into<String>) -> Self {
        Content::Published(text.into()).into()
    }

    /// A number of a line, or that there is none.
    pub(crate) fn of(entry: Option<&Entry>, column: Column) -> Self {
        let number = entry.and_then(|entry| Some((entry, column.read(entry)?)));
        let content = number.map_or(Content::Missing, |(entry, number)| {
            let about = entry.case.compared.clone();
            Content::Number { id: entry.id, column, number, change: Change::None, about }
        });
        content.into()
    }

    /// The number times so much: for another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        self.changed(Change::Times(factor))
    }

    /// So much over the number: a speed for a time.
    pub(crate) fn over(self, dividend: f64) -> Self {
        self.changed(Change::Over(dividend))
    }

    fn changed(mut self, to: Change) -> Self {
        if let Content::Number { change, .. } = &mut self.content {
            *change = to;
        }
        self
    }

    pub(crate) fn fact(fact: Option<&Fact>) -> Self {
        let of = |fact: &Fact| Content::Fact { id: fact.id, value: fact.value.clone() };
        fact.map_or(Content::Missing, of).into()
    }

    /// Whether there is nothing to show.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self.content, Content::Missing)
    }

    /// The number that is shown, if it is one.
    pub(super) fn shown(&self) -> Option<f64> {
        match &self.content {
            Content::Number { number, change, .. } => Some(change.of(*number)),
            _ => None,
        }
    }

    /// What was compared with what, where it is a number.
    fn about(&self) -> Option<&str> {
        match &self.content {
            Content::Number { about, .. } => Some(about),
            _ => None,
        }
    }

    fn class(&self, content: &str) -> String {
        if self.chosen { format!("{content} chosen") } else { content.to_owned() }
    }

    /// Made to stand out, if so: the best of a row.
    pub(crate) fn chosen(self, chosen: bool) -> Self {
        Self { chosen, ..self }
    }
}

impl Cell {
    /// In a row which says what was compared, and so need not be said again, of a table with so many columns.
    fn under(&self, said: Option<&str>, columns: usize) -> Markup {
        match &self.content {
            Content::Text(text) => html! { td class=(self.class("text")) { (text) } },
            Content::Group(text) => html! { th.group scope="rowgroup" colspan=(columns) { (text) } },
            Content::Link { text, to } => {
                html! { td class=(self.class("text")) { a href={ "#" (to) } { (text) } } }
            }
            Content::Published(text) => html! { td class=(self.class("published")) { (text) } },
            Content::Missing => html! { td class="missing" { "not measured" } },
            Content::Fact { id, value } => html! { td class=(self.class("text")) data-fact=(id) { (value) } },
            Content::Number { id, column, number, change, about } => {
                let shown = change.of(*number);
                let (times, over) = match *change {
                    Change::None => (None, None),
                    Change::Times(factor) => (Some(factor), None),
                    Change::Over(dividend) => (None, Some(dividend)),
                };
                let class = match (column, change) {
                    // What is written as 1.00 is neither.
                    (Column::Ratio, Change::None) if shown >= 1.005 => "worse",
                    (Column::Ratio, Change::None) if shown < 0.995 => "better",
                    _ => "",
                };
                let class = self.class(class);
                let class = Some(class.trim()).filter(|class| !class.is_empty());
                let about = Some(about.as_str()).filter(|about| said != Some(*about));
                html! {
                    td class=[class] data-id=(id) data-field=(column.name()) data-times=[times]
                        data-over=[over] title=[about] { (written(*column, shown)) }
                }
            }
        }
    }
}

fn written(column: Column, number: f64) -> String {
    if column == Column::Pairs { format!("{number:.0}") } else { digits(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::put;
    use crate::report::section::Topic;
    use crate::{Record, Samples, Site};

    fn entry(cost: f64, limit: f64) -> Entry {
        let mut samples = Samples::new();
        samples.push(cost, limit);
        let site = Site { pes: 2, transport: "shm".into(), shared_cores: false };
        let record = Record::new(&site, &put::Name::Put(8), "ns", "a put <against> a store", samples);
        Entry::new(7, Topic::Micro, "", record)
    }

    #[test]
    fn a_number_carries_its_line_and_how_it_was_changed() {
        let shown = |cell: Cell| cell.under(None, 1).into_string();
        let of = |column| Cell::of(Some(&entry(3.0, 2.0)), column);
        let plain = shown(of(Column::Value));
        assert!(plain.contains(r#"data-id="7" data-field="value""#) && plain.contains(">3.00<"), "{plain}");
        assert!(plain.contains("a put &lt;against&gt; a store") && !plain.contains("data-times"), "{plain}");
        let speed = shown(of(Column::Value).over(1000.0));
        assert!(speed.contains(r#"data-over="1000""#) && speed.contains(">333<"), "{speed}");
        let unit = shown(of(Column::Limit).times(0.5));
        assert!(unit.contains(r#"data-field="limit" data-times="0.5""#) && unit.contains(">1.00<"), "{unit}");
    }

    #[test]
    fn what_is_worse_is_marked_as_what_is_better() {
        let class = |cost| Cell::of(Some(&entry(cost, 2.0)), Column::Ratio).under(None, 1).into_string();
        assert!(class(3.0).contains(r#"class="worse""#) && class(1.0).contains(r#"class="better""#));
        let even = class(2.0);
        assert!(!even.contains("worse") && !even.contains("better"), "{even}");
    }

    /// A tooltip is that of the nearest element that has one.
    #[test]
    fn what_was_compared_is_said_once_where_cells_agree() {
        let of = |compared: &str| {
            let entry = entry(3.0, 2.0);
            Entry { case: crate::Case { compared: compared.to_owned(), ..entry.case.clone() }, ..entry }
        };
        let mut table = Table::new("a table", ["", "a", "b"]);
        for (first, second) in [("puts", "puts"), ("puts", "gets"), ("gets", "gets")] {
            let cells = [first, second].map(|compared| Cell::of(Some(&of(compared)), Column::Value));
            table.row([Cell::text("row")].into_iter().chain(cells));
        }
        let html = table.render().into_string();
        assert!(html.contains(r#"<table title="puts">"#), "{html}");
        let rows: Vec<_> = html.split("<tr").skip(2).collect();
        assert_eq!(rows[0].matches("title").count(), 0, "{html}");
        assert_eq!(rows[1].matches(r#"title="gets""#).count(), 1, "{html}");
        assert!(rows[2].starts_with(r#" title="gets">"#) && rows[2].matches("title").count() == 1, "{html}");
    }

    #[test]
    fn a_column_with_numbers_is_none_of_words_whatever_it_begins_with() {
        let mut table = Table::new("a table", ["", "a", "b"]);
        table.row([Cell::text("row"), Cell::text(""), Cell::text("")]);
        table.row([Cell::text("row"), Cell::of(Some(&entry(3.0, 2.0)), Column::Value), Cell::text("word")]);
        let html = table.render().into_string();
        assert!(
            html.contains(r#"<th scope="col">a<"#) && html.contains(r#"<th scope="col" class="text">b<"#),
            "{html}"
        );
    }

    #[test]
    fn what_is_not_there_is_said() {
        assert!(Cell::of(None, Column::Value).under(None, 1).into_string().contains("not measured"));
        assert!(
            Cell::of(Some(&entry(1.0, 1.0)), Column::VsA1)
                .under(None, 1)
                .into_string()
                .contains("not measured")
        );
        assert!(Table::cases("puts", []).render().into_string().contains("Nothing was measured."));
    }
}
