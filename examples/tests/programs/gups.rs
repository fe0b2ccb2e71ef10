//! `gups` on several PEs, beside a table that is updated here, number by number.

use crate::{assert_refused, counted, job, over_loopback, printed};

const GUPS: &str = env!("CARGO_BIN_EXE_gups");

/// The sum of each word times its index, counted from 1, when the benchmark's updates have been made.
fn checksum_of_words(log2: u32, rounds: u64) -> u64 {
    let size = 1 << log2;
    let mut table: Vec<u64> = (0..size).collect();
    let mut random = 1_u64;
    for _ in 0..rounds * size {
        random = if random >= 1 << 63 { random << 1 ^ 7 } else { random << 1 };
        table[(random % size) as usize] ^= random;
    }
    (1..).zip(table).map(|(number, word)| word.wrapping_mul(number)).fold(0, u64::wrapping_add)
}

#[test]
fn no_update_is_lost_on_any_number_of_pes() {
    for (pes, log2, rounds) in [(1, 8, 4), (2, 12, 4), (3, 12, 5), (5, 2, 40_000), (4, 0, 3)] {
        let (size, times) = (log2.to_string(), rounds.to_string());
        let arguments = ["--log2-table", &size, "--rounds", &times, "--verify", "--serial-check"];
        let text = printed(&mut job(GUPS, pes, &arguments));
        let lines: Vec<&str> = text.lines().collect();
        let pes = counted(pes);
        assert!(
            lines[0].starts_with(&format!("2^{log2} words on {pes}: {} updates in ", rounds << log2)),
            "{text}"
        );
        assert_eq!(lines[1], format!("checksum {:x}", checksum_of_words(log2, rounds)));
        assert_eq!(lines[2..], ["equal to the serial solution", "undone by the same updates"]);
    }
}

#[test]
fn updates_that_are_known_ahead_go_in_lists() {
    for (pes, log2, ahead) in [(1, 8, "1024"), (2, 12, "1024"), (3, 10, "7"), (5, 2, "1000")] {
        let size = log2.to_string();
        let arguments = ["--log2-table", &size, "--ahead", ahead, "--verify", "--serial-check"];
        let text = printed(&mut job(GUPS, pes, &arguments));
        let expected = format!("checksum {:x}", checksum_of_words(log2, 4));
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, [&expected, "equal to the serial solution", "undone by the same updates"]);
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let arguments = ["--log2-table", "7", "--verify", "--serial-check"];
    let text = printed(&mut over_loopback(GUPS, 3, &arguments));
    assert!(text.contains(&format!("checksum {:x}\n", checksum_of_words(7, 4))), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    for (arguments, message) in [
        (&["--log2-table", "30"][..], "no room for 4G aligned to 64 in partition `tables`"),
        (&["--log2-table", "41"], "41 is not in 0..=40"),
        (&["--rounds", "0"], "0 is not in 1.."),
    ] {
        assert_refused(&mut job(GUPS, 2, arguments), message);
    }
}
