//! Globals of C programs that are built as users build them: by each linker, position-independent or not, with either form of the
//! library.
//!
//! The programs beside this file are compiled by an installed `oshcc`, which `OSHCC` and `OSHRUN` in the environment name. Without
//! them, the test installs what Cargo has built, which needs gcc.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The compiler and launcher wrappers of an installation.
struct Installed {
    oshcc: PathBuf,
    oshrun: PathBuf,
}

/// A compiler and linker options, with a name for diagnostics.
struct Way {
    name: &'static str,
    compiler: &'static str,
    options: &'static [&'static str],
}

const WAYS: [Way; 10] = [
    Way { name: "ld", compiler: "gcc", options: &[] },
    Way { name: "ld, no PIE", compiler: "gcc", options: &["-no-pie", "-fno-pie"] },
    Way { name: "ld, static libshmem", compiler: "gcc", options: &["-static-shmem"] },
    Way { name: "ld, static libshmem, no PIE", compiler: "gcc", options: &["-static-shmem", "-no-pie"] },
    Way { name: "ld, bound at once", compiler: "gcc", options: &["-Wl,-z,now"] },
    Way { name: "ld, nothing made read only", compiler: "gcc", options: &["-Wl,-z,norelro"] },
    Way { name: "lld", compiler: "clang", options: &["-fuse-ld=lld"] },
    Way { name: "lld, no PIE", compiler: "clang", options: &["-fuse-ld=lld", "-no-pie", "-fno-pie"] },
    Way { name: "lld, static libshmem", compiler: "clang", options: &["-fuse-ld=lld", "-static-shmem"] },
    Way { name: "AddressSanitizer", compiler: "gcc", options: &["-fsanitize=address"] },
];

/// The way to build that works with every program.
const PLAIN: &Way = &WAYS[0];

fn installed() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        if let (Some(oshcc), Some(oshrun)) = (env::var_os("OSHCC"), env::var_os("OSHRUN")) {
            // Scripts may have `-np` behind the program's name, which is cut off.
            let oshrun = oshrun.to_string_lossy().split(' ').next().unwrap_or_default().into();
            return Installed { oshcc: oshcc.into(), oshrun };
        }
        let prefix = temporary().join("installed");
        let made = Command::new(folder().join("../../make.sh")).arg("--debug").arg(&prefix).output().unwrap();
        assert!(made.status.success(), "{}", text(&made));
        Installed { oshcc: prefix.join("bin/oshcc"), oshrun: prefix.join("bin/oshrun") }
    })
}

/// Returns whether a compiler can build a program with these options.
fn can(compiler: &str, options: &[&str]) -> bool {
    let to = temporary().join("nothing");
    let options = options.iter().filter(|option| **option != "-static-shmem");
    let made =
        Command::new(compiler).args(options).arg(folder().join("nothing.c")).arg("-o").arg(to).output();
    made.is_ok_and(|made| made.status.success())
}

/// Runs a compiler in the folder of the C programs. Returns the path of its output.
fn make(compiler: &mut Command, name: &str) -> PathBuf {
    let to = temporary().join(name);
    let made = compiler.current_dir(folder()).arg("-o").arg(&to).output().unwrap();
    assert!(made.status.success(), "{name}: {}", text(&made));
    to
}

fn build(way: &Way, source: &str, name: &str) -> PathBuf {
    let mut oshcc = Command::new(&installed().oshcc);
    oshcc.env("OSHCC_CC", way.compiler).args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1"]);
    make(oshcc.args(way.options).arg(source), name)
}

/// Builds a shared library from a C file.
fn library(options: &[&str], source: &str) -> PathBuf {
    let mut gcc = Command::new("gcc");
    make(gcc.args(["-shared", "-fPIC"]).args(options).arg(source), &format!("lib{source}.so"))
}

/// Returns the linker option with which the loader finds built libraries.
fn run_path() -> String {
    format!("-Wl,-rpath,{}", temporary().display())
}

fn run(pes: u32, program: &Path, arguments: &[&str]) -> Output {
    run_with(pes, program, arguments, &[])
}

fn run_with(pes: u32, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut job = Command::new(&installed().oshrun);
    job.args(["-np", &pes.to_string(), "--timeout", "60"]).arg(program).args(arguments);
    job.env("ASAN_OPTIONS", "detect_leaks=0").envs(variables.iter().copied()).output().unwrap()
}

/// Returns the output of a program, which must have succeeded.
#[track_caller]
fn succeeds(output: &Output) -> String {
    let said = text(output);
    assert!(output.status.success(), "{said}");
    said
}

