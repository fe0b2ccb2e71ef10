//! Real files: what is made, what is refused, what is put right.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::fixture::{Tree, assert_says};
use crate::memory::pmem::format::{Geometry, SLOT};
use crate::memory::pmem::store::Disk;
use crate::memory::pmem::{Identity, PmemFile};

const SIZE: u64 = 1 << 20;

/// What the file of a PE must be.
pub(super) fn identity_of(size: u64, pe: usize, pes: usize) -> Identity {
    let layout = "partition 4 `keep`\n`grid` at 0x40\n".to_owned();
    Identity { what: "partition 4 `keep` (TEST)".into(), size, pe: pe as u32, pes: pes as u32, layout }
}

fn identity() -> Identity {
    identity_of(SIZE, 0, 1)
}

fn path(tree: &Tree) -> PathBuf {
    tree.root().join("heap.0")
}

#[track_caller]
fn open(path: &Path) -> PmemFile {
    PmemFile::open(path, &identity()).unwrap()
}

#[track_caller]
fn refused(path: &Path, identity: &Identity, why: &str) {
    let error = PmemFile::open(path, identity).unwrap_err();
    assert!(!error.is_without_file, "{error}");
    assert_says(error, &[why]);
}

fn geometry() -> Geometry {
    Geometry::new(SIZE, identity().layout.len() as u64).unwrap()
}

/// The file by another descriptor.
fn raw(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

fn write(path: &Path, at: u64, value: u8) {
    raw(path).write(at, &[value; 10_000]).unwrap();
}

fn persisted(path: &Path, value: u8) -> u64 {
    let mut file = open(path);
    let generation = file.generation();
    file.settle(generation, 5).unwrap();
    write(path, geometry().work, value);
    file.prepare().unwrap();
    file.complete().unwrap();
    file.generation()
}

fn work(path: &Path) -> u8 {
    let mut byte = [0];
    raw(path).read(geometry().work, &mut byte).unwrap();
    byte[0]
}

#[test]
fn a_file_has_its_blocks_and_is_the_users_own() {
    use std::os::unix::fs::MetadataExt as _;
    let tree = Tree::new();
    let path = path(&tree);
    let mut file = open(&path);
    file.settle(0, 1).unwrap();
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o600);
    assert_eq!(meta.len(), geometry().end());
    assert!(meta.blocks() * 512 >= meta.len(), "{} blocks for {}", meta.blocks(), meta.len());
    file.discard();
    assert!(!path.exists());
    persisted(&path, 1);
    file = open(&path);
    file.settle(1, 5).unwrap();
    file.discard();
    assert!(path.exists(), "what is not new is not removed");
}

/// Bytes at an offset of a file.
type Write<'b> = (u64, &'b [u8]);

#[test]
fn what_another_program_made_or_is_damaged_is_refused() {
    let tree = Tree::new();
    let path = path(&tree);
    persisted(&path, 1);
    for (layout, asked) in
        [("partition 4 `keep`\n`grid` at 0x80\n", "`grid` at 0x80"), ("partition 4 `keep`\n", "nothing more")]
    {
        let other = Identity { layout: layout.into(), ..identity() };
        refused(&path, &other, &format!("it has ``grid` at 0x40` where this program has `{asked}`"));
    }
    assert_eq!(open(&path).generation(), 1, "and nothing was lost");
    let whole = std::fs::read(&path).unwrap();
    // Behind what a header has; what each begins with.
    let (behind, mark) = ([9; 100], [9; 8]);
    let foreign = "holds something else than a partition";
    let header = "one of its two headers cannot be read, and is not what a crash leaves of one; the other one says persist 1";
    let changes: [(&str, &[Write<'_>]); 5] = [
        ("is damaged: its description of the layout", &[(2 * SLOT, &[0; 10])]),
        (header, &[(76, &behind)]),
        (header, &[(SLOT + 76, &behind)]),
        (foreign, &[(76, &behind), (SLOT + 40, &behind)]),
        (foreign, &[(0, &mark), (SLOT, &mark)]),
    ];
    for (why, changes) in changes {
        changes.iter().for_each(|(at, bytes)| raw(&path).write(*at, bytes).unwrap());
        refused(&path, &identity(), why);
        std::fs::write(&path, &whole).unwrap();
    }
    rustix::fs::ftruncate(raw(&path), geometry().end() - 1).unwrap();
    refused(&path, &identity(), "is damaged: it has");
    std::fs::write(&path, "short").unwrap();
    refused(&path, &identity(), foreign);
    assert_eq!(std::fs::read(&path).unwrap(), b"short");
}

#[test]
fn a_file_that_was_copied_without_its_holes_gets_its_blocks_again() {
    use std::os::unix::fs::MetadataExt as _;
    let tree = Tree::new();
    let path = path(&tree);
    persisted(&path, 1);
    let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(raw(&path), flags, geometry().copy + 65536, geometry().bytes - 65536).unwrap();
    let mut file = open(&path);
    let meta = std::fs::metadata(&path).unwrap();
    assert!(meta.blocks() * 512 >= meta.len());
    file.settle(1, 5).unwrap();
    assert_eq!(work(&path), 1);
}

#[test]
fn one_job_at_a_time() {
    let tree = Tree::new();
    let path = path(&tree);
    let first = open(&path);
    refused(&path, &identity(), "is in use by another job");
    drop(first);
    open(&path);
}

/// A link of the user's own is followed, one of another user is not, wherever it leads.
#[test]
fn links_of_other_users_are_refused() {
    use std::os::unix::fs::{lchown, symlink};
    let tree = Tree::new();
    let (path, link) = (path(&tree), tree.root().join("link"));
    persisted(&path, 1);
    symlink(&path, &link).unwrap();
    assert_eq!(open(&link).generation(), 1);
    let nobody = 65534;
    if lchown(&link, Some(nobody), None).is_err() {
        return eprintln!("skipped: only root makes links of other users");
    }
    refused(&link, &identity(), "belongs to user 65534");
    std::os::unix::fs::chown(&path, Some(nobody), None).unwrap();
    refused(&path, &identity(), "belongs to user 65534");
}

/// Nothing happens at what is not a file: a pipe that was opened would wait for its other end.
#[test]
fn what_is_no_file_is_refused() {
    use rustix::fs::{CWD, FileType, Mode};
    let tree = Tree::new();
    let path = path(&tree);
    std::fs::create_dir(&path).unwrap();
    refused(&path, &identity(), "is no file but a directory");
    let pipe = tree.root().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    refused(&pipe, &identity(), "is no file but a pipe or socket");
    let huge = Identity { size: 1 << 61, ..identity() };
    let path = tree.root().join("huge");
    for (path, identity, why) in [
        (
            Path::new("/proc/self/heap.0"),
            identity(),
            "the file system of /proc/self takes no new files; name",
        ),
        (path.as_path(), huge, "it takes"),
    ] {
        let error = PmemFile::open(path, &identity).unwrap_err();
        assert!(error.is_without_file);
        assert_says(error, &[why]);
    }
    assert!(!path.exists(), "what could not be made is not there");
}
