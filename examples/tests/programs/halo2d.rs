//! `halo2d` as a user runs it, on fields that a test has time for.

use crate::{assert_refused, job, over_loopback, printed};

const HALO2D: &str = env!("CARGO_BIN_EXE_halo2d");

#[test]
fn any_grid_of_pes_comes_to_the_serial_solution() {
    for (pes, grid) in [(1, "1 x 1"), (2, "1 x 2"), (4, "2 x 2"), (6, "2 x 3")] {
        let size = ["--rows", "23", "--columns", "37", "--rounds", "5", "--serial-check"];
        let text = printed(&mut job(HALO2D, pes, &size));
        assert!(text.contains(&format!(", {grid} blocks\n")), "{text}");
        assert!(text.ends_with("x\nequal to the serial solution, bit for bit\n"), "{text}");
    }
}

#[test]
fn blocks_may_be_single_cells() {
    let size = ["--rows", "2", "--columns", "3", "--rounds", "2", "--serial-check"];
    printed(&mut job(HALO2D, 6, &size));
    printed(&mut job(HALO2D, 1, &["--rows", "1", "--columns", "1", "--rounds", "1", "--serial-check"]));
}

#[test]
fn every_way_has_a_line_with_its_ratio() {
    let text = printed(&mut job(HALO2D, 2, &["--rows", "64", "--columns", "64", "--rounds", "3"]));
    let lines: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let names: Vec<&str> = lines.iter().map(|line| line[0]).collect();
    assert_eq!(names, ["1", "2", "3", "auto", "halo"], "{text}");
    assert_eq!(lines[0].last(), Some(&"1.00x"), "{text}");
    for line in lines {
        let ratio: f64 = line.last().unwrap().trim_end_matches('x').parse().unwrap();
        assert!(ratio > 0.0, "{text}");
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let arguments = ["--rows", "16", "--columns", "18", "--rounds", "2", "--serial-check"];
    printed(&mut over_loopback(HALO2D, 4, &arguments));
}

#[test]
fn what_is_wrong_is_said_once() {
    for (arguments, message) in [
        (&["--rows", "1", "--columns", "1"][..], "1 x 1 cells cannot be dealt out to 2 PEs"),
        (
            &["--rows", "9000", "--columns", "9000"],
            "no room for 324360064 bytes aligned to 64 in partition `grids`",
        ),
        (&["--rounds", "0"], "0 is not in 1.."),
    ] {
        assert_refused(&mut job(HALO2D, 2, arguments), message);
    }
}
