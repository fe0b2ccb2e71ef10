//! `shmem-perf` as a user sees it. What it measures is a matter of the machine; that every case is
//! there, with sense in it, is not.

mod contexts;
mod lookup;
mod memory;
mod network;

use std::collections::BTreeMap;
use std::process::Command;

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::{Hints, Library};
use shmem_perf::{Case, guarded, measure};

fn run(args: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_shmem-perf"))
        .args(args)
        // Measures bring partitions of their own.
        .env("SHMEM_SYMMETRIC_SIZE", "4K")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// The cases of a subcommand, by `measure case`.
fn cases(command: &str) -> BTreeMap<String, Case> {
    let cases = cases_of(&[command]);
    assert!(cases.values().all(|case| case.transport == "shm"), "{cases:?}");
    cases
}

/// Those of a subcommand with arguments, whatever the transport.
fn cases_of(command: &[&str]) -> BTreeMap<String, Case> {
    let all = ["--json", "--repetitions", "11", "--jobs", "1"];
    let (success, out, err) = run(&[command, &all].concat());
    assert!(success, "{command:?}: {err}");
    let cases = out.lines().map(|line| serde_json::from_str::<Case>(line).unwrap());
    let cases: BTreeMap<_, _> = cases.map(|case| (format!("{} {}", case.measure, case.case), case)).collect();
    for (name, case) in &cases {
        let written = measure::written_again(&case.measure, &case.case);
        assert_eq!(written.as_ref(), Some(&case.case), "{name} is read as it is written");
        // A sweep is one number over many layouts.
        let single = case.measure == "strided-sweep" || case.case.starts_with("pingpong/");
        assert!(case.n >= 11 || single, "{name}");
        let least = if case.measure == "strided-sweep" { -1.0 } else { 0.0 };
        assert!(case.value > least && case.limit > 0.0 && case.ratio > least, "{name}: {case:?}");
        // A regret is a mean over layouts, of which most may have none.
        let is_median = case.measure != "regret";
        assert!(!is_median || (case.p25 <= case.value && case.value <= case.p75), "{name}: {case:?}");
    }
    cases
}

/// Whoever measures a network: PEs that poll want a core each, and there are few.
static NETWORK: Mutex<()> = Mutex::new(());

/// Whether there is a libfabric with the provider that is measured by default. Says so if not.
fn has_fabric() -> bool {
    let bare = || {
        // SAFETY: the system's.
        let library = unsafe { Library::load(None) }.map_err(|error| error.to_string())?;
        library.offers(&Hints::default()).map_err(|refused| library.describe(refused.code.into()))
    };
    let found = bare();
    if let Err(why) = &found {
        println!("skipped: no libfabric to measure with: {why}");
    }
    found.is_ok()
}

fn has(cases: &BTreeMap<String, Case>, names: &[&str]) {
    for name in names {
        assert!(cases.contains_key(*name), "{name} is missing in {:?}", cases.keys());
    }
}

#[test]
fn transfers_have_a_case_for_each_size() {
    let put = cases("put");
    has(&put, &["put8-static 8", "put8-quiet 8", "put 1", "put 64", "put 4096", "put 65536", "put 4194304"]);
    has(&cases("get"), &["get 8", "get 512", "get 1048576"]);
    assert_eq!((put["put 64"].pes, put["put 64"].unit.as_str()), (2, "ns"));
}

#[test]
fn strided_transfers_have_a_case_for_each_orientation() {
    let (success, _, err) = run(&["strided", "--seed", "x"]);
    assert!(!success && err.contains("--seed"), "{err}");
    let strided = cases("strided");
    let orientations = [
        "contiguous/64K",
        "column/1024",
        "column4/1024",
        "blocks/4-of-129",
        "aos/24/8/1k",
        "aos/48/16/10k",
        "checkerboard-f64/1k",
        "checkerboard-f32/1k",
        "matrix/row-2048",
    ];
    for orientation in orientations {
        for direction in ["put", "get"] {
            has(&strided, &[&format!("strided {orientation}/{direction}")]);
        }
    }
    for matrix in ["element", "group-of-one-type", "group-of-several-types", "checkerboard"] {
        assert!(strided[&format!("strided matrix/{matrix}/put")].vs_a1.is_some_and(|times| times > 0.0));
    }
    assert_eq!(strided["strided constant/8x4"].vs_a1, None);
    assert!(strided.keys().filter(|name| name.starts_with("strided-sweep ")).count() == 2, "{strided:?}");
}

/// Figures of a build without optimisation mean nothing; that Algorithm 3 is what the published table says does.
#[test]
fn the_published_table_has_a_case_for_each_cell_way_and_direction() {
    let table = cases_of(&["strided", "--published", "--quick"]);
    for direction in ["put", "get"] {
        for block in [16, 64, 128, 256, 512, 1024, 4096, 16384] {
            for gap in [4, 16, 64, 256, 1024, 4096] {
                let of = |way: &str| &table[&format!("strided-published {way}/{direction}/{block}/{gap}")];
                let columns = block <= 64 || (block == 128 && gap > 4) || (block == 256 && gap > 16);
                let three = if columns { of("2").ratio } else { 1.0 };
                assert_eq!(of("3").ratio, three, "{direction}/{block}/{gap}");
                assert_eq!((of("2").limit, of("2").unit.as_str()), (of("auto").limit, "ms"));
                let better = if of("2").ratio < 1.0 { of("2").value } else { of("2").limit };
                assert_eq!(of("auto-best").limit, better, "{direction}/{block}/{gap}");
            }
        }
    }
    assert_eq!(table.len(), 4 * 2 * 48);
}

#[test]
fn the_published_exchange_has_a_case_for_each_shape_algorithm_and_state() {
    let exchange = cases_of(&["strided", "--exchange", "--quick"]);
    for shape in ["8x2048", "32x512", "128x128", "512x32", "2048x8"] {
        for algorithm in ["2", "3", "auto"] {
            let of = |state| &exchange[&format!("strided-exchange {algorithm}/{shape}/{state}")];
            assert_eq!((of("cached").pes, of("evicted").unit.as_str()), (2, "us"));
        }
    }
    assert_eq!(exchange.len(), 5 * 3 * 2);
}

#[test]
fn regret_has_a_case_for_each_predicate() {
    let regret = cases_of(&["strided", "--regret", "--quick", "--seed", "1"]);
    for layouts in ["grid", "random"] {
        for predicate in ["auto", "published", "ideal12", "always1", "always2"] {
            let case = &regret[&format!("regret {predicate}/{layouts}")];
            assert!(case.value >= 1.0 && case.p95.is_some_and(|p95| p95 >= 1.0), "{case:?}");
        }
        let of = |predicate: &str| regret[&format!("regret {predicate}/{layouts}")].value;
        assert!(of("ideal12") <= of("always1").min(of("always2")) && of("ideal12") <= of("published"));
    }
}

/// Each library has its own loops, or a line says why not; ours is always there.
#[test]
fn each_library_has_a_case_for_each_column_against_its_own_loop() {
    let (success, out, err) = run(&["--json", "strided", "--own", "--repetitions", "11", "--jobs", "1"]);
    assert!(success, "{err}");
    let all: Vec<Case> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for library in ["ours", "mpi", "oshmem"] {
        let of: Vec<_> = all.iter().filter(|case| case.case.starts_with(&format!("{library}/"))).collect();
        let missing = err.contains(&format!("peer {library}: not installed"));
        assert_eq!(of.len(), if missing { 0 } else { 36 }, "{library}: {out}{err}");
        assert!(of.iter().all(|case| case.n == 11 && case.ratio > 0.0 && case.measure == "strided-own"));
        for case in ["put/2/16", "put/1024/1024", "get/128/1024", "get/129/128"] {
            assert!(missing || of.iter().any(|one| one.case == format!("{library}/{case}")), "{case}: {out}");
        }
    }
}

#[test]
fn one_study_is_asked_for_at_a_time() {
    let (success, _, err) = run(&["strided", "--own", "--published"]);
    assert!(!success && err.contains("--published"), "{err}");
    let (success, _, err) = run(&["strided", "--quick"]);
    assert!(!success && err.contains("--regret"), "{err}");
}

#[test]
fn a_calibration_is_left_where_it_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.json");
    let table = file.to_str().unwrap();
    let (success, out, err) = run(&["calibrate", "--dry-run", "--table", table]);
    assert!(success && out.contains("throttle") && !file.exists(), "{out}{err}");
    let (success, out, err) = run(&["calibrate", "--table", table]);
    assert!(success && out.contains(table), "{out}{err}");
    let machine = shmem::calibration::machine(&shmem::calibration::Root::default());
    assert!(shmem::calibration::Table::read(&file).unwrap().thresholds_for(&machine).is_ok());
}

