//! The sections of the report: `sections.txt` says what each measures, what users ask, and what is shown.

use std::sync::LazyLock;

/// A topic of the literature.
#[derive(Debug)]
pub(crate) struct Section {
    /// As it is given on the command line, and stands in files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// A line of a section; or a paragraph, of the kind `text`.
#[derive(Debug)]
pub(crate) struct Row {
    /// What is made of it: `step`, `cases` ..
    pub(crate) kind: &'static str,
    /// Where the same cases are measured in several places: which. Otherwise empty.
    pub(crate) place: &'static str,
    parts: Vec<&'static str>,
}

pub(crate) static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let text = include_str!("sections.txt");
    text.split("\n# ").skip(1).map(Section::parse).collect()
});

impl Section {
    pub(super) fn parse(text: &'static str) -> Self {
        let (head, body) = text.split_once('\n').unwrap_or_default();
        let (name, title) = head.split_once(' ').unwrap_or_default();
        let of = |paragraph: &'static str| {
            let rows: Option<Vec<Row>> = paragraph.lines().map(Row::parse).collect();
            rows.unwrap_or_else(|| vec![Row { kind: "text", place: "", parts: vec![paragraph] }])
        };
        let paragraphs = body.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
        Self { name, title, rows: paragraphs.flat_map(of).collect() }
    }

    pub(crate) fn of<'s>(&'s self, kinds: &'s [&str]) -> impl Iterator<Item = &'s Row> {
        self.rows.iter().filter(|row| kinds.contains(&row.kind))
    }
}

impl Row {
    /// A line with a kind in front, in small letters.
    fn parse(line: &'static str) -> Option<Self> {
        let (kind, rest) = line.split_once(": ")?;
        let (place, rest) =
            rest.strip_prefix('@').and_then(|rest| rest.split_once(' ')).unwrap_or(("", rest));
        let is_kind = kind.bytes().all(|byte| byte.is_ascii_lowercase());
        is_kind.then(|| Self { kind, place, parts: rest.split(" | ").collect() })
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
