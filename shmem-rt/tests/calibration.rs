//! Tables of thresholds, from `shmem-perf calibrate` to the plans of a job.

use std::path::Path;
use std::process::{Command, Output};

use shmem::calibration::Table;
use shmem::prelude::*;
use shmem::strided::Thresholds;

/// A threshold, and another value that it can have.
fn changed() -> Thresholds {
    let (name, value) = Thresholds::DEFAULT.fields().next().unwrap();
    Thresholds::DEFAULT.with(name, value + 1).unwrap()
}

/// A table of this machine whose first threshold is not the default.
fn table() -> Table {
    Table::new(shmem::calibration::machine(&shmem::info::Root::default()), changed())
}

/// Runs this very program as a job that does nothing but `test`.
fn job(file: &Path, test: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--ignored"])
        .env("SHMEM_STRIDED_TABLE", file)
        .output()
        .unwrap()
}

/// What a job of three PEs that does nothing says of its table.
fn warnings(file: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_shmem-perf"))
        .args(["pe", "nothing"])
        .env("SHMEM_NPES", "3")
        .env("SHMEM_STRIDED_TABLE", file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.contains("the table of strided transfers")).map(str::to_owned).collect()
}

#[shmem::test(pes = 3)]
#[ignore = "run by `every_pe_follows_the_table_that_is_named`"]
fn inner_changed(world: &mut World) {
    let mut same = [u64::from(shmem_core::strided::settings().thresholds == changed())];
    world.sum(&mut same[..]);
    assert_eq!(same[0], 3, "PEs that follow the table");
}

#[shmem::test(pes = 3)]
#[ignore = "run by `a_table_that_does_not_fit_is_ignored_with_one_warning`"]
fn inner_default(_: &mut World) {
    assert_eq!(shmem_core::strided::settings().thresholds, Thresholds::DEFAULT);
}

#[test]
fn every_pe_follows_the_table_that_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.json");
    table().write(&file).unwrap();
    let output = job(&file, "inner_changed");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(warnings(&file), [""; 0]);
}

#[test]
fn a_table_that_does_not_fit_is_ignored_with_one_warning() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.json");
    let ignored = |says: &str| {
        let output = job(&file, "inner_default");
        assert!(output.status.success(), "{output:?}");
        let warnings = warnings(&file);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(says), "{says}: {warnings:?}");
    };
    ignored("there is no such file; make one with `shmem-perf calibrate`");
    std::fs::write(&file, "not a table").unwrap();
    ignored("it is no table");
    Table::new("another machine".into(), changed()).write(&file).unwrap();
    ignored("it is of another machine, `another machine`, and this is `");
    assert_eq!(warnings(Path::new("none")), [""; 0]);
}
