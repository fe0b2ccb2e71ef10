//! `shmem-perf` as a user sees it. What it measures is a matter of the machine; that every case is
//! there, with sense in it, is not.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::{Hints, Library};

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

/// The cases of a subcommand with arguments, by `measure case`, as few as it can bring; and what is said besides.
fn cases(command: &str) -> (BTreeMap<String, Value>, String) {
    let args: Vec<_> = command.split(' ').chain(["--json", "--repetitions", "11", "--jobs", "1"]).collect();
    let (success, out, err) = run(&args);
    assert!(success, "{command}: {err}");
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        (format!("{} {}", case["measure"].as_str().unwrap(), case["case"].as_str().unwrap()), case)
    };
    let cases: BTreeMap<_, _> = out.lines().map(case).collect();
    for (name, case) in &cases {
        let of = |field: &str| case[field].as_f64().unwrap_or_else(|| panic!("{name} has no {field}"));
        // A sweep is one number over many layouts; of a regret, a mean over layouts, most may have none.
        let is_sweep = name.starts_with("strided-sweep ");
        let few = is_sweep || name.contains(" pingpong/") || name.ends_with("/worst");
        assert!(of("n") >= 11.0 || few, "{name}");
        let least = if is_sweep { -1.0 } else { 0.0 };
        assert!(of("value") > least && of("limit") > 0.0 && of("ratio") > least, "{case}");
        let is_between = of("p25") <= of("value") && of("value") <= of("p75");
        assert!(is_between || name.starts_with("regret "), "{case}");
        assert!(
            case["compared"].as_str().is_some_and(|text| text.contains(", against ")),
            "{case}: it has no row"
        );
    }
    (cases, err)
}

