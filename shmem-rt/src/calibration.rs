//! What `shmem-perf calibrate` has measured on this machine, for strided plans made at run time.
//!
//! A table is a file in the user's cache directory (`SHMEM_STRIDED_TABLE` names another one) that says of
//! which machine it is: [`machine`] tells processor and caches. A table of another machine or another
//! version counts for nothing, and a warning says so; without a table what is compiled in counts. The first
//! PE of each host reads, and tells the others of the host: all PEs that share memory follow one table.

mod machine;
mod table;

use std::path::{Path, PathBuf};

use shmem_core::strided::{self, Thresholds};

use crate::bootstrap::Bootstrap;
use crate::env::Settings;
use crate::info::Root;
use crate::report;

pub use machine::machine;
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

/// The thresholds that count for a process whose environment names `given`, and a warning if a table was
/// there and does not count.
pub fn load(given: Option<&str>) -> (Thresholds, Option<String>) {
    // Most users have no table. Then nothing is read of the machine, which takes long where it has many cores.
    let nowhere = given.is_none() && !directory().is_some_and(|directory| directory.is_dir());
    if given == Some(NONE) || nowhere {
        return (Thresholds::DEFAULT, None);
    }
    let machine = machine(&Root::default());
    let Some(file) = given.map(PathBuf::from).or_else(|| path(&machine)) else {
        return (Thresholds::DEFAULT, None);
    };
    match Table::read(&file).and_then(|table| table.thresholds_for(&machine)) {
        Ok(thresholds) => (thresholds, None),
        Err(Fault::Missing) if given.is_none() => (Thresholds::DEFAULT, None),
        Err(fault) => (Thresholds::DEFAULT, Some(warning(&file, &fault))),
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
    let hosts = bootstrap.hosts();
    let mine = hosts[bootstrap.number()];
    let first = hosts.iter().position(|host| *host == mine);
    let mut told = Vec::new();
    if first == Some(bootstrap.number()) {
        let (thresholds, warning) = load(settings.strided_table.as_deref());
        if let Some(warning) = warning {
            report::say(&format!("shmem: warning: {warning}"));
        }
        told = Table::new(String::new(), thresholds).encode().into_bytes();
    }
    let all = bootstrap.exchange("strided", &told)?;
    let table = first.and_then(|first| Table::decode(std::str::from_utf8(&all[first]).ok()?).ok());
    let thresholds = table.and_then(|table| table.thresholds().ok()).unwrap_or(Thresholds::DEFAULT);
    strided::Settings { algorithm: settings.strided_algorithm, thresholds }.install();
    Ok(())
}
