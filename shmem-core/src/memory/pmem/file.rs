//! The file of one partition on one PE: persist, and what an opening repairs.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::agree::FileState;
use super::find::{find, make, take_over};
use super::header::{Areas, HEADER_PAGE, Header, Identity, LAYOUT};

/// Storage of a file, as bytes at offsets: a file system or, in tests, a disk that loses unflushed bytes.
pub(super) trait Disk: core::fmt::Debug {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno>;

    /// Writes bytes. A crash may lose them, or any part of them, until they are flushed.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno>;

    /// Flushes all writes, also through mappings.
    fn flush(&self) -> Result<(), Errno>;

    fn descriptor(&self) -> Result<OwnedFd, Errno>;
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

    fn descriptor(&self) -> Result<OwnedFd, Errno> {
        rustix::io::fcntl_dupfd_cloexec(self, 0)
    }
}

/// The system's error number; for a truncated file, which has none, `IO`.
fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// Bytes compared at a time.
const STEP: usize = 1 << 20;

/// Unit of writes where two areas differ.
const PAGE: usize = 4096;

/// The file of a partition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: PMEM: {path} {why}")]
pub struct PmemError {
    /// The partition and its origin.
    pub what: String,
    /// The file.
    pub path: String,
    /// What is wrong, and what to do.
    pub why: String,
    /// Whether no file exists or can be made. Otherwise contents may be at stake.
    pub is_without_file: bool,
}

/// A locked file with the memory of a partition on one PE, and with all its blocks.
#[derive(Debug)]
pub struct PmemFile {
    pub(super) disk: Box<dyn Disk + Send>,
    path: PathBuf,
    what: String,
    /// Whether this job has made it.
    made: bool,
    /// The newest persist.
    header: Header,
    /// The persist before, if its copy is there.
    previous: Option<Header>,
    /// The number of the set that the next persist writes.
    set: u64,
    areas: Areas,
    /// Whether the disk has all pages as read here: after an earlier job's failed flush, the disk may lack some.
    is_trusted: bool,
}

/// The storage of a partition that is to survive.
#[derive(Debug)]
pub enum Backing {
    /// In a file, restored to the persist on which all PEs agreed.
    File(Box<PmemFile>),
    /// In memory, for this reason, under POLICY=PREFERRED.
    Instead(String),
}

/// Methods fail if the disk does.
impl PmemFile {
    /// Opens or makes the file at `path`. Persisted bytes do not change before [`settle`](Self::settle).
    /// Fails if the existing file is unusable, or no file exists or can be made.
    pub fn open(path: &Path, identity: &Identity) -> Result<Self, PmemError> {
        let found = find(path);
        let made = matches!(found, Ok(None));
        let opened = found.and_then(|file| match file {
            Some(file) => take_over(file, path, identity),
            None => make(path, identity),
        });
        opened.map(|file| Self { made, ..file }).map_err(|why| {
            // A file that exists now was made by another process.
            let is_without_file = made && !path.exists();
            PmemError { what: identity.what.clone(), path: path.display().to_string(), why, is_without_file }
        })
    }

    /// A new heap on a disk whose bytes are all zero.
    pub(super) fn build(
        disk: Box<dyn Disk + Send>,
        path: &Path,
        identity: &Identity,
        areas: Areas,
    ) -> Result<Self, Errno> {
        disk.write(LAYOUT, identity.layout.as_bytes())?;
        Self::load(disk, path, identity, (Header::new(identity), None), areas)
    }

    /// Takes over a disk with these headers, and rewrites the newest header: the job that wrote it may have failed to flush.
    /// Rewriting equal bytes damages nothing.
    pub(super) fn load(
        disk: Box<dyn Disk + Send>,
        path: &Path,
        identity: &Identity,
        (header, previous): (Header, Option<Header>),
        areas: Areas,
    ) -> Result<Self, Errno> {
        let (path, what, set) = (path.into(), identity.what.clone(), header.set);
        let file = Self { disk, path, what, made: false, header, previous, set, areas, is_trusted: false };
        file.write_header(&header.page()).map(|()| file)
    }

    /// The state of the file.
    pub fn found(&self) -> FileState {
        let Header { generation, set, .. } = self.header;
        FileState { generation, has_previous: self.previous.is_some(), set }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the last persist; 0: none yet.
    pub fn generation(&self) -> u64 {
        self.header.generation
    }

    /// Restores W to the persist on which all PEs have [agreed](super::agree()); 0: a new heap, all bytes zero.
    /// `set` is a number that is equal on all PEs, and different for each heap. No PE goes on before all
    /// PEs have returned. Fails if the file cannot be written.
    pub fn settle(&mut self, generation: u64, set: u64) -> Result<(), Errno> {
        if generation < self.header.generation {
            self.revert()?;
        }
        if generation == 0 {
            self.set = set;
        }
        self.transfer(self.areas.copy(generation), self.areas.work, true)
    }

    /// Removes the file, if this job has made it.
    pub fn discard(self) {
        if self.made {
            _ = fs::remove_file(&self.path);
        }
    }

    /// Copies W to the older copy, and writes its header. If any PE fails, all PEs [`revert`](Self::revert) for good.
    /// Fails if the file cannot be written.
    pub fn persist(&mut self) -> Result<(), Errno> {
        let next = self.header.next(self.set);
        self.previous = Some(std::mem::replace(&mut self.header, next));
        // From here on the older copy is no persist.
        self.write_header(&[0; HEADER_PAGE])?;
        self.transfer(self.areas.work, self.areas.copy(next.generation), !self.is_trusted)?;
        self.disk.flush()?;
        self.write_header(&next.page())?;
        self.is_trusted = true;
        Ok(())
    }

    /// Discards the newest persist, complete or failed. Fails if the file cannot be written.
    pub fn revert(&mut self) -> Result<(), Errno> {
        let cleared = self.write_header(&[0; HEADER_PAGE]);
        self.header = self.previous.take().unwrap_or(self.header);
        cleared
    }

    /// The error of a call that failed while `doing` something.
    pub fn failed(&self, doing: &str, errno: Errno) -> PmemError {
        let (what, path) = (self.what.clone(), self.path.display().to_string());
        PmemError { what, path, why: format!("{doing} failed: {errno}"), is_without_file: false }
    }

    /// A descriptor, and the offset and bytes of the partition's memory in the file.
    pub(in crate::memory) fn work(&self) -> Result<(OwnedFd, u64, u64), Errno> {
        Ok((self.disk.descriptor()?, self.areas.work, self.areas.bytes))
    }

    /// Writes a page over the newest header.
    fn write_header(&self, page: &[u8]) -> Result<(), Errno> {
        self.disk.write(self.header.offset(), page)?;
        self.disk.flush()
    }

    /// Copies area `from` to area `to`: writes all pages, or those that differ.
    fn transfer(&self, from: u64, to: u64, all: bool) -> Result<(), Errno> {
        let (mut source, mut target) = (vec![0; STEP], vec![0; STEP]);
        for at in (0..self.areas.bytes).step_by(STEP) {
            let step = STEP.min((self.areas.bytes - at) as usize);
            self.disk.read(from + at, &mut source[..step])?;
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
