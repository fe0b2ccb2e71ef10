//! Opens the file of a partition: finds or makes it, locks it, and checks it.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::file::{Disk, PmemFile, message};
use super::header::{Areas, HEADER_PAGE, Header, Headers, Identity, LAYOUT};
use crate::memory::error::Size;
use crate::text::first_difference;

/// Upper limit on the wait for a lock, because processes of a killed job take a moment to exit.
const PATIENCE: Duration = Duration::from_secs(1);

const IN_USE: &str = "is in use by another job; wait for its end, or name another file";

const FOREIGN: &str = "holds something else than a partition in the format of this build, or its making was cut short by a crash; \
     name another file, or delete it if nobody needs it";

impl PmemFile {
    /// Opens or makes the file at `path`. Checkpoints in the file do not change before [`settle`](Self::settle).
    /// Fails, with an error text, if an existing file is unusable, or the file cannot be made.
    pub fn open(path: &Path, identity: &Identity) -> Result<Self, String> {
        let found = find(path);
        let made = matches!(found, Ok(None));
        let opened = found.and_then(|file| match file {
            Some(file) => take_over(file, path, identity),
            None => make(path, identity),
        });
        let mut file = opened.map_err(|why| message(&identity.what, path, &why))?;
        file.made = made;
        Ok(file)
    }
}

/// Opens the regular file of this user at `path`; `None`: there is no file. Checks the opened file, since the path may change.
fn find(path: &Path) -> Result<Option<File>, String> {
    // `PATH` gives a handle without opening the file, because opening a device may act on the device.
    let handle = |flags| match rustix::fs::open(path, flags | OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(found) => rustix::fs::fstat(&found).map(|stat| Some((found, stat))).map_err(system("fstat")),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(denied("opened", "open", errno)),
    };
    let mut found = handle(OFlags::NOFOLLOW)?;
    // Symbolic links of other users are not trusted.
    if let Some((_, stat)) = &found
        && FileType::from_raw_mode(stat.st_mode) == FileType::Symlink
    {
        owned(stat)?;
        found = handle(OFlags::empty())?;
    }
    let Some((handle, stat)) = found else { return Ok(None) };
    regular(&stat).and_then(|()| owned(&stat))?;
    let itself = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(itself, flags, Mode::empty());
    opened.map(|file| Some(file.into())).map_err(|errno| denied("opened", "open", errno))
}

fn regular(stat: &Stat) -> Result<(), String> {
    const NEW: &str = "name a file that does not exist yet, or one that an earlier job has made";
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::CharacterDevice | FileType::BlockDevice => {
            Err("is a device; put a file system on the memory and name a file there: ndctl create-namespace -m fsdax, \
                 mkfs.ext4, mount -o dax"
                .into())
        }
        FileType::Directory => Err(format!("is no file but a directory; {NEW}")),
        _ => Err(format!("is no file but a pipe or socket; {NEW}")),
    }
}

fn owned(stat: &Stat) -> Result<(), String> {
    match (stat.st_uid, rustix::process::geteuid().as_raw()) {
        (owner, user) if owner == user => Ok(()),
        (owner, user) => Err(format!(
            "belongs to user {owner}, and this job runs as user {user}; run it as the owner, or name another file"
        )),
    }
}

/// Takes over an existing file: locks the file, and checks that it belongs to this partition of this PE.
fn take_over(file: File, path: &Path, identity: &Identity) -> Result<PmemFile, String> {
    lock(&file, PATIENCE)?;
    let bytes = rustix::fs::fstat(&file).map_err(system("fstat"))?.st_size as u64;
    if bytes == 0 {
        return load(file, path, identity, None);
    }
    file.flush().map_err(system("fsync"))?;
    let found = if bytes < LAYOUT { Err(FOREIGN.to_owned()) } else { headers(&file) }?;
    if found.0.generation == 0 {
        // The file has no checkpoint, so it is made anew.
        rustix::fs::ftruncate(&file, 0).map_err(system("ftruncate"))?;
        return load(file, path, identity, None);
    }
    check(&file, &found.0, identity)?;
    let all = Areas::of(identity).end();
    if bytes < all {
        let (bytes, all) = (Size(bytes), Size(all));
        return Err(format!(
            "is damaged: it has {bytes} and should have {all}; put it back from a copy, or delete the files of all PEs to begin anew"
        ));
    }
    load(file, path, identity, Some(found))
}

fn make(path: &Path, identity: &Identity) -> Result<PmemFile, String> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file: File = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(made) => made.into(),
        Err(Errno::EXIST) => return Err(IN_USE.into()),
        Err(Errno::NOENT | Errno::NOTDIR) => {
            let directory = directory.display();
            return Err(format!(
                "cannot be made: there is no directory {directory} that takes new files; make it, or name another one"
            ));
        }
        Err(errno) => return Err(denied("made", "open", errno)),
    };
    let built = lock(&file, Duration::ZERO).and_then(|()| load(file, path, identity, None));
    if built.is_err() {
        _ = fs::remove_file(path);
    } else if let Ok(directory) = File::open(directory) {
        // Makes the file's name durable. An error is ignored, because some file systems cannot flush directories.
        _ = directory.sync_all();
    }
    built
}

fn system(call: &'static str) -> impl Fn(Errno) -> String {
    move |errno| format!("{call} failed: {errno}")
}

fn denied(doing: &str, call: &'static str, errno: Errno) -> String {
    let why = match errno {
        Errno::ACCESS | Errno::PERM => {
            "permission denied; it must be readable and writable for the user of the job, and so must its directory"
        }
        Errno::ROFS => "the file system is mounted read-only; mount it read-write, or name a file elsewhere",
        errno => return system(call)(errno),
    };
    format!("cannot be {doing}: {why}")
}

