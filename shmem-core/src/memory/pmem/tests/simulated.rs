//! Jobs that crash anywhere, on disks that lose anything that was not flushed: the next opening gives
//! exactly the last persist, on all PEs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use rustix::io::Errno;

use crate::memory::pmem::agree::agree;
use crate::memory::pmem::error::{FOREIGN, Fault};
use crate::memory::pmem::format::{Geometry, Identity, TEXT};
use crate::memory::pmem::store::{Disk, Store, newest};

const GEOMETRY: Geometry = Geometry { work: TEXT + 4096, copy: TEXT + 3 * 4096, bytes: 2 * 4096 };

/// Operations of a persist, at most.
const OPERATIONS: usize = 14;

fn identity(pe: usize, pes: usize) -> Identity {
    Identity { what: String::new(), size: 1, pe: pe as u32, pes: pes as u32, layout: "layout".into() }
}

/// The PEs of a job and their disks, and what must be found.
struct Job {
    dice: Dice,
    disks: Vec<Shared>,
    stores: Vec<Store<Shared>>,
    /// What the last persist has kept, by PE.
    last: Vec<Vec<u8>>,
    /// What a persist that is under way may keep instead.
    next: Option<Vec<Vec<u8>>>,
}

impl Job {
    fn new(pes: usize, seed: u64) -> Self {
        let disk = |pe| Lossy::new(GEOMETRY.end() as usize, seed.wrapping_mul(31) + pe as u64);
        let last = vec![vec![0; GEOMETRY.bytes as usize]; pes];
        let disks = (0..pes).map(disk).collect();
        Self { dice: Dice(seed), disks, stores: Vec::new(), last, next: None }
    }

    fn work(&self) -> Vec<Vec<u8>> {
        let work = GEOMETRY.work as usize..GEOMETRY.copy as usize;
        self.disks.iter().map(|disk| disk.borrow().seen[work.clone()].to_vec()).collect()
    }

    /// Opens the files of all PEs, as jobs do.
    fn open(&mut self) -> Result<(), Errno> {
        self.stores.clear();
        let pes = self.disks.len();
        for (pe, disk) in self.disks.iter().enumerate() {
            disk.flush()?;
            let store = match newest(disk) {
                Ok(newest) if newest.generation > 0 => Store::load(Rc::clone(disk), newest, GEOMETRY)?,
                Err(fault) if fault != Fault::from(FOREIGN) => {
                    panic!("a crash was taken for damage: {fault}")
                }
                // Nothing was persisted: the file is cut to nothing and made anew.
                _ => {
                    disk.borrow_mut().cut()?;
                    Store::build(Rc::clone(disk), &identity(pe, pes), GEOMETRY)?
                }
            };
            self.stores.push(store);
        }
        let found: Vec<_> = self.stores.iter().map(Store::found).collect();
        let target = agree(&found).unwrap_or_else(|(_, error)| panic!("{error}"));
        self.each(|_, store| store.settle(target, 77))
    }

    /// Every PE does its part, in any order; who dies does not keep the others from going on, up to the
    /// barrier behind.
    fn each(
        &mut self,
        mut part: impl FnMut(&mut Dice, &mut Store<Shared>) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let Self { dice, stores, .. } = self;
        let first = dice.below(stores.len());
        let mut result = Ok(());
        for k in 0..stores.len() {
            let pe = (first + k) % stores.len();
            result = result.and(part(dice, &mut stores[pe]));
        }
        result
    }

    fn scribble(&mut self) {
        for _ in 0..1 + self.dice.below(6) {
            let pe = self.dice.below(self.disks.len());
            let start = self.dice.below(GEOMETRY.bytes as usize - 1);
            let bytes = 1 + self.dice.below((GEOMETRY.bytes as usize - start).min(3000));
            let value = self.dice.below(256) as u8;
            self.disks[pe].borrow_mut().store(GEOMETRY.work + start as u64, &vec![value; bytes]);
        }
    }

    fn persist(&mut self) -> Result<(), Errno> {
        self.next = Some(self.work());
        self.each(|_, store| store.prepare())?;
        self.each(|_, store| store.complete())?;
        self.last = self.next.take().unwrap();
        Ok(())
    }

    /// Each PE dies after any number of operations.
    fn doom(&mut self) {
        for disk in &self.disks {
            disk.borrow_mut().left = Some(self.dice.below(OPERATIONS));
        }
    }

