//! The programs as users run them: on several PEs, over both transports of one machine, with good and with bad input.

mod cg;
mod gups;
mod halo2d;
mod heat2d;
mod heat3d;
mod histogram;
mod index_gather;
mod isx;
mod particles;
mod sample_sort;
mod short;
mod speedup;
mod spmv;
mod summa;
mod toposort;
mod triangles;

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

/// `1 PE`, `2 PEs`.
fn counted(pes: usize) -> String {
    if pes == 1 { "1 PE".to_owned() } else { format!("{pes} PEs") }
}

/// The sum of the bits of every element times its number, counted from 1, as programs tell it.
fn checksum(elements: impl IntoIterator<Item = f64>) -> u64 {
    let products = (1..).zip(elements).map(|(number, element)| element.to_bits().wrapping_mul(number));
    products.fold(0, u64::wrapping_add)
}
