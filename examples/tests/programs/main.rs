//! The programs as users run them: on several PEs, over both transports of one machine, with good and with bad input.

mod computed;

use std::path::Path;
use std::process::{Command, Stdio};

use shmem_examples::counted;

const HEAT2D: &str = env!("CARGO_BIN_EXE_heat2d");
const HISTOGRAM: &str = env!("CARGO_BIN_EXE_histogram");
const ISX: &str = env!("CARGO_BIN_EXE_isx");

/// The columns, rows and pixels of `heat2d.png`.
fn picture(directory: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(directory.join("heat2d.png")).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    (frame.width, frame.height, pixels)
}

#[test]
fn heat2d_comes_to_the_same_solution_on_any_number_of_pes() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (pes, transport, [rows, columns], checksum) in [
        (1, "auto", [37, 23], "4679ef0c071a0abb"),
        (3, "loopback", [37, 23], "4679ef0c071a0abb"),
        (6, "auto", [37, 23], "4679ef0c071a0abb"),
        // Fewer rows and columns than PEs.
        (5, "auto", [1, 1], "0"),
        (5, "auto", [2, 6], "8f3c000000000000"),
        (4, "auto", [3, 3], "838000000000000"),
        (4, "loopback", [256, 1], "6fe0000000000000"),
        (6, "auto", [1, 4], "0"),
    ] {
        let mut command = job(HEAT2D, pes, &format!("--rows {rows} --columns {columns} --steps 90"));
        command.envs((transport != "auto").then_some(("SHMEM_TRANSPORT", transport)));
        let text = printed(command.current_dir(directory));
        assert!(text.starts_with(&format!("{rows} x {columns} cells on {}: ", counted(pes))), "{text}");
        assert!(text.ends_with(&format!("\nchecksum {checksum}\n")), "{text}");
    }
}

#[test]
fn heat2d_relaxes_its_sample() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let text = printed(job(HEAT2D, 4, "--tolerance 6").current_dir(directory));
    assert!(text.starts_with("256 x 256 cells on 4 PEs: "), "{text}");
    assert!(
        text.contains(": 64 steps,") && text.ends_with(include_str!("../../heat2d/checksum.txt")),
        "{text}"
    );
    let (columns, rows, pixels) = picture(directory);
    assert_eq!((columns, rows), (256, 256));
    // The colours of the coldest and of the hottest cell.
    for colour in [[0x00, 0x00, 0x04], [0xFC, 0xFF, 0xA4]] {
        assert!(pixels.chunks(3).any(|pixel| pixel == colour), "{colour:?}");
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (program, arguments, message) in [
        (HISTOGRAM, "--bins 0", "0 is not in 1.."),
        (ISX, "--keys 0", "0 is not in 1..=4294967295"),
        (ISX, "--keys 3000000000", "in partition `buckets`"),
        (
            HEAT2D,
            "--rows 3 --columns 1025",
            "the field has 3 rows and 1025 columns, and each of 3 PEs holds at most 1024 rows of 1024 \
             columns: take more PEs",
        ),
        (HEAT2D, "--tolerance -1", "a number of degrees, 0 or more"),
        (HEAT2D, "--steps 1 --output /nowhere/heat.png", "cannot write /nowhere/heat.png: "),
    ] {
        let output = job(program, 3, arguments).current_dir(directory).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{program} {arguments}");
        assert_eq!(text.matches(message).count(), 1, "{message:?} in {text:?}");
    }
    assert!(!directory.join("heat2d.png").exists());
    let help = printed(&mut job(HEAT2D, 3, "--help"));
    assert_eq!(help.matches("Usage: heat2d").count(), 1, "{help}");
}

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
    let text = printed(&mut job(env!("CARGO_BIN_EXE_hello"), 3, ""));
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
        command.args([&port.to_string(), &number.to_string(), "3"]).stdout(Stdio::piped());
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
        let text = printed(&mut job(env!("CARGO_BIN_EXE_work-queue"), pes, ""));
        let (ways, shares) = text.trim_end().split_once("; boards looked at by each PE: ").unwrap();
        assert_eq!(ways, "8 queens: 92 ways");
        // The empty one, 8 with a row, 42 with two rows, 140 with three.
        let shares: Vec<u64> =
            shares.trim_matches(['[', ']']).split(", ").map(|share| share.parse().unwrap()).collect();
        assert_eq!((shares.len(), shares.iter().sum::<u64>()), (pes, 1 + 8 + 42 + 140));
    }
}

/// A run of a program that launches itself.
fn job(program: &str, pes: usize, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.env("SHMEM_NPES", pes.to_string()).args(arguments.split_whitespace());
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