    /// The next job: after the death of processes, or of machines, and possibly of jobs that open.
    fn recover(&mut self) {
        loop {
            for disk in &self.disks {
                disk.borrow_mut().revive();
                if self.dice.coin() {
                    disk.borrow_mut().lose();
                }
            }
            if self.dice.below(3) == 0 {
                self.doom();
            }
            if self.open().is_ok() {
                break;
            }
        }
        self.disks.iter().for_each(|disk| disk.borrow_mut().revive());
        let work = self.work();
        let kept = self.next.take().filter(|next| *next == work).unwrap_or_else(|| self.last.clone());
        assert!(work == kept, "neither the last persist nor the one under way");
        self.last = kept;
    }

    /// A flush of one PE fails in the first half: the persist is an error, and all goes on without; unless the
    /// job dies while it goes back.
    fn fail_first_half(&mut self) {
        let pe = self.dice.below(self.disks.len());
        self.disks[pe].borrow_mut().fault = Some(self.dice.below(2));
        assert_eq!(self.each(|_, store| store.prepare()), Err(Errno::IO));
        if self.dice.coin() {
            self.next = Some(self.work());
            self.doom();
            _ = self.each(|_, store| store.revert());
        } else {
            self.each(|_, store| store.revert()).unwrap();
            self.scribble();
            // The system writes pages on its own, and fails.
            self.disks[pe].borrow_mut().fault = Some(0);
            assert_eq!(self.disks[pe].flush(), Err(Errno::IO));
        }
    }

    /// A flush of one PE fails in the second half: the job ends.
    fn fail_second_half(&mut self) {
        self.next = Some(self.work());
        self.each(|_, store| store.prepare()).unwrap();
        let pe = self.dice.below(self.disks.len());
        self.disks[pe].borrow_mut().fault = Some(self.dice.below(2));
        assert_eq!(self.each(|_, store| store.complete()), Err(Errno::IO));
    }
}

