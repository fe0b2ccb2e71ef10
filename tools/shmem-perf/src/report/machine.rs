//! What machine this is, and which versions of what are on it.

use std::process::Command;
use std::time::Duration;

use super::evidence::Evidence;
use crate::bench::Fact;

/// What the page looks for: what was run, how much of it, and how long that took, which is known at the end.
pub(super) const PRODUCT: &str = "product";
pub(super) const EXTENT: &str = "extent";
pub(super) const TOOK: &str = "took";

pub(super) const QUICK: &str = "quick";

/// How a product ends whose figures mean nothing.
pub(super) const DEBUG: &str = "debug build";

/// What is known of the machine, and a line for a shell that says it.
const ROWS: [(&str, &str); 13] = [
    ("began", "date -u '+%Y-%m-%d %H:%M:%S UTC'"),
    ("processor", "sed -n 's/^model name.*: //p' /proc/cpuinfo"),
    (
        "caches",
        "cd /sys/devices/system/cpu/cpu0/cache && for of in index*; do echo L$(cat $of/level $of/type $of/size); done | paste -sd,",
    ),
    ("virtual machine", "systemd-detect-virt"),
    ("memory", "sed -n 's/^MemTotal: *//p' /proc/meminfo"),
    ("NUMA nodes", "cat /sys/devices/system/node/online"),
    ("transparent huge pages", "cat /sys/kernel/mm/transparent_hugepage/enabled"),
    ("reserved huge pages", "sed -n 's/^HugePages_Total: *//p' /proc/meminfo"),
    ("load before", LOAD),
    ("kernel", "uname -r"),
    ("compiler", "rustc --version"),
    ("libfabric", "fi_info --version"),
    ("Open MPI", "mpirun --version"),
];
const LOAD: &str = "cat /proc/loadavg";

/// Describes the machine as it is before anything is measured, and how much is to be.
pub(super) fn describe(evidence: &mut Evidence, quick: bool) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let build = if cfg!(debug_assertions) { DEBUG } else { "release build" };
    let mut know = |row: &str, value: String| evidence.know("", Fact::new("machine", row, "", value));
    know(PRODUCT, format!("shmem-perf {}, {build}", env!("CARGO_PKG_VERSION")));
    know(EXTENT, if quick { QUICK } else { "whole" }.to_owned());
    know("revision", said(concat!("git -C ", env!("CARGO_MANIFEST_DIR"), " describe --always --dirty")));
    know("cores", format!("{cores}; measures with more PEs or threads share cores, and say so"));
    ROWS.iter().for_each(|(row, line)| know(row, said(line)));
}

pub(super) fn ended(evidence: &mut Evidence, took: Duration) {
    for (row, value) in [("load behind", said(LOAD)), (TOOK, format!("{:.0} s", took.as_secs_f64()))] {
        evidence.know("", Fact::new("machine", row, "", value));
    }
}

/// The first line that a shell prints.
fn said(line: &str) -> String {
    let printed = Command::new("sh").args(["-c", line]).output().map(|output| output.stdout);
    let printed = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
    let line = printed.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    line.unwrap_or_else(|| "not known".to_owned())
}
