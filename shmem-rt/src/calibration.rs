//! What `shmem-perf calibrate` has measured on this machine, for strided transfers planned at run time: on the
//! node, and by libfabric to other nodes.
//!
//! A table is a file in the user's cache directory (`SHMEM_STRIDED_TABLE` names another one) that says of
//! which machine it is: [`machine`] tells processor and caches. A table of another machine or another
//! version counts for nothing, and a warning says so; without a table what is compiled in counts. The first
//! PE of each host reads, and tells the others: all PEs that share memory follow one table, and all PEs of the
//! job follow PE 0's in what they send to other nodes.

mod table;

use std::path::{Path, PathBuf};

use shmem_core::strided::{self, Thresholds};
use shmem_core::transport::ofi;
use shmem_core::transport::ofi::strided::Row;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::Settings;
use shmem_launch::say::say;

pub use shmem_core::root::Root;
pub use table::{Fault, Table};

/// The value of `SHMEM_STRIDED_TABLE` that says: no table.
const NONE: &str = "none";

/// Where the table of this machine is left and looked for, unless the environment names a file: in
/// `$XDG_CACHE_HOME` or `~/.cache`. `None` if there is neither.
pub fn path(machine: &str) -> Option<PathBuf> {
    let key = shmem_core::fingerprint::fingerprint(machine.bytes());
    Some(directory()?.join(format!("strided-{key:016x}.json")))
}

fn directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("shmem-rt"))
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// What the choice of a kernel compares with.
    pub thresholds: Thresholds,
    /// What operations cost, by provider.
    pub rows: Vec<(String, Row)>,
}

impl Measured {
    fn of(table: &Table) -> Result<Self, Fault> {
        Ok(Self { thresholds: table.thresholds()?, rows: table.rows()? })
    }
}

/// What counts for a process whose environment names `given`, and a warning if a table was there and does not
/// count.
pub fn load(given: Option<&str>) -> (Measured, Option<String>) {
    // Most users have no table. Then nothing is read of the machine, which takes long where it has many cores.
    let nowhere = given.is_none() && !directory().is_some_and(|directory| directory.is_dir());
    if given == Some(NONE) || nowhere {
        return (Measured::default(), None);
    }
    let machine = machine(&Root::default());
    let Some(file) = given.map(PathBuf::from).or_else(|| path(&machine)) else {
        return (Measured::default(), None);
    };
    let measured = |table: Table| {
        table.thresholds_for(&machine)?;
        Measured::of(&table)
    };
    match Table::read(&file).and_then(measured) {
        Ok(measured) => (measured, None),
        Err(Fault::Missing) if given.is_none() => (Measured::default(), None),
        Err(fault) => (Measured::default(), Some(warning(&file, &fault))),
    }
}

fn warning(file: &Path, fault: &Fault) -> String {
    format!(
        "the table of strided transfers {} is ignored: {fault}; make one with `shmem-perf calibrate`, or set SHMEM_STRIDED_TABLE={NONE}",
        file.display()
    )
}

/// Makes the settings of strided transfers count in this process, the same on all PEs of a host.
pub(crate) fn install(settings: &Settings, bootstrap: &dyn Bootstrap) -> std::io::Result<()> {
    let (hosts, firsts) = (bootstrap.hosts(), bootstrap.firsts());
    let mine = hosts[bootstrap.number()];
    let first = firsts.iter().position(|pe| hosts[*pe] == mine);
    let mut told = Vec::new();
    if firsts.contains(&bootstrap.number()) {
        let (Measured { thresholds, rows }, warning) = load(settings.strided_table.as_deref());
        if let Some(warning) = warning {
            say(&format!("shmem: warning: {warning}"));
        }
        let table = Table::new(String::new(), thresholds);
        let table = rows.iter().fold(table, |table, (provider, row)| table.with_row(provider, row));
        told = table.encode().into_bytes();
    }
    let all = bootstrap.told_by(&firsts, "strided", &told)?;
    let of = |host: usize| {
        let table = Table::decode(std::str::from_utf8(&all[host]).ok()?).ok()?;
        Measured::of(&table).ok()
    };
    let thresholds = first.and_then(of).unwrap_or_default().thresholds;
    strided::Settings { algorithm: settings.strided_algorithm, thresholds }.install();
    ofi::strided::install(of(0).unwrap_or_default().rows);
    Ok(())
}

/// Processor and caches of a machine, in one line: `AuthenticAMD 25/17/1, virtual, L1 32K/8, L2 1M/8`.
///
/// What a machine does not tell is left out.
pub fn machine(root: &Root) -> String {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    let number = |names: [&str; 2]| names.into_iter().find_map(field).unwrap_or_else(|| "?".into());
    let vendor = number(["vendor_id", "CPU implementer"]);
    let (family, model) = (number(["cpu family", "CPU architecture"]), number(["model", "CPU part"]));
    let mut parts = vec![format!("{vendor} {family}/{model}/{}", number(["stepping", "CPU revision"]))];
    if field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")) {
        parts.push("virtual".into());
    }
    for index in root.numbered("sys/devices/system/cpu/cpu0/cache", "index", "") {
        let text = |file: &str| root.text(&format!("sys/devices/system/cpu/cpu0/cache/index{index}/{file}"));
        if text("type").is_some_and(|kind| kind != "Instruction") {
            let (level, size) = (text("level").unwrap_or_default(), text("size").unwrap_or_default());
            parts.push(format!("L{level} {size}/{}", text("ways_of_associativity").unwrap_or_default()));
        }
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &std::path::Path, file: &str, text: &str) {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn a_machine_is_its_processor_and_its_caches() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(
            root,
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: EPYC\nstepping\t: 1\nflags\t\t: fpu hypervisor avx2\n",
        );
        for (index, (level, kind, size, ways)) in
            [("1", "Data", "32K", "8"), ("1", "Instruction", "32K", "8"), ("3", "Unified", "32768K", "16")]
                .into_iter()
                .enumerate()
        {
            let cache = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
            for (file, text) in
                [("level", level), ("type", kind), ("size", size), ("ways_of_associativity", ways)]
            {
                write(root, &format!("{cache}/{file}"), text);
            }
        }
        assert_eq!(machine(&Root::at(root)), "AuthenticAMD 25/17/1, virtual, L1 32K/8, L3 32768K/16");
        write(root, "proc/cpuinfo", "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n");
        assert!(machine(&Root::at(root)).starts_with("0x41 8/0xd0c/?, L1"));
    }
}
