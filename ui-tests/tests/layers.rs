//! Which file of a crate imports which: modules at the top of a crate stand in the order that its `lib.rs` lists, imports point
//! downwards, and neither modules nor files import each other in a circle.
//!
//! An import is every path, in a `use`, in code or in a macro, that names a module or an item of the crate. It leads to where the
//! item is: a `use` that passes a name on is followed. What is compiled for tests alone (`#[cfg(test)]`) is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use ui_tests::shipped;

/// The crates, and those of their folders that are one thing in several files, which may be a circle.
const CRATES: &[(&str, &[&str])] = &[
    ("shmem-core", &["transport/ofi"]),
    ("shmem-launch", &[]),
    ("shmem-rt", &[]),
    // An endpoint is its calls, its rules, its tables.
    ("tools/fabric-shim", &["endpoint"]),
];

#[test]
fn imports_point_downwards_and_in_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let wrong = |(name, one_thing): &(&str, &[&str])| {
        let wrong = Crate::read(&root.join(name).join("src")).wrong(one_thing);
        wrong.into_iter().map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = CRATES.iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A method is called without an import: what a module above `job` adds to it would be an arrow that nobody sees.
#[test]
fn a_job_has_its_methods_from_its_own_file() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shmem-rt/src");
    let files: BTreeSet<String> =
        Crate::read(&source).modules.into_iter().map(|module| module.file).collect();
    for file in files.iter().filter(|file| *file != "job.rs") {
        let text = fs::read_to_string(source.join(file)).unwrap();
        let adds = text.lines().any(|line| line.trim_start().starts_with("impl Job "));
        assert!(!adds, "{file} adds methods to `Job`: make them functions of `&Job`");
    }
}

/// The modules of a crate; the first one is its root.
struct Crate {
    modules: Vec<Module>,
    /// What the head of `lib.rs` lists, uppermost first, between "```text" and "```": a line for each layer, names with commas
    /// between them, and behind two spaces what they are.
    layers: Vec<Vec<String>>,
}

/// A module, in a file of its own or inside another one's.
struct Module {
    /// Below the folder of `lib.rs`.
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    named: Vec<Named>,
}

/// A path that a module names.
struct Named {
    path: Vec<String>,
    /// What a `use` calls it here: `*` for all that is in it.
    alias: Option<String>,
    is_public: bool,
}

/// Where a path leads: to a module, or to an item in it.
enum Found {
    Module(usize),
    Item(usize),
}

