//! What machine this is, and which versions of what are on it.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::evidence::Evidence;

/// What the page looks for: what was run, how much of it, and how long that took, which is known at the end.
pub(super) const PRODUCT: &str = "product";
pub(super) const EXTENT: &str = "extent";
pub(super) const TOOK: &str = "took";

/// An extent.
pub(super) const QUICK: &str = "quick";

/// How a product ends whose figures mean nothing.
pub(super) const DEBUG: &str = "debug build";

/// Describes the machine as it is before anything is measured, and how much is to be.
pub(super) fn describe(evidence: &mut Evidence, quick: bool) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let build = if cfg!(debug_assertions) { DEBUG } else { "release build" };
    let rows = [
        (PRODUCT, Some(format!("shmem-perf {}, {build}", env!("CARGO_PKG_VERSION")))),
        (EXTENT, Some(if quick { QUICK } else { "whole" }.to_owned())),
        ("revision", said("git", &["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty"])),
        ("began", said("date", &["-u", "+%Y-%m-%d %H:%M:%S UTC"])),
        ("processor", field("/proc/cpuinfo", "model name")),
        ("cores", Some(format!("{cores}; measures with more PEs or threads share cores, and say so"))),
        ("caches", caches()),
        ("virtual machine", said("systemd-detect-virt", &[])),
        ("memory", field("/proc/meminfo", "MemTotal")),
        ("NUMA nodes", line("/sys/devices/system/node/online")),
        ("transparent huge pages", line("/sys/kernel/mm/transparent_hugepage/enabled")),
        ("reserved huge pages", field("/proc/meminfo", "HugePages_Total")),
        ("load before", line("/proc/loadavg")),
        ("kernel", line("/proc/sys/kernel/osrelease")),
        ("compiler", said("rustc", &["--version"])),
        ("libfabric", said("fi_info", &["--version"])),
        ("Open MPI", said("mpirun", &["--version"])),
    ];
    for (row, value) in rows {
        evidence.know(row, value.unwrap_or_else(|| "not known".to_owned()));
    }
}

/// Adds what is known at the end.
pub(super) fn ended(evidence: &mut Evidence, took: Duration) {
    evidence.know("load behind", line("/proc/loadavg").unwrap_or_default());
    evidence.know(TOOK, format!("{:.0} s", took.as_secs_f64()));
}

fn line(file: &str) -> Option<String> {
    first_of(&fs::read_to_string(file).ok()?)
}

fn first_of(text: &str) -> Option<String> {
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// A line `name : value` of a file of the kernel.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

fn caches() -> Option<String> {
    let of = |index: u32| {
        let file = |name: &str| line(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}"));
        Some(format!("L{} {} {}", file("level")?, file("type")?, file("size")?))
    };
    let all: Vec<_> = (0..8).filter_map(of).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The first line that a program prints.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    first_of(&String::from_utf8_lossy(&Command::new(program).args(arguments).output().ok()?.stdout))
}
