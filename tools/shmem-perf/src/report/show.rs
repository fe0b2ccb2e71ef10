//! What sections show: rows of data, of which one function for each kind makes a table, a figure or a line of what users ask.

use super::evidence::{Entry, Evidence, Fact};
use super::page::{Cell, Column, Table};
use super::plot::{Figure, Series};
use crate::measure;
use crate::pattern::named;

/// A part of a section.
pub(crate) enum Show {
    Heading(&'static str),
    Text(&'static str),
    Cases(Cases),
    Grid(Grid),
    Plot(Plot),
    Facts(Facts),
}

/// A table with a line for each case.
pub(crate) struct Cases {
    /// What links lead to; none: nothing.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// In which of several places; none: in all.
    pub(crate) variant: &'static str,
    /// Patterns of cases, in the order in which they are shown, with what is published of them.
    pub(crate) cases: &'static [(&'static str, &'static str)],
    pub(crate) under: &'static str,
}

/// A table by what the pattern calls `{row}` and `{column}`.
pub(crate) struct Grid {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) variant: &'static str,
    pub(crate) cases: &'static str,
    pub(crate) shows: &'static [Column],
    /// What is published of a row.
    pub(crate) published: &'static [(&'static str, &'static str)],
    pub(crate) under: &'static str,
}

/// A figure.
pub(crate) struct Plot {
    pub(crate) title: &'static str,
    pub(crate) variant: &'static str,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: &'static [Line],
}

/// Lines of a figure: a point at each `{x}` of the pattern, a line for each `{line}`; of one line, with a name.
pub(crate) struct Line(pub(crate) &'static str, pub(crate) Of, pub(crate) &'static str);

/// What is shown of a case.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    Cost,
    /// What another library costs.
    Theirs,
    /// The limit, which is dashed.
    Limit,
    Ratio,
}

/// A table of what was found and is no number.
pub(crate) struct Facts {
    pub(crate) title: &'static str,
    pub(crate) table: &'static str,
    pub(crate) under: &'static str,
}

/// What users ask, answered by a number of this library, beside those of other libraries.
pub(crate) struct Headline {
    pub(crate) asked: &'static str,
    /// The table of the page that shows the measure behind it.
    pub(crate) table: &'static str,
    pub(crate) variant: &'static str,
    /// The case, and what of it.
    pub(crate) ours: &'static str,
    pub(crate) shows: Column,
    /// Those whose limits are what OpenSHMEM, MPI, lamellar and the machine take.
    pub(crate) beside: [&'static str; 4],
    pub(crate) published: &'static str,
}

impl Headline {
    /// A ratio, and what is published of it.
    pub(crate) const fn ratio(
        asked: &'static str,
        table: &'static str,
        ours: &'static str,
        published: &'static str,
    ) -> Self {
        Self { asked, table, variant: "", ours, shows: Column::Ratio, beside: [""; 4], published }
    }

    /// A time, beside those of OpenSHMEM, MPI, lamellar and the machine.
    pub(crate) const fn time(
        asked: &'static str,
        table: &'static str,
        ours: &'static str,
        beside: [&'static str; 4],
    ) -> Self {
        Self { asked, table, variant: "", ours, shows: Column::Value, beside, published: "" }
    }
}

/// Patterns and entries of one section.
#[derive(Clone, Copy)]
pub(super) struct View<'a>(pub(super) &'a Evidence, pub(super) &'static str);

impl<'a> View<'a> {
    fn first(self, variant: &'static str, pattern: &'static str) -> Option<&'a Entry> {
        self.0.find((self.1, variant), pattern).map(|(_, entry)| entry).next()
    }

    /// A line for each case.
    pub(super) fn cases(self, row: &Cases) -> Table {
        let heads =
            ["case", "cost", "limit", "unit", "ratio", "quarters", "", "pairs", "PEs", "cores", "goal"];
        let is_published = row.cases.iter().any(|(_, published)| !published.is_empty());
        let of = |&(pattern, published): &(&'static str, &'static str)| {
            self.0.find((self.1, row.variant), pattern).map(move |(_, entry)| (entry, published))
        };
        let found: Vec<_> = row.cases.iter().flat_map(of).collect();
        let beside_puts = found.iter().any(|(entry, _)| entry.case.vs_a1.is_some());
        let more = [beside_puts.then_some("A1"), is_published.then_some("published")];
        let heads = heads.into_iter().chain(more.into_iter().flatten());
        let mut table = Table::new(row.name, row.title, row.under, heads);
        for (entry, published) in found {
            let (of, case) = (|column| Cell::of(Some(entry), column), &entry.case);
            let place = if row.variant.is_empty() { &*entry.variant } else { "" };
            let mut cells = vec![
                Cell::text(format!("{} {} {place}", case.measure, case.case).trim_end()),
                of(Column::Value),
                of(Column::Limit),
                Cell::text(&*case.unit),
                of(Column::Ratio),
                of(Column::RatioP25),
                of(Column::RatioP75),
                of(Column::Pairs),
                Cell::text(case.pes.to_string()),
                Cell::text(if case.shared_cores { "shared" } else { "one each" }),
                Cell::text(measure::goal(case).map_or_else(String::new, |goal| goal.to_string())),
            ];
            let times = || case.vs_a1.map_or_else(|| Cell::text(""), |_| of(Column::VsA1));
            cells.extend(beside_puts.then(times));
            cells.push(Cell::published(published));
            table.row(cells);
        }
        table
    }

