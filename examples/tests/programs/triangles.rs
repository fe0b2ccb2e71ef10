//! `triangles`, beside a graph that one process has.

use std::collections::BTreeSet;

use crate::{assert_refused, job, over_loopback, printed};

const TRIANGLES: &str = env!("CARGO_BIN_EXE_triangles");

/// What the program prints.
fn triangles(vertices: u64, degree: u64) -> String {
    let mixed = |number: u64| {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 7
    };
    let mut edges = BTreeSet::new();
    for vertex in 0..vertices {
        let near = (0..degree).map(|k| mixed(vertex << 32 | k) % (4 * degree) + 1);
        edges.extend(near.filter(|near| *near <= vertex).map(|near| (vertex, vertex - near)));
    }
    let below = |vertex: u64| edges.range((vertex, 0)..(vertex + 1, 0)).map(|edge| edge.1);
    let count: usize = (0..vertices)
        .map(|i| {
            below(i).map(|j| below(i).filter(|k| *k < j && edges.contains(&(j, *k))).count()).sum::<usize>()
        })
        .sum();
    format!("{count} triangles of {vertices} vertices and {} edges\n", edges.len())
}

#[test]
fn any_number_of_pes_counts_what_one_process_does() {
    for (pes, vertices, degree) in [(1, 200, 8), (2, 501, 16), (3, 2, 3), (4, 700, 30), (5, 3, 4)] {
        let arguments = ["--vertices", &vertices.to_string(), "--degree", &degree.to_string(), "--single"];
        for arguments in [&arguments[..4], &arguments] {
            assert_eq!(
                printed(&mut job(TRIANGLES, pes, arguments)),
                triangles(vertices, degree),
                "on {pes} PEs"
            );
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let arguments = ["--vertices", "150", "--degree", "6"];
    assert_eq!(printed(&mut over_loopback(TRIANGLES, 3, &arguments)), triangles(150, 6));
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(TRIANGLES, 2, &["--vertices", "0"]), "0 is not in 1..");
}
