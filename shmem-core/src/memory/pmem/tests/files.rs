//! Real files of two PEs: what is made, refused and repaired. Files that somebody has changed, truncated, exchanged or
//! put back are refused, or give a persist.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::fixture::{Tree, assert_says};
use crate::hash::fingerprint;
use crate::memory::pmem::file::{Disk, Persist, agree};
use crate::memory::pmem::header::{Areas, HEADER_PAGE, Header, MOST, UNIT};
use crate::memory::pmem::{Identity, PmemFile};

const SIZE: u64 = UNIT as u64;
const PES: usize = 2;

fn identity(pe: usize) -> Identity {
    let [what, layout] =
        ["partition 4 `keep` (TEST)", "partition 4 `keep`\n`grid` at 0x40\n"].map(str::to_owned);
    Identity { what, size: SIZE, pe: pe as u32, pes: PES as u32, layout }
}

fn areas() -> Areas {
    Areas::of(&identity(0))
}

/// Each byte of a PE in a persist.
fn value(pe: usize, persist: u64) -> u8 {
    (10 * persist + pe as u64) as u8
}

#[track_caller]
fn refused(path: &Path, identity: &Identity, why: &str) {
    assert_says(PmemFile::open(path, identity).unwrap_err(), &[why]);
}

/// A heap: a file for each PE.
struct Heap(Tree);

impl Heap {
    fn path(&self, pe: usize) -> PathBuf {
        self.0.root().join(format!("heap.{pe}"))
    }

    fn raw(&self, pe: usize) -> File {
        File::options().read(true).write(true).open(self.path(pe)).unwrap()
    }

    fn read(&self, pe: usize) -> Vec<u8> {
        std::fs::read(self.path(pe)).unwrap()
    }

    fn write(&self, pe: usize, bytes: &[u8]) {
        std::fs::write(self.path(pe), bytes).unwrap();
    }

    /// Opens the files, and restores the persist on which they agree.
    fn open(&self) -> Result<(u64, Vec<PmemFile>), String> {
        let open = |pe| PmemFile::open(&self.path(pe), &identity(pe));
        let mut files = (0..PES).map(open).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<_> = files.iter().map(PmemFile::found).collect();
        let persist = agree(&found)?;
        files.iter_mut().for_each(|file| file.settle(persist, 5).unwrap());
        Ok((persist, files))
    }

    fn persist(&self) -> u64 {
        let (before, mut files) = self.open().unwrap();
        for (pe, file) in files.iter_mut().enumerate() {
            let work = vec![value(pe, before + 1); areas().bytes as usize];
            Disk::write(&self.raw(pe), areas().work, &work).unwrap();
            file.persist().unwrap();
        }
        files[0].generation()
    }

    /// The byte that fills the working area of a PE, if one does.
    fn filled(&self, pe: usize) -> Option<u8> {
        let mut work = vec![0; areas().bytes as usize];
        Disk::read(&self.raw(pe), areas().work, &mut work).unwrap();
        work.iter().all(|byte| *byte == work[0]).then_some(work[0])
    }
}

#[test]
fn a_file_has_its_blocks_and_is_the_users_own_and_one_jobs() {
    let heap = Heap(Tree::new());
    let meta = || std::fs::metadata(heap.path(0)).unwrap();
    let has_its_blocks = || meta().blocks() * 512 >= meta().len() && meta().len() == areas().end();
    let (_, files) = heap.open().unwrap();
    assert_eq!(meta().mode() & 0o7777, 0o600);
    assert!(has_its_blocks(), "{} blocks for {}", meta().blocks(), meta().len());
    refused(&heap.path(0), &identity(0), "is in use by another job");
    files.into_iter().for_each(PmemFile::discard);
    assert!(!heap.path(0).exists());
    heap.persist();
    // A copy may lack the blocks of zero pages.
    let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(heap.raw(0), flags, areas().work, areas().bytes).unwrap();
    let (_, files) = heap.open().unwrap();
    assert!(has_its_blocks());
    assert_eq!(heap.filled(0), Some(value(0, 1)));
    files.into_iter().for_each(PmemFile::discard);
    assert!(heap.path(0).exists(), "what is not new is not removed");
}

#[test]
fn what_another_program_made_or_is_damaged_is_refused() {
    let heap = Heap(Tree::new());
    let (path, slot) = (heap.path(0), HEADER_PAGE as u64);
    heap.persist();
    for (layout, asked) in
        [("partition 4 `keep`\n`grid` at 0x80\n", "`grid` at 0x80"), ("partition 4 `keep`\n", "nothing more")]
    {
        let other = Identity { layout: layout.into(), ..identity(0) };
        refused(&path, &other, &format!("it has ``grid` at 0x40` where this program has `{asked}`"));
    }
    let whole = heap.read(0);
    let foreign = "holds something else than a partition";
    for changed in [[60, slot + 40], [0, slot]] {
        changed.iter().for_each(|at| Disk::write(&heap.raw(0), *at, &[9; 100]).unwrap());
        refused(&path, &identity(0), foreign);
        heap.write(0, &whole);
    }
    assert_eq!(heap.open().unwrap().0, 1, "and nothing was lost");
    rustix::fs::ftruncate(heap.raw(0), areas().end() - 1).unwrap();
    refused(&path, &identity(0), "is damaged: it has");
    heap.write(0, b"short");
    refused(&path, &identity(0), foreign);
    assert_eq!(heap.read(0), b"short");
}

