//! `summa`, beside three loops.

use crate::{assert_refused, checksum, job, over_loopback, printed};

const SUMMA: &str = env!("CARGO_BIN_EXE_summa");

/// What the program prints of the product of its matrices.
fn product(n: usize) -> String {
    let a = |i: usize, k: usize| ((i * 31 + k * 17) % 101) as f64 / 7.0;
    let b = |k: usize, j: usize| ((k * 13 + j * 29) % 103) as f64 / 9.0;
    let element = |i, j| (0..n).fold(0.0, |sum, k| sum + a(i, k) * b(k, j));
    format!("checksum {:x}\n", checksum((0..n * n).map(|at| element(at / n, at % n))))
}

#[test]
fn any_grid_of_pes_comes_to_the_product_of_one_process() {
    // Square and other grids; panels that cross blocks, of one column, and wider than all; more PEs than rows.
    for (pes, grid, n, panel) in [
        (1, "1 x 1", 50, "8"),
        (2, "2 x 1", 50, "7"),
        (3, "3 x 1", 31, "1"),
        (4, "2 x 2", 50, "100"),
        (5, "5 x 1", 3, "64"),
        (6, "3 x 2", 41, "5"),
    ] {
        let text = printed(&mut job(SUMMA, pes, &["--size", &n.to_string(), "--panel", panel]));
        assert!(text.starts_with(&format!("{n} x {n} by {grid} PEs: ")), "{text}");
        assert!(text.ends_with(&product(n)), "{text}");
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let text = printed(&mut over_loopback(SUMMA, 4, &["--size", "30", "--panel", "4"]));
    assert!(text.ends_with(&product(30)), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(SUMMA, 2, &["--panel", "0"]), "0 is not in 1..");
}
