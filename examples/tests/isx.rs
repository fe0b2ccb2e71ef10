//! `isx` on several PEs, beside the standard library's sort.

use std::process::{Command, Output};

fn isx(pes: usize, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isx"));
    command.env("SHMEM_NPES", pes.to_string()).args(arguments).output().unwrap()
}

#[track_caller]
fn assert_success(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The sum of every key times its position, in order.
fn checksum(count: u64) -> u64 {
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
        let text = assert_success(&isx(pes, &["--keys", &keys.to_string(), "--serial-check"]));
        let lines: Vec<&str> = text.lines().collect();
        let pes = if pes == 1 { "1 PE".to_owned() } else { format!("{pes} PEs") };
        assert!(lines[0].starts_with(&format!("{keys} keys on {pes}: sorted in ")), "{text}");
        assert_eq!(lines[1..], [&format!("checksum {:x}", checksum(keys)), "equal to the serial solution"]);
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isx"));
    command.envs([("SHMEM_NPES", "3"), ("SHMEM_TRANSPORT", "loopback")]);
    let text = assert_success(&command.args(["--keys", "5000", "--serial-check"]).output().unwrap());
    assert!(text.contains(&format!("checksum {:x}\n", checksum(5000))), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    for (arguments, message) in [
        (&["--keys", "0"][..], "0 is not in 1..=4294967295"),
        (&["--keys", "2000000000"], "in partition `buckets`"),
    ] {
        let output = isx(2, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert_eq!(text.matches(message).count(), 1, "{message:?} in {text:?}");
    }
}
