//! `cg`, whose solution is known. How its sums are rounded depends on the number of PEs, so its answers are equal within
//! bounds only.

use crate::{assert_refused, job, over_loopback, printed};

const CG: &str = env!("CARGO_BIN_EXE_cg");

/// Steps, and how far the answer is from the solution.
fn outcome(text: &str, n: usize) -> (u32, f64) {
    let rest = text.strip_prefix(&format!("{n} x {n} points: ")).unwrap();
    let (steps, rest) = rest.split_once(" steps in ").unwrap();
    let (_, rest) = rest.split_once(", at most ").unwrap();
    let error = rest.strip_suffix(" from the solution\n").unwrap();
    (steps.parse().unwrap(), error.parse().unwrap())
}

#[test]
fn any_number_of_pes_comes_to_the_solution_in_as_many_steps() {
    for n in [1, 3, 24] {
        let size = n.to_string();
        let mut alone = None;
        for pes in 1..=5 {
            let text = printed(&mut job(CG, pes, &["--size", &size]));
            let (steps, error) = outcome(&text, n);
            // The residual is 10^-10 of what it was; the smallest eigenvalue is 0.03.
            assert!(error < 1e-8, "on {pes} PEs: {text}");
            // As many steps as there are different eigenvalues, without rounding.
            assert!(steps as usize <= n * n, "on {pes} PEs: {text}");
            assert!(alone.get_or_insert(steps).abs_diff(steps) <= 1, "on {pes} PEs: {text}");
        }
    }
}

#[test]
fn a_sparse_matrix_comes_to_the_same_bits_as_the_grid() {
    for (pes, n) in [(1, 5), (2, 24), (3, 7), (4, 2), (5, 16)] {
        let of = |by| {
            let text = printed(&mut job(CG, pes, &["--size", &n.to_string(), "--by", by]));
            let (steps, error) = outcome(&text, n);
            (steps, error.to_bits())
        };
        let grid = of("halo");
        assert_eq!(of("plan"), grid, "on {pes} PEs, {n} x {n}");
        assert_eq!(of("single"), grid, "on {pes} PEs, {n} x {n}");
    }
}

#[test]
fn steps_that_are_too_few_leave_an_error() {
    let (steps, error) = outcome(&printed(&mut job(CG, 2, &["--size", "24", "--steps", "5"])), 24);
    assert!(steps == 5 && error > 1e-3, "{error}");
}

#[test]
fn it_runs_over_the_loopback_transport() {
    for by in ["halo", "plan", "single"] {
        let (_, error) = outcome(&printed(&mut over_loopback(CG, 3, &["--size", "16", "--by", by])), 16);
        assert!(error < 1e-8, "{error} by {by}");
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(CG, 2, &["--size", "0"]), "0 is not in 1..");
    assert_refused(&mut job(CG, 2, &["--digits", "15"]), "15 is not in 1..=14");
}
