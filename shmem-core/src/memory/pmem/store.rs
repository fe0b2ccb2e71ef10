//! What is done to one file: reading, writing and flushing; persist in two phases, and what an opening repairs.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;

use super::agree::Found;
use super::format::{Geometry, Header, Identity, SLOT, Slot, State, TEXT};
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
    disk: D,
    header: Header,
    geometry: Geometry,
    /// Whether W was never written.
    fresh: bool,
}

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// A partition. The other header may be what a crash has left of it.
    Header { newest: Header, is_other_torn: bool },
    /// A partition whose other header cannot be read, which is none that a crash has left: it may have been the newest.
    Damaged(Header),
    /// A partition in another version of the format.
    Version(u64),
    /// Something else.
    Foreign,
}

/// The newest header of a file that is whole.
pub(super) fn contents(disk: &impl Disk) -> Result<Contents, Errno> {
    let mut pages = [const { Vec::new() }; 2];
    for (page, at) in pages.iter_mut().zip([0, SLOT]) {
        *page = vec![0; SLOT as usize];
        disk.read(at, page)?;
    }
    let [first, second] = &pages;
    let alone = |newest: Header, other: &[u8]| match newest.may_have_torn(other) {
        true => Contents::Header { newest, is_other_torn: other.iter().any(|byte| *byte != 0) },
        false => Contents::Damaged(newest),
    };
    Ok(match (Header::decode(first), Header::decode(second)) {
        (Slot::Header(one), Slot::Header(other)) => {
            let newest = if one.sequence > other.sequence { one } else { other };
            Contents::Header { newest, is_other_torn: false }
        }
        (Slot::Header(header), _) => alone(header, second),
        (_, Slot::Header(header)) => alone(header, first),
        (Slot::Version(version), _) | (_, Slot::Version(version)) => Contents::Version(version),
        (Slot::Nothing, Slot::Nothing) => Contents::Foreign,
    })
}

impl<D: Disk> Store<D> {
    /// Makes a new heap of a file whose bytes are all zero.
    pub(super) fn build(disk: D, identity: &Identity, geometry: Geometry) -> Result<Self, Errno> {
        let layout = identity.layout.as_bytes();
        let header = Header {
            state: State::New,
            generation: 0,
            sequence: 0,
            open: true,
            set: 0,
            pe: identity.pe,
            pes: identity.pes,
            size: identity.size,
            layout_bytes: layout.len() as u64,
            layout_print: fingerprint(layout.iter().copied()),
        };
        disk.write(TEXT, layout)?;
        disk.write(header.at(), &header.encode())?;
        disk.flush()?;
        Ok(Self { disk, header, geometry, fresh: true })
    }

    /// Takes over a file with this header.
    pub(super) fn load(disk: D, header: Header, geometry: Geometry) -> Self {
        Self { disk, header, geometry, fresh: false }
    }

    pub(super) fn found(&self) -> Found {
        let Header { state, generation, set, .. } = self.header;
        Found { state, generation, set }
    }

