//! `histogram`, beside counts of one process.

use crate::{assert_refused, job, over_loopback, printed};

const HISTOGRAM: &str = env!("CARGO_BIN_EXE_histogram");

/// What the program prints of so many samples in so many bins.
fn counts(bins: usize, samples: u64) -> String {
    let mut counts = vec![0_u64; bins];
    for number in 0..samples {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let sample = ((mixed >> 32) + mixed % (1 << 32)) as f64 / 8_589_934_592.0;
        counts[(sample * bins as f64) as usize] += 1;
    }
    let checksum: u64 = (1..).zip(&counts).map(|(bin, count): (u64, &u64)| bin * count).sum();
    let fullest = counts.iter().max().unwrap();
    format!("{samples} samples in {bins} bins, at most {fullest} in one\nchecksum {checksum:x}\n")
}

#[test]
fn no_sample_is_lost_on_any_number_of_pes() {
    for (pes, bins, samples) in [(1, 100, 3000), (2, 1001, 9000), (3, 2, 20_000), (4, 64, 0), (5, 3, 20_000)]
    {
        let arguments = ["--bins", &bins.to_string(), "--samples", &samples.to_string(), "--single"];
        for arguments in [&arguments[..4], &arguments] {
            assert_eq!(printed(&mut job(HISTOGRAM, pes, arguments)), counts(bins, samples), "on {pes} PEs");
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let arguments = ["--bins", "37", "--samples", "4000"];
    assert_eq!(printed(&mut over_loopback(HISTOGRAM, 3, &arguments)), counts(37, 4000));
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(HISTOGRAM, 2, &["--bins", "0"]), "0 is not in 1..");
}
