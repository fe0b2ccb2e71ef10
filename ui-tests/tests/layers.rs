//! Top-level modules import modules of lower layers only, in the order that the head of `lib.rs` lists.
//!
//! An import is a path `crate::module`, in a `use`, in code or in a macro. Comments and items of tests (`#[cfg(test)]`) are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ui_tests::shipped;

const CRATES: [&str; 4] = ["shmem-core", "shmem-launch", "shmem-rt", "tools/fabric-shim"];

#[test]
fn imports_point_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let wrong = CRATES.into_iter().flat_map(|name| {
        let wrong = wrong(&root.join(name).join("src"));
        wrong.into_iter().map(move |line| format!("{name}: {line}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Methods of `Job` in a higher module would be imports that this test does not see.
#[test]
fn a_job_has_its_methods_from_its_own_file() {
    for (path, text) in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../shmem-rt/src")) {
        let adds = text.contains("impl Job {");
        assert!(!adds || path == "job.rs", "{path} adds methods to `Job`: make them functions of `&Job`");
    }
}

/// The files of a crate, `lib.rs` first: the path below the folder of `lib.rs`, and the text without comments and tests.
fn files(source: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![(String::new(), "lib.rs".to_owned())];
    while let Some((folder, path)) = open.pop() {
        let text = shipped(&fs::read_to_string(source.join(&path)).unwrap());
        for name in text.lines().filter_map(|line| declared(line, ";")) {
            let places = [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")];
            let file = places.iter().find(|file| source.join(file).is_file());
            let file = file.unwrap_or_else(|| panic!("`mod {name}` is in no file of {places:?}"));
            open.push((format!("{folder}{name}/"), file.clone()));
        }
        files.push((path, text));
    }
    files
}

/// The name of the module that a line with this end declares.
fn declared<'l>(line: &'l str, end: &str) -> Option<&'l str> {
    let (head, name) = line.strip_suffix(end)?.rsplit_once(' ')?;
    head.ends_with("mod").then_some(name)
}

/// The wrong imports of a crate.
fn wrong(source: &Path) -> Vec<String> {
    let (files, layers) = (files(source), layers(source));
    let lines = files[0].1.lines();
    let top: BTreeSet<&str> =
        lines.filter_map(|line| declared(line, ";").or_else(|| declared(line, " {"))).collect();
    let listed: BTreeSet<&str> = layers.iter().flatten().map(String::as_str).collect();
    let unknown = listed.symmetric_difference(&top);
    let mut wrong: Vec<String> =
        unknown.map(|name| format!("`{name}` is not in both: src, and the head of lib.rs")).collect();
    let layer = |module: &str| layers.iter().position(|names| names.iter().any(|name| name == module));
    for (path, text) in &files[1..] {
        let file = path.split(['/', '.']).next().unwrap_or_default();
        let from = *top.get(file).unwrap_or_else(|| panic!("lib.rs declares no `{file}`"));
        for name in imported(text) {
            match top.get(name) {
                None if name.starts_with(char::is_uppercase) => {
                    wrong.push(format!("{path} imports `{name}` from the root: import it from its module"));
                }
                Some(to) if from != *to && layer(from) >= layer(to) => {
                    wrong.push(format!("{path} imports `{name}`, which does not stand below `{from}`"));
                }
                _ => {}
            }
        }
        let depth = path.trim_end_matches("/mod.rs").split('/').count();
        if text.contains(&format!("\nuse {}", "super::".repeat(depth))) {
            wrong.push(format!("{path} imports from the root by `super`: write `crate`"));
        }
    }
    wrong
}

/// The list in the head of `lib.rs`, uppermost layer first, between "```text" and "```": a line for each layer, with names between
/// commas, and a description behind two spaces.
fn layers(source: &Path) -> Vec<Vec<String>> {
    let head = fs::read_to_string(source.join("lib.rs")).unwrap();
    let lines = head.lines().skip_while(|line| !line.ends_with("```text")).skip(1);
    lines
        .take_while(|line| !line.ends_with("```"))
        .filter_map(|line| line.trim_start_matches(['/', '!']).strip_prefix(' '))
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split("  ").next().unwrap_or_default().split(", ").map(str::to_owned).collect())
        .collect()
}

/// The first names of paths from the root of the crate.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let paths = text.match_indices("crate::").filter(move |(at, _)| !text[..*at].ends_with(is_of_name));
    paths.flat_map(move |(at, root)| {
        let rest = &text[at + root.len()..];
        let count = if rest.starts_with('{') { usize::MAX } else { 1 };
        let list = rest.trim_start_matches('{').split(';').next().unwrap_or_default();
        list.split([',', '{', '}'])
            .take(count)
            .filter_map(move |path| path.trim().split(|c| !is_of_name(c)).next())
    })
}

#[test]
fn arrows_are_seen_however_they_are_written() {
    let wrong = |text: &str| {
        let directory = tempfile::tempdir().unwrap();
        let head = "//! ```text\n//! above, beside   over\n//! below   under\n//! ```\nmod above;\nmod beside;\nmod below;\n";
        fs::create_dir(directory.path().join("below")).unwrap();
        let files =
            [("lib", head), ("above", "use crate::below;"), ("beside", ""), ("below/mod", "mod one;")];
        for (path, text) in files.into_iter().chain([("below/one", text)]) {
            fs::write(directory.path().join(path).with_extension("rs"), text).unwrap();
        }
        wrong(directory.path())
    };
    for (text, is_arrow) in [
        ("use crate::{below, above::Thing as Other};", true),
        ("\nuse super::super::above;", true),
        ("\nuse super::above;", false),
        ("use crate::Face;", true),
        ("impl crate::above::Way for u8 {}", true),
        ("macro_rules! m { () => { $crate::above::Thing } }", true),
        ("/// crate::above::Thing", false),
        ("#[cfg(test)]\nmod tests {\n    use crate::above::Thing;\n}", false),
        ("#[cfg(test)]\nuse crate::below::Thing;\nuse crate::above::Thing;", true),
        ("use ::above::Thing; use std::above; use other_crate::above;", false),
    ] {
        let said = wrong(text);
        assert_eq!(said.len(), usize::from(is_arrow), "{text}: {said:?}");
    }
}
