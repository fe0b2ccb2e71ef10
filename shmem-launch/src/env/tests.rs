use shmem_core::array::StorageKind;
use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::partition::{DEFAULT_HEAP_BYTES, parse_size};
use shmem_core::strided::Algorithm;
use std::time::Duration;

use super::*;

fn environment(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn settings(variables: &[(&str, &str)]) -> Settings {
    Settings::from_env(environment(variables)).expect("settings")
}

#[test]
fn defaults_are_those_of_the_table() {
    assert_eq!(parse_size(HEAP.default), Ok(DEFAULT_HEAP_BYTES));
    // Every default is a value that can be set.
    let defaults = VARIABLES.iter().filter(|one| !one.default.is_empty());
    let defaults: Vec<_> = defaults.map(|one| (one.name, one.default)).collect();
    assert_eq!(settings(&defaults), settings(&[]));
}

/// A variable, a value that is no default, and whether that was read.
type Case = (&'static str, &'static str, fn(&Settings) -> bool);

const READ: [Case; 31] = [
    ("SHMEM_SINGLETON", "1", |s| s.singleton),
    ("SHMEM_NPES", "4", |s| s.npes == Some(4)),
    ("SHMEM_BIND", "NUMA", |s| s.bind == Bind::Numa),
    ("SHMEM_INFO", "1", |s| s.info),
    ("SMA_DEBUG", "yes", |s| s.debug),
    ("SHMEM_VERSION", "anything", |s| s.version),
    ("SHMEM_WAIT_WARN", "2.5", |s| s.wait_warn == Some(Duration::from_millis(2500))),
    ("SHMEM_STANDSTILL", "off", |s| !s.standstill),
    ("SHMEM_TEST_TIMEOUT", "90.5", |s| s.test_timeout == Some(Duration::from_millis(90_500))),
    ("SHMEM_TIMEOUT", "1.5", |s| s.timeout == Some(Duration::from_millis(1500))),
    ("SHMEM_MAX_RESOURCES", "120", |s| s.max_resources == Some(120)),
    ("SHMEM_CONTEXT_MAPPING", "Hybrid", |s| s.context_mapping == Design::Hybrid),
    ("SHMEM_CONTEXT_SHARING", "efficient", |s| s.context_sharing == Sharing::Efficient),
    ("SHMEM_MAX_NUM_THREADS", "36", |s| s.max_num_threads == Some(36)),
    ("SHMEM_TRANSPORT", "Loopback", |s| s.transport == TransportChoice::Loopback),
    ("SHMEM_TRANSPORT", "shm", |s| s.transport == TransportChoice::Shm),
    ("SHMEM_ARRAY_STORAGE", "Cyclic=64K", |s| s.array_storage == Some(StorageKind::Cyclic { block: 65536 })),
    ("SHMEM_DYNAMIC_SIZE", "1.5T", |s| s.dynamic_size == 3 << 39),
    ("SHMEM_ATTACH_WAIT", "on", |s| s.attach_wait),
    ("SHMEM_STATS", "1", |s| s.stats),
    ("SHMEM_TRACE", "/var/trace.%p.json", |s| s.trace.as_deref() == Some("/var/trace.%p.json")),
    ("SHMEM_CHECK", "Abort", |s| s.check == CheckChoice::Abort),
    ("SHMEM_BARRIER_ALGORITHM", "LINES", |s| s.barrier == BarrierChoice::Lines),
    ("SHMEM_COLLECTIVE_ALGORITHM", "Reduce:Barriers, broadcast:windows", |s| {
        s.collective_ways.to_string() == "broadcast:windows,reduce:barriers"
    }),
    ("SHMEM_TEAM_SIZE", "3G", |s| s.team_size == 3 << 30),
    ("SHMEM_STRIDED_ALGORITHM", "3", |s| s.strided_algorithm == Algorithm::Three),
    ("SHMEM_PARTITION_WARN", "no", |s| !s.partition_warn),
    ("SHMEM_LIBFABRIC", "/opt/fabric.so", |s| s.libfabric.as_deref() == Some("/opt/fabric.so")),
    ("SHMEM_OFI_PROVIDER", "tcp", |s| s.ofi_provider.as_deref() == Some("tcp")),
    ("SHMEM_OFI_INTERFACE", "10.1.0.0/16", |s| s.ofi_interface.as_deref() == Some("10.1.0.0/16")),
    ("SHMEM_LIBPMIX", "/opt/pmix.so", |s| s.libpmix.as_deref() == Some("/opt/pmix.so")),
];

#[test]
fn values_are_read() {
    let default = settings(&[("SHMEM_UNKNOWN", "x"), ("PATH", "/bin")]);
    assert_eq!(default, settings(&[]));
    for (name, value, is_read) in READ {
        assert!(is_read(&settings(&[(name, value)])) && !is_read(&default), "{name}={value}");
    }
    assert_eq!(settings(&[("SHMEM_WAIT_WARN", "0")]).wait_warn, None);
    assert_eq!(settings(&[("SHMEM_TIMEOUT", "0")]).timeout, None);
    for off in ["", "0", "no", "NO", "n", "Off", "false", "F", " 0 "] {
        assert!(!settings(&[("SHMEM_INFO", off)]).info, "{off}");
    }
    for on in ["1", "yes", "on", "true", "2", "00", "verbose"] {
        assert!(settings(&[("SHMEM_INFO", on)]).info, "{on}");
    }
}

#[test]
fn only_standard_variables_have_older_names_and_the_newer_count() {
    let both = settings(&[("SMA_INFO", "1"), ("SHMEM_INFO", "0"), ("SMA_DEBUG", "1"), ("SHMEM_DEBUG", "1")]);
    assert!(!both.info && both.debug);
    assert_eq!(settings(&[("SMA_NPES", "4"), ("SMA_WAIT_WARN", "1")]), settings(&[]));
}

#[test]
fn bad_values_say_what_is_allowed() {
    let count = "not a whole number from 1 up; write for example";
    for (name, value, message) in [
        ("SHMEM_NPES", "0", count),
        ("SHMEM_NPES", "-1", count),
        ("SHMEM_NPES", "four", count),
        ("SHMEM_NPES", "99999999999999999999", count),
        ("SHMEM_BIND", "cores", "not one of share, core, numa, none; write one of them, or unset it"),
        ("SHMEM_MAX_RESOURCES", "all", "SHMEM_MAX_RESOURCES=4, or unset it"),
        ("SHMEM_CONTEXT_MAPPING", "contexts", "not one of auto, events, hybrid, domain, context; write one"),
        ("SHMEM_CONTEXT_SHARING", "", "not one of conservative, efficient"),
        ("SHMEM_WAIT_WARN", "5s", "not a number of seconds; write a number from 0 up without a unit"),
        ("SHMEM_WAIT_WARN", "-1", "not a number of seconds"),
        ("SHMEM_WAIT_WARN", "nan", "not a number of seconds"),
        ("SHMEM_TRANSPORT", "mpi", "not one of auto, shm, ofi, loopback; write one of them, or unset it"),
        (
            "SHMEM_ARRAY_STORAGE",
            "singel",
            "did you mean single?; write for example SHMEM_ARRAY_STORAGE=separate",
        ),
        ("SHMEM_ARRAY_STORAGE", "far", "there are single, separate, cyclic, cyclic=BLOCK and multi"),
        ("SHMEM_ARRAY_STORAGE", "cyclic=x", "a block is a number of bytes"),
        (
            "SHMEM_COLLECTIVE_ALGORITHM",
            "sum:rings",
            "`sum` is no family; families are broadcast, reduce, fcollect, alltoall, and ways are barriers, rings, \
             direct, windows; write for example SHMEM_COLLECTIVE_ALGORITHM=broadcast:windows,reduce:barriers, or unset it",
        ),
        ("SHMEM_COLLECTIVE_ALGORITHM", "reduce:ring", "`ring` is no way; families are"),
        ("SHMEM_COLLECTIVE_ALGORITHM", "", "`` is no <family>:<way>; families are"),
        ("SHMEM_COLLECTIVE_ALGORITHM", "reduce:rings,", "`` is no <family>:<way>; families are"),
        ("SHMEM_COLLECTIVE_ALGORITHM", "reduce:rings,Reduce:direct", "reduce is given twice; families are"),
        ("SHMEM_DYNAMIC_SIZE", "16GB", "`16GB`: `B` stands behind the suffix; write 16G"),
        ("SHMEM_DYNAMIC_SIZE", "", "no size is given"),
    ] {
        let error = Settings::from_env(environment(&[(name, value)])).expect_err(value).to_string();
        assert!(error.starts_with(&format!("{name}={value}: ")), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn unknown_variables_are_warnings_with_the_nearest_name() {
    let known: Vec<_> = VARIABLES.iter().map(|variable| (variable.name, "")).collect();
    assert!(unknown(environment(&known)).is_empty());
    let others = [
        ("SHMRUN_NUMBER", "0"),
        ("PATH", ""),
        ("SHMEM_SYMMETRIC_PARTITION17", ""),
        ("SHMEM_SYMMETRIC_PARTITION_grid", ""),
        // Older names, and those of others.
        ("SMA_SYMMETRIC_SIZE", ""),
        ("SMA_GLOBAL_ALLOC", ""),
        ("SHELL", ""),
        ("SHELL_INFO", ""),
        ("SHM_DEBUG", ""),
        ("shmem", ""),
        ("MEM_DEBUG", ""),
    ];
    assert_eq!(unknown(environment(&others)), [""; 0]);
    for (name, meant) in [
        ("SHMEM_NPE", "SHMEM_NPES"),
        ("SHMEM_N_PES", "SHMEM_NPES"),
        ("SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"),
        ("SHMEM_SYMMETRIC_SIZE2", "SHMEM_SYMMETRIC_SIZE"),
        ("SHMEM_SYMMETRIC_PARTITON2", "SHMEM_SYMMETRIC_PARTITION<ID>"),
        ("SHMEM_SYMETRIC_PARTITION23", "SHMEM_SYMMETRIC_PARTITION<ID>"),
        ("SHMEM_SYMMETRIC_PARTITON_FAST", "SHMEM_SYMMETRIC_PARTITION_<NAME>"),
        ("SHMEM_WAITWARN", "SHMEM_WAIT_WARN"),
        ("SHMEM_TRANPSORT", "SHMEM_TRANSPORT"),
        ("SHMEM_info", "SHMEM_INFO"),
        ("shmem_symmetric_partition2", "SHMEM_SYMMETRIC_PARTITION<ID>"),
        ("Shmem_Symmetric_Size", "SHMEM_SYMMETRIC_SIZE"),
    ] {
        assert_eq!(
            unknown(environment(&[(name, "1")])),
            [format!("{name} is set and not known; did you mean {meant}?")]
        );
    }
    assert_eq!(
        unknown(environment(&[("SHMEM_UCX_TLS", "tcp")])),
        ["SHMEM_UCX_TLS is set and not known; `shmem-info` lists those that are"]
    );
}

#[test]
fn the_list_shows_every_variable_and_each_partition_that_is_set() {
    let listed = rows(environment(&[
        ("SMA_SYMMETRIC_SIZE", "1G"),
        ("SHMEM_SYMMETRIC_PARTITION2", "SIZE=2G"),
        ("SMA_SYMMETRIC_PARTITION23", "SIZE=3G"),
        ("SHMEM_SYMMETRIC_PARTITION_GRID", "SIZE=4G"),
        ("SHMEM_NPES", "4"),
        ("SHMEM_INF", "1"),
    ]));
    let set = listed.iter().filter_map(|row| Some((&*row.name, row.default, row.current.as_deref()?)));
    let expected = [
        ("SHMEM_SYMMETRIC_SIZE", "64M", "1G (from SMA_SYMMETRIC_SIZE)"),
        ("SHMEM_SYMMETRIC_PARTITION2", "-", "SIZE=2G"),
        ("SMA_SYMMETRIC_PARTITION23", "-", "SIZE=3G"),
        ("SHMEM_SYMMETRIC_PARTITION_GRID", "-", "SIZE=4G"),
        ("SHMEM_NPES", "-", "4"),
    ];
    assert!(set.eq(expected), "{listed:?}");
    let nothing: Vec<_> = rows([]).into_iter().map(|row| row.name).collect();
    let names: Vec<_> = VARIABLES.iter().map(|variable| variable.name).collect();
    assert_eq!(nothing, names);
}

#[test]
fn who_is_not_trusted_does_not_say_what_is_loaded() {
    let given =
        [("SHMEM_LIBFABRIC", "/opt/mine.so"), ("SHMEM_LIBPMIX", "/opt/mine.so"), ("SHMEM_STATS", "1")];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut settings = Settings::from_env(given).unwrap();
    assert!(settings.libfabric.is_some() && settings.libpmix.is_some());
    settings.ignore_library_names();
    assert_eq!((settings.libfabric, settings.libpmix, settings.stats), (None, None, true));
    for (name, warning) in ["SHMEM_LIBFABRIC", "SHMEM_LIBPMIX"].iter().zip(&settings.warnings) {
        assert!(warning.starts_with(&format!("{name}=/opt/mine.so is ignored: ")), "{warning}");
    }
}

/// Set in a copy of this program that has more rights than its caller.
const RIGHTS: &str = "SHMEM_TEST_RIGHTS";

/// The entry of that copy.
#[test]
fn looks_at_its_settings() {
    if std::env::var_os(RIGHTS).is_none() {
        return;
    }
    // SAFETY: asks the system for a number.
    if unsafe { libc::getauxval(libc::AT_SECURE) } == 0 {
        return println!("no rights");
    }
    let settings = Settings::from_process().unwrap();
    println!("{:?} {:?}", settings.libfabric, settings.libpmix);
}

#[test]
fn a_program_with_rights_does_not_load_what_its_caller_names() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    if !rustix::process::getuid().is_root() || chown(&program, Some(65534), None).is_err() {
        return eprintln!("skipped: only root makes programs of other users");
    }
    for path in [program.as_path(), directory.path()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o4755)).unwrap();
    }
    let output = std::process::Command::new(&program)
        .args(["looks_at_its_settings", "--nocapture", "--test-threads=1"])
        .env(RIGHTS, "1")
        .envs([("SHMEM_LIBFABRIC", "/opt/mine.so"), ("SHMEM_LIBPMIX", "/opt/mine.so")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("no rights") {
        return eprintln!("skipped: programs in temporary directories get no rights (nosuid)");
    }
    assert!(said.contains("None None"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