    pub(super) fn disk(&self) -> &D {
        &self.disk
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Makes sure that the disk has the header that was found: it may have been written by a job whose flush
    /// failed. Writing the same again damages nothing.
    pub(super) fn confirm(&self) -> Result<(), Errno> {
        self.disk.write(self.header.at(), &self.header.encode())?;
        self.disk.flush()
    }

    /// Comes to the persist on which all PEs have agreed: then W holds it. For a file without one the
    /// number of the set is what its first persist will write.
    ///
    /// After a job that did not end in order all pages are written, not only those that differ: if the disk has
    /// failed, it may lack pages that are still seen here.
    pub(super) fn settle(&mut self, generation: u64, set: u64) -> Result<(), Errno> {
        let Geometry { work, copy, .. } = self.geometry;
        let which = if self.header.open { Which::All } else { Which::Different };
        self.header.open = true;
        match self.header.state {
            State::Copying if self.header.generation == generation => {
                self.transfer(work, copy, Which::All)?;
                return self.seal();
            }
            State::Copying => self.revert()?,
            State::Stable => self.put(State::Stable, generation)?,
            State::New => {}
        }
        if generation > 0 {
            return self.transfer(copy, work, which);
        }
        self.header.set = set;
        if self.fresh { Ok(()) } else { self.clear() }
    }

    /// The end of a job in which no flush has failed.
    pub(super) fn close(&mut self) -> Result<(), Errno> {
        if self.header.state != State::Stable {
            return Ok(());
        }
        self.disk.flush()?;
        self.header.open = false;
        self.put(State::Stable, self.header.generation)
    }

    /// The first half of a persist: W is flushed, and the header says so.
    pub(super) fn prepare(&mut self) -> Result<(), Errno> {
        self.disk.flush()?;
        self.put(State::Copying, self.header.generation + 1)
    }

    /// The second half, when all PEs have done the first: C becomes what W is.
    pub(super) fn complete(&mut self) -> Result<(), Errno> {
        self.transfer(self.geometry.work, self.geometry.copy, Which::Different)?;
        self.seal()
    }

    /// Takes the first half back, whether it was done or has failed: the header says so, flushed.
    pub(super) fn revert(&mut self) -> Result<(), Errno> {
        let generation = match self.header.state {
            State::Copying => self.header.generation - 1,
            State::Stable | State::New => self.header.generation,
        };
        self.put(if generation == 0 { State::New } else { State::Stable }, generation)
    }

    fn seal(&mut self) -> Result<(), Errno> {
        self.disk.flush()?;
        self.put(State::Stable, self.header.generation)
    }

    /// Writes the next header. One that may or may not be on the disk, because the disk failed, is written over
    /// by the one behind it: the last one that is there for certain stays.
    fn put(&mut self, state: State, generation: u64) -> Result<(), Errno> {
        self.header = Header { state, generation, sequence: self.header.sequence + 1, ..self.header };
        let result =
            self.disk.write(self.header.at(), &self.header.encode()).and_then(|()| self.disk.flush());
        self.header.sequence += u64::from(result.is_err());
        result
    }

    /// Makes one area what the other one is.
    fn transfer(&self, from: u64, to: u64, which: Which) -> Result<(), Errno> {
        let (mut source, mut target) = (vec![0; STEP], vec![0; STEP]);
        for at in (0..self.geometry.bytes).step_by(STEP) {
            let step = STEP.min((self.geometry.bytes - at) as usize);
            self.disk.read(from + at, &mut source[..step])?;
            if let Which::All = which {
                self.disk.write(to + at, &source[..step])?;
                continue;
            }
            self.disk.read(to + at, &mut target[..step])?;
            for pages in different(&source[..step], &target[..step]) {
                self.disk.write(to + at + pages.start as u64, &source[pages])?;
            }
        }
        Ok(())
    }

    /// Makes W zero. C may hold part of a first persist that another PE, whose file is gone, does not have.
    fn clear(&self) -> Result<(), Errno> {
        let zero = vec![0; STEP];
        (0..self.geometry.bytes).step_by(STEP).try_for_each(|at| {
            let step = STEP.min((self.geometry.bytes - at) as usize);
            self.disk.write(self.geometry.work + at, &zero[..step])
        })
    }
}

/// Which pages are written.
#[derive(Clone, Copy)]
enum Which {
    All,
    Different,
}

/// The runs of pages in which two areas of one length differ.
fn different(one: &[u8], other: &[u8]) -> Vec<core::ops::Range<usize>> {
    let mut runs: Vec<core::ops::Range<usize>> = Vec::new();
    for (number, (a, b)) in one.chunks(PAGE).zip(other.chunks(PAGE)).enumerate() {
        let start = number * PAGE;
        match runs.last_mut() {
            _ if a == b => {}
            Some(last) if last.end == start => last.end += a.len(),
            _ => runs.push(start..start + a.len()),
        }
    }
    runs
}
