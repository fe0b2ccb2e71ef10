//! The sections of the report: `sections.txt` says what each measures, what users ask, and what is shown.

use std::sync::LazyLock;

/// A topic of the literature.
#[derive(Debug)]
pub(crate) struct Section {
    /// As it is given on the command line, and stands in files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it stands beside: the publication, or the definitions that it follows.
    pub(crate) source: &'static str,
    /// What is measured for it.
    pub(crate) steps: Vec<Step>,
    /// What users ask of it.
    pub(crate) headlines: Vec<Headline>,
    pub(crate) shows: Vec<Show>,
}

/// What users ask, answered by a number of this library, beside those of other libraries.
#[derive(Debug)]
pub(crate) struct Headline {
    pub(crate) asked: &'static str,
    /// The case, in one of several places if one is named; none: the first of those beside. And whether its ratio is the
    /// answer, or its time.
    pub(crate) ours: &'static str,
    pub(crate) place: &'static str,
    pub(crate) is_ratio: bool,
    /// Cases whose limits are what OpenSHMEM, MPI, lamellar and the machine take.
    pub(crate) beside: [String; 4],
    pub(crate) published: &'static str,
}

/// What is measured at a time: command lines, in a quick report an empty one where that takes too long.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Where the same cases are measured in several places: which. Otherwise empty.
    pub(crate) place: &'static str,
    pub(crate) whole: &'static str,
    pub(crate) quick: &'static str,
}

/// A part of a section.
#[derive(Debug)]
pub(crate) enum Show {
    Heading(&'static str),
    Text(&'static str),
    Facts {
        title: &'static str,
        table: &'static str,
    },
    /// Cases that patterns find, in one of several places if one is named.
    Cases {
        title: &'static str,
        place: &'static str,
        form: Form,
    },
}

/// How cases are shown.
#[derive(Debug)]
pub(crate) enum Form {
    /// A line for each, in the order of patterns, with what is published of each pattern.
    Lines(Vec<(&'static str, &'static str)>),
    /// Tables by what the pattern calls `{row}` and `{column}`, one for each `{part}`; columns of `cases.csv`; and what is
    /// published of rows.
    Grid(&'static str, Vec<&'static str>, Vec<(&'static str, &'static str)>),
    /// Figures, one for each `{part}`: names of the axes, and lines: a point at each `{x}` of a pattern, a line for each
    /// `{line}`, or one with a name; of the cost, the limit (as what another library takes: `theirs`), or the ratio.
    Plot([&'static str; 2], Vec<(&'static str, &'static str, &'static str)>),
}

/// All of them, in the order of the page.
pub(crate) static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let text = include_str!("sections.txt");
    text.split("\n# ").skip(1).map(Section::parse).collect()
});

impl Section {
    pub(super) fn parse(text: &'static str) -> Self {
        let (head, body) = text.split_once('\n').unwrap_or_default();
        let (name, title) = head.split_once(' ').unwrap_or_default();
        let (steps, headlines, shows) = (Vec::new(), Vec::new(), Vec::new());
        let mut section = Self { name, title, source: "", steps, headlines, shows };
        for paragraph in body.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
            for line in paragraph.lines() {
                let Some((kind, rest)) = line
                    .split_once(": ")
                    .filter(|(kind, _)| kind.bytes().all(|byte| byte.is_ascii_lowercase()))
                else {
                    section.shows.push(Show::Text(paragraph));
                    break;
                };
                section.add(kind, rest);
            }
        }
        section
    }

    /// Adds what a line says.
    fn add(&mut self, kind: &str, line: &'static str) {
        let (place, rest) = match line.strip_prefix('@').and_then(|line| line.split_once(' ')) {
            Some(found) => found,
            None => ("", line),
        };
        let mut parts = rest.split(" | ");
        let mut next = || parts.next().unwrap_or_default();
        let pair = |part: &'static str| part.split_once(" = ").unwrap_or((part, ""));
        let title = next();
        let mut ask = |ours, is_ratio, beside: [&str; 4], published| {
            let beside = beside.map(str::to_owned);
            self.headlines.push(Headline { asked: title, ours, place, is_ratio, beside, published });
        };
        let form = match kind {
            "beside" => return self.source = rest,
            "step" => {
                let (whole, quick) = (next(), next());
                return self.steps.push(Step { name: title, place, whole, quick });
            }
            "ratio" => return ask(next(), true, [""; 4], next()),
            "time" => return ask(next(), false, [next(), next(), "", ""], ""),
            "peers" => {
                let (case, peers) = (next(), ["oshmem-micro", "mpi-micro", "lamellar", "floor"]);
                return ask(
                    "",
                    false,
                    peers.map(|peer| format!("{case}/{peer}")).each_ref().map(|case| &**case),
                    "",
                );
            }
            "limit" => {
                let ours = next();
                return ask(ours, false, ["", "", "", ours], "");
            }
            "heading" => return self.shows.push(Show::Heading(rest)),
            "facts" => return self.shows.push(Show::Facts { title, table: next() }),
            "cases" => Form::Lines(parts.map(pair).collect()),
            "grid" => {
                let (pattern, columns) = (next(), next());
                Form::Grid(pattern, columns.split(' ').collect(), parts.map(pair).collect())
            }
            "plot" => {
                let axes = [next(), next()];
                let line = |part| {
                    let (pattern, shown) = pair(part);
                    let (of, name) = shown.split_once(", ").unwrap_or((shown, ""));
                    (pattern, of, name)
                };
                Form::Plot(axes, parts.map(line).collect())
            }
            _ => unreachable!("`{kind}` is nothing that is shown"),
        };
        self.shows.push(Show::Cases { title, place, form });
    }
}

impl Form {
    /// The patterns of its cases.
    pub(crate) fn patterns(&self) -> Vec<&'static str> {
        match self {
            Self::Lines(cases) => cases.iter().map(|(pattern, _)| *pattern).collect(),
            Self::Grid(pattern, ..) => vec![pattern],
            Self::Plot(_, lines) => lines.iter().map(|(pattern, ..)| *pattern).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern;
    use crate::report::evidence::Evidence;

    /// Whatever the report was drawn of last is shown by some row, and rows show nothing that there is not.
    #[test]
    fn rows_and_the_sample_know_each_other() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report");
        let sample = Evidence::read(std::path::Path::new(directory)).unwrap();
        for section in &*SECTIONS {
            let of_show =
                |show: &Show| if let Show::Cases { form, .. } = show { form.patterns() } else { Vec::new() };
            let shown: Vec<_> = section.shows.iter().flat_map(of_show).collect();
            for pattern in &shown {
                let found = sample.find((section.name, ""), pattern).count();
                // The sample has no arrays by all threads.
                assert!(found > 0 || pattern.contains("technique"), "{}: {pattern}", section.name);
            }
            for entry in sample.cases.iter().filter(|entry| entry.section == section.name) {
                let case = &entry.case;
                let is_shown =
                    shown.iter().any(|pattern| pattern::find(pattern, &case.measure, &case.case).is_some());
                assert!(is_shown, "{}: {} {}", section.name, case.measure, case.case);
            }
        }
    }
}
