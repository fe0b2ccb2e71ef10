//! `sample-sort`, beside the standard library's sort.

use crate::{job, over_loopback, printed};

const SAMPLE_SORT: &str = env!("CARGO_BIN_EXE_sample-sort");

/// What the program prints of so many keys.
fn sorted(count: u64) -> String {
    let key = |number: u64| {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let half = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32;
        half * half / (1 << 20)
    };
    let mut keys: Vec<u64> = (0..count).map(key).collect();
    keys.sort_unstable();
    let products = (0..).zip(keys).map(|(position, key): (u64, u64)| key.wrapping_mul(position));
    format!("{count} keys, checksum {:x}\n", products.fold(0, u64::wrapping_add))
}

#[test]
fn keys_are_sorted_over_any_number_of_pes_both_ways() {
    for (pes, keys) in [(1, 1000), (2, 40_001), (3, 40_001), (5, 3), (4, 0)] {
        for way in ["alltoallv", "exchange"] {
            let arguments = ["--keys", &keys.to_string(), "--by", way];
            assert_eq!(
                printed(&mut job(SAMPLE_SORT, pes, &arguments)),
                sorted(keys),
                "on {pes} PEs, by {way}"
            );
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    for way in ["alltoallv", "exchange"] {
        let arguments = ["--keys", "3000", "--by", way];
        assert_eq!(printed(&mut over_loopback(SAMPLE_SORT, 3, &arguments)), sorted(3000), "by {way}");
    }
}