#[test]
fn collectives_have_a_case_for_each_size() {
    let barrier = cases("barrier");
    has(&barrier, &["barrier 2", "barrier 16"]);
    assert_eq!(barrier["barrier 16"].pes, 16);
    has(&cases("alloc"), &["alloc 64", "alloc 1048576"]);
}

/// Another library's are there, or a line says why not.
#[test]
fn each_collective_has_a_case_for_each_size() {
    let (success, out, err) = run(&["--json", "collective", "--repetitions", "11", "--jobs", "1"]);
    assert!(success, "{err}");
    let all: Vec<Case> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names = |measure: &str| {
        let of = all.iter().filter(|case| case.measure == measure);
        of.map(|case| case.case.clone()).collect::<Vec<_>>()
    };
    let small = ["barrier/0", "broadcast/8", "sum/8", "fcollect/8", "alltoall/8"];
    for pes in [2, 4] {
        for case in small {
            assert!(names("collective").contains(&format!("{case}/{pes}")), "{out}");
        }
    }
    let beside = names("collective-oshmem");
    let missing = err.contains("peer oshmem-micro: not installed");
    assert_eq!(beside.len(), if missing { 0 } else { 15 }, "{out}{err}");
    assert!(missing || beside.contains(&"sum/1048576/2".to_owned()), "{beside:?}");
    assert!(all.iter().all(|case| case.n == 11 && case.ratio > 0.0), "{all:?}");
}

