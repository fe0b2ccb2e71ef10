//! Jobs that crash anywhere, on disks that lose any part of what was not flushed: the next opening gives
//! exactly the last persist, on all PEs.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use proptest::prelude::*;
use rustix::io::Errno;

use crate::exclusion::Mutex;
use crate::memory::pmem::file::{Disk, PmemFile, agree};
use crate::memory::pmem::header::{Areas, Identity, LAYOUT, UNIT};
use crate::memory::pmem::open::headers;

/// Areas of two units.
const AREAS: Areas = Areas { work: LAYOUT + 4096, bytes: 2 * UNIT as u64 };

/// The PEs of a job, and their disks.
struct Job {
    dice: Rng,
    disks: Vec<Shared>,
    files: Vec<PmemFile>,
    /// The working areas at the last persist, by PE.
    last: Vec<Vec<u8>>,
    /// The working areas at a persist that a crash interrupts, which may be found instead.
    next: Option<Vec<Vec<u8>>>,
}

impl Job {
    fn new(pes: usize, seed: u64) -> Self {
        let last = vec![vec![0; AREAS.bytes as usize]; pes];
        let disks = (0..pes as u64).map(|pe| Lossy::new(seed.wrapping_mul(31) ^ pe)).collect();
        Self { dice: Rng::with_seed(seed), disks, files: Vec::new(), last, next: None }
    }

    fn work(&self) -> Vec<Vec<u8>> {
        let work = AREAS.work as usize..(AREAS.work + AREAS.bytes) as usize;
        self.disks.iter().map(|disk| disk.lock().seen[work.clone()].to_vec()).collect()
    }

    fn open(&mut self) -> Result<(), Errno> {
        self.files.clear();
        let pes = self.disks.len() as u32;
        for (pe, disk) in (0..).zip(&self.disks) {
            disk.flush()?;
            let identity = Identity { what: String::new(), size: 1, pe, pes, layout: "layout".to_owned() };
            let found = headers(disk).ok().filter(|(header, _)| header.generation > 0);
            if found.is_none() {
                disk.lock().cut()?;
            }
            let disk = Box::new(Arc::clone(disk));
            self.files.push(PmemFile::load(disk, Path::new(""), &identity, AREAS, found)?);
        }
        let found: Vec<_> = self.files.iter().map(PmemFile::found).collect();
        let target = agree(&found).unwrap();
        self.each(|file| file.settle(target, 77))
    }

    /// Makes every PE do its part. A PE that dies does not stop the others before the next barrier.
    fn each(&mut self, part: impl FnMut(&mut PmemFile) -> Result<(), Errno>) -> Result<(), Errno> {
        let results: Vec<_> = self.files.iter_mut().map(part).collect();
        results.into_iter().collect()
    }

    /// Fills some units with one of few values, so that a unit often has the value that it had before.
    fn scribble(&mut self) {
        for (disk, unit) in self.disks.iter().flat_map(|disk| [0, UNIT].map(|unit| (disk, unit))) {
            if self.dice.bool() {
                disk.lock().store(AREAS.work as usize + unit, &[self.dice.u8(..3); UNIT]);
            }
        }
    }

    fn persist(&mut self) -> Result<(), Errno> {
        self.next = Some(self.work());
        self.each(PmemFile::persist)?;
        self.last = self.next.take().unwrap();
        Ok(())
    }

    /// Kills each PE after any number of operations.
    fn doom(&mut self) {
        for disk in &self.disks {
            // A persist has fewer than 8 operations.
            disk.lock().left = Some(self.dice.usize(..8));
        }
    }

    /// Starts the next job, after processes or machines died, and perhaps jobs that were opening files.
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

    /// Persists while a flush of one PE fails. Then the job dies at once, dies while it takes the persist back, or goes on.
    fn fail(&mut self) {
        let pe = self.dice.usize(..self.disks.len());
        self.disks[pe].lock().fault = Some(self.dice.usize(..3));
        assert_eq!(self.persist(), Err(Errno::IO));
        match self.dice.u8(..3) {
            0 => {}
            1 => {
                self.doom();
                _ = self.each(PmemFile::revert);
            }
            _ => {
                self.each(PmemFile::revert).unwrap();
                self.next = None;
                self.scribble();
                // The system writes pages on its own, and fails.
                self.disks[pe].lock().fault = Some(0);
                assert_eq!(self.disks[pe].flush(), Err(Errno::IO));
            }
        }
    }
}

const CASES: u32 = if cfg!(miri) { 2 } else { 400 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_crash_leaves_the_last_persist(seed: u64, pes in 1..5_usize) {
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
                3 | 4 => {
                    job.doom();
                    _ = job.persist();
                }
                5 => {}
                _ => job.fail(),
            }
            job.recover();
        }
    }
}

/// A disk that may lose what was not flushed.
#[derive(Debug)]
struct Lossy {
    /// The bytes that a reader sees.
    seen: Vec<u8>,
    /// The bytes that are on the medium for certain.
    kept: Vec<u8>,
    /// Writes since the last flush: offset and bytes.
    written: Vec<(usize, Vec<u8>)>,
    /// Operations that the process still carries out before it dies. `None`: all.
    left: Option<usize>,
    /// Number of flushes before one that fails.
    fault: Option<usize>,
    dice: Rng,
}

type Shared = Arc<Mutex<Lossy>>;

impl Lossy {
    fn new(seed: u64) -> Shared {
        let (zero, written, dice) = (vec![0; AREAS.end() as usize], Vec::new(), Rng::with_seed(seed));
        Arc::new(Mutex::new(Self { seen: zero.clone(), kept: zero, written, left: None, fault: None, dice }))
    }

    fn revive(&mut self) {
        (self.left, self.fault) = (None, None);
    }

    fn lose(&mut self) {
        self.keep_some();
        self.seen.copy_from_slice(&self.kept);
    }

    /// Stores any part of each write on the medium.
    fn keep_some(&mut self) {
        for (at, bytes) in std::mem::take(&mut self.written) {
            let mut ends = [0, bytes.len()].map(|end| match self.dice.bool() {
                true => end,
                false => self.dice.usize(..=bytes.len()),
            });
            ends.sort_unstable();
            let [start, end] = ends;
            self.kept[at + start..at + end].copy_from_slice(&bytes[start..end]);
        }
    }

    /// Empties the file, which is as long as before. File systems lose that as a whole, with all later writes, or keep it: the
    /// old contents are never seen again.
    fn cut(&mut self) -> Result<(), Errno> {
        self.step()?;
        self.seen.fill(0);
        self.kept.fill(0);
        self.written.clear();
        Ok(())
    }

    /// Writes as a mapping does.
    fn store(&mut self, at: usize, bytes: &[u8]) {
        self.seen[at..at + bytes.len()].copy_from_slice(bytes);
        self.written.push((at, bytes.to_vec()));
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
        let disk = &mut *self.lock();
        disk.step().map(|()| disk.store(at as usize, bytes))
    }

    fn flush(&self) -> Result<(), Errno> {
        let disk = &mut *self.lock();
        disk.step()?;
        let fails = disk.fault == Some(0);
        disk.fault = disk.fault.and_then(|number| number.checked_sub(1));
        if fails {
            // What the medium lacks is read as if it were there, and no later flush writes it.
            disk.keep_some();
            return Err(Errno::IO);
        }
        for (at, bytes) in std::mem::take(&mut disk.written) {
            disk.kept[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn descriptor(&self) -> Result<OwnedFd, Errno> {
        Err(Errno::BADF)
    }
}
