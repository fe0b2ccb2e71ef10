//! `shmem-info` as users call it. The program whose layout it shows is this test.

use std::process::{Command, Output};

use shmem_core::object::{Descriptor, Symmetric};
use shmem_core::partition::{Partition, default};

// SAFETY: `GRID_RECORD` is its only descriptor, and stands in the section.
static GRID: Symmetric<[u64; 1000]> = unsafe { Symmetric::__new() };
#[used]
#[unsafe(link_section = "shmem_sym")]
static GRID_RECORD: Descriptor =
    // SAFETY: it is the only descriptor of `GRID`, and stands in the section.
    unsafe { Descriptor::new(&GRID, None, default::DECLARATION, 0, "GRID", "info", "tests/info.rs", 10) };

fn info(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shmem-info"));
    let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SHMEM_"));
    for (name, _) in ours {
        command.env_remove(name);
    }
    command.args(arguments).envs(environment.iter().copied());
    command
}

fn own() -> String {
    std::env::current_exe().unwrap().to_string_lossy().into_owned()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_layout_of_a_program() {
    let output = info(&["layout", &own()], &[]).output().unwrap();
    let (text, warnings) = texts(&output);
    assert!(output.status.success(), "{warnings}");
    assert!(text.contains("  0x1040  8000     64      -  info::GRID  tests/info.rs:10\n"), "{text}");
    assert_eq!(warnings, "");
}

#[test]
fn check_fails_where_a_job_would() {
    let fits = info(&["layout", "--check", &own()], &[]).output().unwrap();
    assert_eq!((fits.status.code(), texts(&fits)), (Some(0), (String::new(), String::new())));

    let small = [("SHMEM_SYMMETRIC_SIZE", "4K")];
    let fails = info(&["layout", "--check", &own()], &small).output().unwrap();
    let (text, message) = texts(&fails);
    assert_eq!((fails.status.code(), text.as_str()), (Some(1), ""));
    assert_eq!(
        message,
        "shmem-info: the 1 symmetric static(s) in partition `default` need 8000 bytes, but it has 4K; the largest: `info::GRID` 8000 bytes (tests/info.rs:10); raise SHMEM_SYMMETRIC_SIZE (or SHMEM_SYMMETRIC_PARTITION1=SIZE=..)\n"
    );

    let shown = info(&["layout", &own()], &small).output().unwrap();
    let (text, message) = texts(&shown);
    assert!(shown.status.success() && text.contains("info::GRID"), "{text}");
    assert!(message.starts_with("shmem-info: warning: a job would not start: the 1 symmetric"), "{message}");
}

#[test]
fn bad_input_is_one_message() {
    for (arguments, environment, expected) in [
        (&["layout", "/nowhere"][..], &[][..], "shmem-info: /nowhere: No such file"),
        (&["layout", "/etc/passwd"], &[], "shmem-info: /etc/passwd: not a 64-bit little-endian ELF program"),
        (&["partitions"], &[("SHMEM_SYMMETRIC_SIZE", "4X")], "shmem-info: SHMEM_SYMMETRIC_SIZE=4X: "),
    ] {
        let output = info(arguments, environment).output().unwrap();
        let (_, message) = texts(&output);
        assert_eq!(output.status.code(), Some(1));
        assert!(message.starts_with(expected) && message.lines().count() == 1, "{message}");
    }
    assert_eq!(info(&["layout"], &[]).output().unwrap().status.code(), Some(2), "usage");
}

#[test]
fn without_a_command_it_shows_all() {
    let output = info(&[], &[("SHMEM_NPEZ", "3")]).output().unwrap();
    let (text, message) = texts(&output);
    assert!(output.status.success(), "{message}");
    for title in ["VARIABLES", "TOPOLOGY", "PAGES", "TRANSPORTS", "PARTITIONS"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    assert!(message.starts_with("shmem-info: warning: SHMEM_NPEZ"), "{message}");
}

#[test]
fn a_reader_that_stops_is_no_fault() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = info(&["env"], &[]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), texts(&output).1), (Some(0), String::new()));
}

#[test]
fn the_plan_of_a_transfer() {
    let column = ["plan", "--block", "24", "--count", "1000", "--to", "8192", "--from", "24"];
    let (text, _) = texts(&info(&column, &[("SHMEM_STRIDED_ALGORITHM", "3")]).output().unwrap());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("constant  "), "{text}");
    assert_eq!(lines[1], "1         putmem for each of 1000 x 24 bytes, strides 8192 <- 24");
    let columns = "0 iput128, 3 iput64, 0 iput32 for 1000 x 24 bytes, strides 8192 <- 24";
    assert_eq!(lines[2], format!("2         {columns}"));
    assert_eq!(lines[3], format!("3         {columns}  (this environment's)"));
    assert!(lines[4].starts_with("auto      ") && lines[4].ends_with(" strides 8192 <- 24"), "{text}");
    assert!(lines[5].starts_with("advice    1000 blocks of 24 bytes lie 8192 bytes apart"), "{text}");
    let overlap = ["plan", "--block", "24", "--count", "1000", "--to", "23"];
    let (_, error) = texts(&info(&overlap, &[]).output().unwrap());
    assert_eq!(
        error,
        "shmem-info: blocks of 24 bytes overlap at a stride of 23; the stride must be at least the block\n"
    );
    let endless = ["plan", "--block", "8", "--count", "18446744073709551615", "--to", "8"];
    let (_, error) = texts(&info(&endless, &[]).output().unwrap());
    assert_eq!(
        error,
        "shmem-info: 18446744073709551615 blocks of 8 bytes at a stride of 8 are more than any memory has\n"
    );
}
