//! Programs that tell a checksum, beside one process that computes the same here.

use std::collections::BTreeSet;

use shmem_examples::{checksum, counted, mixed};

use crate::{assert_refused, job, over_loopback, printed};

const HALO2D: &str = env!("CARGO_BIN_EXE_halo2d");
const HISTOGRAM: &str = env!("CARGO_BIN_EXE_histogram");
const ISX: &str = env!("CARGO_BIN_EXE_isx");
const SPMV: &str = env!("CARGO_BIN_EXE_spmv");
const SUMMA: &str = env!("CARGO_BIN_EXE_summa");
const TRIANGLES: &str = env!("CARGO_BIN_EXE_triangles");

/// What `histogram` prints of so many samples in so many bins.
fn counts(bins: usize, samples: u64) -> String {
    let mut counts = vec![0_u64; bins];
    for mixed in (0..samples).map(mixed) {
        let sample = ((mixed >> 32) + mixed % (1 << 32)) as f64 / 8_589_934_592.0;
        counts[(sample * bins as f64) as usize] += 1;
    }
    let checksum: u64 = (1..).zip(&counts).map(|(bin, count): (u64, &u64)| bin * count).sum();
    let fullest = counts.iter().max().unwrap();
    format!("{samples} samples in {bins} bins, at most {fullest} in one\nchecksum {checksum:x}\n")
}

#[test]
fn histogram_loses_no_sample() {
    for (pes, bins, samples) in [(1, 100, 3000), (2, 1001, 9000), (3, 2, 20_000), (4, 64, 0), (5, 3, 20_000)]
    {
        let arguments = ["--bins", &bins.to_string(), "--samples", &samples.to_string(), "--single"];
        for arguments in [&arguments[..4], &arguments] {
            assert_eq!(printed(&mut job(HISTOGRAM, pes, arguments)), counts(bins, samples), "on {pes} PEs");
        }
    }
}

/// What `isx` prints of so many keys: the sum of every key times its position, in order.
fn checksum_of_keys(count: u64) -> u64 {
    let mut keys: Vec<u64> = (0..count).map(|number| mixed(number) >> 32).collect();
    keys.sort_unstable();
    (0..).zip(keys).map(|(position, key): (u64, u64)| position * key).fold(0, u64::wrapping_add)
}

#[test]
fn isx_sorts_keys() {
    for (pes, keys) in [(1, 1000), (2, 40_001), (3, 40_001), (5, 3), (4, 1)] {
        let text = printed(&mut job(ISX, pes, &["--keys", &keys.to_string(), "--serial-check"]));
        let lines: Vec<&str> = text.lines().collect();
        let pes = counted(pes);
        assert!(lines[0].starts_with(&format!("{keys} keys on {pes}: sorted in ")), "{text}");
        assert_eq!(
            lines[1..],
            [&format!("checksum {:x}", checksum_of_keys(keys)), "equal to the serial solution"]
        );
    }
}

/// What `spmv` prints at the end, of a vector with `n` elements.
fn powers(n: usize, steps: usize) -> String {
    let mut vector: Vec<f64> = (0..n).map(|i| (i % 97) as f64 + 1.0).collect();
    for _ in 0..steps {
        let row = |i: usize| {
            let near = [(i, 0.4), ((i + 1) % n, 0.2), ((i + n - 1) % n, 0.2)];
            near.into_iter().chain([(7 * i % n, 0.1), ((i * i + 3) % n, 0.1)])
        };
        vector = (0..n).map(|i| row(i).map(|(j, weight)| weight * vector[j]).sum()).collect();
    }
    format!("checksum {:x}\n", checksum(vector.into_iter().enumerate()))
}

#[test]
fn spmv_comes_to_the_vector_of_one_process() {
    for (pes, n, steps) in [(1, 100, 3), (2, 301, 10), (3, 64, 50), (4, 1000, 7), (5, 3, 8), (4, 17, 0)] {
        for way in ["plan", "list", "single"] {
            let arguments = ["--size", &n.to_string(), "--steps", &steps.to_string(), "--by", way];
            let text = printed(&mut job(SPMV, pes, &arguments));
            assert!(text.starts_with(&format!("{n} rows of {} entries, {steps} steps in ", 5 * n)), "{text}");
            assert!(text.ends_with(&powers(n, steps)), "on {pes} PEs, by {way}: {text}");
        }
    }
}

