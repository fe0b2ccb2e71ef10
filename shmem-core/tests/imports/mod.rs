//! Which file of a crate imports which, and what is said of it: that modules at the top of the crate stand in the order
//! that its `lib.rs` lists, and that neither they nor files import each other in a circle.
//!
//! The sources are read as tokens, so comments and texts say nothing, and what macros expand to counts. An import is
//! every path, in a `use` with its braces, behind `impl`, or in the middle of an expression, that names a module or an item of the
//! crate. It leads to where the item is: names that a file only passes on (`pub use`) are followed. What is
//! compiled for tests alone (`#[cfg(test)]`) is left out.
//!
//! `tests/layers.rs` of shmem-core, shmem-launch, shmem-rt and fabric-shim has this file as a module, and its tests from
//! [`holds`].

mod circle;
mod module;
mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use module::{Found, Modules};

/// The tests that each of these crates has: imports point downwards, and there is no circle, but among the files of
/// folders that are one thing. Their heads say why.
macro_rules! holds {
    ($($one_thing:literal),*) => {
        fn imports() -> imports::Imports {
            imports::Imports::of(env!("CARGO_MANIFEST_DIR"))
        }

        #[test]
        fn imports_point_downwards() {
            let wrong = imports().upwards();
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }

        #[test]
        fn modules_at_the_top_import_each_other_in_no_circle() {
            let wrong = imports().circles_of_modules();
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }

        #[test]
        fn files_import_each_other_in_no_circle() {
            let wrong = imports().circles_of_files(&[$($one_thing),*]);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    };
}
pub(crate) use holds;

/// The imports of a crate.
pub(crate) struct Imports {
    modules: Modules,
    head: String,
    found: Vec<Import>,
}

/// One file, or one module, names something in another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    from: usize,
    to: usize,
    path: String,
    /// The path is a `use` that only makes a name known: of a module, or of what lies in a file below, for others.
    face: bool,
}

impl Imports {
    /// Reads the crate whose `Cargo.toml` lies in `directory`.
    pub(crate) fn of(directory: &str) -> Self {
        let root = Path::new(directory).join("src/lib.rs");
        let head = fs::read_to_string(&root).expect("a crate has a lib.rs");
        let modules = Modules::read(root);
        let mut found = BTreeSet::new();
        for (from, module) in modules.all.iter().enumerate() {
            for named in &module.named {
                let (to, face) = match modules.follow(from, &named.path) {
                    Some(Found::Module(to)) => (to, named.is_use && !named.is_glob),
                    Some(Found::Item(to)) => (to, named.passes_on && modules.is_below(to, from)),
                    None => continue,
                };
                found.insert(Import { from, to, path: named.path.join("::"), face });
            }
        }
        Self { modules, head, found: found.into_iter().collect() }
    }

    /// Says which imports run against the order of modules that the head of `lib.rs` lists between "```text" and "```",
    /// uppermost first, a line for each layer: names with commas between them, and behind two spaces what they are.
    pub(crate) fn upwards(&self) -> Vec<String> {
        let layers = layers(&self.head);
        let listed: Vec<&str> = layers.iter().flatten().map(String::as_str).collect();
        let top: Vec<&str> = self.modules.all[0].children.keys().map(String::as_str).collect();
        let mut wrong = Vec::new();
        for module in top.iter().filter(|module| !listed.contains(module)) {
            wrong.push(format!("the head of lib.rs leaves out `{module}`"));
        }
        for (position, module) in listed.iter().enumerate() {
            if !top.contains(module) || listed[..position].contains(module) {
                wrong.push(format!(
                    "the head of lib.rs lists `{module}`, which is not there, or once already"
                ));
            }
        }
        let layer = |module: &str| layers.iter().position(|names| names.iter().any(|name| name == module));
        for import in &self.found {
            let (Some(from), Some(to)) = (self.modules.top(import.from), self.modules.top(import.to)) else {
                continue;
            };
            if from != to && layer(from) > layer(to) {
                wrong.push(format!(
                    "{} imports `{}`: `{to}` stands above `{from}`",
                    self.file(import.from),
                    import.path
                ));
            }
        }
        wrong.sort();
        wrong.dedup();
        wrong
    }

    /// Says which modules at the top of the crate import each other in a circle.
    pub(crate) fn circles_of_modules(&self) -> Vec<String> {
        let arrows = self.found.iter().filter_map(|import| {
            let ends = (self.modules.top(import.from)?, self.modules.top(import.to)?);
            Some((ends.0.to_owned(), ends.1.to_owned(), import.path.clone()))
        });
        circle::circles(arrows).iter().map(circle::Circle::to_string).collect()
    }

    /// Says which files import each other in a circle, but for those below the folders (or files) of `granted`; and which
    /// of those need no exception. Faces import nothing: a file may pass on what lies in files below it.
    pub(crate) fn circles_of_files(&self, granted: &[&str]) -> Vec<String> {
        let arrows = self.found.iter().filter(|import| !import.face).filter_map(|import| {
            let (from, to) = (self.file(import.from), self.file(import.to));
            (from != to).then(|| (from, to, import.path.clone()))
        });
        let (mut wrong, mut needed) = (Vec::new(), BTreeSet::new());
        for circle in circle::circles(arrows) {
            let holds = |folder: &&&str| circle.members.iter().all(|file| file.starts_with(**folder));
            match granted.iter().filter(holds).max_by_key(|folder| folder.len()) {
                Some(folder) => drop(needed.insert(*folder)),
                None => wrong.push(circle.to_string()),
            }
        }
        wrong.extend(
            granted.iter().filter(|folder| !needed.contains(*folder)).map(|f| format!("no circle in {f}")),
        );
        wrong
    }

