//! The file of one partition on one PE: persisting it, repairs when it is opened, and the agreement of the PEs on a checkpoint.

use core::fmt;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::header::{Areas, HEADER_PAGE, Header, Headers, Identity, LAYOUT, UNIT};

/// Storage of a file, as bytes at offsets: a file system or, in tests, a disk that loses unflushed bytes.
pub(super) trait Disk: fmt::Debug {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno>;

    /// Writes bytes. Until the next flush, a crash may lose any part of them.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno>;

    /// Flushes all writes, also those through mappings.
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

/// The error number of a system call; `IO` for a file that ends too early, for which there is no number.
fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// A checkpoint of a heap in one file, written by `persist`. The default stands for no checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Persist {
    /// Number of the checkpoint, from 1.
    pub generation: u64,
    /// Identifier of the heap, equal in the files of all PEs.
    pub set: u64,
}

/// Returns the number of the newest checkpoint that is in the files of all PEs; 0: none, the heap is new. `found` has the
/// checkpoints in each PE's file, the newest first. Fails, with an error text, if a crash cannot leave such files. Panics without
/// PEs.
pub fn agree(found: &[Vec<Persist>]) -> Result<u64, String> {
    let newest = |pe: usize| found[pe].first().copied().unwrap_or_default();
    let least = (0..found.len()).min_by_key(|pe| newest(*pe)).unwrap_or_default();
    let most = (0..found.len()).max_by_key(|pe| newest(*pe)).unwrap_or_default();
    let is_another = |pe: &usize| newest(*pe).generation > 0 && newest(*pe).set != newest(most).set;
    let another = (0..found.len()).find(is_another).map(|other| (most, other));
    let lacks = found.iter().position(|persists| !persists.contains(&newest(least)));
    let Some((one, other)) = another.or(lacks.map(|other| (least, other))) else {
        return Ok(newest(least).generation);
    };
    let (one, other) = (one.min(other), one.max(other));
    let has = |pe: usize| match newest(pe).generation {
        0 => "nothing persisted yet".to_owned(),
        generation => format!("persist {generation}"),
    };
    let of_another = if another.is_some() { " of another heap" } else { "" };
    Err(format!(
        "the files of the PEs do not belong together: PE {one} has {}, PE {other} has {}{of_another}; put back all of them from \
         one copy, or name other files",
        has(one),
        has(other)
    ))
}

/// An error text about the file of a partition. `why` says what is wrong, and what to do.
pub(super) fn message(what: &str, path: &Path, why: &str) -> String {
    format!("{what}: PMEM: {} {why}", path.display())
}

/// The locked file of a partition on one PE. All blocks of the file are allocated.
#[derive(Debug)]
pub struct PmemFile {
    disk: Box<dyn Disk + Send>,
    path: PathBuf,
    what: String,
    /// Whether this job has made the file.
    pub(super) made: bool,
    /// The header of the newest checkpoint.
    header: Header,
    previous: Option<Header>,
    areas: Areas,
    /// Whether the disk is known to have the copies as the page cache has them. `false` at first, unless the file is new, because a
    /// flush of an earlier job may have failed.
    is_trusted: bool,
}

impl PmemFile {
    /// Takes over a disk with the headers `found`. Without headers, makes a new heap on a disk whose bytes are all zero. Rewrites
    /// the newest header, because the job that wrote it may have failed to flush it. The bytes are equal, so a torn write is
    /// harmless.
    pub(super) fn load(
        disk: Box<dyn Disk + Send>,
        path: &Path,
        identity: &Identity,
        areas: Areas,
        found: Option<Headers>,
    ) -> Result<Self, Errno> {
        let is_trusted = found.is_none();
        if is_trusted {
            disk.write(LAYOUT, identity.layout.as_bytes())?;
        }
        let (header, previous) = found.unwrap_or_else(|| (Header::new(identity), None));
        let (path, what) = (path.into(), identity.what.clone());
        let file = Self { disk, path, what, made: false, header, previous, areas, is_trusted };
        file.write_header(&header.page()).map(|()| file)
    }

    /// The checkpoints in the file, the newest first.
    pub fn found(&self) -> Vec<Persist> {
        let persist = |&Header { generation, set, .. }: &Header| Persist { generation, set };
        [Some(&self.header), self.previous.as_ref()].into_iter().flatten().map(persist).collect()
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the newest checkpoint; 0: there is none.
    pub fn generation(&self) -> u64 {
        self.header.generation
    }

    /// Restores the working area to checkpoint `generation`, on which all PEs have [agreed](super::agree()); 0: a new heap, all
    /// bytes zero. `set` is a number that is equal on all PEs, and different for each heap. No PE may go on before all PEs have
    /// returned. Fails if the file cannot be written.
    pub fn settle(&mut self, generation: u64, set: u64) -> Result<(), Errno> {
        let is_new = self.header.generation == 0;
        if generation < self.header.generation {
            self.revert()?;
        }
        if generation == 0 {
            self.header.set = set;
        }
        // All areas of a new file are zero.
        if is_new { Ok(()) } else { self.transfer(self.areas.copy(generation), self.areas.work, true) }
    }

    /// Removes the file, if this job has made it.
    pub fn discard(self) {
        if self.made {
            _ = fs::remove_file(&self.path);
        }
    }

    /// Copies the working area to the older copy, and writes this copy's header. If any PE fails, all PEs [`revert`](Self::revert),
    /// and persist no more. Fails if the file cannot be written.
    pub fn persist(&mut self) -> Result<(), Errno> {
        let next = self.header.next();
        self.previous = Some(std::mem::replace(&mut self.header, next));
        // From here on the older copy is no checkpoint.
        self.write_header(&[0; HEADER_PAGE])?;
        self.transfer(self.areas.work, self.areas.copy(next.generation), !self.is_trusted)?;
        self.disk.flush()?;
        self.write_header(&next.page())?;
        self.is_trusted = true;
        Ok(())
    }

    /// Discards the newest checkpoint, complete or failed. Fails if the file cannot be written.
    pub fn revert(&mut self) -> Result<(), Errno> {
        let cleared = self.write_header(&[0; HEADER_PAGE]);
        self.header = self.previous.take().unwrap_or(self.header);
        cleared
    }

    /// The error text of a call that failed while `doing` something.
    pub fn failed(&self, doing: &str, errno: Errno) -> String {
        message(&self.what, &self.path, &format!("{doing} failed: {errno}"))
    }

    /// A descriptor of the file, and the offset and bytes of the working area.
    pub(in crate::memory) fn work(&self) -> Result<(OwnedFd, u64, u64), Errno> {
        Ok((self.disk.descriptor()?, self.areas.work, self.areas.bytes))
    }

    /// Writes a page over the newest header, and flushes it.
    fn write_header(&self, page: &[u8]) -> Result<(), Errno> {
        self.disk.write(self.header.offset(), page)?;
        self.disk.flush()
    }

    /// Copies area `from` to area `to`. Writes all blocks of [`UNIT`] bytes or, without `all`, the blocks that differ.
    fn transfer(&self, from: u64, to: u64, all: bool) -> Result<(), Errno> {
        let (mut source, mut target) = (vec![0; UNIT], vec![0; UNIT]);
        for at in (0..self.areas.bytes).step_by(UNIT) {
            self.disk.read(from + at, &mut source)?;
            if !all {
                self.disk.read(to + at, &mut target)?;
            }
            if all || source != target {
                self.disk.write(to + at, &source)?;
            }
        }
        Ok(())
    }
}
