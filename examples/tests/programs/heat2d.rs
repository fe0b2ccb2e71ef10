//! `heat2d` as a user runs it: on several PEs, through both ways of launching, with good and with
//! bad input.

use std::path::{Path, PathBuf};
use std::process::Command;

use shmem_examples::counted;

use crate::{assert_refused, job, over_loopback, printed};

const HEAT2D: &str = env!("CARGO_BIN_EXE_heat2d");

/// A run that launches itself, in a directory of its own.
fn heat2d(directory: &Path, pes: usize, arguments: &[&str]) -> Command {
    let mut command = job(HEAT2D, pes, arguments);
    command.current_dir(directory);
    command
}

/// `shmrun` of the same build. Cargo builds the programs of this package for its tests, but not
/// those of another one.
fn shmrun() -> PathBuf {
    let directory = Path::new(HEAT2D).parent().unwrap();
    let shmrun = directory.join("shmrun");
    if !shmrun.exists() {
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--quiet", "--bin", "shmrun"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        build.args(directory.ends_with("release").then_some("--release"));
        build.env("CARGO_TARGET_DIR", directory.parent().unwrap());
        assert!(build.status().unwrap().success());
    }
    shmrun
}

/// A `.npy` file of `u1`.
fn array(path: &Path, rows: usize, columns: usize) {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend((0..rows * columns).map(|cell| (cell * cell % 251) as u8));
    std::fs::write(path, bytes).unwrap();
}

fn size_of_picture(path: &Path) -> (u32, u32) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let info = png::Decoder::new(file).read_info().unwrap();
    (info.info().width, info.info().height)
}

#[test]
fn any_number_of_pes_comes_to_the_serial_solution() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    array(&directory.join("field.npy"), 37, 23);
    let mut pictures = Vec::new();
    for (pes, cut) in [(1, "rows"), (3, "blocks"), (4, "rows"), (4, "blocks"), (6, "blocks")] {
        let arguments = ["--input", "field.npy", "--steps", "90", "--serial-check", "--decomposition", cut];
        let text = printed(&mut heat2d(directory, pes, &arguments));
        let pes = counted(pes);
        assert!(text.starts_with(&format!("37 x 23 cells on {pes}: 90 steps, residual ")), "{text}");
        assert!(text.ends_with("equal to the serial solution, bit for bit\n"), "{text}");
        assert_eq!(size_of_picture(&directory.join("heat2d.png")), (23, 37));
        pictures.push(std::fs::read(directory.join("heat2d.png")).unwrap());
    }
    assert!(pictures.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_sample_is_relaxed_to_a_tolerance() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["--tolerance", "6", "--serial-check", "--output", "end.png"];
    let text = printed(&mut heat2d(directory.path(), 4, &arguments));
    assert!(text.starts_with("256 x 256 cells on 4 PEs: "), "{text}");
    assert!(!text.contains(" 200 steps"), "the tolerance ends it: {text}");
    assert_eq!(size_of_picture(&directory.path().join("end.png")), (256, 256));
}

#[test]
fn fields_may_have_fewer_rows_and_columns_than_there_are_pes() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (pes, rows, columns) in [(5, 1, 1), (5, 2, 6), (4, 3, 3), (4, 9, 1), (6, 6, 2), (6, 1, 4)] {
        array(&directory.join("field.npy"), rows, columns);
        let arguments = ["--input", "field.npy", "--steps", "5", "--serial-check"];
        printed(&mut heat2d(directory, pes, &arguments));
        assert_eq!(size_of_picture(&directory.join("heat2d.png")), (columns as u32, rows as u32));
    }
}

#[test]
fn it_runs_under_the_launcher_and_reads_pictures() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    printed(&mut heat2d(directory, 1, &["--steps", "20", "--output", "first.png"]));
    let mut command = Command::new(shmrun());
    command.args(["-n", "4", HEAT2D, "--input", "first.png", "--steps", "20", "--serial-check"]);
    let text = printed(command.current_dir(directory));
    assert!(text.starts_with("256 x 256 cells on 4 PEs: 20 steps"), "{text}");
    assert_eq!(size_of_picture(&directory.join("heat2d.png")), (256, 256));
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let directory = tempfile::tempdir().unwrap();
    array(&directory.path().join("field.npy"), 12, 8);
    let mut command = over_loopback(HEAT2D, 3, &["--input", "field.npy", "--steps", "30", "--serial-check"]);
    let text = printed(command.current_dir(directory.path()));
    assert!(text.contains("12 x 8 cells on 3 PEs: 30 steps"), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    array(&directory.join("wide.npy"), 3, 1025);
    array(&directory.join("wider.npy"), 3, 3073);
    std::fs::write(directory.join("notes.txt"), "not a field").unwrap();
    for (arguments, message) in [
        (&["--input", "missing.npy"][..], "cannot read missing.npy: "),
        (&["--input", "notes.txt"], "notes.txt is no temperature field: it is neither a NumPy array"),
        (
            &["--input", "wider.npy"],
            "the field has 3 rows and 3073 columns, and each of 3 PEs holds at most 1024 rows of 1024 \
             columns: take more PEs",
        ),
        (
            &["--input", "wide.npy", "--decomposition", "rows"],
            "1024 columns; `--decomposition rows` cuts no row: take more PEs",
        ),
        (&["--decomposition", "cubes"], "[possible values: rows, blocks]"),
        (&["--tolerance", "-1"], "a number of degrees, 0 or more"),
        (&["--steps", "1", "--output", "/nowhere/heat.png"], "cannot write /nowhere/heat.png: "),
    ] {
        assert_refused(&mut heat2d(directory, 3, arguments), message);
    }
    assert!(!directory.join("heat2d.png").exists());
}

#[test]
fn help_is_printed_once() {
    let text = printed(&mut heat2d(Path::new("."), 3, &["--help"]));
    assert_eq!(text.matches("Usage: heat2d").count(), 1, "{text}");
}

#[test]
fn the_sample_is_what_its_generator_makes() {
    let made = Command::new(env!("CARGO_BIN_EXE_heat2d-sample")).output().unwrap().stdout;
    let kept = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/heat2d/data/sample.npy")).unwrap();
    assert!(made == kept, "make it again as generate.rs says");
}
