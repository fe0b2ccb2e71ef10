//! Imports point downwards, in the order that `lib.rs` lists, and nowhere in a circle.

#[path = "../../shmem-core/tests/imports/mod.rs"]
mod imports;

use std::fs;
use std::path::Path;

imports::holds!();

/// A method is called without an import: what a module above `job` adds to it would be an arrow that nobody sees.
#[test]
fn a_job_has_its_methods_from_its_own_file() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("src/job.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let adds = text.lines().any(|line| line.trim_start().starts_with("impl Job "));
                assert!(!adds, "{} adds methods to `Job`: make them functions of `&Job`", path.display());
            }
        }
    }
}
