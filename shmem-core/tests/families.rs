//! The table of operation families, compared with the documentation.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use shmem_core::observe::Family;

/// Returns the table as the documentation has it.
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
