//! What users ask, each answered by a number of this library, beside those of other libraries.

use super::block::{Cell, Table};

/// The other libraries, as columns are headed.
const OTHERS: [&str; 3] = ["OpenSHMEM", "MPI", "Lamellar"];

/// A question, and its answers.
pub(crate) struct Headline {
    asked: String,
    /// The table of the page that shows the measure behind it.
    table: String,
    published: &'static str,
    unit: &'static str,
    ours: Cell,
    others: [Cell; OTHERS.len()],
    limit: Cell,
}

/// The unit of speeds: of them the largest is the best, of all else the smallest.
pub(crate) const SPEED: &str = "MB/s";

/// The unit of what several PEs gain: likewise.
pub(crate) const GAIN: &str = "times as fast";

/// The unit of a time over another one.
pub(crate) const RATIO: &str = "ratio";

impl Headline {
    /// A question, the table with the measure behind it, the unit, and the answer of this library.
    pub(crate) fn new(
        asked: impl Into<String>,
        table: impl Into<String>,
        unit: &'static str,
        ours: Cell,
    ) -> Self {
        let nothing = || Cell::text("");
        let (asked, table) = (asked.into(), table.into());
        let others = [(); OTHERS.len()].map(|()| nothing());
        Self { asked, table, published: "", unit, ours, others, limit: nothing() }
    }

    /// What the publication says.
    pub(crate) fn published(self, published: &'static str) -> Self {
        Self { published, ..self }
    }

    /// The answers of OpenSHMEM, MPI and Lamellar.
    pub(crate) fn others(self, others: [Cell; OTHERS.len()]) -> Self {
        Self { others, ..self }
    }

    /// What the machine allows.
    pub(crate) fn limit(self, limit: Cell) -> Self {
        Self { limit, ..self }
    }

    /// The table of all of them that this library answers, each group below its name.
    pub(super) fn table<'a>(groups: impl IntoIterator<Item = (&'a str, Vec<Self>)>) -> Table {
        let heads =
            ["asked", "unit", "this library"].into_iter().chain(OTHERS).chain(["the limit", "published"]);
        let mut table = Table::new("What users ask", heads).under(
            "Each question leads to its measure, with more sizes, the quarters and what exactly is compared. A ratio is a time over \
             another one. OpenSHMEM and MPI are those of Open MPI. The limit is the machine's: the same by a few lines of C over \
             shared memory, between hosts by a bare program on libfabric; of applications, what processes gain that wait for nobody. \
             The best library of a line is marked, but no ratio, which is over something of each library's own. An empty field: there is no such thing, or nothing was published.",
        );
        for (name, mut headlines) in groups {
            headlines.retain(|headline| !headline.ours.is_missing());
            if !headlines.is_empty() {
                table.group(name);
            }
            headlines.into_iter().for_each(|headline| table.row(headline.row()));
        }
        table
    }

    fn row(self) -> impl Iterator<Item = Cell> {
        let best = self.best();
        let Self { asked, table, published, unit, ours, others, limit } = self;
        let marked = move |cell: Cell| {
            let is_best = best.is_some() && cell.shown() == best;
            cell.chosen(is_best)
        };
        let answers = [ours].into_iter().chain(others).map(marked);
        let first = [Cell::link(asked, table), Cell::text(unit)].into_iter();
        first.chain(answers).chain([limit, Cell::published(published)])
    }

    /// The best number, where there are several of one kind: a ratio is over something of each library's own.
    fn best(&self) -> Option<f64> {
        let more_is_better = self.unit == SPEED || self.unit == GAIN;
        let others: Vec<f64> = self.others.iter().filter_map(Cell::shown).collect();
        let better = if more_is_better { f64::max } else { f64::min };
        let ours = self.ours.shown().filter(|_| !others.is_empty() && self.unit != RATIO)?;
        Some(others.into_iter().fold(ours, better))
    }
}

#[cfg(test)]
mod tests {
    use maud::Render as _;

    use super::*;
    use crate::measure::put;
    use crate::report::evidence::Entry;
    use crate::report::page::block::{Block, Column};
    use crate::report::section::Topic;
    use crate::{Record, Samples, Site};

    fn entry(id: usize, cost: f64) -> Entry {
        let mut samples = Samples::new();
        samples.push(cost, 1.0);
        let site = Site { pes: 2, transport: "shm".into(), shared_cores: false };
        Entry::new(id, Topic::Micro, "", Record::new(&site, &put::Name::Put(8), "ns", "", samples))
    }

    fn html(headline: Headline) -> String {
        Block::from(Headline::table([("a group", vec![headline])])).render().into_string()
    }

    fn of(cost: f64) -> Cell {
        Cell::of(Some(&entry(3, cost)), Column::Value)
    }

    /// The text of the marked cell.
    fn marked(html: &str) -> Vec<&str> {
        let cells = html.split("chosen\"").skip(1);
        cells.map(|rest| rest.split(['>', '<']).nth(1).unwrap_or_default()).collect()
    }

    #[test]
    fn a_question_leads_to_its_measure() {
        let html = html(Headline::new("how long?", "micro-put", "ns", of(7.0)).published("9"));
        assert!(html.contains(r##"<a href="#micro-put">how long?</a>"##), "{html}");
        assert!(html.contains(r#"data-id="3" data-field="value">7.00<"#) && html.contains(">9<"), "{html}");
        assert!(marked(&html).is_empty(), "nobody is beside it: {html}");
        assert!(html.contains(r#"colspan="8">a group<"#), "{html}");
    }

    #[test]
    fn the_best_is_marked_the_least_time_and_the_largest_speed() {
        for (unit, best) in [("ns", "2.00"), (SPEED, "7.00"), (GAIN, "7.00")] {
            let others = [of(7.0), Cell::of(None, Column::Value), of(2.0)];
            let html = html(Headline::new("", "", unit, of(4.0)).others(others).limit(of(1.0)));
            assert_eq!(marked(&html), [best], "{html}");
        }
        let others = [of(1.0), of(1.0), of(1.0)];
        let html = html(Headline::new("", "", RATIO, of(4.0)).others(others));
        assert!(marked(&html).is_empty(), "ratios are over different things: {html}");
    }

    #[test]
    fn what_was_not_measured_is_not_asked() {
        let html = html(Headline::new("how long?", "micro-put", "ns", Cell::of(None, Column::Value)));
        assert!(!html.contains("how long?") && !html.contains("a group"), "{html}");
    }
}