/// Runs a program that must succeed. Returns its trace.
fn traced(pes: u32, program: &Path) -> String {
    let trace = program.with_extension("json");
    succeeds(&run_with(pes, program, &[], &[("SHMEM_TRACE", trace.to_str().unwrap())]));
    std::fs::read_to_string(trace).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/globals")
}

fn temporary() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn text(output: &Output) -> String {
    let both = [output.stdout.as_slice(), &output.stderr].concat();
    format!("{}: {}", output.status, String::from_utf8_lossy(&both))
}

/// Globals are symmetric, a forked process has its own copy, and untouched globals take no memory.
#[test]
fn they_are_symmetric_however_a_program_is_linked() {
    for (k, way) in WAYS.iter().enumerate() {
        if !can(way.compiler, way.options) {
            eprintln!("skipped: {}: {} does not link so here", way.name, way.compiler);
            continue;
        }
        let is_large = way.options.is_empty() || way.options.contains(&"-static-shmem");
        for source in
            ["kinds.c", "fork.c", "large.c"].into_iter().filter(|source| is_large || *source != "large.c")
        {
            let output = run(3, &build(way, source, &format!("{source}-{k}")), &[]);
            assert!(
                output.status.success() && output.stderr.is_empty(),
                "{}: {source}: {}",
                way.name,
                text(&output)
            );
        }
    }
}