/// Adds the words of a source without its attributes: names, literals, brackets, `::`, and other marks.
fn words(tokens: TokenStream, all: &mut Vec<String>) {
    for token in tokens {
        let before = all.last().map_or("", String::as_str);
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ':' && before == ":" => {
                all.pop();
                all.push("::".to_owned());
            }
            TokenTree::Group(group)
                if !matches!(before, "#" | "!") || group.delimiter() != Delimiter::Bracket =>
            {
                let is_block = group.delimiter() == Delimiter::Brace;
                all.push(if is_block { "{" } else { "(" }.to_owned());
                words(group.stream(), all);
                all.push(if is_block { "}" } else { ")" }.to_owned());
            }
            TokenTree::Group(_) => {}
            other => all.push(other.to_string()),
        }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn named(path: &[&str], alias: Option<&str>, is_public: bool) -> Named {
    let path = path.iter().map(|name| (*name).to_owned()).collect();
    Named { path, alias: alias.map(str::to_owned), is_public }
}

/// Reads the tree of a `use` behind `path`, as `a::{b as c, self, *}`; gives the words behind it.
fn tree<'w>(
    mut path: Vec<&'w str>,
    mut words: &'w [&'w str],
    is_public: bool,
    all: &mut Vec<Named>,
) -> &'w [&'w str] {
    while let [name, "::", rest @ ..] = words {
        path.push(name);
        words = rest;
    }
    match words {
        ["{", rest @ ..] => {
            let mut rest = rest;
            while rest[0] != "}" {
                rest = tree(path.clone(), rest, is_public, all);
                rest = rest.strip_prefix(&[","]).unwrap_or(rest);
            }
            return &rest[1..];
        }
        ["*", ..] => all.push(named(&path, Some("*"), is_public)),
        [name, rest @ ..] => {
            path.extend((*name != "self").then_some(*name));
            let alias = if let ["as", alias, ..] = rest { alias } else { path.last().unwrap_or(name) };
            all.push(named(&path, Some(alias), is_public));
        }
        [] => {}
    }
    let end = words.iter().position(|word| matches!(*word, "," | "}" | ";"));
    &words[end.unwrap_or(words.len())..]
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
        let mut all = Self { modules: Vec::new(), layers };
        all.read_file(source, None, "lib", "");
        all
    }

    /// Adds a module of so many words in `file`, and those below it, whose files are in `folder`.
    fn add(
        &mut self,
        source: &Path,
        parent: Option<usize>,
        file: &str,
        folder: &str,
        words: &[&str],
    ) -> usize {
        let module = self.modules.len();
        let children = BTreeMap::new();
        self.modules.push(Module { file: file.to_owned(), parent, children, named: Vec::new() });
        let (mut all, mut rest, mut before) = (Vec::new(), words, "");
        while let [word, behind @ ..] = rest {
            rest = match rest {
                ["mod", name, end @ (";" | "{"), inside @ ..] => {
                    let below = format!("{folder}{name}/");
                    let mut depth = 0;
                    let is_end = |word: &&str| {
                        depth += i32::from(*word == "{") - i32::from(*word == "}");
                        depth < 0
                    };
                    let length = if *end == "{" { inside.iter().position(is_end).unwrap() } else { 0 };
                    let child = match *end {
                        ";" => self.read_file(source, Some(module), name, folder),
                        _ => self.add(source, Some(module), file, &below, &inside[..length]),
                    };
                    self.modules[module].children.insert((*name).to_owned(), child);
                    &inside[length..]
                }
                // `pub(in super::super)` is no import.
                ["pub", "(", "in", ..] => &rest[rest.iter().position(|word| *word == ")").unwrap()..],
                // `::name` is another crate, or an item of what is in front of it.
                ["::", _, behind @ ..] => behind,
                ["use", tree_of @ ..] if tree_of.first() != Some(&"::") => {
                    tree(Vec::new(), tree_of, matches!(before, "pub" | ")"), &mut all)
                }
                [name, "::", ..] if is_name(name) => {
                    let steps =
                        rest.chunks(2).take_while(|pair| is_name(pair[0]) && pair.get(1) == Some(&"::"));
                    let end = 2 * steps.count();
                    let path = rest[..=end].iter().step_by(2).copied().filter(|word| is_name(word));
                    all.push(named(&path.collect::<Vec<_>>(), None, false));
                    &rest[end + 1..]
                }
                _ => behind,
            };
            before = word;
        }
        self.modules[module].named = all;
        module
    }

    fn read_file(&mut self, source: &Path, parent: Option<usize>, name: &str, folder: &str) -> usize {
        let below = if parent.is_some() { format!("{folder}{name}/") } else { String::new() };
        // One file is called in another way: `#[path = "private.rs"] mod __private`.
        let files = [format!("{folder}{}.rs", name.trim_start_matches('_')), format!("{below}mod.rs")];
        let file = files.iter().find(|file| source.join(file).is_file());
        let file = file.unwrap_or_else(|| panic!("`mod {name}` is in no file of {files:?}"));
        let mut all = Vec::new();
        words(shipped(&fs::read_to_string(source.join(file)).unwrap()), &mut all);
        self.add(source, parent, file, &below, &all.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Where a path leads that `module` names; nowhere if it leaves the crate.
    fn follow(&self, module: usize, path: &[String], depth: usize) -> Option<Found> {
        let mut at = if path[0] == "crate" { 0 } else { module };
        for (position, name) in path.iter().enumerate() {
            let Module { parent, children, named, .. } = &self.modules[at];
            let called = named.iter().find(|named| named.alias.as_ref() == Some(name));
            at = match name.as_str() {
                "crate" | "self" => at,
                "super" => (*parent)?,
                _ if children.contains_key(name) => children[name],
                _ => match called.filter(|named| named.path[0] != *name && depth < 16) {
                    Some(named) => match self.follow(at, &named.path, depth + 1)? {
                        Found::Module(module) => module,
                        item @ Found::Item(_) => return Some(item),
                    },
                    None => return (position > 0).then_some(Found::Item(at)),
                },
            };
        }
        Some(Found::Module(at))
    }

    /// The module at the top of the crate in which `module` lies; none for the root.
    fn top(&self, module: usize) -> Option<&str> {
        let parent = self.modules[module].parent?;
        let is_it = |(_, child): &(&String, &usize)| **child == module;
        if parent > 0 { self.top(parent) } else { Some(self.modules[0].children.iter().find(is_it)?.0) }
    }

    fn is_below(&self, module: usize, other: usize) -> bool {
        self.modules[module].parent.is_some_and(|parent| parent == other || self.is_below(parent, other))
    }

    /// What is wrong with the imports of the crate.
    fn wrong(&self, one_thing: &[&str]) -> Vec<String> {
        let listed: BTreeSet<&String> = self.layers.iter().flatten().collect();
        let top: BTreeSet<&String> = self.modules[0].children.keys().collect();
        let mut wrong: Vec<String> = listed
            .symmetric_difference(&top)
            .map(|name| format!("`{name}` is not in both: src, and the head of lib.rs"))
            .collect();
        let layer =
            |module: &str| self.layers.iter().position(|names| names.iter().any(|name| name == module));
        let (mut of_modules, mut of_files) = (Arrows::new(), Arrows::new());
        for (from, module) in self.modules.iter().enumerate() {
            for named in &module.named {
                // A `use` that only makes a name known, of a module or of what lies in a file below, imports nothing yet.
                let (to, is_face) = match self.follow(from, &named.path, 0) {
                    Some(Found::Module(to)) => (to, named.alias.as_ref().is_some_and(|alias| alias != "*")),
                    Some(Found::Item(to)) => (to, named.is_public && self.is_below(to, from)),
                    None => continue,
                };
                let path = named.path.join("::");
                if let (Some(from), Some(to)) = (self.top(from), self.top(to)) {
                    if from != to && layer(from) > layer(to) {
                        wrong.push(format!("{} imports `{path}`: `{to}` stands above `{from}`", module.file));
                    }
                    of_modules.entry(from).or_default().insert(to, path.clone());
                }
                if !is_face {
                    of_files.entry(&module.file).or_default().insert(&self.modules[to].file, path);
                }
            }
        }
        wrong.extend(circles(&of_modules).iter().map(|circle| said(circle, &of_modules)));
        let mut needed = BTreeSet::new();
        for circle in circles(&of_files) {
            match one_thing.iter().find(|folder| circle.iter().all(|file| file.starts_with(**folder))) {
                Some(folder) => drop(needed.insert(*folder)),
                None => wrong.push(said(&circle, &of_files)),
            }
        }
        wrong.extend(one_thing.iter().filter(|f| !needed.contains(**f)).map(|f| format!("no circle in {f}")));
        wrong
    }
}

/// Who imports whom, and a path by which.
type Arrows<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

/// Those that reach each other.
fn circles<'a>(arrows: &Arrows<'a>) -> BTreeSet<BTreeSet<&'a str>> {
    let reach = |from: &'a str| {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            let next = arrows.get(at).into_iter().flat_map(BTreeMap::keys).copied();
            open.extend(next.filter(|to| *to != at && found.insert(*to)));
        }
        found
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows.keys().map(|from| (*from, reach(from))).collect();
    let circle = |(from, behind): (&&'a str, &BTreeSet<&'a str>)| -> BTreeSet<&'a str> {
        let returns = |to: &&str| reached.get(to).is_some_and(|behind| behind.contains(from));
        behind.iter().copied().filter(returns).collect()
    };
    reached.iter().map(circle).filter(|circle| !circle.is_empty()).collect()
}

