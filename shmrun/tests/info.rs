//! `shmem-info` as users call it. The program whose layout it shows is this test.

use std::process::{Command, Output};

use shmem_core::object::{Descriptor, Symmetric};
use shmem_core::partition::{Declaration, Partition, Traits, default};

// SAFETY: `GRID_RECORD` is its only descriptor, and stands in the section.
static GRID: Symmetric<[u64; 1000]> = unsafe { Symmetric::__new() };
#[used]
#[unsafe(link_section = "shmem_sym")]
static GRID_RECORD: Descriptor =
    // SAFETY: it is the only descriptor of `GRID`, and stands in the section.
    unsafe { Descriptor::new(&GRID, None, default::DECLARATION, 0, "GRID", "info", "tests/info.rs", 10) };

const BULK: Declaration =
    Declaration::new("bulk", 23, Traits { size: Some(1 << 20), ..Traits::NONE }, "tests/info.rs", 12);
#[used]
#[unsafe(link_section = "shmem_par")]
static BULK_RECORD: Declaration = BULK;
// SAFETY: `EDGE_RECORD` is its only descriptor, and stands in the section.
static EDGE: Symmetric<[u8; 3]> = unsafe { Symmetric::__new() };
#[used]
#[unsafe(link_section = "shmem_sym")]
static EDGE_RECORD: Descriptor =
    // SAFETY: it is the only descriptor of `EDGE`, and stands in the section.
    unsafe { Descriptor::new(&EDGE, None, BULK, 4096, "EDGE", "info", "tests/info.rs", 14) };

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
    let grid = "partition 1 `default`, 64M: 1 static(s), 8000 bytes; 67096704 bytes left for the heap\n\
                \x20 OFFSET  SIZE  ALIGN  PAGES  NAME        PLACE\n\
                \x20 0x1040  8000     64      -  info::GRID  tests/info.rs:10\n";
    let edge = "partition 23 `bulk`, 1M: 1 static(s), 3 bytes; 1031872 bytes left for the heap\n";
    assert!(text.contains(grid) && text.contains(edge) && text.contains(" 4K  info::EDGE  "), "{text}");
    assert_eq!(warnings, "");
}

#[test]
fn the_layout_of_statics_that_do_not_fit_is_shown_and_fails() {
    let output = info(&["layout", &own()], &[("SHMEM_SYMMETRIC_SIZE", "4K")]).output().unwrap();
    let (text, message) = texts(&output);
    assert!(output.status.code() == Some(1) && text.contains("info::GRID"), "{text}");
    assert_eq!(
        message,
        "shmem-info: the 1 symmetric static(s) in partition `default` need 8000 bytes, but it has 4K; the largest: `info::GRID` 8000 bytes (tests/info.rs:10); set SHMEM_SYMMETRIC_SIZE=8K (or SHMEM_SYMMETRIC_PARTITION1=SIZE=8K)\n"
    );
}

