//! Figures, drawn as SVG.

use maud::{Markup, html};

use super::axis::{Axis, Scale};
use crate::report::evidence::Entry;

/// Pixels of a figure.
const SIZE: (i32, i32) = (820, 400);

/// The pixels between which numbers lie: from left to right, and from the bottom to the top.
const ACROSS: (i32, i32) = (76, 808);
const UP: (i32, i32) = (344, 12);

/// Colours of lines, which `style.css` has: told apart by people who see fewer of them. Those behind the last one begin anew
/// with dashes.
const COLOURS: usize = 7;

/// Patterns of dashes for what stands beside lines, which `style.css` has, too.
const PATTERNS: usize = 6;

/// A figure with lines, or with points only.
pub(crate) struct Figure {
    title: String,
    under: String,
    x: (String, Scale),
    y: (String, Scale),
    series: Vec<Series>,
}

/// One line of a figure.
pub(crate) struct Series {
    label: String,
    points: Vec<Point>,
    /// A limit, or what was published: dashed.
    beside: bool,
    /// The line that it stands beside, by its label, whose colour it has. None: it is grey.
    of: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    at: f64,
    value: f64,
    /// Quarters.
    spread: Option<(f64, f64)>,
}

impl Series {
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), points: Vec::new(), beside: false, of: None }
    }

    /// A limit, or what was published.
    pub(crate) fn beside(label: impl Into<String>) -> Self {
        Self { beside: true, ..Self::new(label) }
    }

    /// Beside the line with this label, if there is one.
    pub(crate) fn of(self, label: impl Into<String>) -> Self {
        Self { of: Some(label.into()), ..self }
    }

    /// What cases cost, with their quarters, at a place that is found by the case.
    pub(crate) fn costs<'a>(
        label: impl Into<String>,
        entries: impl IntoIterator<Item = &'a Entry>,
        at: impl Fn(&Entry) -> Option<f64>,
    ) -> Self {
        let cost = |entry: &Entry| (entry.case.value, entry.case.p25, entry.case.p75);
        Self::new(label).each(entries, at, cost)
    }

    /// What the limits of cases cost.
    pub(crate) fn limits<'a>(
        label: impl Into<String>,
        entries: impl IntoIterator<Item = &'a Entry>,
        at: impl Fn(&Entry) -> Option<f64>,
    ) -> Self {
        let limit = |entry: &Entry| (entry.case.limit, entry.limit.p25, entry.limit.p75);
        Self::beside(label).each(entries, at, limit)
    }

    /// The ratios of cases, with their quarters.
    pub(crate) fn ratios<'a>(
        label: impl Into<String>,
        entries: impl IntoIterator<Item = &'a Entry>,
        at: impl Fn(&Entry) -> Option<f64>,
    ) -> Self {
        let ratio = |entry: &Entry| (entry.case.ratio, entry.ratio.p25, entry.ratio.p75);
        Self::new(label).each(entries, at, ratio)
    }

    /// A point for each case that has a place: a number between its quarters.
    fn each<'a>(
        mut self,
        entries: impl IntoIterator<Item = &'a Entry>,
        at: impl Fn(&Entry) -> Option<f64>,
        read: impl Fn(&Entry) -> (f64, f64, f64),
    ) -> Self {
        for entry in entries {
            if let Some(at) = at(entry) {
                let (value, low, high) = read(entry);
                self.push(at, value, Some((low, high)));
            }
        }
        self
    }

    /// Adds a point, with its quarters if it has some.
    pub(crate) fn push(&mut self, at: f64, value: f64, spread: Option<(f64, f64)>) {
        self.points.push(Point { at, value, spread });
    }
}

impl Figure {
    pub(crate) fn new(
        title: impl Into<String>,
        (x, x_scale): (&str, Scale),
        (y, y_scale): (&str, Scale),
    ) -> Self {
        let (x, y) = ((x.to_owned(), x_scale), (y.to_owned(), y_scale));
        Self { title: title.into(), under: String::new(), x, y, series: Vec::new() }
    }