/// Locks the file, for as long as any process has it open or mapped. Fails on file systems that are not [`IN_PLACE`].
fn lock(file: &File, patience: Duration) -> Result<(), String> {
    let end = Instant::now() + patience;
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::AGAIN) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
            Err(Errno::AGAIN) => return Err(IN_USE.into()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(denied("opened", "flock", errno)),
        }
    }
    // The previous job may have removed the file.
    match rustix::fs::fstat(file).map_err(system("fstat"))?.st_nlink {
        0 => Err(IN_USE.into()),
        _ => in_place(file),
    }
}

/// File systems that overwrite pages in place, so that stores to a mapping need no new space: ext4, xfs, tmpfs, and overlayfs on
/// top of one of these. (ext2 and ext3 have ext4's magic number, but `fallocate` fails there.) Other file systems write each page
/// to a new place, or store it on another machine.
const IN_PLACE: [u64; 4] = [0xef53, 0x5846_5342, 0x0102_1994, 0x794c_7630];

fn in_place(file: &File) -> Result<(), String> {
    match rustix::fs::fstatfs(file).map_err(system("fstatfs"))?.f_type as u64 & 0xffff_ffff {
        kind if IN_PLACE.contains(&kind) => Ok(()),
        kind => Err(format!(
            "lies on a file system (of type {kind:#x}) where room for a page that is written again cannot be reserved, and a \
             full file system would kill the job; name a file on ext4, xfs (on persistent memory: mount -o dax) or tmpfs"
        )),
    }
}

/// Opens a file with the headers `found`, or makes a new heap in an empty file. Also allocates missing blocks of an existing file,
/// because a copied file may have holes in place of zero pages.
fn load(file: File, path: &Path, identity: &Identity, found: Option<Headers>) -> Result<PmemFile, String> {
    let areas = Areas::of(identity);
    allocate(&file, areas.end())?;
    PmemFile::load(Box::new(file), path, identity, areas, found).map_err(system("writing the header"))
}

/// Allocates all blocks of the file, so that stores to a mapping allocate none.
fn allocate(file: &File, bytes: u64) -> Result<(), String> {
    let no_room = |available: &str| {
        let asked = Size(bytes);
        Err(format!(
            "cannot be made: it takes {asked} (the partition three times, so that a persist that is interrupted loses nothing), \
             and {available}; make room, lower SIZE, or name a file elsewhere"
        ))
    };
    // The kernel would send a signal to a process that exceeds this limit.
    if let Some(limit) = getrlimit(Resource::Fsize).current.filter(|limit| *limit < bytes) {
        return no_room(&format!("files may have at most {} (ulimit -f, RLIMIT_FSIZE)", Size(limit)));
    }
    let blocks = || rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes);
    match (rustix::io::retry_on_intr(blocks), rustix::fs::fstatvfs(file)) {
        (Ok(()), _) => Ok(()),
        (Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)), Ok(stat)) => {
            let left = Size(stat.f_bavail.saturating_mul(stat.f_frsize));
            no_room(&format!("the file system has {left} left ({errno})"))
        }
        (Err(errno), _) => Err(system("fallocate")(errno)),
    }
}

/// Reads the newest header, and the previous header if it is whole. Fails if a header is damaged in a way that no crash explains.
pub(super) fn headers(disk: &dyn Disk) -> Result<Headers, String> {
    let mut pages = [[0; HEADER_PAGE]; 2];
    for (page, at) in pages.iter_mut().zip([0, HEADER_PAGE as u64]) {
        disk.read(at, page).map_err(system("pread"))?;
    }
    let read = pages.each_ref().map(|page| Header::read(page));
    let mut found: Vec<_> = read.into_iter().flatten().collect();
    found.sort_by_key(|header| header.generation);
    let newest = found.pop().ok_or(FOREIGN)?;
    if read.iter().zip(&pages).any(|(read, page)| read.is_none() && !newest.may_have_torn(page)) {
        return Err(format!(
            "is damaged: one of its two headers cannot be read, and is not what a crash leaves of one; the other one says \
             persist {}, but the newest may have been lost; put it back from a copy, or delete the files of all PEs to begin anew",
            newest.generation
        ));
    }
    Ok((newest, found.pop().filter(|previous| previous.generation + 1 == newest.generation)))
}

fn check(file: &File, header: &Header, identity: &Identity) -> Result<(), String> {
    let asked = Header::new(identity);
    let Header { pe, pes, size, .. } = *header;
    if (pe, pes) != (asked.pe, asked.pes) {
        return Err(format!(
            "is that of PE {pe} of {pes}, and this is PE {} of {}; start as many PEs as it was made by, and keep the files \
             under their names",
            asked.pe, asked.pes
        ));
    }
    if size != asked.size {
        let (found, asked) = (Size(size), Size(asked.size));
        return Err(format!(
            "holds a partition of {found}, and {asked} are asked for; give SIZE={found}, or name another file"
        ));
    }
    if header.layout != asked.layout {
        let mut layout = vec![0; header.layout[0].min(1 << 20) as usize];
        file.read(LAYOUT, &mut layout).map_err(system("pread"))?;
        let found = String::from_utf8_lossy(&layout);
        let (found, asked) = first_difference(&found, &identity.layout);
        return Err(format!(
            "was made by a program with another layout: it has `{found}` where this program has `{asked}`; run the program \
             that made it, or name another file"
        ));
    }
    Ok(())
}
