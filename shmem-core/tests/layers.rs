//! Imports point downwards, in the order that the head of the crate gives.

use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The modules in the order of the head of `lib.rs`, uppermost first.
fn layers(head: &str) -> Vec<String> {
    let lines = head.lines().skip_while(|line| *line != "//! ```text").skip(1);
    lines
        .take_while(|line| *line != "//! ```")
        .filter_map(|line| line.strip_prefix("//! ")?.split_whitespace().next().map(str::to_owned))
        .collect()
}

/// The files of a module, without its tests.
fn files(module: &str) -> Vec<PathBuf> {
    let mut found = vec![source().join(module).with_extension("rs")];
    let mut directories = vec![source().join(module)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.retain(|path| path.exists() && !path.iter().any(|part| part == "tests" || part == "tests.rs"));
    found
}

/// The modules that a text imports: what stands behind `crate::` outside comments.
fn imports(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|behind| behind.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>())
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn imports_point_downwards() {
    let head = fs::read_to_string(source().join("lib.rs")).unwrap();
    let layers = layers(&head);
    let declared: Vec<&str> =
        head.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    for module in &declared {
        assert!(layers.iter().any(|layer| layer == module), "the head of lib.rs leaves out `{module}`");
    }
    assert_eq!(layers.len(), declared.len(), "the head of lib.rs lists what is not there");
    for (above, module) in layers.iter().enumerate() {
        for file in files(module) {
            for import in imports(&fs::read_to_string(&file).unwrap()) {
                let below = layers.iter().position(|layer| *layer == import);
                assert!(
                    below.is_none_or(|below| below >= above),
                    "{} imports `{import}`, which stands above `{module}` in the head of lib.rs",
                    file.display()
                );
            }
        }
    }
}