    /// With a remark below.
    pub(crate) fn under(self, text: impl Into<String>) -> Self {
        Self { under: text.into(), ..self }
    }

    /// Adds a line, if it has points.
    #[must_use]
    pub(crate) fn with(mut self, series: Series) -> Self {
        self.series.extend(Some(series).filter(|series| !series.points.is_empty()));
        self
    }

    /// The class of each line in `style.css`: its colour, and whether it is dashed.
    fn classes(&self) -> Vec<String> {
        let own: Vec<&str> =
            self.series.iter().filter(|series| !series.beside).map(|series| &*series.label).collect();
        let colour = |label: &str| own.iter().position(|own| *own == label);
        let mut beside = 0..;
        let class = |series: &Series| {
            if !series.beside {
                let number = colour(&series.label).unwrap_or_default();
                let dashed = if number < COLOURS { "" } else { " dashed" };
                return format!("c{}{dashed}", number % COLOURS);
            }
            let pattern = beside.next().unwrap_or(0) % PATTERNS;
            match series.of.as_deref().and_then(colour) {
                Some(number) => format!("c{} dashed d{pattern}", number % COLOURS),
                None => format!("beside dashed d{pattern}"),
            }
        };
        self.series.iter().map(class).collect()
    }

    pub(super) fn render(&self) -> Markup {
        let label = format!("{}: {} by {}", self.title, self.y.0, self.x.0);
        html! {
            @if !self.series.is_empty() {
                figure role="img" aria-label=(label) {
                    figcaption { (self.title) }
                    (self.svg())
                    ul.legend {
                        @for (series, class) in self.series.iter().zip(self.classes()) {
                            li {
                                svg width="44" height="10" aria-hidden="true" {
                                    path class={ "line " (class) } d="M0 5H44" {}
                                }
                                (series.label)
                            }
                        }
                    }
                    @if !self.under.is_empty() { p.under { (self.under) } }
                }
            }
        }
    }

    /// What looks alike is one path: all lines of the grid, all dots of a series.
    fn svg(&self) -> Markup {
        let ((x, x_scale), (y, y_scale)) = (&self.x, &self.y);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = Axis::around(x_scale, points().map(|point| point.at));
        let spreads = points().flat_map(|point| {
            let (low, high) = point.spread.unwrap_or((point.value, point.value));
            [low, point.value, high]
        });
        let along = Axis::around(y_scale, spreads);
        let columns: Vec<_> =
            across.ticks(12).into_iter().map(|place| (across.pixel(place, ACROSS), place)).collect();
        let rows: Vec<_> = along.ticks(8).into_iter().map(|place| (along.pixel(place, UP), place)).collect();
        let ((left, right), (bottom, top)) = (ACROSS, UP);
        let (mut grid, mut axes) = (String::new(), format!("M{left} {top}V{bottom}H{right}"));
        for (at, _) in &columns {
            grid += &format!("M{at} {top}V{bottom}");
            axes += &format!("M{at} {bottom}v5");
        }
        for (at, _) in &rows {
            grid += &format!("M{left} {at}H{right}");
            axes += &format!("M{left} {at}h-5");
        }
        let joined = !matches!(x_scale, Scale::Names(_));
        let pixel = |at: f64, value: f64| {
            (across.pixel(x_scale.place(at), ACROSS), along.pixel(y_scale.place(value), UP))
        };
        html! {
            svg width=(SIZE.0) height=(SIZE.1) viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } {
                path.grid d=(grid) {}
                path.axes d=(axes) {}
                g.across {
                    @for (at, place) in columns { text x=(at) y=(bottom + 18) { (x_scale.label(place)) } }
                    text.name x=((left + right) / 2) y=(SIZE.1 - 8) { (x) }
                }
                g.along { @for (at, place) in rows { text x=(left - 9) y=(at + 4) { (y_scale.label(place)) } } }
                text.name transform={ "translate(18 " ((top + bottom) / 2) ") rotate(-90)" } { (y) }
                @for (series, class) in self.series.iter().zip(self.classes()) {
                    (series.path(&class, joined, pixel))
                }
            }
        }
    }
}