/// Traces and error texts name the caller's line, or its function if line numbers are unknown.
#[test]
fn calls_are_told_where_the_program_makes_them() {
    for (k, (options, told)) in
        [(&["-g"][..], "race.c:20"), (&["-g", "-static-shmem"], "race.c:20"), (&["-g0"], "main")]
            .into_iter()
            .enumerate()
    {
        let way = Way { name: "told", compiler: "gcc", options };
        let program = build(&way, "../conformance/race.c", &format!("race-{k}"));
        let trace = traced(2, &program);
        let puts: Vec<_> = trace.lines().filter(|line| line.contains(r#""name":"p""#)).collect();
        assert_eq!(puts.len(), 2, "{trace}");
        assert!(puts.iter().all(|put| put.contains(told)), "{told}: {puts:?}");
        let refused = run(2, &program, &["nobody"]);
        assert!(text(&refused).contains("argument pe is 2: PEs are 0 to 1; "), "{}", text(&refused));
        assert!(text(&refused).contains(&told.replace(":20", ":22")), "{told}: {}", text(&refused));
    }
}

/// A way to build with line numbers.
const WITH_LINES: &Way = &Way { name: "with lines", compiler: "gcc", options: &["-g"] };

#[test]
fn each_call_is_told_with_its_own_line() {
    let trace = traced(1, &build(WITH_LINES, "called.c", "called"));
    for (line, calls) in [(17, 10), (10, 15), (19, 10)] {
        assert_eq!(trace.matches(&format!("called.c:{line}\"")).count(), calls, "{line}: {trace}");
    }
}

#[test]
fn waits_are_told_with_names_and_values() {
    let program = build(WITH_LINES, "waits.c", "waits");
    let said = text(&run(3, &program, &[]));
    for wait in [
        "PE 0 waits in `shmem_long_wait_until(flag == 1, is 0)`",
        "PE 1 waits in `shmem_long_wait_until(heap object #",
        " + 16 bytes > 7, is 0)`",
        "PE 2 waits in `shmem_int_wait_until_all(flags + 4 bytes != 0, is 0, of 4 words)`",
    ] {
        assert!(said.contains(wait), "{wait}: {said}");
    }
}

/// Checks do not see the reads of a C program from its own memory. So they look at how the program waits.
#[test]
fn a_counter_of_signals_does_not_say_which_have_come() {
    let program = build(WITH_LINES, "counted.c", "counted");
    let run = |how: &str| run_with(2, &program, &[how], &[("SHMEM_CHECK", "1")]);
    let output = run("steps");
    let said = text(&output);
    for part in [
        "PE 1 in `shmem_wait_until` at ",
        "counted.c:29 waits step by step",
        "counted.c:14 adds",
        "shmem_fence()",
    ] {
        assert!(!output.status.success() && said.contains(part), "{part}: {said}");
    }
    for how in ["fenced", "some, then all", "flags"] {
        let said = succeeds(&run(how));
        assert!(!said.contains(" in `shmem_"), "{how}: {said}");
    }
}

#[test]
fn a_fork_may_be_a_job() {
    let program = build(PLAIN, "parent.c", "parent");
    succeeds(&Command::new(program).output().unwrap());
}

#[test]
fn copies_of_variables_of_libraries_are_the_programs() {
    let shared = library(&[], "shared.c");
    let mut oshcc = Command::new(&installed().oshcc);
    oshcc.args(["-std=gnu11", "-no-pie", "-fno-pie", "copied.c"]).arg(shared).arg(run_path());
    let output = run(2, &make(&mut oshcc, "copied"), &[]);
    succeeds(&output);
    assert_eq!(output.stdout, b"is symmetric\n", "{}", text(&output));
}

#[test]
fn pes_of_different_programs_are_refused() {
    let one = build(PLAIN, "kinds.c", "one");
    let other = build(PLAIN, "heap.c", "other");
    let choose =
        format!("if [ $SHMRUN_PE = 0 ]; then exec {}; else exec {}; fi", one.display(), other.display());
    let output = run(2, Path::new("sh"), &["-c", &choose]);
    let text = text(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("where PE 0 has `program: ") || text.contains("PE 0 has `program: "), "{text}");
}

/// Builds `heap.c` with a library whose constructor runs before that of libshmem.
fn behind(source: &str) -> PathBuf {
    let before = library(&["-pthread"], source);
    let mut oshcc = Command::new(&installed().oshcc);
    // Constructors run in the opposite order to that of the libraries on the command line.
    oshcc.args(["-std=gnu11", "-Wl,--no-as-needed", "heap.c", "-lshmem"]).arg(before).arg(run_path());
    make(&mut oshcc, &format!("behind-{source}"))
}

/// Runs a program of [`behind`]. It must succeed as long as it names no global.
fn is_told_once(program: &Path, why: &str) {
    let output = run(2, program, &[]);
    let said = text(&output);
    if said.contains("cannot seal") {
        eprintln!("skipped: this kernel does not seal pages (Linux 6.10)");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("globals of the program are not symmetric").count(), 1, "{said}");
    assert!(said.contains(why), "{said}");
    let output = run(2, program, &["global"]);
    let said = text(&output);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("it is a global of the program, and these are not symmetric here"), "{said}");
}

#[test]
fn a_thread_before_the_program_is_told_once() {
    is_told_once(&behind("thread.c"), "had 2 threads before");
}

#[test]
fn sealed_pages_are_told_once() {
    is_told_once(&behind("sealed.c"), "the program is sealed");
}

#[test]
fn c_and_rust_are_one_program() {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=staticlib", "-Anon_upper_case_globals", "half.rs"]);
    let half = make(&mut rustc, "libhalf.a");
    for option in [None, Some("-static-shmem")] {
        let mut oshcc = Command::new(&installed().oshcc);
        oshcc.arg("-std=gnu11").args(option).arg("with_rust.c").arg(&half);
        let program = make(&mut oshcc, &format!("with-rust{}", option.unwrap_or_default()));
        succeeds(&run(3, &program, &[]));
    }
}

#[test]
fn a_debugger_reads_and_writes_them() {
    if Command::new("gdb").arg("--version").output().is_err() {
        eprintln!("skipped: no gdb is here");
        return;
    }
    let program = build(WITH_LINES, "kinds.c", "debugged");
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch"]);
    let begin = ["set debuginfod enabled off", "break shmem_finalize", "run", "frame function main"];
    for command in begin.into_iter().chain(["print written", "set var zeros[3] = 4321", "print zeros[3]"]) {
        gdb.args(["-ex", command]);
    }
    let said = text(&gdb.arg(&program).output().unwrap());
    if said.contains("ptrace") {
        eprintln!("skipped: gdb may not trace here");
        return;
    }
    assert!(said.contains("$1 = 1000") && said.contains("$2 = 4321"), "{said}");
}

#[test]
fn pkg_config_finds_the_library() {
    let prefix = installed().oshcc.parent().and_then(Path::parent).unwrap();
    let asked = Command::new("pkg-config")
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .args(["--cflags", "--libs", "shmem"])
        .output();
    let Ok(asked) = asked else {
        eprintln!("skipped: no pkg-config is here");
        return;
    };
    assert!(asked.status.success(), "{}", text(&asked));
    let options = String::from_utf8(asked.stdout).unwrap();
    let mut gcc = Command::new("gcc");
    let program = make(gcc.arg("kinds.c").args(options.split_whitespace()), "by-pkg-config");
    succeeds(&run(2, &program, &[]));
}
