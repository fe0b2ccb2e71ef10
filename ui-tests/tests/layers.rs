//! Which file of a crate imports which: modules at the top of a crate stand in the order that its `lib.rs` lists, imports point
//! downwards, and neither modules nor files import each other in a circle.
//!
//! An import is every path, in a `use`, in code or in a macro, that names a module or an item of the crate. It leads to where the
//! item is: a `use` that passes a name on is followed. What is compiled for tests alone (`#[cfg(test)]`) is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Expr, ExprLit, Item, ItemConst, ItemEnum, ItemFn, ItemImpl, ItemMacro, ItemMod, ItemStatic,
    ItemStruct, ItemTrait, ItemType, ItemUse, Lit, Macro, UseTree, Visibility,
};

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

/// Reads a module of a crate, and those below it.
struct Reader<'a> {
    modules: &'a mut Vec<Module>,
    source: &'a Path,
    file: String,
    module: usize,
    /// Where files of modules below this one are.
    folder: String,
}

impl Reader<'_> {
    fn read(
        modules: &mut Vec<Module>,
        source: &Path,
        parent: Option<usize>,
        file: &str,
        folder: &str,
    ) -> usize {
        let text = fs::read_to_string(source.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let module = new(modules, file, parent);
        let mut syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        Reader { modules, source, file: file.to_owned(), module, folder: folder.to_owned() }
            .visit_file_mut(&mut syntax);
        module
    }

    fn name(&mut self, path: Vec<String>, alias: Option<String>, is_public: bool) {
        self.modules[self.module].named.push(Named { path, alias, is_public });
    }

    fn name_tree(&mut self, mut path: Vec<String>, tree: &UseTree, is_public: bool) {
        let (ident, alias) = match tree {
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.name_tree(path.clone(), tree, is_public));
            }
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                return self.name_tree(path, &step.tree, is_public);
            }
            UseTree::Glob(_) => return self.name(path, Some("*".to_owned()), is_public),
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(name) => (&name.ident, &name.rename),
        };
        let itself = path.last().filter(|_| alias == "self").cloned();
        path.extend((ident != "self").then(|| ident.to_string()));
        self.name(path, itself.or_else(|| Some(alias.to_string())), is_public);
    }
}

fn new(modules: &mut Vec<Module>, file: &str, parent: Option<usize>) -> usize {
    let (children, named) = (BTreeMap::new(), Vec::new());
    modules.push(Module { file: file.to_owned(), parent, children, named });
    modules.len() - 1
}

fn without_texts(tokens: TokenStream) -> TokenStream {
    let kept = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Literal(_) => None,
        TokenTree::Group(group) => Some(Group::new(group.delimiter(), without_texts(group.stream())).into()),
        other => Some(other),
    });
    kept.collect()
}

/// `#[path = "name.rs"]`
fn given(item: &ItemMod) -> Option<String> {
    let path = item.attrs.iter().find(|attribute| attribute.path().is_ident("path"))?;
    match &path.meta.require_name_value().ok()?.value {
        Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
        _ => None,
    }
}

