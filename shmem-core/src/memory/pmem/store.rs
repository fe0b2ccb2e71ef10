//! What is done to one file: reading, writing and flushing; persist in two phases, and what an opening repairs.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;

use super::agree::Found;
use super::error::{FOREIGN, Fault, damaged, system};
use super::format::{Geometry, Header, Identity, SLOT, TEXT};
use crate::fingerprint::fingerprint;

/// What is kept of a partition, as bytes at offsets.
pub(super) trait Disk {
    /// Reads bytes; they exist.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno>;

    /// Writes bytes. A crash may lose them, or any part of them, until they are flushed.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno>;

    /// Flushes all that was written, also through mappings.
    fn flush(&self) -> Result<(), Errno>;
}

impl Disk for File {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno> {
        self.read_exact_at(into, at).map_err(errno)
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno> {
        self.write_all_at(bytes, at).map_err(errno)
    }

    fn flush(&self) -> Result<(), Errno> {
        self.sync_all().map_err(errno)
    }
}

/// What the system said. It says nothing of a file that somebody has cut short.
fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// Bytes that are compared at once.
const STEP: usize = 1 << 20;

/// What is written where two areas differ.
const PAGE: usize = 4096;

/// A file that holds a partition.
#[derive(Debug)]
pub(super) struct Store<D> {
    pub(super) disk: D,
    header: Header,
    pub(super) geometry: Geometry,
}

/// The newest header of a file that is whole, where the other one may be what a crash has left of it.
pub(super) fn newest(disk: &impl Disk) -> Result<Header, Fault> {
    let mut pages = [const { Vec::new() }; 2];
    for (page, at) in pages.iter_mut().zip([0, SLOT]) {
        *page = vec![0; SLOT as usize];
        disk.read(at, page).map_err(system("pread"))?;
    }
    let [first, second] = &pages;
    let (header, other) = match (Header::decode(first), Header::decode(second)) {
        (Some(one), Some(other)) => return Ok(if one.sequence > other.sequence { one } else { other }),
        (Some(header), None) => (header, second),
        (None, Some(header)) => (header, first),
        (None, None) => return Err(FOREIGN.into()),
    };
    if header.may_have_torn(other) {
        return Ok(header);
    }
    Err(damaged(format_args!(
        "one of its two headers cannot be read, and is not what a crash leaves of one; the other one says persist {}, but \
         the newest may have been lost",
        header.generation
    )))
}

impl<D: Disk> Store<D> {
    /// Makes a new heap of a file whose bytes are all zero.
    pub(super) fn build(disk: D, identity: &Identity, geometry: Geometry) -> Result<Self, Errno> {
        let layout = identity.layout.as_bytes();
        let header = Header {
            is_copying: false,
            generation: 0,
            sequence: 0,
            set: 0,
            pe: identity.pe,
            pes: identity.pes,
            size: identity.size,
            layout_bytes: layout.len() as u64,
            layout_print: fingerprint(layout.iter().copied()),
        };
        disk.write(TEXT, layout)?;
        Self::load(disk, header, geometry)
    }

    /// Takes over a file with this header, and makes sure that the disk has it: it may have been written by a job whose flush
    /// failed. Writing the same again damages nothing.
    pub(super) fn load(disk: D, header: Header, geometry: Geometry) -> Result<Self, Errno> {
        let store = Self { disk, header, geometry };
        store.confirm().map(|()| store)
    }

    pub(super) fn found(&self) -> Found {
        let Header { is_copying, generation, set, .. } = self.header;
        Found { generation, is_copying, set }
    }

    /// Comes to the persist on which all PEs have agreed: then W holds it. For a file without one the
    /// number of the set is what its first persist will write.
    ///
    /// All pages are written, not only those that differ: if the disk has failed, it may lack pages that are still seen here.
    pub(super) fn settle(&mut self, generation: u64, set: u64) -> Result<(), Errno> {
        let Geometry { work, copy, .. } = self.geometry;
        let Header { is_copying, generation: found, .. } = self.header;
        if is_copying && found == generation {
            self.transfer(Some(work), copy, true)?;
            return self.seal();
        }
        if generation > 0 {
            self.put(false, generation)?;
            return self.transfer(Some(copy), work, true);
        }
        self.header.set = set;
        if !is_copying {
            return Ok(());
        }
        // C may hold part of a first persist that another PE, whose file is gone, does not have.
        self.revert()?;
        self.transfer(None, work, true)
    }

    /// The first half of a persist: W is flushed, and the header says so.
    pub(super) fn prepare(&mut self) -> Result<(), Errno> {
        self.disk.flush()?;
        self.put(true, self.header.generation + 1)
    }

    /// The second half, when all PEs have done the first: C becomes what W is.
    pub(super) fn complete(&mut self) -> Result<(), Errno> {
        self.transfer(Some(self.geometry.work), self.geometry.copy, false)?;
        self.seal()
    }

    /// Takes the first half back, whether it was done or has failed: the header says so, flushed.
    pub(super) fn revert(&mut self) -> Result<(), Errno> {
        self.put(false, self.header.generation - u64::from(self.header.is_copying))
    }

    fn seal(&mut self) -> Result<(), Errno> {
        self.disk.flush()?;
        self.put(false, self.header.generation)
    }

    /// Writes the next header. One that may or may not be on the disk, because the disk failed, is written over
    /// by the one behind it: the last one that is there for certain stays.
    fn put(&mut self, is_copying: bool, generation: u64) -> Result<(), Errno> {
        self.header = Header { is_copying, generation, sequence: self.header.sequence + 1, ..self.header };
        let result = self.confirm();
        self.header.sequence += u64::from(result.is_err());
        result
    }

    fn confirm(&self) -> Result<(), Errno> {
        self.disk.write(self.header.at(), &self.header.encode())?;
        self.disk.flush()
    }

    /// Makes one area what the other one is, or zero: all pages, or those in which they differ.
    fn transfer(&self, from: Option<u64>, to: u64, all: bool) -> Result<(), Errno> {
        let (mut source, mut target) = (vec![0; STEP], vec![0; STEP]);
        for at in (0..self.geometry.bytes).step_by(STEP) {
            let step = STEP.min((self.geometry.bytes - at) as usize);
            from.map_or(Ok(()), |from| self.disk.read(from + at, &mut source[..step]))?;
            if all {
                self.disk.write(to + at, &source[..step])?;
                continue;
            }
            self.disk.read(to + at, &mut target[..step])?;
            let pages = source[..step].chunks(PAGE).zip(target[..step].chunks(PAGE));
            let differ: Vec<bool> = pages.map(|(one, other)| one != other).collect();
            let mut start = 0;
            for run in differ.chunk_by(|one, other| one == other) {
                let end = step.min(start + run.len() * PAGE);
                if run[0] {
                    self.disk.write(to + at + start as u64, &source[start..end])?;
                }
                start = end;
            }
        }
        Ok(())
    }
}