    /// By rows and columns, each in the order in which it comes first.
    pub(super) fn grid(self, row: &Grid) -> Table {
        let found: Vec<_> = self.0.find((self.1, row.variant), row.cases).collect();
        let at = |name| found.iter().map(|(found, entry)| (named(found, name), *entry)).collect::<Vec<_>>();
        let (rows, columns) = (at("row"), at("column"));
        let (names, heads) = (once(&rows), once(&columns));
        let shown = row.shows.iter().map(|column| column.name());
        let head = |head: &String| shown.clone().map(|of| format!("{head}, {of}")).collect::<Vec<_>>();
        let heads_shown = [String::new()].into_iter().chain(heads.iter().flat_map(head));
        let published = (!row.published.is_empty()).then(|| "published".to_owned());
        let mut table = Table::new(row.name, row.title, row.under, heads_shown.chain(published));
        for name in names {
            let mut cells = vec![Cell::text(name.clone())];
            for head in &heads {
                let here = rows.iter().zip(&columns).find(|(row, column)| row.0 == name && column.0 == *head);
                cells.extend(row.shows.iter().map(|column| Cell::of(here.map(|(row, _)| row.1), *column)));
            }
            let published = row.published.iter().find(|(of, _)| *of == name);
            cells.push(Cell::published(published.map_or("", |(_, said)| said)));
            table.row(cells);
        }
        table
    }

    /// A figure.
    pub(super) fn plot(self, row: &Plot) -> Figure {
        let mut figure = Figure::new(row.title, row.x, row.y);
        for Line(pattern, of, label) in row.lines {
            for (found, entry) in self.0.find((self.1, row.variant), pattern) {
                let Ok(x) = named(&found, "x").parse::<f64>() else { continue };
                let line = named(&found, "line");
                let label = [*label, &*line].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
                let case = &entry.case;
                let point = match of {
                    Of::Cost => (case.value, case.p25, case.p75),
                    Of::Theirs | Of::Limit => (case.limit, entry.limit_p25, entry.limit_p75),
                    Of::Ratio => (case.ratio, entry.ratio_p25, entry.ratio_p75),
                };
                figure.push(Series { label: label.join(" "), is_beside: matches!(of, Of::Limit) }, x, point);
            }
        }
        figure
    }

    /// By the rows and columns of facts.
    pub(super) fn facts(self, row: &Facts) -> Table {
        let of = |fact: &&Fact| fact.section == self.1 && fact.table == row.table;
        let facts: Vec<&Fact> = self.0.facts.iter().filter(of).collect();
        let columns = once(&facts.iter().map(|fact| (fact.column.clone(), ())).collect::<Vec<_>>());
        let rows = once(&facts.iter().map(|fact| (fact.row.clone(), ())).collect::<Vec<_>>());
        let heads = [String::new()].into_iter().chain(columns.iter().cloned());
        let mut table = Table::new("", row.title, row.under, heads);
        for row in rows {
            let cell = |column: &String| {
                let fact = facts.iter().find(|fact| fact.row == row && fact.column == *column);
                fact.map_or_else(|| Cell::text(""), |fact| Cell::fact(fact.id, &fact.value))
            };
            table.row(
                [Cell::text(row.clone())].into_iter().chain(columns.iter().map(cell)).collect::<Vec<_>>(),
            );
        }
        table
    }

    /// A line of what users ask; none where it was not measured.
    pub(super) fn headline(self, row: &Headline) -> Option<Vec<Cell>> {
        let ours = self.first(row.variant, row.ours)?;
        let limit = |pattern: &&'static str| match *pattern {
            "" => Cell::text(""),
            pattern => Cell::of(self.first(row.variant, pattern), Column::Limit),
        };
        let [others @ .., machine] = row.beside.each_ref().map(limit);
        let mut answers: Vec<Cell> = [Cell::of(Some(ours), row.shows)].into_iter().chain(others).collect();
        let best = answers.iter().filter_map(Cell::number).fold(f64::INFINITY, f64::min);
        // A ratio is over something of each library's own.
        let is_marked =
            matches!(row.shows, Column::Value) && answers.iter().filter_map(Cell::number).count() > 1;
        answers.iter_mut().filter(|cell| is_marked && cell.number() == Some(best)).for_each(Cell::choose);
        let unit = if matches!(row.shows, Column::Ratio) { "ratio" } else { &*ours.case.unit };
        let mut cells = vec![Cell::Link { text: row.asked, to: row.table }, Cell::text(unit)];
        cells.extend(answers);
        cells.extend([machine, Cell::published(row.published)]);
        Some(cells)
    }
}