fn play(pes: usize, seed: u64) {
    let mut job = Job::new(pes, seed);
    job.recover();
    for _ in 0..12 {
        let what = job.dice.below(8);
        job.scribble();
        match what {
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
            5 | 6 => job.fail_first_half(),
            _ => job.fail_second_half(),
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

/// As above, but not at random: every PE of two at every operation, on disks that lose as much as they can or
/// nothing.
#[test]
fn every_step_of_a_persist_may_be_the_last() {
    for step in (0..OPERATIONS * OPERATIONS).step_by(if cfg!(miri) { 37 } else { 1 }) {
        for lost in [false, true] {
            let mut job = Job::new(2, step as u64);
            job.open().unwrap();
            job.scribble();
            job.persist().unwrap();
            job.scribble();
            job.disks[0].borrow_mut().left = Some(step % OPERATIONS);
            job.disks[1].borrow_mut().left = Some(step / OPERATIONS);
            _ = job.persist();
            job.disks.iter().filter(|_| lost).for_each(|disk| disk.borrow_mut().lose());
            job.recover();
        }
    }
}

/// The disk fails, and the system takes pages for written that are not: they are written once more before a
/// persist relies on them.
#[test]
fn pages_that_the_disk_lacks_are_written_again() {
    for seed in 0..if cfg!(miri) { 2 } else { 30 } {
        let mut job = Job::new(1, seed);
        job.open().unwrap();
        let fill = |job: &Job, value| {
            job.disks[0].borrow_mut().store(GEOMETRY.work, &[value; GEOMETRY.bytes as usize])
        };
        fill(&job, 1);
        job.persist().unwrap();
        job.open().unwrap();
        for value in [2, 1] {
            fill(&job, value);
            job.disks[0].borrow_mut().fault = Some(0);
            assert_eq!(job.disks[0].flush(), Err(Errno::IO));
        }
        // Now W looks like C, and the disk may have twos.
        job.disks[0].borrow_mut().revive();
        job.open().unwrap();
        job.stores[0].prepare().unwrap();
        job.disks[0].borrow_mut().lose();
        job.recover();
    }
}

/// A header that is seen and that the disk lacks is not what others act upon.
#[test]
fn a_header_that_the_disk_lacks_is_written_again() {
    for seed in 0..if cfg!(miri) { 2 } else { 30 } {
        let mut job = Job::new(2, seed);
        job.open().unwrap();
        job.scribble();
        job.persist().unwrap();
        job.next = Some(job.work());
        job.disks[0].borrow_mut().fault = Some(1);
        assert_eq!(job.each(|_, store| store.prepare()), Err(Errno::IO));
        // Found, but PE 0 comes no further, and PE 1 does.
        job.disks.iter().for_each(|disk| disk.borrow_mut().revive());
        job.disks[0].borrow_mut().left = Some(2);
        _ = job.open();
        job.disks.iter().for_each(|disk| disk.borrow_mut().lose());
        job.recover();
    }
}

/// A file that is removed while the first persist is under way takes all back to nothing: also the file whose copy was written.
#[test]
fn a_file_that_is_gone_takes_all_back() {
    for seed in 0..if cfg!(miri) { 2 } else { 30 } {
        let mut job = Job::new(2, seed);
        job.open().unwrap();
        let fill = [1; GEOMETRY.bytes as usize];
        job.disks.iter().for_each(|disk| disk.borrow_mut().store(GEOMETRY.work, &fill));
        job.each(|_, store| store.prepare()).unwrap();
        // The copy is written and flushed, the header is not.
        job.disks[0].borrow_mut().left = Some(2);
        assert_eq!(job.stores[0].complete(), Err(Errno::NXIO));
        job.disks[1].borrow_mut().cut().unwrap();
        job.recover();
    }
}

/// A header of a persist that was taken back lies beside the newest one, and is not found when the file is made anew.
#[test]
fn what_was_taken_back_is_never_found() {
    for seed in 0..if cfg!(miri) { 2 } else { 30 } {
        let mut job = Job::new(2, seed);
        job.open().unwrap();
        job.scribble();
        job.each(|_, store| store.prepare()).unwrap();
        job.each(|_, store| store.revert()).unwrap();
        (0..2).for_each(|_| job.recover());
    }
}

/// What is written whole or not at all: less than of any disk, so that headers tear.
const SECTOR: usize = 64;

/// Random numbers.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    /// Below `n`. (SplitMix64.)
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % n as u64) as usize
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A disk that may lose what was not flushed.
#[derive(Debug)]
struct Lossy {
    /// What a reader sees.
    seen: Vec<u8>,
    /// What is on the medium for certain.
    kept: Vec<u8>,
    /// Sectors that were written since the last flush: all that they held meanwhile.
    written: BTreeMap<usize, Vec<Vec<u8>>>,
    /// How many more operations are carried out: then the process is dead. `None`: all.
    left: Option<usize>,
    /// Which of the next flushes fails.
    fault: Option<usize>,
    dice: Dice,
}

type Shared = Rc<RefCell<Lossy>>;

impl Lossy {
    fn new(bytes: usize, seed: u64) -> Shared {
        let (seen, kept, written) = (vec![0; bytes], vec![0; bytes], BTreeMap::new());
        Rc::new(RefCell::new(Self { seen, kept, written, left: None, fault: None, dice: Dice(seed) }))
    }

    /// Another process goes on with it.
    fn revive(&mut self) {
        (self.left, self.fault) = (None, None);
    }

    /// The machine dies: of each sector that was not flushed, any version since may be what is left.
    fn lose(&mut self) {
        for (sector, versions) in std::mem::take(&mut self.written) {
            let chosen = self.dice.below(versions.len() + 1);
            if let Some(version) = chosen.checked_sub(1).map(|chosen| &versions[chosen]) {
                self.kept[sector * SECTOR..][..SECTOR].copy_from_slice(version);
            }
        }
        self.seen.copy_from_slice(&self.kept);
    }

    /// The file is cut to nothing, and is as long as before: a file system loses that as a whole, with all that comes
    /// behind, or keeps it. What the file has held is never seen again.
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
        into.copy_from_slice(&self.borrow().seen[at as usize..][..into.len()]);
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut disk = self.borrow_mut();
        disk.step()?;
        disk.store(at, bytes);
        Ok(())
    }

    fn flush(&self) -> Result<(), Errno> {
        let disk = &mut *self.borrow_mut();
        disk.step()?;
        let fails = disk.fault == Some(0);
        disk.fault = disk.fault.and_then(|number| number.checked_sub(1));
        for (sector, _) in std::mem::take(&mut disk.written) {
            // A flush that fails keeps any part, and leaves the rest as if it were kept.
            if !fails || disk.dice.coin() {
                let sector = sector * SECTOR..(sector + 1) * SECTOR;
                disk.kept[sector.clone()].copy_from_slice(&disk.seen[sector]);
            }
        }
        if fails { Err(Errno::IO) } else { Ok(()) }
    }
}
