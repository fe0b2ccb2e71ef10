//! Sheets: texts with sections of data lines, which define the measures and the report.
//!
//! A line `# name title` begins a section. A data line is `kind: @place part | part | ..`: the kind is a word in small letters; the
//! place is there only if the same cases are measured in several places. Other paragraphs are texts.

use std::sync::LazyLock;

pub(crate) static SHEET: LazyLock<Vec<Section>> =
    LazyLock::new(|| sections(include_str!("measure/cases_goals_guards.txt")));

pub(crate) fn lines(measure: &str, kind: &'static str) -> impl Iterator<Item = &'static SheetLine> {
    let section = SHEET.iter().find(|section| section.name == measure);
    section.into_iter().flat_map(|section| &section.lines).filter(move |line| line.kind == kind)
}

/// Returns (name, numbers) of a measure's lines `sizes: kind | name | numbers`.
pub(crate) fn sizes(measure: &str, kind: &str) -> impl Iterator<Item = (&'static str, Vec<usize>)> {
    let number = |word: &str| word.parse().unwrap_or_else(|error| unreachable!("{word}: {error}"));
    let of = move |line: &'static SheetLine| (line.part(1), line.part(2).split(' ').map(number).collect());
    lines(measure, "sizes").filter(move |line| line.part(0) == kind).map(of)
}

/// Returns (name, number) for each number of [`sizes`].
pub(crate) fn each_size(measure: &str, kind: &str) -> impl Iterator<Item = (&'static str, usize)> {
    sizes(measure, kind).flat_map(|(name, numbers)| numbers.into_iter().map(move |number| (name, number)))
}

/// A section of a sheet: a measure, or a topic of the report.
#[derive(Debug)]
pub(crate) struct Section {
    /// Name of the section, on the command line and in files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<SheetLine>,
}

/// A data line of a section, or a paragraph, which has the kind `text`.
#[derive(Debug)]
pub(crate) struct SheetLine {
    /// The word before the colon: `step`, `cases` ..
    pub(crate) kind: &'static str,
    /// The place of measurement, if the same cases are measured in several places; otherwise empty.
    pub(crate) place: &'static str,
    parts: Vec<&'static str>,
}

pub(crate) fn sections(text: &'static str) -> Vec<Section> {
    text.split("\n# ").skip(1).map(Section::parse).collect()
}

impl Section {
    pub(crate) fn parse(text: &'static str) -> Self {
        let (head, body) = text.split_once('\n').unwrap_or_default();
        let (name, title) = head.split_once(' ').unwrap_or_default();
        let of = |paragraph: &'static str| {
            let lines: Option<Vec<SheetLine>> = paragraph.lines().map(SheetLine::parse).collect();
            lines.unwrap_or_else(|| vec![SheetLine { kind: "text", place: "", parts: vec![paragraph] }])
        };
        let paragraphs = body.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
        Self { name, title, lines: paragraphs.flat_map(of).collect() }
    }

    pub(crate) fn of<'s>(&'s self, kinds: &'s [&str]) -> impl Iterator<Item = &'s SheetLine> {
        self.lines.iter().filter(|line| kinds.contains(&line.kind))
    }
}

impl SheetLine {
    /// Parses a data line; `None` if the line does not begin with a kind in small letters.
    fn parse(line: &'static str) -> Option<Self> {
        let (kind, rest) = line.split_once(": ")?;
        let (place, rest) =
            rest.strip_prefix('@').and_then(|rest| rest.split_once(' ')).unwrap_or(("", rest));
        let is_kind = kind.bytes().all(|byte| byte.is_ascii_lowercase());
        is_kind.then(|| Self { kind, place, parts: rest.split(" |").map(str::trim).collect() })
    }

    pub(crate) fn part(&self, at: usize) -> &'static str {
        self.parts.get(at).copied().unwrap_or_default()
    }

    /// Returns the parts from index `from` on, each split at ` = `.
    pub(crate) fn pairs(&self, from: usize) -> impl Iterator<Item = (&'static str, &'static str)> {
        let parts = self.parts.get(from..).unwrap_or_default();
        parts.iter().map(|part| part.split_once(" = ").unwrap_or((part, "")))
    }
}
