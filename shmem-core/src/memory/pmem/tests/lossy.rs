//! A disk in memory that may lose what was not flushed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rustix::io::Errno;

use crate::memory::pmem::disk::Disk;

/// What is written whole or not at all: less than of any disk, so that headers tear.
const SECTOR: usize = 64;

/// Random numbers.
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `n`. (SplitMix64.)
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % n as u64) as usize
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// What the system does with a write that is not flushed.
#[derive(Debug, Default)]
struct Bytes {
    /// What a reader sees.
    seen: Vec<u8>,
    /// What is on the medium for certain.
    kept: Vec<u8>,
    /// Sectors that were written since the last flush: all that they held meanwhile.
    written: BTreeMap<usize, Vec<Vec<u8>>>,
}

/// A disk that may lose what was not flushed.
#[derive(Debug, Default)]
pub(super) struct Lossy {
    bytes: RefCell<Bytes>,
    /// How many more operations are carried out: then the process is dead. `None`: all.
    left: Cell<Option<usize>>,
    /// Which of the next flushes fails.
    fault: Cell<Option<usize>>,
    dice: Option<RefCell<Dice>>,
}

impl Lossy {
    pub(super) fn new(bytes: usize, seed: u64) -> Rc<Self> {
        let contents = Bytes { seen: vec![0; bytes], kept: vec![0; bytes], written: BTreeMap::new() };
        let dice = Some(RefCell::new(Dice::new(seed)));
        Rc::new(Self { bytes: RefCell::new(contents), dice, ..Self::default() })
    }

    /// The process dies after `operations` more.
    pub(super) fn die_after(&self, operations: usize) {
        self.left.set(Some(operations));
    }

    /// Flush number `number` from now on fails.
    pub(super) fn fail_flush(&self, number: usize) {
        self.fault.set(Some(number));
    }

    /// Another process goes on with it.
    pub(super) fn revive(&self) {
        self.left.set(None);
        self.fault.set(None);
    }

    /// The machine dies: of each sector that was not flushed, any version since may be what is left.
    pub(super) fn lose(&self) {
        let Bytes { seen, kept, written } = &mut *self.bytes.borrow_mut();
        for (sector, versions) in std::mem::take(written) {
            let chosen = self.below(versions.len() + 1);
            if let Some(version) = chosen.checked_sub(1).map(|chosen| &versions[chosen]) {
                kept[sector * SECTOR..][..SECTOR].copy_from_slice(version);
            }
        }
        seen.copy_from_slice(kept);
    }

    /// The file is cut to nothing, and is as long as before: a file system loses that as a whole, with all that comes
    /// behind, or keeps it. What the file has held is never seen again.
    pub(super) fn cut(&self) -> Result<(), Errno> {
        self.step()?;
        let Bytes { seen, kept, written } = &mut *self.bytes.borrow_mut();
        seen.fill(0);
        kept.fill(0);
        written.clear();
        Ok(())
    }

    /// Bytes as a reader sees them.
    pub(super) fn look(&self, at: u64, bytes: u64) -> Vec<u8> {
        self.bytes.borrow().seen[at as usize..(at + bytes) as usize].to_vec()
    }

    /// Writes as a mapping does.
    pub(super) fn store(&self, at: u64, bytes: &[u8]) {
        let Bytes { seen, written, .. } = &mut *self.bytes.borrow_mut();
        let (start, end) = (at as usize, at as usize + bytes.len());
        seen[start..end].copy_from_slice(bytes);
        for sector in start / SECTOR..end.div_ceil(SECTOR) {
            written.entry(sector).or_default().push(seen[sector * SECTOR..][..SECTOR].to_vec());
        }
    }

    fn below(&self, n: usize) -> usize {
        self.dice.as_ref().map_or(0, |dice| dice.borrow_mut().below(n))
    }

    fn step(&self) -> Result<(), Errno> {
        match self.left.get() {
            None => Ok(()),
            Some(0) => Err(Errno::NXIO),
            Some(left) => {
                self.left.set(Some(left - 1));
                Ok(())
            }
        }
    }
}

impl Disk for Rc<Lossy> {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno> {
        into.copy_from_slice(&self.bytes.borrow().seen[at as usize..][..into.len()]);
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        self.step()?;
        self.store(at, bytes);
        Ok(())
    }

    fn flush(&self) -> Result<(), Errno> {
        self.step()?;
        let fails = self.fault.get() == Some(0);
        self.fault.set(self.fault.get().and_then(|number| number.checked_sub(1)));
        let Bytes { seen, kept, written } = &mut *self.bytes.borrow_mut();
        for (sector, _) in std::mem::take(written) {
            // A flush that fails keeps any part, and leaves the rest as if it were kept.
            if !fails || self.below(2) == 0 {
                kept[sector * SECTOR..][..SECTOR].copy_from_slice(&seen[sector * SECTOR..][..SECTOR]);
            }
        }
        if fails { Err(Errno::IO) } else { Ok(()) }
    }
}