#[test]
fn what_cannot_be_is_one_message() {
    let plan = |words: &'static str| format!("plan --collective {words}");
    let size = [("SHMEM_SYMMETRIC_SIZE", "4X")];
    for (arguments, environment, expected) in [
        ("layout /nowhere".to_owned(), &[][..], "/nowhere: No such file"),
        ("layout /".into(), &[], "/: is a directory"),
        ("layout /etc/passwd".into(), &[], "/etc/passwd: not a 64-bit little-endian ELF program"),
        ("layout /bin/sh".into(), &[], "/bin/sh: has no section `shmem_sym`: it was not built with shmem-rt"),
        ("partitions".into(), &size, "SHMEM_SYMMETRIC_SIZE=4X: "),
        (plan("sum --pes 0"), &[], "--pes 0: plans are made for 1 to 262144 PEs\n"),
        (
            plan("sum --pes 10 --per-node 4"),
            &[],
            "--pes 10 --per-node 4: nodes have equally many PEs in a plan; give a number of PEs that is a \
             multiple of those on a node\n",
        ),
        (
            plan("fcollect --pes 1024 --bytes 5G"),
            &[],
            "--bytes 5G: among 1024 PEs, one has more than 16G then, up to which plans are made; give fewer\n",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = info(&arguments, environment).output().unwrap();
        let (_, message) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let is_expected = message.starts_with(&format!("shmem-info: {expected}"));
        assert!(is_expected && message.lines().count() == 1, "{message}");
    }
    for usage in [
        "layout",
        "plan",
        "plan --collective sum",
        "plan --pes 4",
        "plan --collective sums --pes 4",
        "plan --collective sum --pes 4 --bytes 8X",
    ] {
        let usage: Vec<&str> = usage.split(' ').collect();
        assert_eq!(info(&usage, &[]).output().unwrap().status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn without_a_command_it_shows_all() {
    let environment =
        [("SHMEM_NPEZ", "3"), ("SHMEM_SYMMETRIC_SIZE", "3G"), ("SHMEM_LIBFABRIC", "/nowhere/libfabric.so")];
    let output = info(&[], &environment).output().unwrap();
    let (text, message) = texts(&output);
    assert!(output.status.success(), "{message}");
    let size = text.lines().find(|line| line.starts_with("  SHMEM_SYMMETRIC_SIZE ")).unwrap();
    assert!(size.contains(" 64M ") && size.contains(" 3G ") && !text.contains(" PATH "), "{size}");
    let fabric = text.lines().find(|line| line.starts_with("  ofi ")).unwrap();
    assert!(fabric.contains("not usable: ") && fabric.contains("/nowhere/libfabric.so"), "{fabric}");
    for title in ["VARIABLES", "TOPOLOGY", "TRANSPORTS", "PARTITIONS"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    assert!(text.lines().any(|line| line.starts_with("  shm ") && line.ends_with("  usable")), "{text}");
    let mistyped = "shmem-info: warning: SHMEM_NPEZ is set and not known; did you mean SHMEM_NPES?\n";
    assert_eq!(message, mistyped);
}

#[test]
fn a_provider_that_jobs_run_over_is_usable() {
    // SAFETY: what is installed under the name of libfabric is libfabric, whose initialisers may run at any time.
    if unsafe { shmem_core::libfabric::Library::load(None) }.is_err() {
        return eprintln!("skipped: libfabric is not here");
    }
    let (text, message) = texts(&info(&["transports"], &[]).output().unwrap());
    let row = text.lines().find(|line| line.contains("tcp;ofi_rxm") && line.contains(" lo "));
    let row = row.unwrap_or_else(|| panic!("no row of tcp on lo: {text}{message}"));
    assert!(!row.contains("not usable"), "{row}");
}

#[test]
fn a_reader_that_stops_is_no_fault() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = info(&["env"], &[]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), texts(&output).1), (Some(0), String::new()));
}

#[test]
fn the_plan_of_a_collective() {
    // How lines begin, but for the head, and what is in them: rounds, messages and bytes, or the time.
    for (arguments, asked, expected) in [
        // What docs/scale.md says of this job.
        ("sum --bytes 1M --pes 64 --per-node 2", NONE, &["barriers", "taken windows 11 7232"][..]),
        (
            "sum --bytes 1M --pes 64 --per-node 2",
            "reduce:barriers",
            &[
                "a sum of floating point, 1M of each PE: 64 PEs, 2 on each of 32 nodes",
                "taken barriers",
                "windows",
            ],
        ),
        ("barrier --pes 100000 --per-node 100", NONE, &["taken barriers 10 10000 80000"]),
        // Half of there and back, and 12 bytes of each node at 80 or 175 ps.
        ("broadcast --pes 2 --provider verbs;ofi_rxm", NONE, &["taken barriers|1.1 us"]),
        ("broadcast --pes 2 --provider tcp;ofi_rxm", NONE, &["taken barriers|6.0 us"]),
        (
            "fcollect --bytes 1M --pes 4 --per-node 4 --symmetric",
            NONE,
            &[
                "an fcollect, 1M of each PE, in symmetric objects: 4 PEs on one node",
                "barriers - - - -",
                "rings - - - -",
                "taken direct - - - -",
            ],
        ),
    ] {
        let words: Vec<&str> = ["plan", "--collective"].into_iter().chain(arguments.split(' ')).collect();
        let (text, error) = texts(&info(&words, &[("SHMEM_COLLECTIVE_ALGORITHM", asked)]).output().unwrap());
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let lines: Vec<String> = lines.collect();
        for expected in expected {
            let (start, part) = expected.split_once('|').unwrap_or((expected, ""));
            let is_there = lines.iter().any(|line| line.starts_with(start) && line.contains(part));
            assert!(is_there, "{arguments}: `{expected}` in {text}{error}");
        }
    }
}

/// Asks nothing of the families of these plans.
const NONE: &str = "alltoall:barriers";
