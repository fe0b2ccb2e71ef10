//! `index-gather`, beside reads of one process.

use crate::{assert_refused, job, over_loopback, printed};

const INDEX_GATHER: &str = env!("CARGO_BIN_EXE_index-gather");

fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 7
}

/// What the program prints of so many reads of a table of so many entries.
fn reads(entries: u64, reads: u64) -> String {
    let table: Vec<u64> = (0..entries).map(|index| mixed(index ^ 0x5555)).collect();
    let read = |number: u64| table[(mixed(number) % entries) as usize].wrapping_mul(number + 1);
    let checksum = (0..reads).map(read).fold(0, u64::wrapping_add);
    format!("{reads} reads of {entries} entries, checksum {checksum:x}\n")
}

#[test]
fn every_entry_is_found_in_its_place_by_lists_and_one_by_one() {
    for (pes, entries, count) in [(1, 100, 3000), (2, 501, 9000), (3, 7, 20_000), (4, 16, 0), (5, 3, 20_000)]
    {
        let arguments = ["--entries", &entries.to_string(), "--reads", &count.to_string(), "--single"];
        let expected = reads(entries * pes as u64, count);
        for arguments in [&arguments[..4], &arguments] {
            assert_eq!(printed(&mut job(INDEX_GATHER, pes, arguments)), expected, "on {pes} PEs");
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let arguments = ["--entries", "37", "--reads", "4000"];
    assert_eq!(printed(&mut over_loopback(INDEX_GATHER, 3, &arguments)), reads(111, 4000));
}

#[test]
fn what_is_wrong_is_said_once() {
    assert_refused(&mut job(INDEX_GATHER, 2, &["--entries", "0"]), "0 is not in 1..");
}
