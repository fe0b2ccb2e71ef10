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
fn what_cannot_be_is_one_message() {
    let plan = |words: &'static str| format!("plan --collective {words}");
    let size = [("SHMEM_SYMMETRIC_SIZE", "4X")];
    for (arguments, environment, expected) in [
        ("layout /nowhere".to_owned(), &[][..], "/nowhere: No such file"),
        ("layout /etc/passwd".into(), &[], "/etc/passwd: not a 64-bit little-endian ELF program"),
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
        (
            "plan --block 24 --count 1000 --to 23".into(),
            &[],
            "blocks of 24 bytes overlap at a stride of 23; the stride must be at least the block\n",
        ),
        (
            "plan --block 8 --count 18446744073709551615 --to 8".into(),
            &[],
            "18446744073709551615 blocks of 8 bytes at a stride of 8 are more than any memory has\n",
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
        "plan --collective sum --pes 4 --block 8",
        "plan --collective sum --pes 4 --bytes 8X",
    ] {
        let usage: Vec<&str> = usage.split(' ').collect();
        assert_eq!(info(&usage, &[]).output().unwrap().status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn without_a_command_it_shows_all() {
    let output = info(&[], &[("SHMEM_NPEZ", "3"), ("SHMEM_SYMMETRIC_SIZE", "3G")]).output().unwrap();
    let (text, message) = texts(&output);
    assert!(output.status.success(), "{message}");
    let size = text.lines().find(|line| line.starts_with("  SHMEM_SYMMETRIC_SIZE ")).unwrap();
    assert!(size.contains(" 64M ") && size.contains(" 3G ") && !text.contains(" PATH "), "{size}");
    for title in ["VARIABLES", "TOPOLOGY", "PAGES", "TRANSPORTS", "PARTITIONS"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
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

/// What is said of a plan, by words of its lines.
fn plan(arguments: &[&str], environment: &[(&str, &str)]) -> Vec<Vec<String>> {
    let all = [&["plan", "--collective"], arguments].concat();
    let output = info(&all, environment).output().unwrap();
    let (text, error) = texts(&output);
    assert!(output.status.success(), "{error}");
    text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

/// The lines of ways: which one is taken, and of each its name, rounds, messages and bytes.
fn ways(lines: &[Vec<String>]) -> Vec<(bool, String, [u64; 3])> {
    let of = |line: &Vec<String>| {
        let taken = line[0] == "taken";
        // The last two words are a time and its unit.
        let number = |back: usize| line[line.len() - 2 - back].parse().unwrap();
        (taken, line[usize::from(taken)].clone(), [number(3), number(2), number(1)])
    };
    lines[2..lines.len() - 1].iter().map(of).collect()
}

#[test]
fn the_plan_of_a_collective() {
    let large = ["sum", "--bytes", "1M", "--pes", "64", "--per-node", "2"];
    let lines = plan(&large, &[]);
    let title = "a sum of floating point, 1M of each PE: 64 PEs, 2 on each of 32 nodes";
    assert_eq!(lines[0].join(" "), title);
    let found = ways(&lines);
    // What docs/scale.md says of this job.
    assert_eq!((&found[1].1[..], found[1].2[0], found[1].2[1]), ("windows", 11, 7_232));
    assert_eq!(
        found.iter().map(|(taken, way, _)| (*taken, &way[..])).collect::<Vec<_>>(),
        [(false, "meetings"), (true, "windows")]
    );
    let asked = ways(&plan(&large, &[("SHMEM_COLLECTIVE_ALGORITHM", "reduce:meetings")]));
    assert!(asked[0].0 && !asked[1].0, "{asked:?}");

    let barrier = plan(&["barrier", "--pes", "100000", "--per-node", "100"], &[]);
    assert_eq!(ways(&barrier), [(true, "meetings".to_owned(), [10, 10_000, 80_000])]);
    assert!(barrier[2].join(" ").contains("1 x 10 rounds"), "{barrier:?}");

    // Half of there and back, and 12 bytes of each node at 80 or 175 ps.
    for (provider, time) in [("verbs;ofi_rxm", "1.1"), ("tcp;ofi_rxm", "6.0")] {
        let lines =
            plan(&["broadcast", "--pes", "2", "--provider", provider], &[("SHMEM_STRIDED_TABLE", "none")]);
        assert!(lines[2].ends_with(&[time.into(), "us".into()]), "{lines:?}");
    }

    let near = plan(&["fcollect", "--bytes", "1M", "--pes", "4", "--per-node", "4", "--symmetric"], &[]);
    let near: Vec<_> = near.iter().map(|line| line.join(" ")).collect();
    assert_eq!(near[0], "an fcollect, 1M of each PE, in symmetric objects: 4 PEs on one node");
    let starts = ["meetings a piece", "rings chunks", "taken direct from where"];
    assert!(near[2..5].iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{near:?}");
    assert!(near[2..5].iter().all(|line| line.ends_with(" - - - -")), "{near:?}");
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
}