/// Beside hand-written C, which needs a compiler and no library. The others are the matter of ci/peers.sh.
#[test]
fn micro_benchmarks_have_a_case_for_each_operation() {
    let (success, _, err) = run(&["micro", "--beside", "nobody"]);
    assert!(!success && err.contains("it is one of floor, oshmem-micro, mpi-micro, lamellar"), "{err}");
    let micro = cases_of(&["micro", "--quick", "--beside", "floor"]);
    if micro.is_empty() {
        println!("skipped: no C compiler to build the floor with");
        return;
    }
    assert_eq!(micro.len(), 51, "{:?}", micro.keys());
    for operation in [
        "put/8",
        "get/1048576",
        "rate/8",
        "histogram/1048576",
        "index-gather/1048576",
        "compare-swap/8",
        "barrier/0",
        "sum/4096",
        "alltoall/8",
        "fcollect-direct/8",
    ] {
        has(&micro, &[&format!("micro {operation}/floor")]);
    }
    assert_eq!(micro["micro bandwidth/4096/floor"].unit, "ns/B");
}

#[test]
fn halos_have_a_case_for_each_size_and_what_it_is_made_of() {
    let halo = cases("halo");
    has(&halo, &["halo 16x16", "halo 32x32", "halo 256x256", "halo late/256x256"]);
    has(&halo, &["halo exchange/16", "halo interior/256x256"]);
}

#[test]
fn words_have_a_case_for_each_operation() {
    has(&cases("signal"), &["signal 8", "signal 8/read", "signal 4096", "signal 4096/line"]);
    has(&cases("atomic"), &["atomic fetch-add/64", "atomic compare-swap/64", "atomic swap/32"]);
}

#[test]
fn starts_show_time_memory_and_mappings() {
    let startup = cases("startup");
    has(&startup, &["startup 4", "startup 16/127/1G", "startup-resident 16/127/1G", "startup-mappings 4"]);
    // Without mpirun there is a line that says so.
    let has_mpirun = Command::new("mpirun").arg("--version").output().is_ok();
    assert_eq!(startup.contains_key("startup mpirun/4"), has_mpirun);
    let resident = &startup["startup-resident 4"];
    assert!(resident.value < resident.limit, "{resident:?}");
}

