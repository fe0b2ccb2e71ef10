//! `heat3d` by both exchanges, beside a box that one process has.

use crate::{assert_refused, job, over_loopback, printed};

const HEAT3D: &str = env!("CARGO_BIN_EXE_heat3d");

/// The sum over the cells of a box of their bits times numbers of their own, after so many steps.
fn checksum_of_box([a, b, c]: [usize; 3], steps: usize) -> u64 {
    let at = |i, j, k| (i * (b + 2) + j) * (c + 2) + k;
    let indices = || (1..=a).flat_map(|i| (1..=b).flat_map(move |j| (1..=c).map(move |k| (i, j, k))));
    let mut cells = vec![0.0; (a + 2) * (b + 2) * (c + 2)];
    indices().for_each(|(i, j, k)| cells[at(i, j, k)] = ((i * 31 + j * 17 + k * 7) % 101) as f64);
    for _ in 0..steps {
        let old = cells.clone();
        for (i, j, k) in indices() {
            let planes = old[at(i - 1, j, k)] + old[at(i + 1, j, k)];
            let rows = planes + old[at(i, j - 1, k)] + old[at(i, j + 1, k)];
            cells[at(i, j, k)] = (rows + old[at(i, j, k - 1)] + old[at(i, j, k + 1)]) / 6.0;
        }
    }
    let product =
        |(i, j, k)| cells[at(i, j, k)].to_bits().wrapping_mul(((i << 40) + (j << 20) + k + 1) as u64);
    indices().map(product).fold(0, u64::wrapping_add)
}

#[test]
fn both_exchanges_come_to_the_cells_of_one_process() {
    for (pes, sides) in [(1, [1, 1, 1]), (2, [1, 1, 2]), (4, [1, 2, 2]), (5, [1, 1, 5]), (8, [2, 2, 2])] {
        let size = sides.map(|side| side * 32);
        let [a, b, c] = size;
        let expected = format!("checksum {:x}\n", checksum_of_box(size, 3));
        for exchange in ["strided", "halo"] {
            let text = printed(&mut job(HEAT3D, pes, &["--exchange", exchange, "--steps", "3"]));
            assert!(text.starts_with(&format!("{a} x {b} x {c} cells, 3 steps in ")), "{text}");
            assert!(text.ends_with(&expected), "by {exchange} on {pes} PEs: {text}");
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let expected = format!("checksum {:x}\n", checksum_of_box([32, 64, 64], 2));
    for exchange in ["strided", "halo"] {
        let text = printed(&mut over_loopback(HEAT3D, 4, &["--exchange", exchange, "--steps", "2"]));
        assert!(text.ends_with(&expected), "by {exchange}: {text}");
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    let message = "[possible values: strided, halo]";
    assert_refused(&mut job(HEAT3D, 2, &["--exchange", "mail"]), message);
}