fn said(circle: &BTreeSet<&str>, arrows: &Arrows<'_>) -> String {
    let arrows = circle.iter().flat_map(|from| arrows[from].iter().map(move |(to, path)| (from, to, path)));
    let arrows = arrows.filter(|(from, to, _)| from != to && circle.contains(**to));
    let lines: String = arrows.map(|(from, to, path)| format!("\n  {from} -> {to}: {path}")).collect();
    format!("a circle:{lines}")
}

#[test]
fn arrows_are_seen_however_they_are_written() {
    let found = |one: &str, two: &str| {
        let directory = tempfile::tempdir().unwrap();
        let head = "//! ```text\n//! above, beside   over\n//! below   under\n//! ```\nmod above; mod beside; mod below;";
        let above = "pub use crate::below::two::Two;";
        let face = "mod one; pub mod two; pub use one::One; pub struct Face;";
        fs::create_dir(directory.path().join("below")).unwrap();
        for (path, text) in [
            ("lib", head),
            ("above", above),
            ("beside", ""),
            ("below/mod", face),
            ("below/one", one),
            ("below/two", two),
        ] {
            fs::write(directory.path().join(path).with_extension("rs"), text).unwrap();
        }
        Crate::read(directory.path()).wrong(&[])
    };
    for (text, is_arrow) in [
        ("use crate::{above::Thing as Other};", true),
        ("use super::super::above;", true),
        ("mod inner { use super::super::super::above::{self, Thing}; }", true),
        ("impl crate::above::Way for u8 {}", true),
        ("fn f() { let _ = <u8 as crate::above::Way>::f; }", true),
        ("macro_rules! m { () => { $crate::above::Thing } }", true),
        ("/// crate::above::Thing\nconst A: &str = \"crate::above::Thing\";", false),
        ("#[cfg(test)] mod tests { use crate::above::Thing; }", false),
        ("#[cfg(all(test, not(miri)))] use crate::above::{Thing};", false),
        ("use ::above::Thing; use std::above;", false),
        ("mod above { pub struct Thing; } use above::Thing as Own;", false),
        // A face is no arrow.
        ("use super::Face; pub struct One;", false),
    ] {
        let said = found(text, "use super::One;");
        let is_upward = |line: &String| line.ends_with("`above` stands above `below`");
        assert_eq!(said.iter().any(is_upward), is_arrow, "{text}: {said:?}");
        assert!(is_arrow || said.is_empty(), "{text}: {said:?}");
    }
    // A circle behind a name that is passed on.
    let said = found("pub struct One; fn f() { crate::above::Two::f() }", "use super::One; pub struct Two;");
    assert!(matches!(&said[..], [circle] if circle.contains("below/one.rs -> below/two.rs")), "{said:?}");
}
