//! Opening at the start: every PE opens its files, all agree on a persist, and each reads the names in its files.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use serde::{Deserialize, Serialize};
use shmem_core::heap::Ledger;
use shmem_core::memory::{Backing, FileState, Identity, MemoryError, PmemError, PmemFile, agree};
use shmem_core::partition::{PARTITION_VARIABLE, PartitionSpec, Policy};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};

use crate::error::{Error, ErrorKind, Result};
use crate::setup::Setup;
use crate::state::names::encode;
use crate::state::shelf::Shelf;

/// A PE's report of its files to the others.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    /// A random number; PE 0's marks the files that are made together.
    set: u64,
    /// The files, in the order of their partitions.
    files: Vec<Result<FileState, PmemError>>,
}

impl Message for Report {}

/// Opens the files of this PE, if all PEs agree. An error is the same on every PE, and changes nothing.
pub(crate) fn open(setup: &Setup, bootstrap: &dyn Bootstrap) -> Result<BTreeMap<usize, Backing>> {
    if persistent(setup).next().is_none() {
        return Ok(BTreeMap::new());
    }
    let (files, report) = candidates(setup, bootstrap.number(), bootstrap.count());
    let reports = bootstrap.exchange("files", &codec::encode(&report)).map_err(Error::launcher)?;
    let reports: Option<Vec<Report>> = reports.iter().map(|report| codec::decode(report).ok()).collect();
    let settled = reports.ok_or_else(garbled).and_then(|reports| settle(files, setup, &reports));
    // Also after an error: no PE ends the job before all PEs have removed the files that they made. And no PE
    // writes a file before all PEs are at the same persist.
    bootstrap.fence().map_err(Error::launcher)?;
    settled
}

/// As [`open`], for all PEs of a job that is one process.
pub(crate) fn open_all(setup: &Setup, pes: usize) -> Result<Vec<BTreeMap<usize, Backing>>> {
    let (files, reports): (Vec<_>, Vec<_>) = (0..pes).map(|pe| candidates(setup, pe, pes)).unzip();
    files.into_iter().map(|files| settle(files, setup, &reports)).collect()
}

/// The partitions that outlive the job, each with its position among all.
fn persistent(setup: &Setup) -> impl Iterator<Item = (usize, &PartitionSpec)> {
    setup.table.specs().iter().enumerate().filter(|(_, spec)| spec.is_in_file())
}

/// Opens, or makes, the files of a PE, before the PEs have agreed. Returns them in the order of their partitions, with the
/// report of the PE.
fn candidates(setup: &Setup, pe: usize, pes: usize) -> (Vec<Option<PmemFile>>, Report) {
    let open = |(k, spec): (usize, &PartitionSpec)| {
        let Some(path) = &spec.file else {
            let reason = format!("no file is named (add PMEM=<path> to {PARTITION_VARIABLE}{})", spec.id);
            return Err(PmemError { reason, is_without_file: true });
        };
        let (what, layout) =
            (setup.layout.requests()[k].what.clone(), setup.statics.partitions[k].describe_kept());
        let identity = Identity { what, size: spec.size, pe: pe as u32, pes: pes as u32, layout };
        PmemFile::open(Path::new(&format!("{path}.{pe}")), &identity)
    };
    let opened: Vec<_> = persistent(setup).map(open).collect();
    let state = |file: &Result<PmemFile, PmemError>| match file {
        Ok(file) => Ok(file.found()),
        Err(error) => Err(error.clone()),
    };
    let files = opened.iter().map(state).collect();
    // The keys of a `RandomState` are random numbers.
    let set = RandomState::new().hash_one(pe);
    (opened.into_iter().map(Result::ok).collect(), Report { set, files })
}

