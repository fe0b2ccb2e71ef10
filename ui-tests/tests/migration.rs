//! The page for users of OpenSHMEM has every name of the specification, and every path in the page exists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use shmem::Family;
use shmem::env::VARIABLES;
use ui_tests::Compiler;

const PAGE: &str = include_str!("../../docs/from-openshmem.md");
const SPECIFICATION: &str = include_str!("../openshmem/openshmem-1.6.txt");
const EXTENSIONS: &str = include_str!("../openshmem/extensions.txt");

/// All names, and the lists that patterns of the page use: any type, any size.
fn known() -> (Vec<String>, Lists) {
    let mut lists = Lists::new();
    let mut all = names_of(SPECIFICATION, &mut lists);
    all.extend(names_of(EXTENSIONS, &mut lists));
    let mut types: Vec<String> = lists["REDUCE_SUM"].clone();
    types.sort();
    (all, Lists::from([("TYPENAME".to_owned(), types), ("SIZE".to_owned(), lists["BITS"].clone())]))
}

#[test]
fn every_name_stands_in_the_page_once() {
    let (all, lists) = known();
    let mut places: BTreeMap<&str, Vec<usize>> = all.iter().map(|name| (name.as_str(), Vec::new())).collect();
    assert_eq!(places.len(), all.len(), "a name stands in the lists twice");
    assert!(all.len() > 2000, "{} names", all.len());
    for row in rows(PAGE) {
        for pattern in &row.names {
            let mut found = 0;
            for name in expand(&families(pattern), &lists) {
                if let Some(lines) = places.get_mut(&*name) {
                    lines.push(row.line);
                    found += 1;
                }
            }
            assert!(found > 0, "line {}: `{pattern}` is no name of the lists", row.line);
        }
    }
    places.retain(|_, lines| lines.len() != 1);
    assert!(places.is_empty(), "not in one line: {places:?}");
}

/// A pattern of the page in the notation of the lists. `putSIZE` is a family; `SHMEM_SYNC_SIZE` is a name.
fn families(pattern: &str) -> String {
    let pattern = pattern.replace("TYPENAME", "<TYPENAME>");
    if pattern.starts_with("shmem_") { pattern.replace("SIZE", "<SIZE>") } else { pattern }
}

#[test]
fn every_row_leads_somewhere_or_says_why_not_and_every_variable_is_one() {
    let is_ours = |name: &str| VARIABLES.iter().any(|variable| variable.name == name);
    for row in rows(PAGE) {
        let absent = row.here.strip_prefix("absent: ").is_some_and(|why| why.len() > 10);
        let mut variables = quoted(&row.here);
        variables.retain(|quoted| quoted.starts_with("SHMEM_"));
        let names_ours = !variables.is_empty() && variables.iter().all(|name| is_ours(name));
        let leads = row.here.contains("`shmem::") || absent || names_ours;
        assert!(leads && !row.names.is_empty(), "{row:?}");
    }
    let (all, _) = known();
    for quoted in quoted(PAGE).iter().filter(|quoted| quoted.starts_with("SHMEM_")) {
        let name = quoted.split(['=', '[', '{', ' ']).next().unwrap_or_default();
        let is_known = is_ours(name) || all.iter().any(|known| known.starts_with(name));
        assert!(is_known, "`{quoted}` is no variable");
    }
}

/// Rustdoc resolves the paths, as links in the documentation of an empty crate. It finds methods, items of traits, macros and fields by
/// their names.
#[test]
fn every_path_in_the_page_leads_somewhere() {
    let mut paths = paths(PAGE);
    assert!(paths.len() > 150, "{} paths", paths.len());
    let compiler = Compiler::of_this_test();
    assert_eq!(unresolved(&paths, &compiler), [""; 0]);
    // A path that does not exist is found.
    paths.extend(["shmem::Rma::putt".into(), "shmem::Worlds".into()]);
    assert_eq!(unresolved(&paths, &compiler), ["shmem::Rma::putt", "shmem::Worlds"]);
}

/// This library shows the examples of shmem-core, which import from this library. Their doc tests compile without it, so their imports
/// are resolved here.
#[test]
fn what_examples_of_the_core_import_is_here() {
    let mut paths = Vec::new();
    sources(&["../shmem-core/src"], |path, line| {
        let example = line.trim_start().strip_prefix("/// ").unwrap_or_default();
        let import = example.trim_start_matches("# ").strip_prefix("use shmem::");
        if let Some((module, names)) = import.and_then(|import| import.strip_suffix("};")?.split_once('{')) {
            paths.extend(names.split(", ").map(|name| format!("shmem::{module}{name}")));
        } else if let Some(path) = import.and_then(|import| import.strip_suffix(';')) {
            paths.push(format!("shmem::{path}"));
        }
        // Topologies belong to the core.
        let own = example.contains(" mod shmem ") || path.ends_with("topology/mod.rs");
        assert!(own || !example.contains("use shmem_core::"), "{}: {line}", path.display());
    });
    paths.sort();
    paths.dedup();
    // A module and a macro, which a link cannot tell apart.
    paths.retain(|path| path != "shmem::padded");
    assert!(paths.len() > 10, "{paths:?}");
    assert_eq!(unresolved(&paths, &Compiler::of_this_test()), [""; 0]);
}

fn sources(directories: &[&str], mut look: impl FnMut(&Path, &str)) {
    let mut directories: Vec<PathBuf> = directories.iter().map(PathBuf::from).collect();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                text.lines().for_each(|line| look(&path, line));
            }
        }
    }
}

