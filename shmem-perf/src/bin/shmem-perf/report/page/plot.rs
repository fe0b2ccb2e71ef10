//! Figures, drawn as SVG.

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

use super::axis::{Axis, Scale};
use crate::report::evidence::Entry;

/// Pixels of a figure.
const SIZE: (u32, u32) = (820, 400);

/// Dark enough on white for thin lines, and told apart by people who see fewer colours; those behind the last one
/// begin anew with dashes.
const COLOURS: [(u8, u8, u8); 7] =
    [(5, 80, 174), (154, 52, 18), (17, 99, 41), (111, 66, 193), (14, 116, 144), (190, 24, 93), (120, 90, 0)];
const QUIET: (u8, u8, u8) = (87, 96, 106);

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
    /// A limit, or what was published: grey and dashed.
    beside: bool,
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
        Self { label: label.into(), points: Vec::new(), beside: false }
    }

    /// A limit, or what was published.
    pub(crate) fn beside(label: impl Into<String>) -> Self {
        Self { beside: true, ..Self::new(label) }
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
        let limit = |entry: &Entry| {
            let quarters = entry.record.samples.limit();
            (entry.case.limit, quarters.p25, quarters.p75)
        };
        Self::beside(label).each(entries, at, limit)
    }

    /// The ratios of cases, with their quarters.
    pub(crate) fn ratios<'a>(
        label: impl Into<String>,
        entries: impl IntoIterator<Item = &'a Entry>,
        at: impl Fn(&Entry) -> Option<f64>,
    ) -> Self {
        let ratio = |entry: &Entry| {
            let quarters = entry.record.samples.ratio();
            (entry.case.ratio, quarters.p25, quarters.p75)
        };
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

    /// The colour of each line, and whether it is dashed.
    fn strokes(&self) -> Vec<(RGBColor, bool)> {
        let mut own = 0;
        let stroke = |series: &Series| {
            let (r, g, b) = if series.beside { QUIET } else { COLOURS[own % COLOURS.len()] };
            let dashed = series.beside || own >= COLOURS.len();
            own += usize::from(!series.beside);
            (RGBColor(r, g, b), dashed)
        };
        self.series.iter().map(stroke).collect()
    }

    pub(super) fn render(&self) -> Markup {
        let label = format!("{}: {} by {}", self.title, self.y.0, self.x.0);
        html! {
            @if !self.series.is_empty() {
                figure role="img" aria-label=(label) {
                    figcaption { (self.title) }
                    (PreEscaped(self.svg()))
                    ul.legend {
                        @for (series, (colour, dashed)) in self.series.iter().zip(self.strokes()) {
                            @let colour = format!("rgb({} {} {})", colour.0, colour.1, colour.2);
                            li {
                                svg width="28" height="10" aria-hidden="true" {
                                    line x1="0" y1="5" x2="28" y2="5" stroke=(colour) stroke-width="3"
                                        stroke-dasharray=[dashed.then_some("6 4")] {}
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

    fn svg(&self) -> String {
        let mut svg = String::new();
        let drawn = self.draw(&mut svg);
        // A string takes whatever is drawn.
        drawn.unwrap_or_else(|error| unreachable!("a figure cannot be drawn: {error}"));
        svg
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let ((x, x_scale), (y, y_scale)) = (&self.x, &self.y);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = Axis::around(x_scale, points().map(|point| point.at));
        let spreads = points().flat_map(|point| {
            let (low, high) = point.spread.unwrap_or((point.value, point.value));
            [low, point.value, high]
        });
        let along = Axis::around(y_scale, spreads);
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(across, along)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(208, 215, 222))
            .axis_style(RGBColor(87, 96, 106))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .x_desc(x)
            .y_desc(y)
            .x_labels(12)
            .y_labels(8)
            .x_label_formatter(&|place| x_scale.label(*place))
            .y_label_formatter(&|place| y_scale.label(*place))
            .draw()?;
        let joined = !matches!(x_scale, Scale::Names(_));
        for (series, (colour, dashed)) in self.series.iter().zip(self.strokes()) {
            let place = |at: f64, value: f64| (x_scale.place(at), y_scale.place(value));
            let line = series.points.iter().map(|point| place(point.at, point.value));
            if joined && dashed {
                chart.draw_series(DashedLineSeries::new(line.clone(), 6, 4, colour.stroke_width(2)))?;
            } else if joined {
                chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?;
            }
            let spread = |point: &Point| {
                let (low, high) = point.spread?;
                Some(PathElement::new(
                    vec![place(point.at, low), place(point.at, high)],
                    colour.stroke_width(1),
                ))
            };
            chart.draw_series(series.points.iter().filter_map(spread))?;
            let radius = if joined { 3 } else { 5 };
            chart.draw_series(line.map(|at| Circle::new(at, radius, colour.filled())))?;
        }
        root.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use shmem_perf::{Record, Samples, Site};

    use super::*;
    use crate::report::section::Topic;

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
        assert_eq!(html.matches("<circle").count(), 40);
        assert!(html.contains("ours &lt;&amp;&gt;") && html.contains(">limit<") && !html.contains(">empty<"));
        assert!(html.contains("1K") && html.contains("1M"), "labels of bytes");
    }

    #[test]
    fn a_series_shows_what_it_is_called_after() {
        let mut samples = Samples::new();
        samples.push(6.0, 2.0);
        let site = Site { pes: 2, transport: "shm".into(), shared_cores: false };
        let record = Record::new(&site, "put", "8", "ns", "", samples);
        let entry = Entry { id: 1, topic: Topic::Micro, variant: "", case: record.case(), record };
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