/// Names with alternatives in braces: `put {1,8}`.
fn expanded(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let (all, after) = rest.split_once('}').unwrap();
    all.split(',').flat_map(|one| expanded(&format!("{before}{one}{after}"))).collect()
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

/// Runs a measure, all of whose cases are of PEs of this node, or of a network; and looks for some of them, or for a number.
fn brings(command: &str, transport: &str, number: usize, names: &[&str]) {
    let is_far = transport != "shm" || command.starts_with("ofi");
    let _alone = is_far.then(|| NETWORK.lock());
    if is_far && !has_fabric() {
        return;
    }
    let (cases, _) = cases(command);
    for name in names.iter().flat_map(|name| expanded(name)) {
        assert!(cases.contains_key(&name), "{name} is missing in {:?}", cases.keys());
    }
    assert!(cases.values().all(|case| case["transport"] == transport), "{cases:?}");
    assert!(cases.len() >= number, "{:?}", cases.keys());
}

macro_rules! measures {
    ($($test:ident: $command:literal, $transport:literal, $number:literal, [$($name:literal),*];)*) => {$(
        #[test]
        fn $test() {
            brings($command, $transport, $number, &[$($name),*]);
        }
    )*};
}
measures! {
    puts: "put", "shm", 10, ["put8-static 8", "put8-quiet 8", "put {1,64,4096,65536,4194304}"];
    gets: "get", "shm", 8, ["get {8,512,1048576}"];
    lookups: "lookup", "shm", 61, [
        "lookup {typed,raw,get}/{7,8,127}/{1,8,64,512,4096}", "lookup fetch-add/{7,8,127}/{4,8}", "lookup-published put/1/8",
        "lookup-published get/7/8", "lookup-published fetch-add/127/8"
    ];
    lookups_over_a_network: "lookup --sizes 8 --provider tcp;ofi_rxm", "ofi", 28,
        ["lookup-published put/1/8", "lookup-published fetch-add/127/4", "lookup get/7/8"];
    barriers: "barrier", "shm", 2, ["barrier 2"];
    signals: "signal", "shm", 9, ["signal {8,8/read,4096,4096/line}"];
    words: "atomic", "shm", 7, ["atomic {fetch-add/64,compare-swap/64,swap/32}"];
    lists_over_a_network: "indexed --network", "ofi", 7,
        ["indexed {network-add,network-gather,list/1,list/16}", "indexed network-rate/{12,4,gather}"];
    collectives: "collective", "shm", 20, ["collective {barrier/0,broadcast/8,sum/8,fcollect/8,alltoall/8}/{2,4}"];
    halos: "halo", "shm", 6, ["halo {16x16,32x32,256x256,late/256x256,exchange/16,interior/256x256}"];
    arrays: "array", "shm", 110, [
        "array {single,separate,cyclic,multi,chosen}/{index,iter,each,zip,chunks,read,index/2,index/3,iter/2,iter/3,index/cache}",
        "array next-layer/{single,separate,cyclic,multi}/{1024/2,16384/4,16384/8}"
    ];
    allocations: "alloc", "shm", 4, ["alloc {64,4096,65536,1048576}"];
    threads: "threads --sizes", "shm", 90, [
        "threads {1,2,4,8,16,36}/{private,multiple,locked}", "threads-by-size {1,36}/{private,multiple,locked}/{64,65536}"
    ];
    tracking: "tracking", "ofi", 44, [
        "tracking {events,hybrid,domain,context}/{8,64,4096,1048576,quiet}/at-once",
        "tracking {events,hybrid,domain,context}/{8,4096,65536,quiet}/tcp;ofi_rxm"
    ];
    mappings: "mapping --threads 1,3", "ofi", 33,
        ["mapping {events,hybrid,domain,context,auto}/{1/8,3/4096,3/65536}", "mapping locked/3/{8,65536}"];
    quiets: "mapping --quiet", "ofi", 50, ["quiet {events,hybrid,domain,context,auto}/{1,2,4,8,16}/{8,65536}"];
    operations_over_a_network: "ofi", "ofi", 12, [
        "ofi {put/8,get/8,fetch-add/8,put-rate/8,put/65536,get/1048576,put-asleep/8,get-asleep/8,fetch-add-asleep/8,idle/0}/tcp;ofi_rxm"
    ];
    sizes_over_a_network: "ofi --micro --few", "ofi", 45, [
        "network {put,get,bandwidth,both-ways}/{4,8,32,256,2048,16384,131072,1048576}/tcp;ofi_rxm", "network barrier/0/tcp;ofi_rxm",
        "network {fetch-add,add,swap,compare-swap,put-asleep,broadcast,sum,alltoall}/8/tcp;ofi_rxm"
    ];
    blocks_over_a_network: "ofi --strided", "ofi", 24,
        ["{ofi-strided,ofi-strided-model} {16/8,16/4096,64/8,64/256,64/4096}/{polling,asleep}"];
    the_bare_program: "ofi --bare", "shm", 11, ["ofi-bare {put/8,get-asleep/8,put-rate/8,get/1048576}/tcp;ofi_rxm"];
    strided_transfers: "strided", "shm", 66, [
        "strided {contiguous/64K,column/1024,column4/1024,blocks/4-of-129,aos/24/8/1k,checkerboard-f32/1k,matrix/row-2048}/{put,get}",
        "strided matrix/{element,group-of-one-type,group-of-several-types,checkerboard}/put", "strided constant/8x4",
        "strided-few 4/256/4096", "strided-alias 4/64/4032"
    ];
    exchanges: "strided --exchange --quick", "shm", 30,
        ["strided-exchange {2,3,auto}/{8x2048,32x512,128x128,512x32,2048x8}/{cached,evicted}"];
    starts: "startup", "shm", 8, [
        "startup {4,16/127/1G}", "startup-resident 16/127/1G", "startup-mappings 4", "startup-pe 2", "startup-node 2"
    ];
    // Where the system merges no pages, there is nothing to compare.
    pages: "pages", "shm", 0, [];
}

/// Figures of a build without optimisation mean nothing; that Algorithm 3 is what the published table says does.
#[test]
fn the_published_table_has_a_case_for_each_cell_way_and_direction() {
    let (table, _) = cases("strided --published --quick");
    for (direction, block) in ["put", "get"]
        .into_iter()
        .flat_map(|to| [16, 64, 128, 256, 512, 1024, 4096, 16384].map(|block| (to, block)))
    {
        for gap in [4, 16, 64, 256, 1024, 4096] {
            let of = |way: &str| &table[&format!("strided-published {way}/{direction}/{block}/{gap}")];
            let columns = block <= 64 || (block == 128 && gap > 4) || (block == 256 && gap > 16);
            let three = if columns { of("2")["ratio"].as_f64() } else { Some(1.0) };
            assert_eq!(of("3")["ratio"].as_f64(), three, "{direction}/{block}/{gap}");
            assert_eq!(of("2")["limit"], of("auto")["limit"]);
            let better =
                if of("2")["ratio"].as_f64() < Some(1.0) { &of("2")["value"] } else { &of("2")["limit"] };
            assert_eq!(of("auto-best")["limit"], *better, "{direction}/{block}/{gap}");
        }
    }
    assert_eq!(table.len(), 4 * 2 * 48);
}

#[test]
fn regret_has_a_case_for_each_predicate() {
    let (regret, _) = cases("strided --regret --quick --seed=1");
    for layouts in ["grid", "random"] {
        let of =
            |predicate: &str| regret[&format!("regret {predicate}/{layouts}")]["value"].as_f64().unwrap();
        assert!(["auto", "published", "always1"].iter().all(|predicate| of(predicate) >= 1.0));
        assert!(of("ideal12") <= of("always1").min(of("always2")) && of("ideal12") <= of("published"));
    }
}

/// Peers are programs of others: a case for each transfer, column or operation, or a line that says why not; ours is always there.
#[test]
fn each_library_has_its_cases_or_a_line_that_says_why_not() {
    for (command, kinds, number) in [
        ("strided --peers", [("mpi", " mpi/"), ("oshmem", " oshmem/"), ("oshmem", " a1/")], 18),
        ("strided --own", [("mpi", " mpi/"), ("oshmem", " oshmem/"), ("none", " ours/")], 36),
        ("micro --quick --beside floor", [("floor", "/floor"); 3], 51),
    ] {
        let (cases, err) = cases(command);
        for (peer, kind) in kinds {
            let of = cases.keys().filter(|name| name.contains(kind)).count();
            let missing = err.contains(&format!("peer {peer}: not installed"));
            assert_eq!(of, if missing { 0 } else { number }, "{kind}: {cases:?}{err}");
        }
    }
    let empty = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_shmem-perf"));
    let output = command.args(["--json", "strided", "--peers"]).env("PATH", empty.path()).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let err = String::from_utf8(output.stderr).unwrap();
    for (peer, compiler) in [("mpi", "mpicc"), ("oshmem", "oshcc")] {
        let said = format!("shmem-perf: peer {peer}: not installed, there is no {compiler} (Debian: ");
        assert!(err.contains(&said), "{err}");
    }
}

/// On a machine that has not what is asked for, that is what was found.
#[test]
fn placement_says_of_each_partition_what_was_asked_and_where_it_lies() {
    let (success, out, err) = run(&["placement", "--json"]);
    assert!(success, "{err}");
    let found: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (kind, policy) in [("N", "M"), ("F", "M"), ("N", "P"), ("F", "P")] {
        let traits = format!("size=24M:kind={kind}:policy={policy}:pgsize=64M");
        let cell = |column: &str| {
            let one = found.iter().find(|one| one["row"] == traits && one["column"] == column);
            one.map(|one| one["value"].as_str().unwrap())
        };
        match (cell("refused"), cell("PE 0")) {
            (Some(why), None) => assert!(policy == "M" && why.starts_with("partition 1 "), "{traits}: {why}"),
            (None, Some(pages)) => assert!(pages.contains(" on node "), "{traits}: {pages}"),
            both => panic!("{traits}: {both:?}"),
        }
    }
    // On a machine with several nodes there is a share for each storage; ci/numa/place.sh looks at them.
    let has_arrays = found.iter().any(|one| one["table"] == "affinity" && one["column"] == "multi");
    assert!(has_arrays || err.contains("one NUMA node"), "{out}{err}");
    let (success, out, err) = run(&["placement", "partitions"]);
    assert!(success && out.contains("24M in pages of 4K") && !err.contains("arrays"), "{out}{err}");
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
    let is_skipped = |line: &str| line.ends_with("skipped: a debug build says nothing of speed");
    assert!(out.lines().count() > 80 && out.lines().skip(1).all(is_skipped), "{out}");
    let (_, out, _) = run(&["check", "barrier", "signal", "--json"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() == 1 + 4 && lines.iter().all(|line| line["verdict"] == "skipped"), "{out}");
    assert_eq!((&lines[4]["measure"], &lines[4]["case"]), (&"signal".into(), &"4096".into()));
}

#[test]
fn what_cannot_be_done_is_one_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let nowhere = file.join("report").to_str().unwrap().to_owned();
    for (args, says) in [
        (&["put", "--repetitions", "10"][..], "11.."),
        (&["putt"], "put"),
        (&["strided", "--seed", "x"], "--seed"),
        (&["strided", "--own", "--published"], "--published"),
        (&["strided", "--quick"], "--regret"),
        (&["lookup", "--sizes", "8,1048577"], "1..=1048576"),
        (&["lookup", "--provider", "tcp;ofi_rxm"], "--sizes"),
        (&["micro", "--beside", "nobody"], "it is one of floor, oshmem-micro, mpi-micro, lamellar"),
        (
            &["check", "pages"],
            "no case of `pages` is guarded; there are put8-static, put8-quiet, put, get, lookup,",
        ),
        (&["check", "--allowance", "-1"], "an allowance is a factor above 0, such as 1.5, and not -1"),
        // Before anything is measured.
        (&["report", "--quick", "--out", &nowhere], "shmem-perf: the report cannot be written to "),
        (
            &["report", "--out", "somewhere", "--only", "lookup,halos"],
            "[possible values: lookup, strided, arrays, partitions, contexts, micro, c]",
        ),
    ] {
        let (success, out, err) = run(args);
        assert!(!success && out.is_empty() && err.contains(says), "{args:?}: {err}");
    }
    let (success, out, err) = run(&["ofi", "--bare", "--provider", "carrier-pigeon", "--jobs", "1"]);
    assert!(!success && out.is_empty(), "{out}");
    assert!(err.contains("carrier-pigeon") || err.contains("libfabric cannot be used"), "{err}");
}

#[test]
fn a_table_says_what_was_compared() {
    let (success, out, err) = run(&["alloc", "--repetitions", "11", "--jobs", "2"]);
    assert!(success, "{err}");
    assert!(out.starts_with("alloc (2 PEs, "), "{out}");
    assert!(out.contains("): collective `malloc` and `free`, against two barriers\n"), "{out}");
    assert_eq!(out.trim_end().lines().count(), 2 + 4, "{out}");
}
