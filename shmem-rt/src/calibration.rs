//! What `shmem-perf calibrate` has measured on this machine, for strided transfers planned at run time: on the
//! node, and by libfabric to other nodes.
//!
//! A table is a file in the user's cache directory (`SHMEM_STRIDED_TABLE` names another one) that says of
//! which machine it is: [`machine`] tells processor and caches. A table of another machine or another
//! version counts for nothing, and a warning says so; without a table what is compiled in counts. The first
//! PE of each host reads, and tells the others: all PEs that share memory follow one table, and all PEs of the
//! job follow PE 0's in what they send to other nodes.

mod machine;
mod table;

use std::path::{Path, PathBuf};

use shmem_core::strided::{self, Thresholds};
use shmem_core::transport::ofi;
use shmem_core::transport::ofi::strided::Row;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::Settings;
use shmem_launch::say::say;

pub use machine::machine;
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

/// Where tables are left.
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
