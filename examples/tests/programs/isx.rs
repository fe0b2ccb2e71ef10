//! `isx` on several PEs, beside the standard library's sort.

use crate::{assert_refused, counted, job, over_loopback, printed};

const ISX: &str = env!("CARGO_BIN_EXE_isx");

/// The sum of every key times its position, in order.
fn checksum_of_keys(count: u64) -> u64 {
    let key = |number: u64| {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32
    };
    let mut keys: Vec<u64> = (0..count).map(key).collect();
    keys.sort_unstable();
    (0..).zip(keys).map(|(position, key): (u64, u64)| position * key).fold(0, u64::wrapping_add)
}

#[test]
fn keys_are_sorted_over_any_number_of_pes() {
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

#[test]
fn it_runs_over_the_loopback_transport() {
    let text = printed(&mut over_loopback(ISX, 3, &["--keys", "5000", "--serial-check"]));
    assert!(text.contains(&format!("checksum {:x}\n", checksum_of_keys(5000))), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    for (arguments, message) in [
        (&["--keys", "0"][..], "0 is not in 1..=4294967295"),
        (&["--keys", "2000000000"], "in partition `buckets`"),
    ] {
        assert_refused(&mut job(ISX, 2, arguments), message);
    }
}
