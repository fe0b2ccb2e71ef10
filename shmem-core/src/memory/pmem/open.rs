//! A file on a file system: found or made, locked, checked.

use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::agree::Found;
use super::error::{FOREIGN, Fault, PmemError, damaged, system};
use super::format::{Geometry, Header, Identity, MAX_LAYOUT, TEXT};
use super::store::{Disk, Store, newest};
use crate::fingerprint::fingerprint;
use crate::memory::size::Size;
use crate::text::first_difference;

/// How long a lock is waited for: the processes of a job that was killed take a moment to go.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file that stands for the memory of a partition on one PE: locked, and with room for all of it.
#[derive(Debug)]
pub struct PmemFile {
    store: Store<File>,
    path: PathBuf,
    what: String,
    /// Whether it did not exist before.
    made: bool,
}

/// What a partition lies in that is to survive the job.
#[derive(Debug)]
pub enum Backing {
    /// A file, as far as all PEs have agreed.
    File(Box<PmemFile>),
    /// Memory, for the reason given, under POLICY=PREFERRED.
    Instead(String),
}

/// What is done to it fails if the disk does.
impl PmemFile {
    /// Opens the file at `path`, or makes one. Nothing that was persisted changes before
    /// [`settle`](Self::settle).
    ///
    /// # Errors
    ///
    /// If there is something that cannot be used, or nothing, and no file can be made.
    pub fn open(path: &Path, identity: &Identity) -> Result<Self, PmemError> {
        let (made, opened) = match find(path) {
            Ok(Some(file)) => (false, take_over(file, identity)),
            Ok(None) => (true, make(path, identity)),
            Err(fault) => (false, Err(fault)),
        };
        let what = identity.what.clone();
        match opened {
            Ok(store) => Ok(Self { store, path: path.into(), what, made }),
            // In use: somebody else has made it just now.
            Err(fault) => {
                let is_without_file = made && fault != Fault::InUse;
                Err(PmemError { what, path: path.display().to_string(), fault, is_without_file })
            }
        }
    }

    /// How far it is.
    pub fn found(&self) -> Found {
        self.store.found()
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Comes to the persist on which all PEs have [agreed](super::agree()); 0: a new heap, with bytes that
    /// are all zero. `set` is a number that is the same on all PEs, and different for each heap. Before all
    /// PEs have done it nobody goes on.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn settle(&mut self, generation: u64, set: u64) -> Result<(), PmemError> {
        self.did("restoring it", |store| store.settle(generation, set))
    }

    /// Removes the file, if this job has made it.
    pub fn discard(self) {
        if self.made {
            _ = fs::remove_file(&self.path);
        }
    }

    /// The number of the last persist; 0: none yet.
    pub fn generation(&self) -> u64 {
        self.store.found().generation
    }

    /// The first half of a persist. All PEs do it; if any fails, all [`revert`](Self::revert) and give up
    /// persisting.
    ///
    /// # Errors
    ///
    /// If the file cannot be flushed.
    pub fn prepare(&mut self) -> Result<(), PmemError> {
        self.did("flushing it", Store::prepare)
    }

    /// The second half of a persist, after all PEs have done the first one.
    ///
    /// # Errors
    ///
    /// If the copy cannot be written. The memory must not be written any more then.
    pub fn complete(&mut self) -> Result<(), PmemError> {
        self.did("writing the copy", Store::complete)
    }

    /// Takes the first half of a persist back.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written. The memory must not be written any more then.
    pub fn revert(&mut self) -> Result<(), PmemError> {
        self.did("going back", Store::revert)
    }

    fn did(
        &mut self,
        call: &'static str,
        work: impl FnOnce(&mut Store<File>) -> Result<(), Errno>,
    ) -> Result<(), PmemError> {
        let Self { store, path, what, .. } = self;
        work(store).map_err(|errno| {
            let fault = Fault::System { call, errno };
            let (what, path) = (what.clone(), path.display().to_string());
            PmemError { what, path, fault, is_without_file: false }
        })
    }

    /// The file, and where in it the memory of the partition is: offset and bytes.
    pub(in crate::memory) fn work(&self) -> (BorrowedFd<'_>, u64, u64) {
        let Geometry { work, bytes, .. } = self.store.geometry;
        (self.store.disk.as_fd(), work, bytes)
    }
}

/// What is there, locked and checked.
fn take_over(file: File, identity: &Identity) -> Result<Store<File>, Fault> {
    lock(&file, PATIENCE)?;
    in_place(&file)?;
    let bytes = rustix::fs::fstat(&file).map_err(system("fstat"))?.st_size as u64;
    if bytes == 0 {
        return build(file, identity);
    }
    file.flush().map_err(system("fsync"))?;
    if bytes < TEXT {
        return Err(FOREIGN.into());
    }
    let header = newest(&file)?;
    if header.generation == 0 {
        // Nothing was ever persisted in it: it is as good as none.
        rustix::fs::ftruncate(&file, 0).map_err(system("ftruncate"))?;
        return build(file, identity);
    }
    let geometry = check(&file, bytes, &header, identity)?;
    // Blocks may have been taken away by a copy that makes holes of zero pages.
    allocate(&file, geometry.end())?;
    Store::load(file, header, geometry).map_err(system("writing the header"))
}