impl Series {
    /// Its line, if points are joined, its quarters, and its dots.
    fn path(&self, class: &str, joined: bool, pixel: impl Fn(f64, f64) -> (i32, i32)) -> Markup {
        let (mut line, mut spreads, mut dots) = (String::new(), String::new(), String::new());
        for &Point { at, value, spread } in &self.points {
            let (x, y) = pixel(at, value);
            line += &format!("{}{x} {y}", if line.is_empty() { "M" } else { "L" });
            dots += &format!("M{x} {y}h0");
            if let Some((low, high)) = spread {
                let (low, high) = (pixel(at, low).1, pixel(at, high).1);
                // Quarters that the dot hides.
                if low != high {
                    spreads += &format!("M{x} {low}V{high}");
                }
            }
        }
        html! {
            g class=(class) {
                @if joined { path.line d=(line) {} }
                @if !spreads.is_empty() { path.spread d=(spreads) {} }
                path class=(if joined { "dots" } else { "dots large" }) d=(dots) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::put;
    use crate::report::section::Topic;
    use crate::{Record, Samples, Site};

    fn figure(x: Scale, y: Scale) -> Figure {
        let mut ours = Series::new("ours <&>");
        let mut limit = Series::beside("limit");
        for at in 1..=20 {
            ours.push(f64::from(1 << at), f64::from(at), Some((f64::from(at) * 0.9, f64::from(at) * 1.2)));
            limit.push(f64::from(1 << at), 1.0, None);
        }
        Figure::new("a title", ("bytes", x), ("ns", y)).with(ours).with(limit).with(Series::new("empty"))
    }

    #[test]
    fn a_figure_has_a_mark_for_each_point_and_a_legend() {
        let html = figure(Scale::Bytes, Scale::Log).render().into_string();
        assert_eq!(html.matches("h0").count(), 40);
        assert!(html.contains("ours &lt;&amp;&gt;") && html.contains(">limit<") && !html.contains(">empty<"));
        assert!(html.contains("1K") && html.contains("1M"), "labels of bytes");
    }

    #[test]
    fn what_stands_beside_lines_has_their_colours_and_dashes_of_its_own() {
        let series = |series: Series| {
            let mut series = series;
            series.push(1.0, 1.0, None);
            series
        };
        let figure = Figure::new("", ("", Scale::Linear), ("", Scale::Linear))
            .with(series(Series::beside("published for two").of("two")))
            .with(series(Series::new("one")))
            .with(series(Series::new("two")))
            .with(series(Series::beside("published for three").of("three")))
            .with(series(Series::beside("limit")));
        let classes = ["c1 dashed d0", "c0", "c1", "beside dashed d1", "beside dashed d2"];
        assert_eq!(figure.classes(), classes);
    }

    #[test]
    fn a_series_shows_what_it_is_called_after() {
        let mut samples = Samples::new();
        samples.push(6.0, 2.0);
        let site = Site { pes: 2, transport: "shm".into(), shared_cores: false };
        let record = Record::new(&site, &put::Name::Put(8), "ns", "", samples);
        let entry = Entry::new(1, Topic::Micro, "", record);
        let place = |_: &Entry| Some(8.0);
        let all = [
            Series::costs("", [&entry], place),
            Series::limits("", [&entry], place),
            Series::ratios("", [&entry], place),
        ];
        let shown = all.map(|series| (series.points[0].value, series.points[0].spread, series.beside));
        let quarters = |number| (number, Some((number, number)));
        for ((value, spread, beside), (number, expected)) in
            shown.into_iter().zip([6.0, 2.0, 3.0].map(quarters))
        {
            assert_eq!((value, spread, beside), (number, expected, number == 2.0));
        }
        assert!(Series::costs("", [&entry], |_| None).points.is_empty());
    }
}