/// Names, each where it comes first.
fn once<T>(all: &[(String, T)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in all {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// A line for each measure: its best, its middle and its worst case.
pub(super) fn measures(evidence: &Evidence) -> Table {
    let heads =
        ["section", "measure", "cases", "best ratio", "middle", "worst", "the worst case", "goals met"];
    let under = "Ratios are costs over the limit's cost. What the limit is, and which cases have a goal, the sections say.";
    let mut table = Table::new("", "Each measure, from its best case to its worst", under, heads);
    let key = |entry: &Entry| format!("{} {} {}", entry.section, entry.case.measure, entry.variant);
    for name in once(&evidence.cases.iter().map(|entry| (key(entry), ())).collect::<Vec<_>>()) {
        let mut group: Vec<&Entry> = evidence.cases.iter().filter(|entry| key(entry) == name).collect();
        group.sort_by(|a, b| a.case.ratio.total_cmp(&b.case.ratio));
        let (best, middle, worst) = (group[0], group[group.len() / 2], group[group.len() - 1]);
        let ratio = |entry: &Entry| Cell::of(Some(entry), Column::Ratio);
        let met = |entry: &&Entry| Some(measure::goal(&entry.case)?.is_met(&entry.case));
        let goals: Vec<bool> = group.iter().filter_map(met).collect();
        let (met, all) = (goals.iter().filter(|met| **met).count(), goals.len());
        table.row([
            Cell::text(&*best.section),
            Cell::text(format!("{} {}", best.case.measure, best.variant)),
            Cell::text(group.len().to_string()),
            ratio(best),
            ratio(middle),
            ratio(worst),
            Cell::text(&*worst.case.case),
            Cell::text(if all == 0 { String::new() } else { format!("{met} of {all}") }),
        ]);
    }
    table
}

/// The cases that have a goal and do not reach it.
pub(super) fn missed(evidence: &Evidence) -> Table {
    let heads = ["measure", "case", "cost", "limit", "unit", "ratio", "quarters", "", "goal"];
    let mut table = Table::new("", "What does not reach its goal", "", heads);
    for entry in &evidence.cases {
        let (of, case) = (|column| Cell::of(Some(entry), column), &entry.case);
        let Some(goal) = measure::goal(case).filter(|goal| !goal.is_met(case)) else { continue };
        table.row([
            Cell::text(format!("{} {}", case.measure, entry.variant)),
            Cell::text(&*case.case),
            of(Column::Value),
            of(Column::Limit),
            Cell::text(&*case.unit),
            of(Column::Ratio),
            of(Column::RatioP25),
            of(Column::RatioP75),
            Cell::text(goal.to_string()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use maud::Render as _;

    use super::*;
    use crate::runner::Kept;
    use crate::table::tests::record;

    fn evidence() -> Evidence {
        let one = |measure, case, cost| record(measure, case, &[(cost, 1.0)]);
        let mut evidence = Evidence::default();
        let records = vec![
            one("get", "4096", 1.3),
            one("get", "8192", 0.9),
            one("get", "8", 9.0),
            one("a", "x/8/p", 2.0),
            one("a", "x/16/q", 3.0),
        ];
        evidence.add("s", "", "", Kept { records, ..Kept::default() }, None);
        evidence
    }

    #[test]
    fn a_grid_has_a_row_and_a_column_for_each_name() {
        let evidence = evidence();
        let grid = Grid {
            name: "n",
            title: "t",
            variant: "",
            cases: "a x/{row}/{column}",
            shows: &[Column::Ratio],
            published: &[("8", "said")],
            under: "",
        };
        let html = View(&evidence, "s").grid(&grid).render().into_string();
        assert!(html.contains("p, ratio") && html.contains("q, ratio") && html.contains(">said<"), "{html}");
        assert_eq!((html.matches("data-id").count(), html.matches("not measured").count()), (2, 2), "{html}");
    }

    #[test]
    fn a_question_leads_to_its_measure_and_the_least_time_is_marked() {
        let evidence = evidence();
        let ask = |headline: &Headline| View(&evidence, "s").headline(headline);
        let mut table = Table::new("", "", "", ["", "a", "b", "c", "d", "e", "f", "g"]);
        table.row(ask(&Headline::time("how long?", "there", "a x/8/*", ["a x/16/q", "", "", ""])).unwrap());
        let html = table.render().into_string();
        assert!(html.contains(r##"<a href="#there">how long?</a>"##), "{html}");
        let marked: Vec<_> =
            html.split("chosen\"").skip(1).map(|rest| rest.split(['>', '<']).nth(1).unwrap()).collect();
        assert_eq!(marked, ["1.00"], "{html}");
        assert!(ask(&Headline::ratio("", "", "a x/9/*", "")).is_none(), "what was not measured is not asked");
    }

    #[test]
    fn measures_go_from_best_to_worst_and_what_is_missed_is_listed() {
        let html = measures(&evidence()).render().into_string();
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} is not in {html}"));
        assert!(
            at(">0.900<") < at(">1.30<") && at(">1.30<") < at(">9.00<") && at(">8<") < at("1 of 2"),
            "{html}"
        );
        let html = missed(&evidence()).render().into_string();
        assert!(html.contains(">4096<") && !html.contains(">8192<") && !html.contains(">8<"), "{html}");
    }
}