fn unresolved(paths: &[String], compiler: &Compiler) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("paths.rs");
    let links = paths.iter().fold(String::new(), |links, path| format!("{links}//! [{}]\n//!\n", link(path)));
    let head = "#![deny(rustdoc::broken_intra_doc_links)]\n";
    std::fs::write(&file, format!("{head}{links}extern crate shmem;\n")).unwrap();
    let said = compiler.document(&file).err().unwrap_or_default();
    let missing = said.lines().filter_map(|line| line.split_once("unresolved link to `"));
    let missing: Vec<String> =
        missing.filter_map(|(_, rest)| rest.split('`').next()).map(str::to_owned).collect();
    assert_eq!(said.is_empty(), missing.is_empty(), "{said}");
    missing
}

/// A path as a link for rustdoc. A type and its derive have one name.
fn link(path: &str) -> String {
    let last = path.rsplit("::").next().unwrap_or(path);
    let constant = last.chars().all(|c| c.is_uppercase() || c == '_');
    match last.starts_with(char::is_uppercase) {
        true if !constant => format!("type@{path}"),
        _ => path.to_owned(),
    }
}

/// Each routine that the documentation names is in the specification. The table of operations and the page name the same routine for an
/// operation.
#[test]
fn every_routine_that_the_documentation_and_the_table_of_operations_cite_exists() {
    let (all, lists) = known();
    let mut cited = 0;
    sources(&["../shmem-core/src", "../shmem-rt/src"], |path, line| {
        if line.contains("Source: OpenSHMEM") {
            for name in quoted(line).iter().filter(|name| !name.contains('"')) {
                cited += 1;
                let is_known = all.contains(name) || !name.to_lowercase().starts_with("shmem");
                assert!(is_known, "{}: {line}", path.display());
            }
        }
    });
    assert!(cited > 50, "{cited} citations");
    let rows = rows(PAGE);
    // One family of several routines of heaps, one of teams; dropping a guard releases a lock.
    let others = [Family::Memory, Family::Teams, Family::ClearLock];
    let single = |family: &&Family| !others.contains(family) && !family.routine().is_empty();
    for family in Family::ALL.iter().filter(single) {
        let routine = family.routine().to_owned();
        let name = format!("::{}`", family.name().trim_end_matches("_nbi"));
        let names = |pattern: &String| expand(&families(pattern), &lists).contains(&routine);
        let row = rows.iter().find(|row| row.names.iter().any(names));
        let is_said = all.contains(&routine) && row.is_some_and(|row| row.here.contains(&name));
        assert!(is_said, "{family:?}: {routine} is not said to be `{name}: {row:?}");
    }
}

#[derive(Debug)]
struct Row {
    line: usize,
    names: Vec<String>,
    /// Paths in this library.
    here: String,
}

/// The rows of all tables whose first column is headed `OpenSHMEM`.
fn rows(page: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut inside = false;
    for (line, text) in (1..).zip(page.lines()) {
        let Some(cells) = text.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        if cells[0] == "OpenSHMEM" {
            inside = true;
        } else if inside && !cells[0].starts_with("--") {
            rows.push(Row { line, names: quoted(cells[0]), here: cells[1].to_owned() });
        }
    }
    rows
}

fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The paths into this library that the page names outside its code.
fn paths(page: &str) -> Vec<String> {
    let prose = page.split("```").step_by(2).flat_map(quoted);
    let mut paths: Vec<String> = prose.filter(|quoted| quoted.starts_with("shmem::")).collect();
    paths.sort();
    paths.dedup();
    paths
}

type Lists = BTreeMap<String, Vec<String>>;

/// Every name that a pattern stands for, in order.
fn expand(pattern: &str, lists: &Lists) -> Vec<String> {
    let Some(open) = pattern.find(['{', '[', '<']) else {
        return vec![pattern.to_owned()];
    };
    let (head, rest) = pattern.split_at(open);
    // The parts of the group, between its commas that are in no group inside.
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 1);
    let close = rest.char_indices().find_map(|(at, c)| {
        depth += i32::from(matches!(c, '{' | '[' | '<')) - i32::from(matches!(c, '}' | ']' | '>'));
        if depth == 0 || c == ',' && depth == 1 {
            parts.push(&rest[start..at]);
            start = at + 1;
        }
        (depth == 0).then_some(at)
    });
    let close = close.unwrap_or_else(|| panic!("a group without an end: {rest}"));
    let middle: Vec<String> = match (&rest[..1], lists.get(&rest[1..close])) {
        ("<", Some(words)) => words.clone(),
        ("<", None) => vec![rest[..=close].to_owned()],
        (kind, _) => {
            let none = (kind == "[").then(String::new);
            none.into_iter().chain(parts.into_iter().flat_map(|one| expand(one, lists))).collect()
        }
    };
    let tails = expand(&rest[close + 1..], lists);
    middle.iter().flat_map(|middle| tails.iter().map(move |tail| format!("{head}{middle}{tail}"))).collect()
}

/// The names of a file, and the lists of words that it defines. A list is given by `NAME = words`, and made
/// longer by `NAME += words`.
fn names_of(text: &str, lists: &mut Lists) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(" = ").or_else(|| line.split_once(" += ")) {
            Some((list, words)) => {
                let words: Vec<String> = words.split(' ').flat_map(|word| expand(word, lists)).collect();
                lists.entry(list.to_owned()).or_default().extend(words);
            }
            None => names.extend(expand(line, lists)),
        }
    }
    names
}