/// Restores the files of a PE to the persist that all PEs have, by the reports of all.
fn settle(
    files: Vec<Option<PmemFile>>,
    setup: &Setup,
    reports: &[Report],
) -> Result<BTreeMap<usize, Backing>> {
    let decide = |(at, (k, spec))| Ok((k, decide(spec, at, reports)?));
    let decided: Vec<_> = match persistent(setup).enumerate().map(decide).collect() {
        Ok(decided) => decided,
        Err(error) => {
            files.into_iter().flatten().for_each(PmemFile::discard);
            return Err(error);
        }
    };
    let mut backings = BTreeMap::new();
    for ((k, decision), file) in decided.into_iter().zip(files) {
        let backing = match (decision, file) {
            (Ok(generation), Some(mut file)) => {
                let settled = file.settle(generation, reports[0].set);
                settled.map_err(|errno| MemoryError::from(file.failed("restoring it", errno)))?;
                Backing::File(Box::new(file))
            }
            (Err(why), file) => {
                file.into_iter().for_each(PmemFile::discard);
                Backing::Instead(why)
            }
            (Ok(_), None) => return Err(garbled()),
        };
        backings.insert(k, backing);
    }
    Ok(backings)
}

fn garbled() -> Error {
    Error::launcher("a PE's files are garbled")
}

/// The persist at which the partition `at`, among those that outlive the job, is in its files, or why it is in memory: the same
/// on every PE. It is in memory if a PE has no file, no PE's file was persisted, and the policy is `Preferred`.
fn decide(spec: &PartitionSpec, at: usize, reports: &[Report]) -> Result<Result<u64, String>> {
    let (mut found, mut missing) = (Vec::new(), None);
    for (pe, report) in reports.iter().enumerate() {
        match report.files.get(at).ok_or_else(garbled)? {
            Ok(file) => found.push(*file),
            Err(PmemError { reason, is_without_file: true }) => missing = missing.or(Some((pe, reason))),
            Err(error) => return Err(of_files(pe, &error.reason)),
        }
    }
    let Some((pe, why)) = missing else {
        let agreed = agree(&found).map_err(|(pe, why)| of_files(pe, &format!("{}: {why}", spec.title())))?;
        return Ok(Ok(agreed));
    };
    let kept = found.iter().any(|found| !found.is_new());
    if kept || spec.traits.policy != Some(Policy::Preferred) {
        let also = if kept { "; the files of other PEs hold what was persisted" } else { "" };
        return Err(of_files(pe, &format!("{why}{also}")));
    }
    Ok(Err(why.clone()))
}

fn of_files(pe: usize, reason: &str) -> Error {
    ErrorKind::Start(format!("PE {pe}: {reason}")).into()
}

/// Reads the names in the partitions of this PE, which are mapped in the slot at `mine` and not used yet. All PEs must find the same
/// names: each PE compares its own names with those of PE 0, byte by byte.
pub(crate) fn shelve(
    setup: &Setup,
    files: BTreeMap<usize, Backing>,
    mine: *mut u8,
    ledger: &mut Ledger,
    bootstrap: &dyn Bootstrap,
) -> Result<Vec<Shelf>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let pe = bootstrap.number();
    let shelves = files.into_iter().map(|(k, backing)| {
        let (spec, part) = (&setup.table.specs()[k], &setup.statics.partitions[k]);
        let (range, heap) = (setup.layout.partition(k), part.end as usize);
        // SAFETY: the arena has mapped the partitions of this PE's slot at `mine`, and no token exists yet.
        unsafe { Shelf::new(spec, part.index, range, heap, backing, mine, ledger) }
    });
    let shelves: Result<Vec<_>, String> = shelves.collect();
    let shelves = shelves.map_err(|reason| of_files(pe, &reason))?;
    let names: Vec<u8> = shelves.iter().flat_map(|shelf| encode(&shelf.objects)).collect();
    if bootstrap.told_by(&[0], "names", &names).map_err(Error::launcher)?.concat() != names {
        let reason = "its files hold other objects than those of PE 0; put back all of one copy";
        return Err(of_files(pe, reason));
    }
    Ok(shelves)
}
