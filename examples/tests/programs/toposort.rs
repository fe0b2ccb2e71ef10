//! `toposort`: a matrix that has become triangular says so itself.

use crate::{assert_refused, job, over_loopback, printed};

const TOPOSORT: &str = env!("CARGO_BIN_EXE_toposort");

/// Holds a run to place all rows and columns, and every entry on the diagonal or to the right of it.
#[track_caller]
fn assert_sorted(text: &str, n: usize) {
    let (entries, result) = text.split_once(" entries: ").unwrap();
    let entries: usize = entries.strip_prefix(&format!("{n} rows with ")).unwrap().parse().unwrap();
    assert!((n..=5 * n).contains(&entries), "{text}");
    assert_eq!(result, format!("{n} are placed, 0 entries below the diagonal\n"));
}

#[test]
fn a_shuffled_matrix_is_triangular_again_on_any_number_of_pes() {
    for (pes, n) in [(1, 300), (2, 1000), (3, 2), (4, 4000), (5, 3)] {
        let arguments = ["--size", &n.to_string(), "--single"];
        let [by_exchange, by_channel] =
            [&arguments[..2], &arguments].map(|arguments| printed(&mut job(TOPOSORT, pes, arguments)));
        assert_sorted(&by_exchange, n);
        assert_eq!(by_channel, by_exchange);
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    assert_sorted(&printed(&mut over_loopback(TOPOSORT, 3, &["--size", "400"])), 400);
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(TOPOSORT, 2, &["--size", "0"]), "0 is not in 1..");
}
