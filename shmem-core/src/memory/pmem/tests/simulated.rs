//! Jobs that crash anywhere, on disks that lose anything that was not flushed: the next opening gives
//! exactly the last persist, on all PEs.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use proptest::prelude::*;
use rustix::io::Errno;

use crate::exclusion::Mutex;
use crate::memory::pmem::agree::agree;
use crate::memory::pmem::file::{Disk, PmemFile};
use crate::memory::pmem::find::{FOREIGN, headers};
use crate::memory::pmem::header::{Areas, Identity, LAYOUT};

const AREAS: Areas = Areas { work: LAYOUT + 4096, bytes: 2 * 4096 };

/// Operations of a persist, at most.
const OPERATIONS: usize = 8;

/// The PEs of a job and their disks, and what must be found.
struct Job {
    dice: Rng,
    disks: Vec<Shared>,
    files: Vec<PmemFile>,
    /// The working areas at the last persist, by PE.
    last: Vec<Vec<u8>>,
    /// Those of a persist under way, which may be found instead.
    next: Option<Vec<Vec<u8>>>,
}

impl Job {
    fn new(pes: usize, seed: u64) -> Self {
        let disk = |pe| Lossy::new(AREAS.end() as usize, seed.wrapping_mul(31) + pe as u64);
        let last = vec![vec![0; AREAS.bytes as usize]; pes];
        let disks = (0..pes).map(disk).collect();
        Self { dice: Rng::with_seed(seed), disks, files: Vec::new(), last, next: None }
    }

    fn work(&self) -> Vec<Vec<u8>> {
        let work = AREAS.work as usize..(AREAS.work + AREAS.bytes) as usize;
        self.disks.iter().map(|disk| disk.lock().seen[work.clone()].to_vec()).collect()
    }

    fn open(&mut self) -> Result<(), Errno> {
        self.files.clear();
        let (path, pes) = (Path::new(""), self.disks.len() as u32);
        for (pe, disk) in (0..).zip(&self.disks) {
            disk.flush()?;
            let identity = Identity { what: String::new(), size: 1, pe, pes, layout: "layout".to_owned() };
            let shared = Box::new(Arc::clone(disk));
            let file = match headers(disk) {
                Ok(found) if found.0.generation > 0 => PmemFile::load(shared, path, &identity, found, AREAS)?,
                Err(why) if why != FOREIGN => panic!("a crash was taken for damage: {why}"),
                // Nothing was persisted: the file is cut to nothing and made anew.
                _ => {
                    disk.lock().cut()?;
                    PmemFile::build(shared, path, &identity, AREAS)?
                }
            };
            self.files.push(file);
        }
        let found: Vec<_> = self.files.iter().map(PmemFile::found).collect();
        let target = agree(&found).unwrap_or_else(|(_, error)| panic!("{error}"));
        self.each(|file| file.settle(target, 77))
    }

    /// Has every PE do its part, in any order: one that dies does not keep the others from going on, up to the barrier behind.
    fn each(&mut self, mut part: impl FnMut(&mut PmemFile) -> Result<(), Errno>) -> Result<(), Errno> {
        let first = self.dice.usize(..self.files.len());
        self.files.rotate_left(first);
        let mut result = Ok(());
        for file in &mut self.files {
            result = result.and(part(file));
        }
        self.files.rotate_right(first);
        result
    }

    fn scribble(&mut self) {
        for _ in 0..self.dice.usize(1..7) {
            let start = self.dice.usize(..AREAS.bytes as usize - 1);
            let bytes = self.dice.usize(1..=(AREAS.bytes as usize - start).min(3000));
            let value = self.dice.u8(..);
            let disk = &self.disks[self.dice.usize(..self.disks.len())];
            disk.lock().store(AREAS.work + start as u64, &vec![value; bytes]);
        }
    }

    fn persist(&mut self) -> Result<(), Errno> {
        self.next = Some(self.work());
        self.each(PmemFile::persist)?;
        self.last = self.next.take().unwrap();
        Ok(())
    }

    /// Each PE dies after any number of operations.
    fn doom(&mut self) {
        for disk in &self.disks {
            disk.lock().left = Some(self.dice.usize(..OPERATIONS));
        }
    }

    /// The next job: after the death of processes, or of machines, and possibly of jobs that open.
    fn recover(&mut self) {
        loop {
            for disk in &self.disks {
                disk.lock().revive();
                if self.dice.bool() {
                    disk.lock().lose();
                }
            }
            if self.dice.u8(..3) == 0 {
                self.doom();
            }
            if self.open().is_ok() {
                break;
            }
        }
        self.disks.iter().for_each(|disk| disk.lock().revive());
        let work = self.work();
        let kept = self.next.take().filter(|next| *next == work).unwrap_or_else(|| self.last.clone());
        assert!(work == kept, "neither the last persist nor the one under way");
        self.last = kept;
    }