/// What `summa` prints of the product of its matrices.
fn product(n: usize) -> String {
    let a = |i: usize, k: usize| ((i * 31 + k * 17) % 101) as f64 / 7.0;
    let b = |k: usize, j: usize| ((k * 13 + j * 29) % 103) as f64 / 9.0;
    let element = |i, j| (0..n).fold(0.0, |sum, k| sum + a(i, k) * b(k, j));
    format!("checksum {:x}\n", checksum((0..n * n).map(|at| element(at / n, at % n)).enumerate()))
}

#[test]
fn summa_comes_to_the_product_of_three_loops() {
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

/// What `triangles` prints.
fn triangles(vertices: u64, degree: u64) -> String {
    let mut edges = BTreeSet::new();
    for vertex in 0..vertices {
        let near = (0..degree).map(|k| (mixed(vertex << 32 | k) >> 7) % (4 * degree) + 1);
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
fn triangles_are_counted_as_by_one_process() {
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
fn halo2d_comes_to_the_serial_solution_on_any_grid() {
    let field = ["23", "37"];
    for (pes, grid, [rows, columns]) in [
        (1, "1 x 1", field),
        (2, "1 x 2", field),
        (4, "2 x 2", field),
        (6, "2 x 3", field),
        // Blocks of a single cell.
        (6, "2 x 3", ["2", "3"]),
        (1, "1 x 1", ["1", "1"]),
    ] {
        let size = ["--rows", rows, "--columns", columns, "--rounds", "3", "--serial-check"];
        let text = printed(&mut job(HALO2D, pes, &size));
        assert!(text.contains(&format!(", {grid} blocks\n")), "{text}");
        assert!(text.ends_with("x\nequal to the serial solution, bit for bit\n"), "{text}");
    }
}

#[test]
fn halo2d_has_a_line_with_its_ratio_for_every_way() {
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
fn they_run_over_the_loopback_transport() {
    for (program, pes, arguments, result) in [
        (HISTOGRAM, 3, &["--bins", "37", "--samples", "4000"][..], counts(37, 4000)),
        (ISX, 3, &["--keys", "5000"], format!("checksum {:x}\n", checksum_of_keys(5000))),
        (SPMV, 3, &["--size", "200", "--steps", "9"], powers(200, 9)),
        (SUMMA, 4, &["--size", "30", "--panel", "4"], product(30)),
        (TRIANGLES, 3, &["--vertices", "150", "--degree", "6"], triangles(150, 6)),
        (
            HALO2D,
            4,
            &["--rows", "16", "--columns", "18", "--rounds", "2", "--serial-check"],
            "equal to the serial solution, bit for bit\n".to_owned(),
        ),
    ] {
        let text = printed(&mut over_loopback(program, pes, arguments));
        assert!(text.ends_with(&result), "{program}: {text}");
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    for (program, arguments, message) in [
        (HISTOGRAM, "--bins 0", "0 is not in 1.."),
        (ISX, "--keys 0", "0 is not in 1..=4294967295"),
        (ISX, "--keys 2000000000", "in partition `buckets`"),
        (SPMV, "--size 0", "0 is not in 1.."),
        (SUMMA, "--panel 0", "0 is not in 1.."),
        (TRIANGLES, "--vertices 0", "0 is not in 1.."),
        (HALO2D, "--rounds 0", "0 is not in 1.."),
        (HALO2D, "--rows 1 --columns 1", "1 x 1 cells cannot be dealt out to 2 PEs"),
        (
            HALO2D,
            "--rows 9000 --columns 9000",
            "no room for 324360064 bytes aligned to 64 in partition `grids`",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        assert_refused(&mut job(program, 2, &arguments), message);
    }
}
