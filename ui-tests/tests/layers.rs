//! Top-level modules import modules of lower layers only, in the order that the head of `lib.rs` lists, and modules of one layer
//! do not import each other in a circle.
//!
//! An import is a path from the root of the crate, in a `use`, in code or in a macro. A name that `lib.rs` re-exports stands for its
//! module. Items of tests (`#[cfg(test)]`) are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use ui_tests::shipped;

const CRATES: [&str; 4] = ["shmem-core", "shmem-launch", "shmem-rt", "tools/fabric-shim"];

#[test]
fn imports_point_downwards_and_in_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let wrong = |name: &str| {
        let wrong = Crate::read(&root.join(name).join("src")).wrong();
        wrong.into_iter().map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = CRATES.into_iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Methods of `Job` in a higher module would be imports that this test does not see.
#[test]
fn a_job_has_its_methods_from_its_own_file() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shmem-rt/src");
    for File { path, words } in &Crate::read(&source).files {
        let adds = words.windows(3).any(|words| words == ["impl", "Job", "{"]);
        assert!(!adds || path == "job.rs", "{path} adds methods to `Job`: make them functions of `&Job`");
    }
}

/// A crate, as its sources say.
struct Crate {
    /// The list in the head of `lib.rs`, uppermost layer first, between "```text" and "```": a line for each layer, with names between
    /// commas, and a description behind two spaces.
    layers: Vec<Vec<String>>,
    /// The first one is `lib.rs`.
    files: Vec<File>,
}

struct File {
    /// Below the folder of `lib.rs`.
    path: String,
    words: Vec<String>,
}

impl Crate {
    fn read(source: &Path) -> Self {
        let head = fs::read_to_string(source.join("lib.rs")).unwrap();
        let lines = head.lines().skip_while(|line| !line.ends_with("```text")).skip(1);
        let prose = |line: &str| line.trim_start_matches(['/', '!']).strip_prefix(' ').map(str::to_owned);
        let lines = lines.take_while(|line| !line.ends_with("```")).filter_map(prose);
        let names = |line: String| {
            let names = line.split("  ").next().unwrap_or_default().split(", ");
            names.map(str::to_owned).collect()
        };
        let layers = lines.filter(|line| !line.starts_with(' ')).map(names).collect();
        let mut all = Self { layers, files: Vec::new() };
        all.add(source, "", "lib.rs".to_owned());
        all
    }

    /// Adds a file, and the files of its modules, which are in `folder`.
    fn add(&mut self, source: &Path, folder: &str, path: String) {
        let mut text = shipped(&fs::read_to_string(source.join(&path)).unwrap()).to_string();
        for mark in "()[]{}<>,;&*!".chars() {
            text = text.replace(mark, &format!(" {mark} "));
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let declared = words.windows(3).filter(|words| words[0] == "mod" && words[2] == ";");
        let names: Vec<String> = declared.map(|words| words[1].to_owned()).collect();
        self.files.push(File { path, words });
        for name in names {
            let files = [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")];
            let file = files.iter().find(|file| source.join(file).is_file());
            let file = file.unwrap_or_else(|| panic!("`mod {name}` is in no file of {files:?}"));
            self.add(source, &format!("{folder}{name}/"), file.clone());
        }
    }

    /// The wrong imports of the crate.
    fn wrong(&self) -> Vec<String> {
        let root = &self.files[0];
        let declared =
            root.words.windows(3).filter(|words| words[0] == "mod" && [";", "{"].contains(&&*words[2]));
        let top: BTreeSet<&str> = declared.map(|words| &*words[1]).collect();
        let listed: BTreeSet<&str> = self.layers.iter().flatten().map(String::as_str).collect();
        let unknown = listed.symmetric_difference(&top);
        let mut wrong: Vec<String> =
            unknown.map(|name| format!("`{name}` is not in both: src, and the head of lib.rs")).collect();
        let passed_on = root.imported();
        let layer = |module| self.layers.iter().position(|names| names.iter().any(|name| name == module));
        let mut beside: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in &self.files[1..] {
            let from = file.top(&top);
            for name in file.names_of_the_crate() {
                let to = top.get(name).or_else(|| top.get(passed_on.get(name)?)).copied().unwrap_or(from);
                if layer(from) > layer(to) {
                    wrong.push(format!("{} imports `{name}`: `{to}` stands above `{from}`", file.path));
                } else if from != to && layer(from) == layer(to) {
                    beside.entry(from).or_default().insert(to);
                }
            }
        }
        let mut reached = beside.clone();
        for _ in 0..top.len() {
            for to in reached.values_mut() {
                to.extend(to.clone().iter().filter_map(|next| beside.get(next)).flatten());
            }
        }
        let circle = reached.iter().filter(|(from, to)| to.contains(*from)).map(|(from, _)| *from);
        let circle = circle.collect::<Vec<_>>().join(", ");
        wrong.extend((!circle.is_empty()).then(|| format!("in a circle: {circle}")));
        wrong
    }
}

impl File {
    /// The top-level module of the file.
    fn top<'t>(&self, all: &BTreeSet<&'t str>) -> &'t str {
        let name = self.path.split(['/', '.']).next().unwrap_or_default();
        let is_it = |module: &&&str| module.trim_start_matches('_') == name;
        all.iter().find(is_it).unwrap_or_else(|| panic!("{} is in no module", self.path))
    }