/// A link of the user's own is followed, one of another user is not, wherever it leads. A pipe that was opened would wait for
/// its other end.
#[test]
fn what_is_no_file_or_another_users_is_refused() {
    use std::os::unix::fs::{chown, lchown, symlink};
    let heap = Heap(Tree::new());
    let [link, pipe, huge] = ["link", "pipe", "huge"].map(|name| heap.0.root().join(name));
    refused(heap.0.root(), &identity(0), "is no file but a directory");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    refused(&pipe, &identity(0), "is no file but a pipe or socket");
    refused(&huge, &Identity { size: 1 << 61, ..identity(0) }, "it takes");
    assert!(!huge.exists(), "what could not be made is not there");
    heap.persist();
    symlink(heap.path(0), &link).unwrap();
    assert_eq!(PmemFile::open(&link, &identity(0)).unwrap().generation(), 1);
    let nobody = 65534;
    if lchown(&link, Some(nobody), None).is_err() {
        return eprintln!("skipped: only root makes links of other users");
    }
    refused(&link, &identity(0), "belongs to user 65534");
    chown(heap.path(0), Some(nobody), None).unwrap();
    refused(&heap.path(0), &identity(0), "belongs to user 65534");
}

#[test]
fn only_files_that_a_crash_leaves_agree() {
    let found = |generations: &[u64]| -> Vec<Persist> {
        generations.iter().map(|&generation| Persist { generation, set: 5 * generation.min(1) }).collect()
    };
    for ([one, other], agreed) in [
        ([&[0][..], &[0][..]], Some(0)),
        ([&[0], &[1, 0]], Some(0)),
        ([&[2, 1], &[3, 2]], Some(2)),
        ([&[3], &[3, 2]], Some(3)),
        ([&[0], &[1]], None),
        ([&[0], &[2, 1]], None),
        ([&[1, 0], &[3, 2]], None),
        ([&[1, 0], &[2]], None),
    ] {
        assert_eq!(agree(&[found(one), found(other)]).ok(), agreed, "{one:?} {other:?}");
        assert_eq!(agree(&[found(other), found(one)]).ok(), agreed, "{other:?} {one:?}");
    }
    // Persist 0 is the same in all heaps, so a file that was made anew belongs to two heaps.
    let another = vec![Persist { generation: 1, set: 6 }, Persist::default()];
    let error = agree(&[found(&[0]), found(&[1, 0]), another]).unwrap_err();
    assert_says(error, &["PE 1 has persist 1, PE 2 has persist 1 of another heap"]);
    let error = agree(&[found(&[3]), vec![Persist { generation: 3, set: 6 }]]).unwrap_err();
    assert_says(error, &["PE 0 has persist 3, PE 1 has persist 3 of another heap; put back"]);
}

#[test]
fn files_that_are_put_back_give_a_persist_that_all_have() {
    let heap = Heap(Tree::new());
    let history = [1, 2, 3].map(|persist| {
        assert_eq!(heap.persist(), persist);
        [0, 1].map(|pe| heap.read(pe))
    });
    heap.write(0, &history[0][0]);
    assert_says(heap.open().unwrap_err(), &["PE 0 has persist 1, PE 1 has persist 3"]);
    heap.write(0, &history[1][0]);
    assert_eq!(heap.open().unwrap().0, 2);
    assert_eq!([0, 1].map(|pe| heap.filled(pe)), [0, 1].map(|pe| Some(value(pe, 2))));
    // The magic word of the newest header: no crash changes it.
    let mut damaged = history[2][0].clone();
    damaged[HEADER_PAGE] ^= 0x80;
    heap.write(0, &damaged);
    assert_says(heap.open().unwrap_err(), &["is damaged", "the other one says persist 2"]);
    heap.write(0, &history[2][1]);
    assert_says(heap.open().unwrap_err(), &["heap.0 is that of PE 1 of 2, and this is PE 0 of 2"]);
}

/// Whoever knows the checksum can write any header.
#[test]
fn a_header_may_say_anything() {
    let heap = Heap(Tree::new());
    heap.persist();
    let whole = heap.read(0);
    for (size, layout, generation) in [
        (SIZE, 34, 1),
        (0, 34, 1),
        (u64::MAX, 34, 1),
        (SIZE, 1 << 41, 1),
        (SIZE, 34, MOST - 1),
        (SIZE, 34, u64::MAX),
    ] {
        let mut words: [u64; 8] = bytemuck::cast(Header::new(&identity(0)));
        (words[2], words[3], words[5]) = (size, layout, generation);
        words[7] = fingerprint(bytemuck::cast_slice(&words[..7]).iter().copied());
        for at in [0, HEADER_PAGE as u64] {
            Disk::write(&heap.raw(0), at, bytemuck::cast_slice(&words)).unwrap();
        }
        // Holes take no blocks.
        heap.raw(0).set_len(1 << 42).unwrap();
        let opened = PmemFile::open(&heap.path(0), &identity(0));
        let is_fit = (size, layout) == (SIZE, 34) && generation < MOST;
        assert_eq!(opened.is_ok(), is_fit, "{size} {layout} {generation}: {opened:?}");
        opened.into_iter().for_each(|mut file| file.persist().unwrap());
        heap.write(0, &whole);
    }
}
