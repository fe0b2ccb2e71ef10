//! Tables of thresholds, from `shmem-perf calibrate` to the plans of a job.

use std::path::Path;
use std::process::{Command, Output};

use shmem::calibration::Table;
use shmem::prelude::*;
use shmem::strided::Thresholds;

/// Thresholds of which the first one has another value.
fn changed() -> Thresholds {
    let (name, value) = Thresholds::default().fields().next().unwrap();
    Thresholds::default().with(name, value + 1).unwrap()
}

fn machine() -> String {
    shmem::calibration::machine(&shmem::calibration::Root::default())
}

/// Names the first threshold that [`all_pes_follow_one_table`] ought to find.
const EXPECTED: &str = "EXPECTED_THRESHOLD";

fn first(thresholds: &Thresholds) -> u64 {
    thresholds.fields().next().unwrap().1
}

#[shmem::test(pes = 3)]
fn all_pes_follow_one_table(world: &mut World) {
    let mine = first(&shmem_core::strided::settings().thresholds);
    assert_eq!(mine, world.max(mine));
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(mine.to_string(), expected);
    }
}

/// Runs the test above as a program of its own, which finds its table by a variable.
fn job((name, value): (&str, &Path), expected: &Thresholds) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "all_pes_follow_one_table"])
        .env_remove("SHMEM_STRIDED_TABLE")
        .env(name, value)
        .env(EXPECTED, first(expected).to_string())
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

/// Named, and the one that `shmem-perf calibrate` leaves in the cache directory.
#[test]
fn every_pe_follows_the_table_that_is_named_or_in_the_cache_directory() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.json");
    let table = Table::new(machine(), changed());
    table.write(&file).unwrap();
    let follows = |variable, expected: &Thresholds| {
        let output = job(variable, expected);
        assert!(output.status.success(), "{output:?}");
    };
    follows(("SHMEM_STRIDED_TABLE", &file), &changed());
    assert_eq!(warnings(&file), [""; 0]);
    let cache = tempfile::tempdir().unwrap();
    follows(("XDG_CACHE_HOME", cache.path()), &Thresholds::default());
    let named = shmem::calibration::path(&machine()).unwrap();
    table.write(&cache.path().join("shmem-rt").join(named.file_name().unwrap())).unwrap();
    follows(("XDG_CACHE_HOME", cache.path()), &changed());
}

#[test]
fn a_table_that_does_not_fit_is_ignored_with_one_warning() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.json");
    let ignored = |says: &str| {
        let output = job(("SHMEM_STRIDED_TABLE", &file), &Thresholds::default());
        assert!(output.status.success(), "{output:?}");
        let warnings = warnings(&file);
        assert!(warnings.len() == 1 && warnings[0].contains(says), "{says}: {warnings:?}");
    };
    ignored("there is no such file; make one with `shmem-perf calibrate`");
    std::fs::write(&file, "not a table").unwrap();
    ignored("it is no table");
    Table::new("another machine".into(), changed()).write(&file).unwrap();
    ignored("it is of another machine, `another machine`, and this is `");
    assert_eq!(warnings(Path::new("none")), [""; 0]);
}

#[test]
fn a_calibration_is_left_where_it_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.json");
    let calibrate = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shmem-perf"));
        let output = command.args(["calibrate", "--table"]).arg(&file).args(options).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(calibrate(&["--dry-run"]).contains("throttle") && !file.exists());
    assert!(calibrate(&[]).contains(file.to_str().unwrap()));
    assert!(Table::read(&file).unwrap().thresholds_for(&machine()).is_ok());
}