    /// First names of paths from the root of the crate: after `crate`, or after enough `super`.
    fn names_of_the_crate(&self) -> Vec<&str> {
        let depth = self.path.trim_end_matches("/mod.rs").split('/').count();
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        // Open braces: whether each is that of a module.
        let (mut open, mut found) = (Vec::new(), Vec::new());
        for at in 0..words.len() {
            let depth = depth + open.iter().filter(|is_module| **is_module).count();
            let path = &words[at..];
            let supers = path.chunks(2).take_while(|pair| *pair == ["super", "::"]).count();
            match path {
                ["{", ..] => open.push(at > 1 && words[at - 2] == "mod"),
                ["}", ..] => _ = open.pop(),
                _ if at > 0 && words[at - 1] == "::" => {}
                ["crate", "::", rest @ ..] => found.extend(heads(rest)),
                _ if supers == depth => found.extend(heads(&path[2 * depth..])),
                _ => {}
            }
        }
        found
    }

    /// Imported names, each with the first name of its path.
    fn imported(&self) -> BTreeMap<&str, &str> {
        let words = || self.words.iter().map(String::as_str);
        let imports = words().enumerate().filter(|(_, word)| *word == "use").map(|(at, _)| at + 1);
        let names = |at: usize| words().skip(at).take_while(|word| *word != ";");
        imports.flat_map(|at| names(at).map(move |name| (name, &*self.words[at]))).collect()
    }
}

/// The first names of a path, or of the paths in braces.
fn heads<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut depth = 0;
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == i32::from(at > 0) && (at == 0 || ["{", ","].contains(&words[at - 1])) => {
                found.push(name);
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

#[test]
fn arrows_are_seen_however_they_are_written() {
    let wrong = |text: &str| {
        let directory = tempfile::tempdir().unwrap();
        let head = "//! ```text\n//! above, beside   over\n//! below   under\n//! ```\nmod above; mod beside; mod below; pub use above::{Face};";
        fs::create_dir(directory.path().join("below")).unwrap();
        let files =
            [("lib", head), ("above", "use crate::beside;"), ("beside", ""), ("below/mod", "mod one;")];
        for (path, text) in files.into_iter().chain([("below/one", text)]) {
            fs::write(directory.path().join(path).with_extension("rs"), text).unwrap();
        }
        Crate::read(directory.path()).wrong()
    };
    for (text, is_arrow) in [
        ("use crate::{below::{self}, above::Thing as Other};", true),
        ("use super::super::above;", true),
        ("mod inner { use super::super::super::above; } use super::super::below;", true),
        ("mod inner { use super::super::above; }", false),
        ("use crate::Face;", true),
        ("impl crate::above::Way for u8 {}", true),
        ("macro_rules! m { () => { $crate::above::Thing } }", true),
        ("/// crate::above::Thing\nconst A: &str = \"crate::above::Thing\";", false),
        ("#[cfg(test)] mod tests { use crate::above::Thing; }", false),
        ("use ::above::Thing; use std::above;", false),
        ("mod above { pub struct Thing; } use above::Thing as Own;", false),
    ] {
        let said = wrong(text);
        let is_upward = |line: &String| line.ends_with("`above` stands above `below`");
        assert_eq!(said.iter().any(is_upward), is_arrow, "{text}: {said:?}");
        assert!(is_arrow || said.is_empty(), "{text}: {said:?}");
    }
}
