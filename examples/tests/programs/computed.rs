//! Programs that tell a checksum, beside one process that computes the same here.

use std::collections::BTreeSet;

use shmem_examples::{checksum, counted, mixed};

use crate::{HISTOGRAM, ISX, job, printed};

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

/// What `isx` prints of so many keys: the sum of every key times its position, in order.
fn keys(count: u64) -> String {
    let mut keys: Vec<u64> = (0..count).map(|number| mixed(number) >> 32).collect();
    keys.sort_unstable();
    let sum = (0..).zip(keys).map(|(position, key): (u64, u64)| position * key).fold(0, u64::wrapping_add);
    format!("checksum {sum:x}\n")
}

/// What `spmv` prints of a vector with `n` elements.
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

/// What `summa` prints of the product of its matrices.
fn product(n: usize) -> String {
    let a = |i: usize, k: usize| ((i * 31 + k * 17) % 101) as f64 / 7.0;
    let b = |k: usize, j: usize| ((k * 13 + j * 29) % 103) as f64 / 9.0;
    let element = |i, j| (0..n).fold(0.0, |sum, k| sum + a(i, k) * b(k, j));
    format!("checksum {:x}\n", checksum((0..n * n).map(|at| element(at / n, at % n)).enumerate()))
}

/// What `triangles` prints.
fn triangles(vertices: u64, degree: u64) -> String {
    let mut edges = BTreeSet::new();
    for vertex in 0..vertices {
        let near = (0..degree).map(|k| (mixed(vertex << 32 | k) >> 7) % (4 * degree) + 1);
        edges.extend(near.filter(|near| *near <= vertex).map(|near| (vertex, vertex - near)));
    }
    let below = |vertex: u64| edges.range((vertex, 0)..(vertex + 1, 0)).map(|edge| edge.1);
    let of = |i| -> usize {
        below(i).map(|j| below(i).filter(|k| *k < j && edges.contains(&(j, *k))).count()).sum()
    };
    let count: usize = (0..vertices).map(of).sum();
    format!("{count} triangles of {vertices} vertices and {} edges\n", edges.len())
}

/// A run: a program, its PEs and arguments, how the first line begins, and with which lines the output ends.
type Run = (&'static str, usize, String, String, String);

fn runs() -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (pes, bins, samples) in [(1, 100, 3000), (2, 1001, 9000), (3, 2, 20_000), (4, 64, 0), (5, 3, 20_000)]
    {
        for single in ["", " --single"] {
            let arguments = format!("--bins {bins} --samples {samples}{single}");
            runs.push((HISTOGRAM, pes, arguments, format!("{samples} samples"), counts(bins, samples)));
        }
    }
    for (pes, count) in [(1, 1000), (2, 40_001), (3, 40_001), (5, 3), (4, 1)] {
        let begins = format!("{count} keys on {}: sorted in ", counted(pes));
        runs.push((ISX, pes, format!("--keys {count}"), begins, keys(count)));
    }
    for (pes, n, steps) in [(1, 100, 3), (2, 301, 10), (3, 64, 50), (4, 1000, 7), (5, 3, 8), (4, 17, 0)] {
        for way in ["plan", "list", "single"] {
            let arguments = format!("--size {n} --steps {steps} --by {way}");
            let begins = format!("{n} rows of {} entries, {steps} steps in ", 5 * n);
            runs.push((SPMV, pes, arguments, begins, powers(n, steps)));
        }
    }
    // Square and other grids; panels that cross blocks, of one column, and wider than all; more PEs than rows.
    for (pes, grid, n, panel) in [
        (1, "1 x 1", 50, 8),
        (2, "2 x 1", 50, 7),
        (3, "3 x 1", 31, 1),
        (4, "2 x 2", 50, 100),
        (5, "5 x 1", 3, 64),
        (6, "3 x 2", 41, 5),
    ] {
        let arguments = format!("--size {n} --panel {panel}");
        runs.push((SUMMA, pes, arguments, format!("{n} x {n} by {grid} PEs: "), product(n)));
    }
    for (pes, vertices, degree) in [(1, 200, 8), (2, 501, 16), (3, 2, 3), (4, 700, 30), (5, 3, 4)] {
        for single in ["", " --single"] {
            let (arguments, all) =
                (format!("--vertices {vertices} --degree {degree}{single}"), triangles(vertices, degree));
            runs.push((TRIANGLES, pes, arguments, all.clone(), all));
        }
    }
    runs
}

/// Holds all runs to their results, with an environment.
fn judge(runs: impl Iterator<Item = Run>, variables: &[(&str, &str)]) {
    for (program, pes, arguments, begins, ends) in runs {
        let mut command = job(program, pes, &arguments);
        let text = printed(command.envs(variables.iter().copied()));
        let is_expected = text.starts_with(&begins) && text.ends_with(&ends);
        assert!(is_expected && text.matches(&ends).count() == 1, "{command:?}: {text}");
    }
}

#[test]
fn programs_come_to_the_result_of_one_process() {
    judge(runs().into_iter(), &[]);
}

#[test]
fn they_do_over_the_loopback_transport() {
    judge(runs().into_iter().filter(|run| matches!(run.1, 3 | 4)), &[("SHMEM_TRANSPORT", "loopback")]);
}
