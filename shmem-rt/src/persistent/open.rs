//! The start: every PE opens its files, and all agree on what they found.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use shmem_core::memory::{Backing, Candidate, Found, Identity, PmemFile, agree};
use shmem_core::partition::{PARTITION_VARIABLE, Policy};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec::{self, Message};
use shmem_launch::say::say;

use crate::error::{Error, ErrorKind, Result};
use crate::setup::Setup;

/// How a PE has found a file, for the others.
#[derive(Debug, Serialize, Deserialize)]
enum FileState {
    Found([u64; 3]),
    Unusable(String),
    Refused(String),
}

/// What a PE tells the others.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    /// A random number: that of PE 0 marks the files that are made together.
    set: u64,
    files: BTreeMap<usize, FileState>,
}

impl Message for Report {}

/// The files of one PE, by the position of their partition, before the PEs have agreed.
struct Candidates {
    files: BTreeMap<usize, Candidate>,
    /// Partitions for which no file is named, and why that is no file.
    unnamed: BTreeMap<usize, String>,
}

/// Opens the files of this PE and comes to an agreement with the others. On every PE there is the same
/// error, and nothing was changed.
pub(crate) fn open(setup: &Setup, bootstrap: &dyn Bootstrap) -> Result<BTreeMap<usize, Backing>> {
    if !setup.table.specs().iter().any(|spec| spec.is_in_file()) {
        return Ok(BTreeMap::new());
    }
    let candidates = Candidates::open(setup, bootstrap.number(), bootstrap.count());
    let told = bootstrap.exchange("files", &candidates.tell()?).map_err(Error::launcher)?;
    let settled = candidates.settle(setup, &told);
    // Also after an error: nobody ends the job before all have removed what they made. And nobody writes a
    // file before all have come to the same persist.
    bootstrap.fence().map_err(Error::launcher)?;
    settled
}

/// As [`open`], for all PEs of a job that is one process.
pub(crate) fn open_all(setup: &Setup, pes: usize) -> Result<Vec<BTreeMap<usize, Backing>>> {
    let all = (0..pes).map(|pe| Candidates::open(setup, pe, pes)).collect::<Vec<_>>();
    let told = all.iter().map(Candidates::tell).collect::<Result<Vec<_>>>()?;
    all.into_iter().map(|candidates| candidates.settle(setup, &told)).collect()
}

impl Candidates {
    /// Opens, or makes, the files of a PE.
    fn open(setup: &Setup, pe: usize, pes: usize) -> Self {
        let (mut files, mut unnamed) = (BTreeMap::new(), BTreeMap::new());
        let specs = setup.table.specs().iter().zip(setup.layout.requests()).zip(&setup.statics.partitions);
        for (k, ((spec, request), part)) in specs.enumerate().filter(|(_, ((spec, _), _))| spec.is_in_file())
        {
            let Some(path) = &spec.file else {
                let why = format!("no file is named (add PMEM=<path> to {PARTITION_VARIABLE}{})", spec.id);
                unnamed.insert(k, why);
                continue;
            };
            let identity = Identity {
                what: request.what.clone(),
                size: spec.size,
                pe: pe as u32,
                pes: pes as u32,
                layout: part.describe_kept(),
            };
            files.insert(k, PmemFile::open(Path::new(&format!("{path}.{pe}")), &identity));
        }
        Self { files, unnamed }
    }

    /// What the other PEs must know.
    fn tell(&self) -> Result<Vec<u8>> {
        let mut set = [0; 8];
        rustix::rand::getrandom(&mut set, rustix::rand::GetRandomFlags::empty())
            .map_err(|errno| Error::launcher(format!("no random numbers: {errno}")))?;
        let files = self.files.iter().map(|(&k, candidate)| {
            let state = match candidate {
                Candidate::File(file) => FileState::Found(file.found().encode()),
                Candidate::Unusable(error) => FileState::Unusable(error.to_string()),
                Candidate::Refused(error) => FileState::Refused(error.to_string()),
            };
            (k, state)
        });
        let unnamed = self.unnamed.iter().map(|(&k, why)| (k, FileState::Unusable(why.clone())));
        let report = Report { set: u64::from_le_bytes(set), files: files.chain(unnamed).collect() };
        Ok(codec::encode(&report))
    }

    /// Comes to what all PEs can come to, given what each of them has told.
    fn settle(self, setup: &Setup, told: &[Vec<u8>]) -> Result<BTreeMap<usize, Backing>> {
        let Self { files, unnamed } = self;
        let garbled = || Error::launcher("a PE's files are garbled");
        let reports: Option<Vec<Report>> = told.iter().map(|report| codec::decode(report).ok()).collect();
        let reports = reports.ok_or_else(garbled)?;
        let set = reports.first().map_or(0, |report| report.set);
        let decided: Result<BTreeMap<usize, Decision>> =
            (files.keys().chain(unnamed.keys())).map(|&k| Ok((k, decide(setup, k, &reports)?))).collect();
        let decided = match decided {
            Ok(decided) => decided,
            Err(error) => {
                files.into_values().for_each(discard);
                return Err(error);
            }
        };
        let mut backings = BTreeMap::new();
        let mut files = files;
        for (k, decision) in decided {
            let candidate = files.remove(&k);
            let backing = match (decision, candidate) {
                (Decision::At(generation), Some(Candidate::File(mut file))) => {
                    file.settle(generation, set)
                        .map_err(|error| shmem_core::memory::MemoryError::Pmem(Box::new(error)))?;
                    if let Some(remark) = file.remark() {
                        say(&format!("shmem: warning: {remark}"));
                    }
                    Backing::File(file)
                }
                (Decision::Memory(why), candidate) => {
                    candidate.into_iter().for_each(discard);
                    Backing::Instead(why)
                }
                (Decision::At(_), _) => return Err(garbled()),
            };
            backings.insert(k, backing);
        }
        Ok(backings)
    }
}

fn discard(candidate: Candidate) {
    if let Candidate::File(file) = candidate {
        file.discard();
    }
}

/// What all PEs do with a partition.
enum Decision {
    /// It lies in its files, at this persist.
    At(u64),
    /// It lies in memory, for this reason.
    Memory(String),
}

/// The same on every PE. What was asked to survive and can, or has, does not become memory.
fn decide(setup: &Setup, k: usize, reports: &[Report]) -> Result<Decision> {
    let told = || reports.iter().enumerate().filter_map(|(pe, report)| Some((pe, report.files.get(&k)?)));
    let mut found = Vec::new();
    let mut unusable = None;
    for (pe, told) in told() {
        match told {
            FileState::Found(words) => found.extend(Found::decode(*words)),
            FileState::Refused(why) => return Err(ErrorKind::File { pe, reason: why.clone() }.into()),
            FileState::Unusable(why) => unusable = unusable.or(Some((pe, why))),
        }
    }
    let spec = &setup.table.specs()[k];
    if let Some((pe, why)) = unusable {
        let kept = found.iter().any(|found| !found.is_new());
        if kept || spec.traits.policy != Some(Policy::Preferred) {
            let also = if kept { "; the files of other PEs hold what was persisted" } else { "" };
            return Err(ErrorKind::File { pe, reason: format!("{why}{also}") }.into());
        }
        return Ok(Decision::Memory(why.clone()));
    }
    if found.len() != reports.len() {
        return Err(Error::launcher("a PE's files are garbled"));
    }
    let agreed = agree(&found).map_err(|error| {
        let reason = format!("{}: {error}", spec.title());
        ErrorKind::File { pe: error.other.0, reason }
    });
    Ok(Decision::At(agreed?))
}
