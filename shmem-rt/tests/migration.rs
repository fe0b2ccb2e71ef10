//! The page for those who come from OpenSHMEM: it has every name, and every path in it leads somewhere.

#[path = "migration/names.rs"]
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use shmem::env::VARIABLES;
use shmem_core::observe::Family;

use names::Lists;

const PAGE: &str = include_str!("../../docs/from-openshmem.md");
const SPECIFICATION: &str = include_str!("migration/openshmem-1.6.txt");
const EXTENSIONS: &str = include_str!("migration/extensions.txt");

/// All names, and the lists that patterns of the page use: any type, any size.
fn known() -> (Vec<String>, Lists) {
    let mut lists = Lists::new();
    let mut all = names::read(SPECIFICATION, &mut lists);
    all.extend(names::read(EXTENSIONS, &mut lists));
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
    let mut faults = String::new();
    for row in rows(PAGE) {
        for pattern in &row.names {
            let mut found = false;
            for name in names::expand(&families(pattern), &lists) {
                if let Some(lines) = places.get_mut(name.as_str()) {
                    lines.push(row.line);
                    found = true;
                }
            }
            if !found {
                let _ = writeln!(faults, "line {}: `{pattern}` is no name of the lists", row.line);
            }
        }
    }
    for (name, lines) in places.iter().filter(|(_, lines)| lines.len() != 1) {
        let _ = writeln!(faults, "{name} stands in lines {lines:?}");
    }
    assert!(faults.is_empty(), "{faults}");
}

/// A pattern of the page in the notation of the lists. `putSIZE` is a family; `SHMEM_SYNC_SIZE` is a name.
fn families(pattern: &str) -> String {
    let pattern = pattern.replace("TYPENAME", "<TYPENAME>");
    if pattern.starts_with("shmem_") { pattern.replace("SIZE", "<SIZE>") } else { pattern }
}

#[test]
fn every_row_leads_somewhere_or_says_why_not() {
    let variables = |text: &str| {
        let quoted = quoted(text);
        let mut named = quoted.iter().filter(|quoted| quoted.starts_with("SHMEM_")).peekable();
        named.peek().is_some() && named.all(|name| VARIABLES.iter().any(|variable| variable.name == name))
    };
    let mut faults = String::new();
    for row in rows(PAGE) {
        let absent = row.here.strip_prefix("absent: ").is_some_and(|why| why.len() > 10);
        if !(row.here.contains("`shmem::") || absent || variables(&row.here)) || row.names.is_empty() {
            let _ = writeln!(faults, "line {}: {:?}", row.line, row);
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn every_variable_in_the_page_is_one() {
    let (all, _) = known();
    for quoted in quoted(PAGE).iter().filter(|quoted| quoted.starts_with("SHMEM_")) {
        let name = quoted.split(['=', '[', '{', ' ']).next().unwrap_or_default();
        let ours = VARIABLES.iter().any(|variable| variable.name == name);
        assert!(ours || all.iter().any(|known| known.starts_with(name)), "`{quoted}` is no variable");
    }
}

/// The paths are resolved by rustdoc, as links in the documentation of an empty crate: it knows methods, items
/// of traits, macros and fields, and takes no more than a name to find them.
#[test]
fn every_path_in_the_page_leads_somewhere() {
    let mut paths = paths(PAGE);
    assert!(paths.len() > 150, "{} paths", paths.len());
    let library = library();
    assert_eq!(unresolved(&paths, &library), [""; 0]);
    // What does not exist is found.
    paths.extend(["shmem::Rma::putt".into(), "shmem::Worlds".into()]);
    assert_eq!(unresolved(&paths, &library), ["shmem::Rma::putt", "shmem::Worlds"]);
}

/// The examples of shmem-core are shown by this library, and name it. They are compiled without it, as it stands above; here
/// what they import is looked for.
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
        // Topologies are the core's own.
        let own = example.contains(" mod shmem ") || path.ends_with("topology/mod.rs");
        assert!(own || !example.contains("use shmem_core::"), "{}: {line}", path.display());
    });
    paths.sort();
    paths.dedup();
    // A module and a macro, which a link cannot tell apart.
    paths.retain(|path| path != "shmem::padded");
    assert!(paths.len() > 10, "{paths:?}");
    assert_eq!(unresolved(&paths, &library()), [""; 0]);
}

/// Calls `look` with each line of the sources in these directories.
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

