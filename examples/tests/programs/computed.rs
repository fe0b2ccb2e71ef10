//! Programs whose result is the same on any number of PEs: the last line, a checksum or a count, is known.

use crate::{HISTOGRAM, ISX, job, printed};

const SPMV: &str = env!("CARGO_BIN_EXE_spmv");
const SUMMA: &str = env!("CARGO_BIN_EXE_summa");
const TRIANGLES: &str = env!("CARGO_BIN_EXE_triangles");

/// A program with its arguments, how its output begins, and the last line. Some sizes are smaller than the number of PEs; panels of
/// `summa` cross blocks, have one column, and are wider than all.
type Run = (&'static str, &'static str, &'static str, &'static str);

const RUNS: &[Run] = &[
    (
        HISTOGRAM,
        "--bins 1001 --samples 9000",
        "9000 samples in 1001 bins, at most 30 in one",
        "checksum 4494c5",
    ),
    (HISTOGRAM, "--bins 2 --samples 20000", "20000 samples in 2 bins, at most 10075 in one", "checksum 74e5"),
    (HISTOGRAM, "--bins 64 --samples 0", "0 samples in 64 bins, at most 0 in one", "checksum 0"),
    (ISX, "--keys 40001", "40001 keys on ", "checksum 1fc6edac34937423"),
    (ISX, "--keys 3", "3 keys on ", "checksum 19a1f258e"),
    (SPMV, "--size 301 --steps 10", "301 rows of 1505 entries, 10 steps in ", "checksum 83aecac7788102e1"),
    (SPMV, "--size 3 --steps 8", "3 rows of 15 entries, 8 steps in ", "checksum 7ffb70be815a88ac"),
    (SPMV, "--size 17 --steps 0", "17 rows of 85 entries, 0 steps in ", "checksum 5699000000000000"),
    (SUMMA, "--size 50 --panel 7", "50 x 50 by ", "checksum fb89f7a69a68d43d"),
    (SUMMA, "--size 41 --panel 1", "41 x 41 by ", "checksum 1eb85ba69a69ad5a"),
    (SUMMA, "--size 3 --panel 64", "3 x 3 by ", "checksum 50070e79e79e79df"),
    (TRIANGLES, "--vertices 501 --degree 16", "9112", "9112 triangles of 501 vertices and 6487 edges"),
    (TRIANGLES, "--vertices 3 --degree 4", "0", "0 triangles of 3 vertices and 0 edges"),
];

/// Holds all runs to their results, on so many PEs and in an environment.
fn judge(pes: &[usize], variables: &[(&str, &str)]) {
    for (pes, (program, arguments, begins, last)) in
        pes.iter().flat_map(|pes| RUNS.iter().map(move |run| (*pes, *run)))
    {
        let mut command = job(program, pes, arguments);
        let text = printed(command.envs(variables.iter().copied()));
        assert!(text.starts_with(begins) && text.lines().next_back() == Some(last), "{command:?}: {text}");
    }
}

#[test]
fn programs_come_to_the_same_result_on_any_number_of_pes() {
    // Square and other grids.
    judge(&[1, 2, 5, 6], &[]);
}

#[test]
fn they_do_over_the_loopback_transport() {
    judge(&[3, 4], &[("SHMEM_TRANSPORT", "loopback")]);
}