    /// A flush of one PE fails: the persist is an error, and all goes on without; unless the job dies while it takes it back.
    fn fail(&mut self) {
        let pe = self.dice.usize(..self.disks.len());
        self.disks[pe].lock().fault = Some(self.dice.usize(..3));
        assert_eq!(self.each(PmemFile::persist), Err(Errno::IO));
        if self.dice.bool() {
            self.next = Some(self.work());
            self.doom();
            _ = self.each(PmemFile::revert);
        } else {
            self.each(PmemFile::revert).unwrap();
            self.scribble();
            // The system writes pages on its own, and fails.
            self.disks[pe].lock().fault = Some(0);
            assert_eq!(self.disks[pe].flush(), Err(Errno::IO));
        }
    }
}

fn play(pes: usize, seed: u64) {
    let mut job = Job::new(pes, seed);
    job.recover();
    for _ in 0..12 {
        job.scribble();
        match job.dice.u8(..8) {
            0 => continue,
            1 | 2 => {
                job.persist().unwrap();
                continue;
            }
            3 => {
                job.doom();
                _ = job.persist();
            }
            4 => {}
            _ => job.fail(),
        }
        job.recover();
    }
}

#[cfg(miri)]
const CASES: u32 = 2;
#[cfg(not(miri))]
const CASES: u32 = 400;

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_crash_leaves_the_last_persist(seed: u64, pes in 1..5_usize) {
        play(pes, seed);
    }
}

/// Every step of two PEs, on disks that lose as much as they can or nothing.
#[test]
fn every_step_of_a_persist_may_be_the_last() {
    for step in (0..OPERATIONS * OPERATIONS).step_by(if cfg!(miri) { 37 } else { 1 }) {
        for lost in [false, true] {
            let mut job = Job::new(2, step as u64);
            job.open().unwrap();
            job.scribble();
            job.persist().unwrap();
            job.scribble();
            job.disks[0].lock().left = Some(step % OPERATIONS);
            job.disks[1].lock().left = Some(step / OPERATIONS);
            _ = job.persist();
            job.disks.iter().filter(|_| lost).for_each(|disk| disk.lock().lose());
            job.recover();
        }
    }
}

/// Runs a test on new files of `pes` PEs, with several seeds.
fn with_seeds(pes: usize, test: impl Fn(&mut Job)) {
    for seed in 0..if cfg!(miri) { 2 } else { 30 } {
        let mut job = Job::new(pes, seed);
        job.open().unwrap();
        test(&mut job);
    }
}

fn fill(job: &Job, value: u8) {
    job.disks.iter().for_each(|disk| disk.lock().store(AREAS.work, &[value; AREAS.bytes as usize]));
}

/// A flush of copied pages fails, and the system takes them for written: the next job writes them again, though they are read as
/// what it writes.
#[test]
fn pages_that_the_disk_lacks_are_written_again() {
    with_seeds(1, |job| {
        fill(job, 1);
        job.persist().unwrap();
        fill(job, 2);
        job.disks[0].lock().fault = Some(1);
        assert_eq!(job.each(PmemFile::persist), Err(Errno::IO));
        job.disks[0].lock().revive();
        job.open().unwrap();
        fill(job, 2);
        job.persist().unwrap();
        job.disks[0].lock().lose();
        job.recover();
    });
}

/// A header that is seen and that the disk lacks is not what others act upon: they would clear the copy that it needs.
#[test]
fn a_header_that_the_disk_lacks_is_written_again() {
    with_seeds(2, |job| {
        job.scribble();
        job.persist().unwrap();
        job.scribble();
        job.next = Some(job.work());
        job.disks[0].lock().fault = Some(2);
        assert_eq!(job.each(PmemFile::persist), Err(Errno::IO));
        job.disks[0].lock().revive();
        job.open().unwrap();
        // Both have found the second persist. PE 1 does a third one, and PE 0 dies.
        job.last = job.next.take().unwrap();
        assert!(job.work() == job.last);
        job.scribble();
        job.disks[0].lock().left = Some(0);
        assert_eq!(job.each(PmemFile::persist), Err(Errno::NXIO));
        job.disks.iter().for_each(|disk| disk.lock().lose());
        job.recover();
    });
}

