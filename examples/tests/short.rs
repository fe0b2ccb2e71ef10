//! The short examples, on several PEs.

use std::process::Command;

/// What a program prints on so many PEs; it must succeed.
fn printed(program: &str, pes: usize) -> String {
    let output = Command::new(program).env("SHMEM_NPES", pes.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn everybody_is_greeted_by_the_pe_before() {
    let text = printed(env!("CARGO_BIN_EXE_hello"), 3);
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["PE 0 of 3: PE 2 says hello", "PE 1 of 3: PE 0 says hello", "PE 2 of 3: PE 1 says hello"]
    );
}

#[test]
fn the_token_passes_every_pe_three_times() {
    for pes in [1, 2, 5] {
        assert_eq!(printed(env!("CARGO_BIN_EXE_ring"), pes), format!("the token passed {} PEs\n", 3 * pes));
    }
}

#[test]
fn no_heat_is_lost_round_the_ring() {
    for pes in [1, 4] {
        let text = printed(env!("CARGO_BIN_EXE_sample"), pes);
        assert!(text.starts_with("1000.000 units of heat, "), "{text}");
    }
}
