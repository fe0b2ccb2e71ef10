//! Sheets: texts of sections with lines of data, of which the measures and the report are made.
//!
//! A line `# name title` begins a section. A line with a word in small letters and a colon in front is of that kind, its parts between
//! ` | `, with `@place` in front where the same cases are measured in several places. Other paragraphs are texts.

use std::sync::LazyLock;

pub(crate) static SHEET: LazyLock<Vec<Section>> =
    LazyLock::new(|| sections(include_str!("measure/measures.txt")));

/// What a measure has of a kind.
pub(crate) fn lines(measure: &str, kind: &'static str) -> impl Iterator<Item = &'static SheetLine> {
    let section = SHEET.iter().find(|section| section.name == measure);
    section.into_iter().flat_map(|section| &section.lines).filter(move |line| line.kind == kind)
}

/// The sizes that it has of a kind: names and numbers.
pub(crate) fn sizes(measure: &str, kind: &str) -> impl Iterator<Item = (&'static str, Vec<usize>)> {
    let number = |word: &str| word.parse().unwrap_or_else(|error| unreachable!("{word}: {error}"));
    let of = move |line: &'static SheetLine| (line.part(1), line.part(2).split(' ').map(number).collect());
    lines(measure, "sizes").filter(move |line| line.part(0) == kind).map(of)
}

/// The same, each number by itself.
pub(crate) fn each_size(measure: &str, kind: &str) -> impl Iterator<Item = (&'static str, usize)> {
    sizes(measure, kind).flat_map(|(name, numbers)| numbers.into_iter().map(move |number| (name, number)))
}

/// A measure, or a topic of the literature.
#[derive(Debug)]
pub(crate) struct Section {
    /// As it is given on the command line, and stands in files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<SheetLine>,
}

/// A line of a section; or a paragraph, of the kind `text`.
#[derive(Debug)]
pub(crate) struct SheetLine {
    /// What is made of it: `step`, `cases` ..
    pub(crate) kind: &'static str,
    /// Where the same cases are measured in several places: which. Otherwise empty.
    pub(crate) place: &'static str,
    parts: Vec<&'static str>,
}

/// The sections of a sheet, whose head is for its readers.
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
    /// A line with a kind in front, in small letters.
    fn parse(line: &'static str) -> Option<Self> {
        let (kind, rest) = line.split_once(": ")?;
        let (place, rest) =
            rest.strip_prefix('@').and_then(|rest| rest.split_once(' ')).unwrap_or(("", rest));
        let is_kind = kind.bytes().all(|byte| byte.is_ascii_lowercase());
        is_kind.then(|| Self { kind, place, parts: rest.split(" |").map(str::trim).collect() })
    }

    /// One of its parts; an empty one where it has no more.
    pub(crate) fn part(&self, at: usize) -> &'static str {
        self.parts.get(at).copied().unwrap_or_default()
    }

    /// Parts from one on, each a pattern or a name, and what is said of it.
    pub(crate) fn pairs(&self, from: usize) -> impl Iterator<Item = (&'static str, &'static str)> {
        let parts = self.parts.get(from..).unwrap_or_default();
        parts.iter().map(|part| part.split_once(" = ").unwrap_or((part, "")))
    }
}
