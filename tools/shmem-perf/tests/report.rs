//! What `shmem-perf report` says before it measures anything. What it makes is looked at in a browser
//! (`ci/page.sh`).

use std::process::Command;

fn fails(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_shmem-perf")).arg("report").args(args).output().unwrap();
    assert!(!output.status.success(), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}: something was measured");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_place_that_cannot_be_written_to_is_said_before_anything_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let out = file.join("report");
    let said = fails(&["--quick", "--out", out.to_str().unwrap()]);
    let expected = format!("shmem-perf: the report cannot be written to {}: ", out.display());
    assert!(said.starts_with(&expected) && said.lines().count() == 1, "{said}");
}

#[test]
fn a_section_that_is_none_is_an_error_with_all_that_are() {
    let said = fails(&["--out", "somewhere", "--only", "lookup,halos"]);
    let all = "[possible values: lookup, strided, arrays, partitions, contexts, micro, c]";
    assert!(said.contains("'halos'") && said.contains(all), "{said}");
}
