//! Programs for the compiler, and the diagnostics that are expected for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::compiler::{Compiler, Product};
use crate::diagnostic::{Diagnostic, lines_of};

/// A program that the compiler must reject, or accept.
#[derive(Debug)]
pub struct Case {
    /// Path of the program, relative to this package.
    path: PathBuf,
    product: Product,
}

/// Returns the programs in a directory below `tests`, each to be compiled to `product`.
///
/// # Panics
///
/// If the directory is missing or has no programs.
pub fn cases(name: &str, product: Product) -> Vec<Case> {
    let directory = Path::new("tests").join(name);
    let files =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&directory)).expect("a directory of cases");
    let names = files.map(|file| directory.join(file.expect("a case").file_name()));
    let found = names.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut cases: Vec<Case> = found.map(|path| Case { path, product }).collect();
    assert!(!cases.is_empty(), "`{name}` has no cases");
    cases.sort_by(|a, b| a.path.cmp(&b.path));
    cases
}

impl Case {
    /// Compiles the program, and compares the diagnostics with those in its `.stderr` file. With `BLESS` in the environment, writes
    /// them to that file. Without that file there must be no diagnostics, and a [`Product::Program`] must run successfully.
    ///
    /// # Errors
    ///
    /// The differences.
    ///
    /// # Panics
    ///
    /// If diagnostics are to be written, and the compiler is not [`WRITTEN_FOR`](crate::WRITTEN_FOR).
    pub fn judge(&self, compiler: &Compiler) -> Result<(), String> {
        let (said, program) = compiler.compile(&self.path, self.product);
        let text = said.iter().map(Diagnostic::text).collect::<Vec<_>>().join("\n");
        let is_known = compiler.version() == crate::WRITTEN_FOR;
        let differs = match self.product {
            Product::Program => run(&text, &program),
            _ if env::var_os("BLESS").is_some() => {
                assert!(is_known, "texts are written by rustc {} only", crate::WRITTEN_FOR);
                write(&self.file("stderr"), &text)
            }
            _ if is_known => compare_words(&self.text("stderr"), &text),
            _ => Ok(()),
        };
        let marked = || {
            if self.product == Product::Program { Ok(()) } else { compare_marks(&self.text("rs"), &text) }
        };
        differs.and_then(|()| marked()).map_err(|differs| format!("{}\n{differs}", self.path.display()))
    }

    fn file(&self, extension: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(self.path.with_extension(extension))
    }

    fn text(&self, extension: &str) -> String {
        fs::read_to_string(self.file(extension)).unwrap_or_default()
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
    let only = |these: &str, others: &str| {
        let lines = these.lines().filter(|line| !others.lines().any(|other| other == *line));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (missing, new) = (only(expected, found), only(found, expected));
    Err(format!("the compiler should say (BLESS=1 accepts what it says):\n{missing}\nbut says:\n{new}"))
}

/// Compares the lines that are marked in the source with the lines for which the compiler reports errors.
fn compare_marks(source: &str, said: &str) -> Result<(), String> {
    let marked = source.lines().zip(1_usize..).filter(|(line, _)| line.ends_with("//~"));
    let marked: BTreeSet<usize> = marked.map(|(_, number)| number).collect();
    let told = lines_of(said);
    let [missing, more] =
        [(&marked, &told), (&told, &marked)].map(|(a, b)| a.difference(b).collect::<Vec<_>>());
    if marked == told {
        return Ok(());
    }
    Err(format!("marked lines without an error: {missing:?}; errors in lines without a mark: {more:?}"))
}