/// A debug build says nothing of speed: each case is there, and none is held.
#[test]
fn a_guard_that_has_seen_nothing_fails() {
    if !cfg!(debug_assertions) {
        return println!(
            "skipped: in a release build the guard measures, which is the matter of ci/guard.sh"
        );
    }
    let (success, out, err) = run(&["check"]);
    assert!(!success && err.contains("nothing was measured: take a release build"), "{err}");
    let names: Vec<Vec<&str>> = out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    for guarded in guarded() {
        assert!(
            names.iter().any(|name| name[..2] == [guarded.measure, &*guarded.case]),
            "{guarded:?}: {out}"
        );
    }
    assert!(
        out.lines().skip(1).all(|line| line.ends_with("skipped: a debug build says nothing of speed")),
        "{out}"
    );
}

#[test]
fn a_guard_is_asked_for_measures_that_it_has() {
    if !cfg!(debug_assertions) {
        return println!(
            "skipped: in a release build the guard measures, which is the matter of ci/guard.sh"
        );
    }
    let (success, out, _) = run(&["check", "barrier", "signal", "--json"]);
    let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!success && lines.iter().all(|line| line["verdict"] == "skipped"), "{out}");
    let mut measures: Vec<_> = lines.iter().map(|line| line["measure"].as_str().unwrap()).collect();
    measures.dedup();
    assert_eq!(measures, ["barrier", "signal"]);
    for (arguments, says) in [
        (
            &["check", "pages"][..],
            "no case of `pages` is guarded; there are put8-static, put8-quiet, put, get, lookup,",
        ),
        (&["check", "--allowance", "-1"], "an allowance is a factor above 0, such as 1.5, and not -1"),
    ] {
        let (success, out, err) = run(arguments);
        assert!(!success && out.is_empty() && err.contains(says), "{err}");
    }
}

#[test]
fn a_table_says_what_was_compared() {
    let (success, out, err) = run(&["alloc", "--repetitions", "11", "--jobs", "2"]);
    assert!(success, "{err}");
    assert!(out.starts_with("alloc (2 PEs, "), "{out}");
    assert!(out.contains("): allocating and freeing bytes, against two barriers\n"), "{out}");
    assert_eq!(out.trim_end().lines().count(), 2 + 4, "{out}");
}

#[test]
fn too_few_repetitions_are_refused() {
    let (success, _, err) = run(&["put", "--repetitions", "10"]);
    assert!(!success && err.contains("11.."), "{err}");
    let (success, _, err) = run(&["putt"]);
    assert!(!success && err.contains("put"), "{err}");
}

/// Peers are programs of others: a case for each transfer, or a line that says why not.
#[test]
fn each_peer_has_its_cases_or_a_line_that_says_why_not() {
    let (success, out, err) = run(&["--json", "strided", "--peers", "--repetitions", "11", "--jobs", "1"]);
    assert!(success, "{err}");
    for (peer, kinds) in [("mpi", &["mpi"][..]), ("oshmem", &["oshmem", "a1"])] {
        for kind in kinds {
            let cases: Vec<Case> = out
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .filter(|case: &Case| case.measure == "peers" && case.case.starts_with(&format!("{kind}/")))
                .collect();
            let missing = err.contains(&format!("peer {peer}: not installed"));
            assert_eq!(cases.len(), if missing { 0 } else { 18 }, "{kind}: {out}{err}");
            assert!(cases.iter().all(|case| case.n == 11 && case.ratio > 0.0), "{cases:?}");
        }
    }
}

#[test]
fn a_machine_without_peers_is_told_so() {
    let empty = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_shmem-perf"))
        .args(["--json", "strided", "--peers"])
        .env("PATH", empty.path())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err.lines().count(), 2, "{err}");
    for (peer, compiler) in [("mpi", "mpicc"), ("oshmem", "oshcc")] {
        let line = format!("shmem-perf: peer {peer}: not installed, there is no {compiler} (Debian: ");
        assert!(err.contains(&line), "{err}");
    }
}

#[test]
fn applications_stand_beside_one_process_and_beside_the_machine() {
    let cases = cases("applications");
    for example in ["heat2d/16x16", "halo2d/16x16", "gups/2^6", "isx/2^8"] {
        let case = &cases[&format!("application {example}")];
        assert_eq!((case.unit.as_str(), case.n), ("ms", 11), "{example}");
        assert!(case.pes >= 1 && !case.shared_cores, "{example}");
    }
    for work in ["memcpy", "random", "random-shared"] {
        has(&cases, &[&format!("processes {work}/1024"), &format!("processes {work}/4096")]);
    }
}