/// A file that is removed while the second persist is under way takes all back to nothing, or the others are refused: also
/// that whose copy of nothing is written over.
#[test]
fn a_file_that_is_gone_takes_all_back() {
    with_seeds(2, |job| {
        fill(job, 1);
        job.each(PmemFile::persist).unwrap();
        job.disks[1].lock().cut().unwrap();
        job.recover();
        fill(job, 2);
        job.persist().unwrap();
        fill(job, 3);
        // Cleared, and partly written.
        job.disks[0].lock().left = Some(3);
        _ = job.each(PmemFile::persist);
        job.disks.iter().for_each(|disk| disk.lock().revive());
        job.disks[1].lock().cut().unwrap();
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.open()));
        assert!(refused.is_err(), "PE 0 has persist 1 alone");
    });
}

/// A header of a persist that was taken back is next to the newest one, and is not found when the file is made anew.
#[test]
fn what_was_taken_back_is_never_found() {
    with_seeds(2, |job| {
        job.scribble();
        job.each(PmemFile::persist).unwrap();
        job.each(PmemFile::revert).unwrap();
        (0..2).for_each(|_| job.recover());
    });
}

/// Bytes that are written whole or not at all: fewer than of any disk, so that headers tear.
const SECTOR: usize = 64;

/// A disk that may lose what was not flushed.
#[derive(Debug)]
struct Lossy {
    /// The bytes that a reader sees.
    seen: Vec<u8>,
    /// The bytes that are on the medium for certain.
    kept: Vec<u8>,
    /// Sectors that were written since the last flush: all that they held meanwhile.
    written: BTreeMap<usize, Vec<Vec<u8>>>,
    /// Operations that are still carried out: then the process is dead. `None`: all.
    left: Option<usize>,
    /// Which of the next flushes fails.
    fault: Option<usize>,
    dice: Rng,
}

type Shared = Arc<Mutex<Lossy>>;

impl Lossy {
    fn new(bytes: usize, seed: u64) -> Shared {
        let (seen, kept, written) = (vec![0; bytes], vec![0; bytes], BTreeMap::new());
        let dice = Rng::with_seed(seed);
        Arc::new(Mutex::new(Self { seen, kept, written, left: None, fault: None, dice }))
    }

    /// Another process goes on with it.
    fn revive(&mut self) {
        (self.left, self.fault) = (None, None);
    }

    /// The machine dies: of each sector that was not flushed, any version since may be left.
    fn lose(&mut self) {
        for (sector, versions) in std::mem::take(&mut self.written) {
            let chosen = self.dice.usize(..=versions.len());
            if let Some(version) = chosen.checked_sub(1).map(|chosen| &versions[chosen]) {
                self.kept[sector * SECTOR..][..SECTOR].copy_from_slice(version);
            }
        }
        self.seen.copy_from_slice(&self.kept);
    }

    /// The file is cut to nothing, and is as long as before: a file system loses that as a whole, with all that comes
    /// behind, or keeps it. The old contents are never seen again.
    fn cut(&mut self) -> Result<(), Errno> {
        self.step()?;
        self.seen.fill(0);
        self.kept.fill(0);
        self.written.clear();
        Ok(())
    }

    /// Writes as a mapping does.
    fn store(&mut self, at: u64, bytes: &[u8]) {
        let (start, end) = (at as usize, at as usize + bytes.len());
        self.seen[start..end].copy_from_slice(bytes);
        for sector in start / SECTOR..end.div_ceil(SECTOR) {
            self.written.entry(sector).or_default().push(self.seen[sector * SECTOR..][..SECTOR].to_vec());
        }
    }

    fn step(&mut self) -> Result<(), Errno> {
        let Some(left) = &mut self.left else { return Ok(()) };
        *left = left.checked_sub(1).ok_or(Errno::NXIO)?;
        Ok(())
    }
}

impl Disk for Shared {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno> {
        into.copy_from_slice(&self.lock().seen[at as usize..][..into.len()]);
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut disk = self.lock();
        disk.step()?;
        disk.store(at, bytes);
        Ok(())
    }

    fn flush(&self) -> Result<(), Errno> {
        let disk = &mut *self.lock();
        disk.step()?;
        let fails = disk.fault == Some(0);
        disk.fault = disk.fault.and_then(|number| number.checked_sub(1));
        for (sector, _) in std::mem::take(&mut disk.written) {
            // A flush that fails keeps any part, and leaves the rest as if it were kept.
            if !fails || disk.dice.bool() {
                let sector = sector * SECTOR..(sector + 1) * SECTOR;
                disk.kept[sector.clone()].copy_from_slice(&disk.seen[sector]);
            }
        }
        if fails { Err(Errno::IO) } else { Ok(()) }
    }

    fn descriptor(&self) -> Result<OwnedFd, Errno> {
        Err(Errno::BADF)
    }
}
