//! The programs as users run them: on several PEs, over both transports of one machine, with good and with bad input.

mod computed;
mod heat2d;

use std::process::Command;

/// Whoever looks for a program of a kind looks there.
#[test]
fn every_program_is_listed_in_the_readme() {
    let [manifest, readme] = [include_str!("../../Cargo.toml"), include_str!("../../README.md")];
    let bins = manifest.split("[[bin]]").skip(1);
    let paths = bins.map(|bin| bin.split("path = \"").nth(1).unwrap().split('"').next().unwrap());
    let missing: Vec<&str> = paths.filter(|path| !readme.contains(&format!("({path})"))).collect();
    assert!(missing.is_empty(), "examples/README.md has no link to {missing:?}");
}

#[test]
fn everybody_is_greeted_by_the_pe_before() {
    let text = printed(&mut job(env!("CARGO_BIN_EXE_hello"), 3, &[]));
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["PE 0 of 3: PE 2 says hello", "PE 1 of 3: PE 0 says hello", "PE 2 of 3: PE 1 says hello"]
    );
}

/// As a shell starts them, with a number each.
#[test]
fn processes_come_together_by_an_exchange_of_their_own() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let start = |number: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_own-bootstrap"));
        command.args([&port.to_string(), &number.to_string(), "3"]).stdout(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    for (number, process) in [0, 1, 2].map(start).into_iter().enumerate() {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        assert_eq!(text, format!("PE {number} of 3: all numbers together are 3\n"));
    }
}

#[test]
fn every_board_is_looked_at_once() {
    for pes in [1, 3] {
        let text = printed(&mut job(env!("CARGO_BIN_EXE_work-queue"), pes, &[]));
        let (ways, shares) = text.trim_end().split_once("; boards looked at by each PE: ").unwrap();
        assert_eq!(ways, "8 queens: 92 ways");
        // The empty one, 8 with a row, 42 with two rows, 140 with three.
        let shares: Vec<u64> =
            shares.trim_matches(['[', ']']).split(", ").map(|share| share.parse().unwrap()).collect();
        assert_eq!((shares.len(), shares.iter().sum::<u64>()), (pes, 1 + 8 + 42 + 140));
    }
}

/// The same option of each example that has a serial solution.
#[test]
fn each_pair_of_times_is_a_line_and_nothing_else_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_heat2d"), &["--steps", "5"][..]),
        (env!("CARGO_BIN_EXE_histogram"), &["--bins", "100", "--samples", "5000"]),
        (env!("CARGO_BIN_EXE_isx"), &["--keys", "2000"]),
    ] {
        for pes in [1, 3] {
            let mut command = job(program, pes, &[arguments, &["--times", "4"]].concat());
            let text = printed(command.current_dir(directory.path()));
            assert_eq!(text.lines().count(), 4, "{program} on {pes} PEs: {text}");
            for line in text.lines() {
                let times = line.strip_prefix(r#"{"parallel":"#).and_then(|line| line.strip_suffix('}'));
                let (parallel, serial) = times.and_then(|times| times.split_once(r#","serial":"#)).unwrap();
                let nanoseconds = [parallel, serial].map(|time| time.parse::<u64>().unwrap());
                assert!(nanoseconds.iter().all(|time| *time > 0), "{program} on {pes} PEs: {text}");
            }
        }
    }
    assert_eq!(directory.path().read_dir().unwrap().count(), 0, "no picture either");
}

/// A run of a program that launches itself.
fn job(program: &str, pes: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env("SHMEM_NPES", pes.to_string()).args(arguments);
    command
}

/// The same with the PEs as threads that reach each other over a transport.
fn over_loopback(program: &str, pes: usize, arguments: &[&str]) -> Command {
    let mut command = job(program, pes, arguments);
    command.env("SHMEM_TRANSPORT", "loopback");
    command
}

/// What a run prints; it must succeed.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Holds a run to fail, and to say why once.
#[track_caller]
fn assert_refused(command: &mut Command, message: &str) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{command:?}");
    assert_eq!(text.matches(message).count(), 1, "{message:?} in {text:?}");
}
