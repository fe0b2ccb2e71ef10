//! Figures, drawn as SVG: numbers of something by powers of two, up by powers of ten.

use maud::{Markup, Render, html};

use crate::table::digits;

const SIZE: (i32, i32) = (820, 400);

/// The pixels between which numbers lie: from left to right, and from the bottom to the top.
const ACROSS: (i32, i32) = (76, 808);
const UP: (i32, i32) = (344, 12);

/// Colours of lines, which `style.css` has: told apart by people who see fewer of them. Those behind the last one begin anew
/// with dashes; what stands beside lines is grey, in as many patterns of dashes as it has, too.
const COLOURS: usize = 7;
const PATTERNS: usize = 6;

/// A figure with lines, of points: where, the value, and its quarters.
pub(super) struct Figure {
    title: String,
    axes: [&'static str; 2],
    lines: Vec<(Series, Vec<[f64; 4]>)>,
}

/// What a line is called, and whether it is what stands beside others.
type Series = (String, bool);

impl Figure {
    pub(super) fn new(title: String, axes: [&'static str; 2]) -> Self {
        Self { title, axes, lines: Vec::new() }
    }

    /// Adds a point to a line, unless there is no place for it.
    pub(super) fn push(&mut self, series: Series, point @ [at, _, low, high]: [f64; 4]) {
        if !(at > 0.0 && low > 0.0 && high.is_finite()) {
            return;
        }
        match self.lines.iter_mut().find(|(line, _)| *line == series) {
            Some((_, points)) => points.push(point),
            None => self.lines.push((series, vec![point])),
        }
    }

    /// The class of each line in `style.css`: its colour, and whether it is dashed.
    fn classes(&self) -> Vec<String> {
        let (mut own, mut beside) = (0.., 0..);
        let class = |((_, is_beside), _): &(Series, _)| match is_beside {
            true => format!("beside dashed d{}", beside.next().unwrap_or(0) % PATTERNS),
            false => {
                let number = own.next().unwrap_or(0);
                format!("c{}{}", number % COLOURS, if number < COLOURS { "" } else { " dashed" })
            }
        };
        self.lines.iter().map(class).collect()
    }

    /// What looks alike is one path: all lines of the grid, all dots of a series.
    fn svg(&self) -> Markup {
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let across = Axis::around(points().map(|[at, ..]| at.log2()), ACROSS);
        let along = Axis::around(points().flat_map(|[.., low, high]| [low.log10(), high.log10()]), UP);
        let columns = across.powers(12).map(|at| (across.pixel(at), bytes(at.exp2())));
        let rows = along.decimals().into_iter().map(|at| (along.pixel(at), short(10_f64.powf(at))));
        let (columns, rows): (Vec<_>, Vec<_>) = (columns.collect(), rows.collect());
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
        let path = |points: &[[f64; 4]]| {
            let (mut line, mut spreads, mut dots) = (String::new(), String::new(), String::new());
            for [at, values @ ..] in points {
                let (x, [y, low, high]) = (across.pixel(at.log2()), values.map(|at| along.pixel(at.log10())));
                line += &format!("{}{x} {y}", if line.is_empty() { "M" } else { "L" });
                dots += &format!("M{x} {y}h0");
                if low != high {
                    spreads += &format!("M{x} {low}V{high}");
                }
            }
            (line, spreads, dots)
        };
        html! {
            svg width=(SIZE.0) height=(SIZE.1) viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } {
                path.grid d=(grid) {}
                path.axes d=(axes) {}
                g.across {
                    @for (at, label) in columns { text x=(at) y=(bottom + 18) { (label) } }
                    text.name x=((left + right) / 2) y=(SIZE.1 - 8) { (self.axes[0]) }
                }
                g.along { @for (at, label) in rows { text x=(left - 9) y=(at + 4) { (label) } } }
                text.name transform={ "translate(18 " ((top + bottom) / 2) ") rotate(-90)" } { (self.axes[1]) }
                @for ((_, points), class) in self.lines.iter().zip(self.classes()) {
                    @let (line, spreads, dots) = path(points);
                    g class=(class) {
                        path.line d=(line) {}
                        @if !spreads.is_empty() { path.spread d=(spreads) {} }
                        path.dots d=(dots) {}
                    }
                }
            }
        }
    }
}

impl Render for Figure {
    fn render(&self) -> Markup {
        html! {
            @if !self.lines.is_empty() {
                figure role="img" aria-label={ (self.title) ": " (self.axes[1]) " by " (self.axes[0]) } {
                    figcaption { (self.title) }
                    (self.svg())
                    ul.legend {
                        @for (((label, _), _), class) in self.lines.iter().zip(self.classes()) {
                            li {
                                svg width="44" height="10" aria-hidden="true" { path class={ "line " (class) } d="M0 5H44" {} }
                                (label)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// An axis from one place to another, logarithms of numbers, and the pixels where it begins and ends.
struct Axis(f64, f64, (i32, i32));

impl Axis {
    fn around(places: impl Iterator<Item = f64>, pixels: (i32, i32)) -> Self {
        let (low, high) = places.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        let room = 0.05 * (high - low).max(0.2);
        Self(low - room, high + room, pixels)
    }

    fn pixel(&self, place: f64) -> i32 {
        let Self(low, high, (from, to)) = *self;
        from + ((place - low) / (high - low) * f64::from(to - from)).round() as i32
    }

    /// Whole places, not many more than so many.
    fn powers(&self, most: usize) -> impl Iterator<Item = f64> {
        let step = ((self.1 - self.0) / most as f64).ceil().max(1.0);
        let (first, last) = ((self.0 / step).ceil() as i32, (self.1 / step).floor() as i32);
        (first..=last).map(move |at| f64::from(at) * step)
    }

    fn decimals(&self) -> Vec<f64> {
        let digits: &[f64] = match self.1 - self.0 {
            2.5.. => return self.powers(8).collect(),
            ..0.3 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
            ..1.2 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let decades = self.0.floor() as i32..=self.1.ceil() as i32;
        let all =
            decades.flat_map(|decade| digits.iter().map(move |digit| f64::from(decade) + digit.log10()));
        all.filter(|at| (self.0..=self.1).contains(at)).collect()
    }
}

fn short(number: f64) -> String {
    let text = digits(number);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn bytes(number: f64) -> String {
    match number {
        ..1024.0 => short(number),
        1024.0..1_048_576.0 => format!("{}K", short(number / 1024.0)),
        _ => format!("{}M", short(number / 1_048_576.0)),
    }
}