fn make(path: &Path, identity: &Identity) -> Result<Store<File>, Fault> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let made = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let file: File = made.map(Into::into).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR => {
            let directory = directory_of(path);
            let (is_there, directory) = (directory.is_dir(), directory.display());
            Fault::Refused(if is_there {
                format!("cannot be made: the file system of {directory} takes no new files; name a file on ext4, xfs or tmpfs")
            } else {
                format!("cannot be made: there is no directory {directory}; make it, or name another one")
            })
        }
        Errno::EXIST => Fault::InUse,
        errno => denied("made", "open", errno),
    })?;
    let ready = lock(&file, Duration::ZERO).and_then(|()| in_place(&file));
    let built = ready.and_then(|()| build(file, identity));
    match &built {
        Ok(_) => flush_directory(path),
        Err(_) => _ = fs::remove_file(path),
    }
    built
}

/// The file at a path, if there is something there. What is looked at is what is open: a name may lead elsewhere a moment
/// later.
fn find(path: &Path) -> Result<Option<File>, Fault> {
    // A handle, by which nothing is opened: devices do something when they are.
    let handle = |flags| match rustix::fs::open(path, flags | OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(found) => rustix::fs::fstat(&found).map(|stat| Some((found, stat))).map_err(system("fstat")),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(denied("opened", "open", errno)),
    };
    let mut found = handle(OFlags::NOFOLLOW)?;
    // Links of other users lead where they want.
    if let Some((_, stat)) = &found
        && FileType::from_raw_mode(stat.st_mode) == FileType::Symlink
    {
        owned(stat)?;
        found = handle(OFlags::empty())?;
    }
    let Some((handle, stat)) = found else { return Ok(None) };
    regular(&stat)?;
    // The very file that the handle is of.
    let itself = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(itself, flags, Mode::empty());
    opened.map(|file| Some(file.into())).map_err(|errno| denied("opened", "open", errno))
}

/// Refuses what is no file of this user.
fn regular(stat: &Stat) -> Result<(), Fault> {
    let is = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return owned(stat),
        FileType::CharacterDevice | FileType::BlockDevice => {
            return Err("is a device; put a file system on the memory and name a file there: ndctl create-namespace -m fsdax, \
                        mkfs.ext4, mount -o dax"
                .into());
        }
        FileType::Directory => "a directory",
        _ => "a pipe or socket",
    };
    let remedy = "name a file that does not exist yet, or one that an earlier job has made";
    Err(Fault::Refused(format!("is no file but {is}; {remedy}")))
}

fn owned(stat: &Stat) -> Result<(), Fault> {
    let (owner, user) = (stat.st_uid, rustix::process::geteuid().as_raw());
    let remedy = "run it as the owner, or name another file";
    let other =
        || Fault::Refused(format!("belongs to user {owner}, and this job runs as user {user}; {remedy}"));
    if owner == user { Ok(()) } else { Err(other()) }
}

fn denied(doing: &str, call: &'static str, errno: Errno) -> Fault {
    let why = match errno {
        Errno::ACCESS | Errno::PERM => {
            "permission denied; it must be readable and writable for the user of the job, and so must its directory"
        }
        Errno::ROFS => "the file system is mounted read-only; mount it read-write, or name a file elsewhere",
        errno => return Fault::System { call, errno },
    };
    Fault::Refused(format!("cannot be {doing}: {why}"))
}

/// Locks the file, for as long as any process has it open or mapped.
fn lock(file: &File, patience: Duration) -> Result<(), Fault> {
    let end = Instant::now() + patience;
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::AGAIN) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
            Err(Errno::AGAIN) => return Err(Fault::InUse),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(denied("opened", "flock", errno)),
        }
    }
    // The job that had it may have removed it.
    match rustix::fs::fstat(file) {
        Ok(stat) if stat.st_nlink > 0 => Ok(()),
        Ok(_) => Err(Fault::InUse),
        Err(errno) => Err(Fault::System { call: "fstat", errno }),
    }
}

/// File systems that write a page where it is, so that a store to a mapping needs no room: ext4, xfs, tmpfs, and overlayfs, whose upper
/// layer is one of these. ext2 and ext3 have the number of ext4, and cannot give a file its blocks. Others put a page elsewhere
/// whenever it is written, or keep it on another machine.
const IN_PLACE: [u64; 4] = [0xef53, 0x5846_5342, 0x0102_1994, 0x794c_7630];

