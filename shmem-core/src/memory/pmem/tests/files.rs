//! Real files of two PEs: what is made, refused and repaired. Files that somebody has changed, truncated, exchanged or
//! put back are refused, or give a persist.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::fingerprint::fingerprint;
use crate::fixture::{Tree, assert_says};
use crate::memory::pmem::file::{Disk, FileState, agree};
use crate::memory::pmem::header::{Areas, HEADER_PAGE, Header, UNIT};
use crate::memory::pmem::{Identity, PmemFile};

const SIZE: u64 = UNIT as u64;
const PES: usize = 2;

fn identity(pe: usize) -> Identity {
    let layout = "partition 4 `keep`\n`grid` at 0x40\n".to_owned();
    let what = "partition 4 `keep` (TEST)".to_owned();
    Identity { what, size: SIZE, pe: pe as u32, pes: PES as u32, layout }
}

fn areas() -> Areas {
    Areas::of(&identity(0))
}

/// What every byte of a PE is in a persist; 0: before the first.
fn value(pe: usize, persist: u64) -> u8 {
    if persist == 0 { 0 } else { (10 * persist + pe as u64) as u8 }
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

    /// A file by another descriptor.
    fn raw(&self, pe: usize) -> File {
        File::options().read(true).write(true).open(self.path(pe)).unwrap()
    }

    fn read(&self, pe: usize) -> Vec<u8> {
        std::fs::read(self.path(pe)).unwrap()
    }

    fn write(&self, pe: usize, bytes: &[u8]) {
        std::fs::write(self.path(pe), bytes).unwrap();
    }

    /// Opens the files, comes to what they agree on, and gives that.
    fn open(&self) -> Result<(u64, Vec<PmemFile>), String> {
        let open = |pe| PmemFile::open(&self.path(pe), &identity(pe));
        let mut files = (0..PES).map(open).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<_> = files.iter().map(PmemFile::found).collect();
        let persist = agree(&found).map_err(|(_, why)| why)?;
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
    let header = "one of its two headers cannot be read, and is not what a crash leaves of one; the other one says persist";
    for (why, changed) in [
        (format!("{header} 1"), &[60][..]),
        (format!("{header} 0"), &[slot + 60]),
        (foreign.to_owned(), &[60, slot + 40]),
        (foreign.to_owned(), &[0, slot]),
    ] {
        changed.iter().for_each(|at| Disk::write(&heap.raw(0), *at, &[9; 100]).unwrap());
        refused(&path, &identity(0), &why);
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

/// A row that a crash cannot leave is refused.
#[test]
fn only_files_that_a_crash_leaves_agree() {
    let found = |generation, has_previous| FileState { generation, has_previous, set: 5 };
    for (files, agreed) in [
        ([found(0, false), found(0, false)], Some(0)),
        ([found(0, false), found(1, true)], Some(0)),
        ([found(2, true), found(3, true)], Some(2)),
        ([found(3, false), found(3, true)], Some(3)),
        ([found(0, false), found(1, false)], None),
        ([found(0, false), found(2, true)], None),
        ([found(1, true), found(3, true)], None),
        ([found(1, true), found(2, false)], None),
        ([found(4, true), found(2, true)], None),
    ] {
        assert_eq!(agree(&files).ok(), agreed, "{files:?}");
        assert_eq!(agree(&[files[1], files[0]]).ok(), agreed, "{files:?}");
    }
    let (pe, error) = agree(&[found(3, true), FileState { set: 6, ..found(3, true) }]).unwrap_err();
    assert_eq!(pe, 1);
    assert_says(error, &["PE 0 has persist 3, PE 1 has persist 3 of another heap; put back"]);
}

#[derive(Clone, Debug)]
enum Change {
    /// A byte of the headers or of the layout.
    Byte(u64, u8),
    Length(u64),
    /// The file of a PE after a persist.
    Back(usize, usize),
    Junk(Vec<u8>),
    Gone,
    /// Size, bytes of the layout and persist in a header whose checksum is right.
    Forged([u64; 3]),
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let headers = prop_oneof![0..64_u64, 4096..4160_u64, 8192..8240_u64];
    let lengths = prop_oneof![0..20_000_u64, (2 << 20) - 3..(2 << 20) + 200_000_u64, 0..1_u64 << 42];
    let number = || prop_oneof![0..5_u64, Just(34), Just(SIZE), any::<u64>(), Just(u64::MAX)];
    let change = prop_oneof![
        4 => (headers, 1..=u8::MAX).prop_map(|(at, bits)| Change::Byte(at, bits)),
        2 => lengths.prop_map(Change::Length),
        4 => (0..3_usize, 0..PES).prop_map(|(time, pe)| Change::Back(time, pe)),
        1 => prop::collection::vec(any::<u8>(), 0..9000).prop_map(Change::Junk),
        1 => Just(Change::Gone),
        2 => [number(), number(), number()].prop_map(Change::Forged),
    ];
    prop::collection::vec((0..PES, change), 1..5)
}

/// Changes a file. `false`: its areas may then hold anything, because only headers have a checksum.
fn change(heap: &Heap, pe: usize, change: Change, history: &[[Vec<u8>; PES]]) -> bool {
    let file =
        || File::options().read(true).write(true).create(true).truncate(false).open(heap.path(pe)).unwrap();
    match change {
        Change::Byte(at, bits) => {
            let mut byte = [0];
            if Disk::read(&file(), at, &mut byte).is_ok() {
                Disk::write(&file(), at, &[byte[0] ^ bits]).unwrap();
            }
        }
        // Holes, which take no blocks.
        Change::Length(length) => {
            file().set_len(length).unwrap();
            return length >= areas().end();
        }
        Change::Back(time, other) => heap.write(pe, &history[time][other]),
        Change::Junk(junk) => heap.write(pe, &junk),
        Change::Gone => _ = std::fs::remove_file(heap.path(pe)),
        Change::Forged([size, layout, generation]) => {
            let mut words: [u64; 8] = bytemuck::cast(Header::new(&identity(pe)));
            (words[2], words[3], words[5]) = (size, layout, generation);
            words[7] = fingerprint(bytemuck::cast_slice(&words[..7]).iter().copied());
            for slot in 0..2 {
                Disk::write(&file(), slot * HEADER_PAGE as u64, bytemuck::cast_slice(&words)).unwrap();
            }
            return false;
        }
    }
    true
}

#[test]
fn what_somebody_has_changed_is_refused_or_what_a_persist_has_kept() {
    let heap = Heap(Tree::new());
    let history: Vec<[Vec<u8>; PES]> = (1..=3)
        .map(|persist| {
            assert_eq!(heap.persist(), persist);
            std::array::from_fn(|pe| heap.read(pe))
        })
        .collect();
    let cases = ProptestConfig::default().cases.min(128);
    let config = ProptestConfig { cases, ..ProptestConfig::with_source_file(file!()) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let opened = std::cell::Cell::new(0);
    let ran = runner.run(&changes(), |changes| {
        (0..PES).for_each(|pe| heap.write(pe, &history[2][pe]));
        let mut is_whole = [true; PES];
        for (pe, what) in changes {
            let is_back = matches!(what, Change::Back(..));
            is_whole[pe] = change(&heap, pe, what, &history) && (is_whole[pe] || is_back);
        }
        match heap.open() {
            Ok((persist, mut files)) => {
                opened.set(opened.get() + 1);
                for pe in (0..PES).filter(|pe| is_whole[*pe]) {
                    prop_assert_eq!(
                        heap.filled(pe),
                        Some(value(pe, persist)),
                        "PE {} in persist {}",
                        pe,
                        persist
                    );
                }
                files.iter_mut().for_each(|file| file.persist().unwrap());
            }
            Err(why) => {
                prop_assert!(why.contains("heap.") || why.contains("do not belong together"), "{why}")
            }
        }
        Ok(())
    });
    ran.unwrap();
    assert!(cases < 128 || opened.get() > 5, "some changes are harmless: {opened:?} of {cases}");
}
