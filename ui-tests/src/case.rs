//! Programs, and what is to be said of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::compiler::{Compiler, Product};
use crate::diagnostic::Head;

/// A program, and what is to be said of it.
#[derive(Debug)]
pub struct Case {
    /// Relative to this package.
    path: PathBuf,
    product: Product,
}

/// How texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of them.
    Words,
    /// Which errors there are, and where; and our sentences.
    Places,
    /// Not at all: they are written down.
    Written,
}

impl Verdict {
    /// That which is due to a compiler. `BLESS` in the environment has texts written, `UI_TESTS=places` has them
    /// compared as with an unknown compiler.
    ///
    /// # Panics
    ///
    /// If texts are to be written by another compiler than the one they belong to.
    pub fn of(compiler: &Compiler) -> Self {
        let is_known = compiler.version() == crate::WRITTEN_FOR;
        if env::var_os("BLESS").is_some() {
            assert!(is_known, "texts are written by rustc {} only", crate::WRITTEN_FOR);
            return Self::Written;
        }
        let is_known = is_known && env::var_os("UI_TESTS").is_none_or(|wanted| wanted != "places");
        if is_known { Self::Words } else { Self::Places }
    }
}

/// The programs in directories below `tests`, and what is made of each.
///
/// # Panics
///
/// If a directory is missing or empty.
pub fn cases(directories: &[&str], product: Product) -> Vec<Case> {
    let mut cases = Vec::new();
    for name in directories {
        let directory = Path::new("tests").join(name);
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&directory))
            .expect("a directory of cases");
        let names = files.map(|file| file.expect("a case").file_name());
        let mut found: Vec<PathBuf> = names
            .map(|name| directory.join(name))
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .collect();
        assert!(!found.is_empty(), "`{name}` has no cases");
        found.sort();
        cases.extend(found.into_iter().map(|path| Case { path, product }));
    }
    cases
}

impl Case {
    /// Compiles the program, and says what is wrong with what the compiler says of it. A program without a text must
    /// compile without a word and, if one is made of it, run.
    ///
    /// # Errors
    ///
    /// What differs.
    pub fn judge(&self, compiler: &Compiler, verdict: Verdict) -> Result<(), String> {
        let (said, program) = compiler.compile(&self.path, self.product);
        let text =
            said.iter().map(|diagnostic| diagnostic.text(&compiler.places)).collect::<Vec<_>>().join("\n");
        let differs = match (self.product, verdict) {
            (Product::Program, _) => run(&text, &program),
            (_, Verdict::Written) => write(&self.file(), &text),
            (_, Verdict::Words) => compare_words(&self.expected(), &text),
            (_, Verdict::Places) => compare_places(&Head::all(&self.expected()), &Head::all(&text)),
        };
        differs.map_err(|differs| format!("{}\n{differs}", self.path.display()))
    }

    fn file(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(self.path.with_extension("stderr"))
    }

    fn expected(&self) -> String {
        fs::read_to_string(self.file()).unwrap_or_default()
    }
}

fn run(said: &str, program: &Path) -> Result<(), String> {
    if !said.is_empty() {
        return Err(said.to_owned());
    }
    let output = Command::new(program).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("ended with {}\n{text}", output.status)) }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    let written = if text.is_empty() && !file.exists() { Ok(()) } else { fs::write(file, text) };
    written.map_err(|error| format!("{}: {error}", file.display()))
}

fn compare_words(expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    if expected.is_empty() {
        return Err(format!("no text is kept (BLESS=1 writes it), but the compiler says:\n{found}"));
    }
    if found.is_empty() {
        return Err(format!("it compiles, but the compiler should say:\n{expected}"));
    }
    Err(format!("the compiler should say:\n{expected}\nbut says:\n{found}"))
}

/// One error for each mistake, in its line, with our sentence.
fn compare_places(expected: &[Head], found: &[Head]) -> Result<(), String> {
    let sorted = |heads: &[Head]| {
        let mut heads: Vec<Head> = heads.iter().map(comparable).collect();
        heads.sort_by(|a, b| (&a.place, &a.kind, &a.sentence).cmp(&(&b.place, &b.kind, &b.sentence)));
        heads
    };
    let (expected, found) = (sorted(expected), sorted(found));
    if expected == found { Ok(()) } else { Err(format!("expected {expected:#?}\nfound {found:#?}")) }
}

/// What every compiler must say: where a sentence is rustc's own, no word of it counts.
fn comparable(head: &Head) -> Head {
    let sentence = &head.sentence;
    let ours = match head.kind.as_str() {
        "error" => sentence,
        // "evaluation panicked: " stands in front of what a constant says.
        "error[E0080]" => sentence.split_once(": ").map_or("", |(_, ours)| ours),
        "error[E0277]" if !is_of_rustc(sentence) => sentence,
        _ => "",
    };
    // Of a call, compilers point at the argument, the method, or the whole.
    let line = head.place.rsplit_once(':').map_or(head.place.as_str(), |(line, _)| line);
    // The number is rustc's own, too.
    let kind = if ours.is_empty() { head.kind.split('[').next().unwrap_or_default() } else { &head.kind };
    Head { kind: kind.to_owned(), sentence: ours.to_owned(), place: line.to_owned() }
}

/// Whether a sentence about a trait is rustc's own.
fn is_of_rustc(sentence: &str) -> bool {
    ["expected a", "the trait bound `", "the size for values", "the type `", "can't compare"]
        .iter()
        .any(|own| sentence.starts_with(own))
        || sentence.ends_with("between threads safely")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(kind: &str, sentence: &str, place: &str) -> Head {
        Head { kind: kind.to_owned(), sentence: sentence.to_owned(), place: place.to_owned() }
    }

    #[test]
    fn another_compiler_must_give_our_sentence_at_the_place() {
        let ours = [head("error[E0277]", "`A` holds `bool`", "tests/a.rs:1:2")];
        assert!(compare_places(&ours, &ours).is_ok());
        for other in [
            vec![],
            vec![head("error[E0277]", "`A` holds `char`", "tests/a.rs:1:2")],
            vec![head("error[E0277]", "`A` holds `bool`", "tests/a.rs:2:2")],
            vec![head("error[E0308]", "`A` holds `bool`", "tests/a.rs:1:2")],
            vec![ours[0].clone(), head("error", "more", "tests/a.rs:9:9")],
        ] {
            assert!(compare_places(&ours, &other).is_err(), "{other:?}");
        }
    }

    #[test]
    fn another_compiler_has_words_of_its_own() {
        let words = |words: &str| [head("error[E0502]", words, "tests/a.rs:1:2")];
        assert!(compare_places(&words("cannot borrow"), &words("is borrowed")).is_ok());
        let panics = |how: &str| [head("error[E0080]", &format!("{how}: `A` has 3"), "tests/a.rs:1:2")];
        assert!(compare_places(&panics("evaluation panicked"), &panics("it panicked")).is_ok());
        let sent = |what: &str| {
            [head("error[E0277]", &format!("`{what}` cannot be sent between threads safely"), "p")]
        };
        assert!(compare_places(&sent("A"), &sent("B")).is_ok());
    }
}
