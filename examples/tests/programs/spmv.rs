//! `spmv`, beside a vector that one process has.

use crate::{assert_refused, checksum, job, over_loopback, printed};

const SPMV: &str = env!("CARGO_BIN_EXE_spmv");

/// What the program prints at the end, of a vector with `n` elements.
fn product(n: usize, steps: usize) -> String {
    let mut vector: Vec<f64> = (0..n).map(|i| (i % 97) as f64 + 1.0).collect();
    for _ in 0..steps {
        let row = |i: usize| {
            let near = [(i, 0.4), ((i + 1) % n, 0.2), ((i + n - 1) % n, 0.2)];
            near.into_iter().chain([(7 * i % n, 0.1), ((i * i + 3) % n, 0.1)])
        };
        vector = (0..n).map(|i| row(i).map(|(j, weight)| weight * vector[j]).sum()).collect();
    }
    format!("checksum {:x}\n", checksum(vector))
}

#[test]
fn any_number_of_pes_comes_to_the_vector_of_one_process() {
    for (pes, n, steps) in [(1, 100, 3), (2, 301, 10), (3, 64, 50), (4, 1000, 7), (5, 3, 8), (4, 17, 0)] {
        for way in ["plan", "list", "single"] {
            let arguments = ["--size", &n.to_string(), "--steps", &steps.to_string(), "--by", way];
            let text = printed(&mut job(SPMV, pes, &arguments));
            assert!(text.starts_with(&format!("{n} rows of {} entries, {steps} steps in ", 5 * n)), "{text}");
            assert!(text.ends_with(&product(n, steps)), "on {pes} PEs, by {way}: {text}");
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let text = printed(&mut over_loopback(SPMV, 3, &["--size", "200", "--steps", "9"]));
    assert!(text.ends_with(&product(200, 9)), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(SPMV, 2, &["--size", "0"]), "0 is not in 1..");
}
