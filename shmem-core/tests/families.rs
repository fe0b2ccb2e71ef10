//! The table of operations, and the methods that it is a table of.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use shmem_core::observe::{Effect, Family};

/// Where the traits stand whose methods are operations.
const TRAITS: [&str; 7] = [
    "context/rma.rs",
    "context/raw.rs",
    "context/amo.rs",
    "context/order.rs",
    "context/wait_set.rs",
    "context/wait.rs",
    "context/strided/routines.rs",
];

/// What has a source there and moves nothing: an address of this PE, words to leave out.
const NO_OPERATIONS: [&str; 2] = ["address", "excluding"];

/// What the lines of macros have that make methods.
const LINES: [&str; 2] = [": put ", ": get "];

/// Where the same routines have forms that go on.
const GOING_ON: [&str; 3] =
    ["context/nonblocking/mod.rs", "context/nonblocking/owned.rs", "context/nonblocking/scope.rs"];

/// A method that has a source: its name, and the routines of OpenSHMEM that it names.
fn methods(file: &str) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)).unwrap();
    let mut sources: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some((_, routines)) = line.strip_prefix("/// ").and_then(|doc| doc.split_once("Source: ")) {
            sources = routines.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        }
        // Of rows of atomic operations: `update add(value) [] = value.addition(), AtomicAdd;`, which have no source if they are ours.
        let row = line.strip_prefix("update ").or_else(|| line.strip_prefix("fetch "));
        if let Some((name, _)) = row.and_then(|row| row.split_once('(')) {
            let is_ours = name.ends_with("_min") || name.ends_with("_max");
            found.extend((!is_ours).then(|| (name.to_owned(), vec![format!("shmem_atomic_{name}")])));
        }
        // Of macros' lines: `iput: put elements, Iput;`
        let name = line.strip_prefix("fn ").or_else(|| line.strip_prefix("pub fn ")).or_else(|| {
            line.strip_suffix(';').filter(|line| LINES.iter().any(|of_line| line.contains(of_line)))
        });
        if let Some(name) = name {
            let name: String = name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if !sources.is_empty() && !name.is_empty() {
                found.push((name, std::mem::take(&mut sources)));
            }
        }
    }
    found
}

#[test]
fn every_operation_with_a_source_stands_in_the_table_with_it() {
    let methods: Vec<_> = TRAITS.iter().flat_map(|file| methods(file)).collect();
    assert!(methods.len() > 30, "the methods are not found any more: {methods:?}");
    for (name, routines) in &methods {
        if NO_OPERATIONS.contains(&name.as_str()) {
            continue;
        }
        let name = name.trim_end_matches("_vector");
        let family = Family::ALL.iter().find(|family| family.name() == name);
        let family = family.unwrap_or_else(|| panic!("`{name}` stands in no line of the table"));
        assert!(
            routines.iter().any(|routine| routine.trim_end_matches("_vector") == family.routine()),
            "`{name}` says {routines:?}, the table `{}`",
            family.routine()
        );
    }
}

#[test]
fn forms_that_go_on_are_of_routines_in_the_table() {
    let methods: Vec<_> = GOING_ON.iter().flat_map(|file| methods(file)).collect();
    assert!(methods.len() > 10, "the methods are not found any more: {methods:?}");
    for (name, routines) in methods.iter().filter(|(name, _)| name != "scope") {
        let known = |routine: &String| Family::ALL.iter().any(|family| family.routine() == routine);
        assert!(routines.iter().all(known), "`{name}` says {routines:?}, which the table does not have");
    }
}

/// The table as the page shows it.
fn table() -> String {
    let mut text = String::from("| operation | does | goes on | OpenSHMEM |\n|---|---|---|---|\n");
    for family in Family::ALL {
        let routine = match family.routine() {
            "" => String::new(),
            routine => format!("`{routine}`"),
        };
        let goes_on = if family.is_nonblocking() { "yes" } else { "" };
        writeln!(text, "| `{family}` | {} | {goes_on} | {routine} |", family.effect()).unwrap();
    }
    text
}

#[test]
fn the_page_shows_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/src/observing.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once("<!-- table -->\n").unwrap();
    let (shown, tail) = rest.split_once("<!-- end of table -->").unwrap();
    if std::env::var_os("BLESS").is_some() {
        let page = format!("{head}<!-- table -->\n{}<!-- end of table -->{tail}", table());
        fs::write(&path, page).unwrap();
        return;
    }
    assert!(
        shown == table(),
        "docs/guide/src/observing.md is not the table any more: run this test with BLESS=1"
    );
}

#[test]
fn names_are_told_apart() {
    for (i, family) in Family::ALL.iter().enumerate() {
        assert_eq!(*family as usize, i);
        let meets = |family: Family| matches!(family.effect(), Effect::Collective | Effect::Barrier);
        let alike = Family::ALL[..i].iter().find(|other| other.name() == family.name());
        // `and` is an atomic and a reduction.
        assert!(alike.is_none_or(|other| meets(*other) != meets(*family)), "two are called `{family}`");
    }
}
