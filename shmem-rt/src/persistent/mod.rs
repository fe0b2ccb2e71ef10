//! Partitions that outlive the job, whose objects have names. At the start all PEs open their files, agree on a *persist* (a state
//! that an earlier job has saved by `World::persist`), and read the objects' names in the files. The head of `shmem_core::memory`'s
//! module `pmem` proves that the files survive crashes.

mod names;
mod persist;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use serde::{Deserialize, Serialize};
use shmem_core::heap::Ledger;
use shmem_core::memory::{Identity, Persist, PmemFile, agree};
use shmem_core::partition::PartitionSpec;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};

use crate::error::{Error, ErrorKind, Result};
use crate::setup::Setup;
use crate::state::names::encode;
use crate::state::persistent_partition::PersistentPartition;

/// The report that a PE sends to the other PEs about its files.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    /// A random number. That of PE 0 marks all files that are made together.
    set: u64,
    /// For each file, in the order of partitions, the persists (saved states) in it, or the reason why the file is refused.
    files: Vec<Result<Vec<Persist>, String>>,
}

impl Message for Report {}

fn garbled() -> Error {
    Error::launcher("a PE's files are garbled")
}

/// Opens the files of this PE, if all PEs agree. Otherwise returns the same error on every PE, and leaves existing files unchanged.
pub(crate) fn open(setup: &Setup, bootstrap: &dyn Bootstrap) -> Result<BTreeMap<usize, PmemFile>> {
    if persistent(setup).next().is_none() {
        return Ok(BTreeMap::new());
    }
    let (files, report) = candidates(setup, bootstrap.number(), bootstrap.count());
    let reports = bootstrap.exchange("files", &codec::encode(&report)).map_err(Error::launcher)?;
    let reports: Option<Vec<Report>> = reports.iter().map(|report| codec::decode(report).ok()).collect();
    let settled = reports.ok_or_else(garbled).and_then(|reports| settle(files, setup, &reports));
    // The fence also follows an error: no PE ends the job before all PEs have removed the files that they made. And no
    // PE writes to a file before the files of all PEs are at the same persist.
    bootstrap.fence().map_err(Error::launcher)?;
    settled
}

/// As [`open`], for all PEs of a job whose PEs are threads of one process.
pub(crate) fn open_all(setup: &Setup, pes: usize) -> Result<Vec<BTreeMap<usize, PmemFile>>> {
    let (files, reports): (Vec<_>, Vec<_>) = (0..pes).map(|pe| candidates(setup, pe, pes)).unzip();
    files.into_iter().map(|files| settle(files, setup, &reports)).collect()
}

/// Returns the partitions that outlive the job, each with its position among all partitions.
fn persistent(setup: &Setup) -> impl Iterator<Item = (usize, &PartitionSpec)> {
    setup.table.specs().iter().enumerate().filter(|(_, spec)| spec.is_in_file())
}

/// Opens or makes the files of a PE, before the PEs agree. Returns the files that were not refused, and the report of the PE.
fn candidates(setup: &Setup, pe: usize, pes: usize) -> (Vec<PmemFile>, Report) {
    // The hash is a random number, because the keys of a `RandomState` are random.
    let (mut files, mut report) =
        (Vec::new(), Report { set: RandomState::new().hash_one(pe), files: Vec::new() });
    for (k, spec) in persistent(setup) {
        let (what, layout) =
            (setup.layout.requests()[k].what.clone(), setup.statics.partitions[k].describe_kept());
        let identity = Identity { what, size: spec.size, pe: pe as u32, pes: pes as u32, layout };
        let path = format!("{}.{pe}", spec.file.as_deref().unwrap_or_default());
        let opened = PmemFile::open(Path::new(&path), &identity);
        report.files.push(opened.as_ref().map(PmemFile::found).map_err(Clone::clone));
        files.extend(opened);
    }
    (files, report)
}

/// Restores the files of a PE to the persist (saved state) on which all PEs agree, according to the reports of all PEs.
fn settle(files: Vec<PmemFile>, setup: &Setup, reports: &[Report]) -> Result<BTreeMap<usize, PmemFile>> {
    let agreed: Vec<u64> =
        match persistent(setup).enumerate().map(|(at, (_, spec))| agreed(spec, at, reports)).collect() {
            Ok(agreed) => agreed,
            Err(error) => {
                files.into_iter().for_each(PmemFile::discard);
                return Err(error);
            }
        };
    let all = persistent(setup).zip(files).zip(agreed);
    all.map(|(((k, _), mut file), generation)| {
        let settled = file.settle(generation, reports[0].set);
        settled.map_err(|errno| ErrorKind::Start(file.failed("restoring it", errno)))?;
        Ok((k, file))
    })
    .collect()
}

/// Returns the persist (saved state) to which all PEs restore the `at`-th partition that outlives the job; the same on every PE.
fn agreed(spec: &PartitionSpec, at: usize, reports: &[Report]) -> Result<u64> {
    let mut found = Vec::with_capacity(reports.len());
    for (pe, report) in reports.iter().enumerate() {
        match report.files.get(at).ok_or_else(garbled)? {
            Ok(persists) => found.push(persists.clone()),
            Err(reason) => return Err(of_files(pe, reason)),
        }
    }
    agree(&found).map_err(|why| ErrorKind::Start(format!("{}: {why}", spec.title())).into())
}

fn of_files(pe: usize, reason: &str) -> Error {
    ErrorKind::Start(format!("PE {pe}: {reason}")).into()
}

/// Reads the names of objects in this PE's partitions, which are mapped in the slot at `mine` and not used yet. Each PE
/// compares its names byte by byte with those of PE 0, because all PEs must find the same names.
pub(crate) fn open_partitions(
    setup: &Setup,
    files: BTreeMap<usize, PmemFile>,
    mine: *mut u8,
    ledger: &mut Ledger,
    bootstrap: &dyn Bootstrap,
) -> Result<Vec<PersistentPartition>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let pe = bootstrap.number();
    let partitions = files.into_iter().map(|(k, file)| {
        let (spec, part) = (&setup.table.specs()[k], &setup.statics.partitions[k]);
        let (range, heap) = (setup.layout.partition(k), part.end as usize);
        // SAFETY: the arena has mapped the partitions of this PE's slot at `mine`. No token exists, so no operation uses them.
        unsafe { PersistentPartition::new(spec, part.index, range, heap, file, mine, ledger) }
    });
    let partitions: Result<Vec<_>, String> = partitions.collect();
    let partitions = partitions.map_err(|reason| of_files(pe, &reason))?;
    let names: Vec<u8> = partitions.iter().flat_map(|partition| encode(&partition.objects)).collect();
    if bootstrap.gather_from(&[0], "names", &names).map_err(Error::launcher)?.concat() != names {
        let reason = "its files hold other objects than those of PE 0; put back all of one copy";
        return Err(of_files(pe, reason));
    }
    Ok(partitions)
}
