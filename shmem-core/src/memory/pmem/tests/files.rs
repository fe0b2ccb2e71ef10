//! Real files: what is made, what is refused, what is put right.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::fixture::Tree;
use crate::memory::pmem::format::{Geometry, SLOT, VERSION};
use crate::memory::pmem::store::Disk;
use crate::memory::pmem::{Candidate, Fault, Identity, PmemFile};

const SIZE: u64 = 1 << 20;

fn identity() -> Identity {
    let layout = "partition 4 `keep`\n`grid` at 0x40\n".to_owned();
    Identity { what: "partition 4 `keep` (TEST)".into(), size: SIZE, pe: 0, pes: 1, layout }
}

fn path(tree: &Tree) -> PathBuf {
    tree.root().join("heap.0")
}

#[track_caller]
fn open(path: &Path) -> PmemFile {
    match PmemFile::open(path, &identity()) {
        Candidate::File(file) => *file,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(path: &Path, identity: &Identity) -> Fault {
    match PmemFile::open(path, identity) {
        Candidate::Refused(error) => error.fault,
        other => panic!("{other:?}"),
    }
}

fn geometry() -> Geometry {
    Geometry::new(SIZE, identity().layout.len() as u64).unwrap()
}

/// The file by another descriptor.
fn raw(path: &Path) -> OwnedFd {
    std::fs::File::options().read(true).write(true).open(path).unwrap().into()
}

fn write(path: &Path, at: u64, value: u8) {
    raw(path).write(at, &[value; 10_000]).unwrap();
}

fn persisted(path: &Path, value: u8) -> u64 {
    let mut file = open(path);
    let generation = file.found().encode()[1];
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

#[test]
fn what_another_program_made_is_refused() {
    let tree = Tree::new();
    let path = path(&tree);
    persisted(&path, 1);
    let asked = Identity { layout: "partition 4 `keep`\n`grid` at 0x80\n".into(), ..identity() };
    let found = Fault::Layout { found: "`grid` at 0x40".into(), asked: "`grid` at 0x80".into() };
    assert_eq!(refused(&path, &asked), found);
    let asked = Identity { layout: "partition 4 `keep`\n".into(), ..identity() };
    let found = Fault::Layout { found: "`grid` at 0x40".into(), asked: "nothing more".into() };
    assert_eq!(refused(&path, &asked), found);
    assert_eq!(
        refused(&path, &Identity { pe: 1, pes: 2, ..identity() }),
        Fault::Pes { pe: 0, pes: 1, me: 1, count: 2 }
    );
    assert_eq!(refused(&path, &Identity { size: 5, ..identity() }), Fault::Size { found: SIZE, asked: 5 });
    assert_eq!(open(&path).generation(), 1, "and nothing was lost");
}

#[test]
fn what_is_damaged_is_refused() {
    let tree = Tree::new();
    let path = path(&tree);
    persisted(&path, 1);
    let whole = std::fs::read(&path).unwrap();
    let restore = || std::fs::write(&path, &whole).unwrap();
    let damaged = |fault: Fault, how: &str| match fault {
        Fault::Damaged { how: found } => assert!(found.contains(how), "{found}"),
        other => panic!("{other}"),
    };
    rustix::fs::ftruncate(raw(&path), geometry().end() - 1).unwrap();
    damaged(refused(&path, &identity()), "it has");
    restore();
    write(&path, 2 * SLOT, 0);
    damaged(refused(&path, &identity()), "description of the layout");
    restore();
    // Either header, behind what one has, and both.
    for slot in [0, SLOT] {
        raw(&path).write(slot + 100, &[9; 100]).unwrap();
        assert!(matches!(refused(&path, &identity()), Fault::Header { last: 1 }));
        restore();
    }
    raw(&path).write(100, &[9; 100]).unwrap();
    raw(&path).write(SLOT + 40, &[9; 10]).unwrap();
    assert_eq!(refused(&path, &identity()), Fault::Foreign);
    restore();
    for at in [8, SLOT + 8] {
        raw(&path).write(at, &(VERSION + 1).to_le_bytes()).unwrap();
    }
    assert_eq!(refused(&path, &identity()), Fault::Version { found: VERSION + 1 });
    std::fs::write(&path, "short").unwrap();
    assert_eq!(refused(&path, &identity()), Fault::Foreign);
    assert_eq!(std::fs::read(&path).unwrap(), b"short");
}

/// A crash in the middle of the last header: the one before counts, and it is said.
#[test]
fn the_header_that_is_whole_counts_and_it_is_said() {
    let tree = Tree::new();
    let path = path(&tree);
    persisted(&path, 1);
    assert_eq!(open(&path).remark(), None);
    persisted(&path, 2);
    let headers = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        [0, SLOT as usize].map(|at| bytes[at..at + SLOT as usize].to_vec())
    };
    // The number of a header is its fifth word.
    let [first, second] = headers(&path).map(|page| u64::from_le_bytes(*page[32..].first_chunk().unwrap()));
    let (newest, oldest) = if first > second { (0, SLOT) } else { (SLOT, 0) };
    let mut before = [0; 60];
    raw(&path).read(oldest + 44, &mut before).unwrap();
    raw(&path).write(newest + 44, &before).unwrap();
    let mut file = open(&path);
    file.settle(2, 5).unwrap();
    let said = file.remark().unwrap();
    assert!(
        said.starts_with("partition 4 `keep` (TEST): PMEM: ")
            && said.contains("heap.0: one of its two headers")
    );
    assert!(said.ends_with("the other one counts, and the contents are those of persist 2"), "{said}");
    assert_eq!(work(&path), 2);
    drop(file);
    assert_eq!(open(&path).remark(), None, "it is whole again");
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
    assert_eq!(refused(&path, &identity()), Fault::InUse);
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
    let user = rustix::process::geteuid().as_raw();
    assert_eq!(refused(&link, &identity()), Fault::Owner { owner: nobody, user });
    std::os::unix::fs::chown(&path, Some(nobody), None).unwrap();
    assert_eq!(refused(&path, &identity()), Fault::Owner { owner: nobody, user });
}

/// Nothing happens at what is not a file: a pipe that was opened would wait for its other end.
#[test]
fn pipes_are_not_opened() {
    let tree = Tree::new();
    let path = path(&tree);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(refused(&path, &identity()), Fault::NotAFile { is: "a pipe or socket" });
}

#[test]
fn what_is_no_file_is_refused() {
    let tree = Tree::new();
    let path = path(&tree);
    std::fs::create_dir(&path).unwrap();
    assert_eq!(refused(&path, &identity()), Fault::NotAFile { is: "a directory" });
    assert_eq!(refused(Path::new("/dev/null"), &identity()), Fault::Device);
    for (directory, why) in [
        (tree.root().join("none"), "there is no directory {}; make it, or name another one"),
        ("/proc/self".into(), "the file system of {} takes no new files; name a file on ext4, xfs or tmpfs"),
    ] {
        let shown = directory.display().to_string();
        let why = why.replace("{}", &shown);
        match PmemFile::open(&directory.join("heap.0"), &identity()) {
            Candidate::Unusable(error) => assert_eq!(
                error.to_string(),
                format!("partition 4 `keep` (TEST): PMEM: {shown}/heap.0 cannot be made: {why}")
            ),
            other => panic!("{other:?}"),
        }
    }
    let huge = Identity { size: 1 << 61, ..identity() };
    let path = tree.root().join("huge");
    match PmemFile::open(&path, &huge) {
        Candidate::Unusable(error) => assert!(error.to_string().contains("it takes"), "{error}"),
        other => panic!("{other:?}"),
    }
    assert!(!path.exists(), "what could not be made is not there");
}