/// Refuses other file systems than [`IN_PLACE`].
fn in_place(file: &File) -> Result<(), Fault> {
    let kind = rustix::fs::fstatfs(file).map_err(system("fstatfs"))?.f_type as u64 & 0xffff_ffff;
    if IN_PLACE.contains(&kind) {
        return Ok(());
    }
    Err(elsewhere(kind))
}

fn elsewhere(kind: u64) -> Fault {
    Fault::Refused(format!(
        "lies on a file system (of type {kind:#x}) where room for a page that is written again cannot be reserved, and a full \
         file system would kill the job; name a file on ext4, xfs (on persistent memory: mount -o dax) or tmpfs"
    ))
}

/// Makes a new heap of an empty file.
fn build(file: File, identity: &Identity) -> Result<Store<File>, Fault> {
    let geometry = Geometry::new(identity.size, identity.layout.len() as u64);
    let geometry = geometry.ok_or_else(|| no_room(u64::MAX, "no file can be that large"))?;
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < geometry.end() => {
            let limit = format!("files may have at most {} (ulimit -f, RLIMIT_FSIZE)", Size(limit));
            Err(no_room(geometry.end(), &limit))
        }
        _ => allocate(&file, geometry.end()),
    }?;
    Store::build(file, identity, geometry).map_err(system("writing the header"))
}

/// Gives the file all its blocks, so that no store to a mapping needs any.
fn allocate(file: &File, bytes: u64) -> Result<(), Fault> {
    let allocated =
        rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes));
    allocated.map_err(|errno| match (errno, rustix::fs::fstatvfs(file)) {
        (Errno::NOSPC, Ok(stat)) => {
            let left = Size(stat.f_bavail.saturating_mul(stat.f_frsize));
            no_room(bytes, &format!("the file system has {left} left"))
        }
        (Errno::NOSPC | Errno::DQUOT, _) => no_room(bytes, "the quota of the user has less left"),
        (Errno::FBIG, _) => no_room(bytes, "the file system does not hold files of that size"),
        (Errno::OPNOTSUPP, _) => elsewhere(rustix::fs::fstatfs(file).map_or(0, |stat| stat.f_type as u64)),
        _ => Fault::System { call: "fallocate", errno },
    })
}

/// The error of a file that takes so many bytes.
fn no_room(asked: u64, available: &str) -> Fault {
    let asked = Size(asked);
    Fault::Refused(format!(
        "cannot be made: it takes {asked} (the partition twice, so that a persist that is interrupted loses nothing), and \
         {available}; make room, lower SIZE, or name a file elsewhere"
    ))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the name of a new file last. Not every file system lets directories be flushed.
fn flush_directory(path: &Path) {
    if let Ok(directory) =
        rustix::fs::open(directory_of(path), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    {
        _ = rustix::fs::fsync(directory);
    }
}

/// Compares what the file holds with what the job has.
fn check(file: &File, bytes: u64, header: &Header, identity: &Identity) -> Result<Geometry, Fault> {
    let says = |what: &str, bytes| damaged(format_args!("it says that {what} {}", Size(bytes)));
    let Some(geometry) = Geometry::new(header.size, header.layout_bytes) else {
        return Err(says("it holds", header.size));
    };
    if bytes < geometry.end() {
        return Err(damaged(format_args!("it has {} and should have {}", Size(bytes), Size(geometry.end()))));
    }
    if header.layout_bytes > MAX_LAYOUT.max(identity.layout.len() as u64) {
        return Err(says("its layout has", header.layout_bytes));
    }
    let mut layout = vec![0; header.layout_bytes as usize];
    file.read(TEXT, &mut layout).map_err(system("pread"))?;
    if fingerprint(layout.iter().copied()) != header.layout_print {
        return Err(damaged("its description of the layout is not what was written"));
    }
    let Identity { size, pe, pes, layout: asked, .. } = identity;
    let found = String::from_utf8_lossy(&layout);
    let (there, there_of) = (header.pe, header.pes);
    let why = if (there, there_of) != (*pe, *pes) {
        format!(
            "is that of PE {there} of {there_of}, and this is PE {pe} of {pes}; start as many PEs as it was made by, and keep \
             the files under their names"
        )
    } else if header.size != *size {
        let found = Size(header.size);
        format!(
            "holds a partition of {found}, and {} are asked for; give SIZE={found}, or name another file",
            Size(*size)
        )
    } else if found != asked.as_str() {
        let (found, asked) = first_difference(&found, asked);
        format!(
            "was made by a program with another layout: it has `{found}` where this program has `{asked}`; run the program \
             that made it, or name another file"
        )
    } else {
        return Ok(geometry);
    };
    Err(Fault::Refused(why))
}