    /// A file as it is said, below `src`.
    fn file(&self, module: usize) -> String {
        let file: &PathBuf = &self.modules.all[module].file;
        file.strip_prefix(&self.modules.source).expect("all files lie below it").display().to_string()
    }
}

fn layers(head: &str) -> Vec<Vec<String>> {
    let prose = |line: &str| line.trim_start_matches(['/', '!']).strip_prefix(' ').map(str::to_owned);
    let lines = head.lines().skip_while(|line| !line.ends_with("```text")).skip(1);
    let lines = lines.take_while(|line| !line.ends_with("```")).filter_map(prose);
    let names =
        |line: String| line.split("  ").next().unwrap_or_default().split(", ").map(str::to_owned).collect();
    lines.filter(|line| !line.is_empty() && !line.starts_with(' ')).map(names).collect()
}

/// Sources that stand nowhere but in this test, as (path, text), and what is found in them.
#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Imports {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join("src").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Imports::of(directory.path().to_str().unwrap())
    }

    const HEAD: &str = "//! ```text\n//! above, beside   over\n//! below   under\n//! ```\nmod above; mod beside; pub mod below;";

    fn below(text: &str) -> Vec<String> {
        let above =
            ("above.rs", "pub struct Thing; pub trait Way {} #[macro_export] macro_rules! made { () => {} }");
        of(&[("lib.rs", HEAD), above, ("beside.rs", ""), ("below.rs", text)]).upwards()
    }

    #[test]
    fn an_arrow_up_is_seen_however_it_is_written() {
        for text in [
            "use crate::above::Thing;",
            "use crate::above;",
            "use crate::{above::Thing as Other};",
            "use super::above::*;",
            "mod inner { use super::super::above::{self, Thing}; }",
            "impl crate::above::Way for u8 {}",
            "fn f() { let _ = <u8 as crate::above::Way>::f; }",
            "macro_rules! m { () => { $crate::above::Thing } }",
            "fn f() { crate::made!(); }",
        ] {
            let said = below(text);
            assert!(
                !said.is_empty() && said.iter().all(|line| line.ends_with("`above` stands above `below`")),
                "{text}: {said:?}"
            );
        }
    }

    #[test]
    fn what_is_no_import_is_none() {
        for text in [
            "// use crate::above::Thing;\n/// crate::above::Thing\nconst A: &str = \"crate::above::Thing\";",
            "#[cfg(test)] mod tests { use crate::above::Thing; }",
            "#[cfg(test)] use crate::above::Thing;",
            "#[cfg(all(test, not(miri)))] mod tests { use crate::above::Thing; }",
            "use ::above::Thing; use std::above;",
            "mod above { pub struct Thing; } use above::Thing as Own;",
            "macro_rules! m { ($use:ident, $($level:ty = $other:ident)*) => { const A: Level = Level::$use; } }",
        ] {
            assert_eq!(below(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_list_that_is_not_the_crate_is_refused() {
        let said = of(&[
            ("lib.rs", "//! ```text\n//! one  is there\n//! two  is not\n//! ```\nmod one; mod three;"),
            ("one.rs", ""),
            ("three.rs", ""),
        ]);
        assert_eq!(said.upwards().len(), 2, "{:?}", said.upwards());
    }

    #[test]
    fn a_name_that_is_passed_on_leads_to_where_it_is() {
        let files = [
            ("lib.rs", HEAD),
            ("above.rs", "pub use crate::below::Thing;"),
            ("beside.rs", "use crate::above::Thing;"),
        ];
        let said = of(&[&files[..], &[("below.rs", "pub struct Thing; use crate::beside::Other;")]].concat());
        let circles = said.circles_of_modules();
        assert_eq!(circles.len(), 1, "{circles:?}");
        assert!(
            circles[0].starts_with("circle of below, beside:")
                || circles[0].starts_with("circle of beside, below:"),
            "{circles:?}"
        );
    }

    #[test]
    fn files_in_a_circle_are_found_and_faces_are_none() {
        let face = "mod one; mod two; pub use one::One; pub struct Face;";
        let one = ("below/one.rs", "use super::Face; pub struct One;");
        let open = [("lib.rs", HEAD), ("above.rs", ""), ("beside.rs", ""), ("below/mod.rs", face), one];
        let said = of(&[&open[..], &[("below/two.rs", "use super::One;")]].concat());
        assert_eq!(said.circles_of_files(&[]), Vec::<String>::new());
        assert_eq!(said.circles_of_files(&["below"]), ["no circle in below"]);
        let circle = [
            ("lib.rs", HEAD),
            ("above.rs", ""),
            ("beside.rs", ""),
            ("below/mod.rs", face),
            ("below/two.rs", "use super::One;"),
        ];
        let said =
            of(&[&circle[..], &[("below/one.rs", "pub struct One; fn f() { super::two::f() }")]].concat());
        assert_eq!(said.circles_of_files(&[]).len(), 1);
        assert_eq!(said.circles_of_files(&["below"]), Vec::<String>::new());
    }
}