impl VisitMut for Reader<'_> {
    fn visit_item_mut(&mut self, item: &mut Item) {
        let is_for_tests = |attribute: &Attribute| {
            let condition = attribute.meta.require_list().map(|list| list.tokens.to_string());
            attribute.path().is_ident("cfg")
                && condition.is_ok_and(|condition| condition == "test" || condition.starts_with("all (test"))
        };
        match item {
            Item::Const(ItemConst { attrs, .. })
            | Item::Enum(ItemEnum { attrs, .. })
            | Item::Fn(ItemFn { attrs, .. })
            | Item::Impl(ItemImpl { attrs, .. })
            | Item::Macro(ItemMacro { attrs, .. })
            | Item::Mod(ItemMod { attrs, .. })
            | Item::Static(ItemStatic { attrs, .. })
            | Item::Struct(ItemStruct { attrs, .. })
            | Item::Trait(ItemTrait { attrs, .. })
            | Item::Type(ItemType { attrs, .. })
            | Item::Use(ItemUse { attrs, .. })
                if attrs.iter().any(is_for_tests) => {}
            _ => visit_mut::visit_item_mut(self, item),
        }
    }

    fn visit_item_mod_mut(&mut self, item: &mut ItemMod) {
        let name = item.ident.to_string();
        let below = format!("{}{name}/", self.folder);
        let child = if item.content.is_some() {
            let child = new(self.modules, &self.file, Some(self.module));
            let outer = (self.module, std::mem::replace(&mut self.folder, below));
            self.module = child;
            visit_mut::visit_item_mod_mut(self, item);
            (self.module, self.folder) = outer;
            child
        } else {
            let beside = Path::new(&self.file).parent().unwrap().join(given(item).unwrap_or_default());
            let all =
                [beside.display().to_string(), format!("{}{name}.rs", self.folder), format!("{below}mod.rs")];
            let file = all.iter().find(|file| self.source.join(file).is_file());
            let file = file.unwrap_or_else(|| panic!("`mod {name}` of {} is in no file", self.file));
            Self::read(self.modules, self.source, Some(self.module), file, &below)
        };
        self.modules[self.module].children.insert(name, child);
    }

    fn visit_item_use_mut(&mut self, item: &mut ItemUse) {
        // `::name` is another crate.
        if item.leading_colon.is_none() {
            self.name_tree(Vec::new(), &item.tree, !matches!(item.vis, Visibility::Inherited));
        }
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.name(path.segments.iter().map(|segment| segment.ident.to_string()).collect(), None, false);
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        self.visit_path_mut(&mut call.path);
        let text = without_texts(call.tokens.clone()).to_string();
        for path in text.replace(" :: ", "::").split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        {
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            // `pub(in super::super)` is no import.
            if path.len() > 1
                && path.iter().all(|name| !name.is_empty())
                && path.last().is_some_and(|name| name != "super")
            {
                self.name(path, None, false);
            }
        }
    }

    fn visit_visibility_mut(&mut self, _: &mut Visibility) {}
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
        let mut modules = Vec::new();
        Reader::read(&mut modules, source, None, "lib.rs", "");
        Self { modules, layers }
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

/// What is found in sources that stand nowhere but here, as (path, text).
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Crate::read(directory.path()).wrong(&[])
}

#[test]
fn an_arrow_up_is_seen_however_it_is_written() {
    let head = "//! ```text\n//! above, beside   over\n//! below   under\n//! ```\nmod above; mod beside; mod below;";
    for (text, is_arrow) in [
        ("use crate::{above::Thing as Other};", true),
        ("use super::above;", true),
        ("mod inner { use super::super::above::{self, Thing}; }", true),
        ("impl crate::above::Way for u8 {}", true),
        ("fn f() { let _ = <u8 as crate::above::Way>::f; }", true),
        ("macro_rules! m { () => { $crate::above::Thing } }", true),
        ("/// crate::above::Thing\nconst A: &str = \"crate::above::Thing\";", false),
        ("#[cfg(test)] mod tests { use crate::above::Thing; }", false),
        ("#[cfg(all(test, not(miri)))] use crate::above::{Thing};", false),
        ("use ::above::Thing; use std::above;", false),
        ("mod above { pub struct Thing; } use above::Thing as Own;", false),
    ] {
        let said = found(&[("lib.rs", head), ("above.rs", ""), ("beside.rs", ""), ("below.rs", text)]);
        assert_eq!(!said.is_empty(), is_arrow, "{text}: {said:?}");
        assert!(said.iter().all(|line| line.ends_with("`above` stands above `below`")), "{said:?}");
    }
    assert_eq!(
        found(&[("lib.rs", "//! ```text\n//! one  is there\n//! ```\nmod two;"), ("two.rs", "")]).len(),
        2
    );
}

#[test]
fn circles_are_found_behind_names_that_are_passed_on() {
    let head = ("lib.rs", "//! ```text\n//! below, above   all\n//! ```\nmod above; mod below;");
    let above = ("above.rs", "pub use crate::below::two::Two;");
    let face = ("below/mod.rs", "mod one; pub mod two; pub use one::One; pub struct Face;");
    let one = ("below/one.rs", "use super::Face; pub struct One;");
    // A face is no arrow.
    assert_eq!(found(&[head, above, face, one, ("below/two.rs", "use super::One;")]), Vec::<String>::new());
    let one = ("below/one.rs", "pub struct One; fn f() { crate::above::Two::f() }");
    let said = found(&[head, above, face, one, ("below/two.rs", "use super::One; use crate::above;")]);
    let of_both = |circle: &String| circle.contains("above::Two") || circle.contains("above -> below");
    assert!(said.len() == 2 && said.iter().all(of_both), "{said:?}");
}