/// Those of the paths that lead nowhere, in order.
fn unresolved(paths: &[String], library: &Library) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("paths.rs");
    let links = paths.iter().fold(String::new(), |links, path| format!("{links}//! [{}]\n//!\n", link(path)));
    let head = "#![deny(rustdoc::broken_intra_doc_links)]\n";
    std::fs::write(&file, format!("{head}{links}extern crate shmem;\n")).unwrap();
    let dependencies = library.dependencies.iter().map(|place| format!("-Ldependency={}", place.display()));
    let output = Command::new(std::env::var_os("RUSTDOC").unwrap_or("rustdoc".into()))
        .args(["--edition", "2024", "--crate-name", "paths", "--error-format", "short"])
        .args(dependencies)
        .args(["--extern", &format!("shmem={}", library.file.display()), "--out-dir"])
        .args([directory.path(), &file])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let missing = said.lines().filter_map(|line| line.split_once("unresolved link to `"));
    let missing: Vec<String> =
        missing.filter_map(|(_, rest)| rest.split('`').next()).map(str::to_owned).collect();
    assert_eq!(output.status.success(), missing.is_empty(), "{said}");
    missing
}

/// A path as rustdoc wants it. A type and its derive have one name.
fn link(path: &str) -> String {
    let last = path.rsplit("::").next().unwrap_or(path);
    let constant = last.chars().all(|c| c.is_uppercase() || c == '_');
    match last.starts_with(char::is_uppercase) {
        true if !constant => format!("type@{path}"),
        _ => path.to_owned(),
    }
}

/// A compiled library.
struct Library {
    file: PathBuf,
    /// Where what it depends on lies: in one directory or in many, by the version of cargo.
    dependencies: BTreeSet<PathBuf>,
}

/// The one that cargo has built for these tests, or builds now.
fn library() -> Library {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--lib", "-p", "shmem-rt", "--message-format=json", "--offline"]);
    let output = build.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit()).output().unwrap();
    let messages = String::from_utf8(output.stdout).unwrap();
    let files = |line: &str| -> Vec<PathBuf> {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        let files = message["filenames"].as_array().into_iter().flatten();
        files.filter_map(|file| file.as_str()).map(PathBuf::from).collect()
    };
    let artifact = messages.lines().rfind(|line| line.contains("\"name\":\"shmem\"")).unwrap();
    let file = files(artifact).into_iter().find(|file| file.extension().is_some_and(|end| end == "rlib"));
    let dependencies = messages.lines().flat_map(files).filter_map(|file| Some(file.parent()?.to_path_buf()));
    Library { file: file.unwrap(), dependencies: dependencies.collect() }
}

/// What the documentation gives as its source is a name of the specification.
#[test]
fn every_routine_that_the_documentation_cites_exists() {
    let (all, _) = known();
    let (mut cited, mut faults) = (0, String::new());
    sources(&["../shmem-core/src", "src"], |path, line| {
        if line.contains("Source: OpenSHMEM") {
            for name in quoted(line).iter().filter(|name| !name.contains('"')) {
                cited += 1;
                if !all.contains(name) && name.to_lowercase().starts_with("shmem") {
                    let _ = writeln!(faults, "{}: {line}", path.display());
                }
            }
        }
    });
    assert!(faults.is_empty(), "{faults}");
    assert!(cited > 50, "{cited} citations");
}

/// The table of operations says which routine each of them is, and so does the page.
#[test]
fn the_page_agrees_with_the_table_of_operations() {
    let (all, lists) = known();
    let rows = rows(PAGE);
    let mut faults = String::new();
    // What is done with heaps is one line of the table, and with teams another.
    let several = [Family::Memory, Family::Teams];
    let single = |family: &&Family| !several.contains(family) && !family.routine().is_empty();
    for family in Family::ALL.iter().filter(single) {
        let routine = family.routine().to_owned();
        let name = format!("::{}`", family.name().trim_end_matches("_nbi"));
        let names = |row: &&Row| {
            row.names.iter().any(|pattern| names::expand(&families(pattern), &lists).contains(&routine))
        };
        let row = rows.iter().find(names);
        if !all.contains(&routine) || row.is_none_or(|row| !row.here.contains(&name)) {
            let _ = writeln!(faults, "{family:?}: {routine} is not said to be `{name}: {row:?}");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// A row of a table of names.
#[derive(Debug)]
struct Row {
    /// Its line in the page.
    line: usize,
    /// Patterns of names.
    names: Vec<String>,
    /// Where they are here.
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

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The paths into this library that the page names outside its code.
fn paths(page: &str) -> Vec<String> {
    let mut code = false;
    let prose = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        code ^= fence;
        !code && !fence
    });
    let mut paths: Vec<String> =
        prose.flat_map(quoted).filter(|quoted| quoted.starts_with("shmem::")).collect();
    paths.sort();
    paths.dedup();
    paths
}
