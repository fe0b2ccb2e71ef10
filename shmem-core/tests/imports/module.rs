//! The modules of a crate, and where a path leads from one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::tokens::{self, Item};

/// All modules of a crate; the first one is its root.
pub(crate) struct Modules {
    pub source: PathBuf,
    pub all: Vec<Module>,
    /// Macros that stand at the root, wherever they are written.
    exported: BTreeMap<String, usize>,
}

/// A module, in a file of its own or inside another one's.
pub(crate) struct Module {
    pub file: PathBuf,
    pub parent: Option<usize>,
    pub children: BTreeMap<String, usize>,
    pub named: Vec<Named>,
    items: BTreeSet<String>,
}

/// A path that a module names.
pub(crate) struct Named {
    pub path: Vec<String>,
    /// What it is called here, if it is a `use`; nothing for `*`.
    pub name: Option<String>,
    pub is_use: bool,
    pub is_glob: bool,
    pub passes_on: bool,
}

/// Where a path leads: to a module, or to an item in it.
pub(crate) enum Found {
    Module(usize),
    Item(usize),
}

impl Modules {
    pub(crate) fn read(root: PathBuf) -> Self {
        let source = root.parent().expect("a file lies somewhere").to_owned();
        let mut modules = Self { all: Vec::new(), exported: BTreeMap::new(), source: source.clone() };
        let text = fs::read_to_string(&root).expect("the root can be read");
        modules.enter(None, &root, &source, tokens::items(&text));
        modules
    }

    /// Enters a module, whose children lie in `folder`, and those below it.
    fn enter(&mut self, parent: Option<usize>, file: &Path, folder: &Path, items: Vec<Item>) -> usize {
        let module = self.all.len();
        let (children, named) = (BTreeMap::new(), Vec::new());
        self.all.push(Module { file: file.to_owned(), parent, children, named, items: BTreeSet::new() });
        for item in items {
            match item {
                Item::Path(path) => self.all[module].named.push(path),
                Item::Defined(name) => drop(self.all[module].items.insert(name)),
                Item::Exported(name) => drop(self.exported.insert(name, module)),
                Item::Inline(name, items) => {
                    let child = self.enter(Some(module), file, &folder.join(&name), items);
                    self.all[module].children.insert(name, child);
                }
                Item::Module(name, path) => {
                    let own = file.parent().expect("a file lies somewhere");
                    let candidates = match path {
                        Some(path) => vec![own.join(path)],
                        None => vec![folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")],
                    };
                    let found = candidates.iter().find(|path| path.exists());
                    let found =
                        found.unwrap_or_else(|| panic!("`mod {name}` of {} is in no file", file.display()));
                    let text = fs::read_to_string(found).expect("the file of a module can be read");
                    let child = self.enter(Some(module), found, &folder.join(&name), tokens::items(&text));
                    self.all[module].children.insert(name, child);
                }
            }
        }
        module
    }

    /// The module at the top of the crate in which `module` lies; none for the root.
    pub(crate) fn top(&self, module: usize) -> Option<&str> {
        let mut at = module;
        while let Some(parent) = self.all[at].parent {
            if parent == 0 {
                return self.all[0]
                    .children
                    .iter()
                    .find(|(_, child)| **child == at)
                    .map(|(name, _)| name.as_str());
            }
            at = parent;
        }
        None
    }

    /// Whether `module` is inside `other`.
    pub(crate) fn is_below(&self, module: usize, other: usize) -> bool {
        self.all[module].parent.is_some_and(|parent| parent == other || self.is_below(parent, other))
    }

    /// Where a path leads that `module` names; nowhere if it leaves the crate, or is no path of modules.
    pub(crate) fn follow(&self, module: usize, path: &[String]) -> Option<Found> {
        self.follow_far(module, path, 0)
    }

    fn follow_far(&self, module: usize, path: &[String], depth: usize) -> Option<Found> {
        let (first, mut rest) = path.split_first()?;
        if depth > 32 {
            return None;
        }
        let mut at = match first.as_str() {
            "crate" => 0,
            "self" => module,
            "super" => self.all[module].parent?,
            _ => {
                rest = path;
                module
            }
        };
        while let Some((name, behind)) = rest.split_first() {
            if name == "super" {
                at = self.all[at].parent?;
            } else if name == "self" {
                // `use module::{self}`
            } else if let Some(&child) = self.all[at].children.get(name) {
                at = child;
            } else if let Some(found) = self.passed_on(at, name, depth) {
                match found {
                    Found::Module(module) => at = module,
                    item @ Found::Item(_) => return Some(item),
                }
            } else if self.all[at].items.contains(name) {
                return Some(Found::Item(at));
            } else if let Some(&module) = self.exported.get(name).filter(|_| at == 0) {
                return Some(Found::Item(module));
            } else {
                // A name that a macro makes, if the path is surely one of the crate.
                return (rest.len() < path.len()).then_some(Found::Item(at));
            }
            rest = behind;
        }
        Some(Found::Module(at))
    }

    /// Where a name leads that a `use` makes known in `module`.
    fn passed_on(&self, module: usize, name: &str, depth: usize) -> Option<Found> {
        let uses = || self.all[module].named.iter().filter(|named| named.is_use);
        if let Some(named) = uses().find(|named| named.name.as_deref() == Some(name)) {
            // `use name::..` of another crate leads nowhere, not back to itself.
            return if named.path[0] == name {
                None
            } else {
                self.follow_far(module, &named.path, depth + 1)
            };
        }
        let globs = uses().filter(|named| named.is_glob);
        globs.filter(|named| named.path[0] != name).find_map(|named| {
            let Found::Module(of) = self.follow_far(module, &named.path, depth + 1)? else { return None };
            let below = &self.all[of];
            if let Some(&child) = below.children.get(name) {
                return Some(Found::Module(child));
            }
            if below.items.contains(name) {
                return Some(Found::Item(of));
            }
            (depth < 8).then(|| self.passed_on(of, name, depth + 1))?
        })
    }
}
