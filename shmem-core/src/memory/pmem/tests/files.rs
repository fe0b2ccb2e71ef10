//! Real files of two PEs: what is made, what is refused, what is put right. Files that somebody has changed, cut, mixed up or
//! put back are refused, or give a persist; an opening takes neither for ever nor as much memory as a file asks for.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::fixture::{Tree, assert_says};
use crate::memory::pmem::file::Disk;
use crate::memory::pmem::header::{Areas, HEADER_PAGE};
use crate::memory::pmem::{Identity, PmemFile, agree};

const SIZE: u64 = 64 << 10;
const PES: usize = 2;

fn identity(pe: usize) -> Identity {
    let layout = "partition 4 `keep`\n`grid` at 0x40\n".to_owned();
    let what = "partition 4 `keep` (TEST)".to_owned();
    Identity { what, size: SIZE, pe: pe as u32, pes: PES as u32, layout }
}

fn areas() -> Areas {
    Areas::new(SIZE, identity(0).layout.len() as u64).unwrap()
}

/// What every byte of a PE is in a persist; 0: before the first.
fn value(pe: usize, persist: u64) -> u8 {
    if persist == 0 { 0 } else { (10 * persist + pe as u64) as u8 }
}

#[track_caller]
fn refused(path: &Path, identity: &Identity, why: &str) {
    let error = PmemFile::open(path, identity).unwrap_err();
    assert!(!error.is_without_file, "{error}");
    assert_says(error, &[why]);
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
        let open = |pe| PmemFile::open(&self.path(pe), &identity(pe)).map_err(|error| error.to_string());
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
        let bytes = self.read(pe);
        let work = &bytes[areas().work as usize..][..areas().bytes as usize];
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

/// Bytes at an offset of a file.
type Write<'b> = (u64, &'b [u8]);

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
    // In a header and behind it; the mark that each begins with.
    let (behind, mark) = ([9; 100], [9; 8]);
    let foreign = "holds something else than a partition";
    let header = "one of its two headers cannot be read, and is not what a crash leaves of one; the other one says persist 1";
    let before = header.replace("persist 1", "persist 0");
    let changes: [(&str, &[Write<'_>]); 5] = [
        ("is damaged: its description of the layout", &[(2 * slot, &[0; 10])]),
        (header, &[(60, &behind)]),
        (&before, &[(slot + 60, &behind)]),
        (foreign, &[(60, &behind), (slot + 40, &behind)]),
        (foreign, &[(0, &mark), (slot, &mark)]),
    ];
    for (why, changes) in changes {
        changes.iter().for_each(|(at, bytes)| Disk::write(&heap.raw(0), *at, bytes).unwrap());
        refused(&path, &identity(0), why);
        heap.write(0, &whole);
    }
    assert_eq!(heap.open().unwrap().0, 1, "and nothing was lost");
    rustix::fs::ftruncate(heap.raw(0), areas().end() - 1).unwrap();
    refused(&path, &identity(0), "is damaged: it has");
    heap.write(0, b"short");
    refused(&path, &identity(0), foreign);
    assert_eq!(heap.read(0), b"short");
}

/// A link of the user's own is followed, one of another user is not, wherever it leads.
#[test]
fn links_of_other_users_are_refused() {
    use std::os::unix::fs::{lchown, symlink};
    let heap = Heap(Tree::new());
    let (path, link) = (heap.path(0), heap.0.root().join("link"));
    heap.persist();
    symlink(&path, &link).unwrap();
    assert_eq!(PmemFile::open(&link, &identity(0)).unwrap().generation(), 1);
    let nobody = 65534;
    if lchown(&link, Some(nobody), None).is_err() {
        return eprintln!("skipped: only root makes links of other users");
    }
    refused(&link, &identity(0), "belongs to user 65534");
    std::os::unix::fs::chown(&path, Some(nobody), None).unwrap();
    refused(&path, &identity(0), "belongs to user 65534");
}

/// Nothing happens at what is not a file: a pipe that was opened would wait for its other end.
#[test]
fn what_is_no_file_is_refused() {
    use rustix::fs::{CWD, FileType, Mode};
    let tree = Tree::new();
    refused(tree.root(), &identity(0), "is no file but a directory");
    let pipe = tree.root().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    refused(&pipe, &identity(0), "is no file but a pipe or socket");
    let huge = tree.root().join("huge");
    for (path, size, why) in [
        (Path::new("/proc/self/heap.0"), SIZE, "the file system of /proc/self takes no new files; name"),
        (&huge, 1 << 61, "it takes"),
    ] {
        let error = PmemFile::open(path, &Identity { size, ..identity(0) }).unwrap_err();
        assert!(error.is_without_file);
        assert_says(error, &[why]);
    }
    assert!(!huge.exists(), "what could not be made is not there");
}

#[derive(Clone, Debug)]
enum Change {
    /// A byte of the headers or of the layout.
    Byte(usize, u8),
    Length(u64),
    /// As it was after a persist.
    Back(usize),
    /// The file of the other PE, of some time.
    Other(usize),
    Junk(Vec<u8>),
    Gone,
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let headers = prop_oneof![0..64_usize, 4096..4160_usize, 8192..8240_usize];
    let ends = prop_oneof![0..20_000_u64, (2 << 20) - 3..(2 << 20) + 200_000_u64];
    let change = prop_oneof![
        4 => (headers, 1..=u8::MAX).prop_map(|(at, bits)| Change::Byte(at, bits)),
        2 => ends.prop_map(Change::Length),
        3 => (0..3_usize).prop_map(Change::Back),
        1 => (0..3_usize).prop_map(Change::Other),
        1 => prop::collection::vec(any::<u8>(), 0..9000).prop_map(Change::Junk),
        1 => Just(Change::Gone),
    ];
    prop::collection::vec((0..PES, change), 1..5)
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
        (0..PES).for_each(|pe| heap.write(pe, &history[history.len() - 1][pe]));
        // Headers carry a checksum, areas do not: what was cut off is gone, whatever length the file has later.
        let mut cut = [false; PES];
        for (pe, change) in changes {
            let mut bytes = std::fs::read(heap.path(pe)).unwrap_or_default();
            match change {
                Change::Byte(at, bits) => {
                    bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bits);
                    heap.write(pe, &bytes);
                }
                Change::Length(length) => {
                    bytes.resize(length as usize, 0);
                    heap.write(pe, &bytes);
                    cut[pe] |= length < areas().end();
                }
                Change::Back(time) => {
                    heap.write(pe, &history[time][pe]);
                    cut[pe] = false;
                }
                Change::Other(time) => heap.write(pe, &history[time][1 - pe]),
                Change::Junk(junk) => heap.write(pe, &junk),
                Change::Gone => _ = std::fs::remove_file(heap.path(pe)),
            }
        }
        let persist = match heap.open() {
            Ok((persist, _)) => persist,
            Err(why) => {
                assert!(why.contains("heap.") || why.contains("do not belong together"), "{why}");
                return Ok(());
            }
        };
        opened.set(opened.get() + 1);
        for pe in (0..PES).filter(|pe| !cut[*pe]) {
            prop_assert_eq!(heap.filled(pe), Some(value(pe, persist)), "PE {} in persist {}", pe, persist);
        }
        Ok(())
    });
    ran.unwrap();
    assert!(cases < 128 || opened.get() > 5, "some changes are harmless: {opened:?} of {cases}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whoever knows the checksum can write any header.
    #[test]
    fn a_header_may_say_anything(
        generation in prop_oneof![0..5_u64, any::<u64>(), Just(u64::MAX)],
        size in prop_oneof![Just(SIZE), any::<u64>()],
        layout in prop_oneof![Just(34_u64), any::<u64>(), 0..1_u64 << 41],
        length in prop_oneof![Just(areas().end()), 0..1_u64 << 42],
    ) {
        let heap = Heap(Tree::new());
        drop(heap.open().unwrap());
        for pe in 0..PES {
            let mut page = heap.read(pe)[..HEADER_PAGE].to_vec();
            for (at, word) in [(2, size), (3, layout), (5, generation)] {
                page[at * 8..at * 8 + 8].copy_from_slice(&word.to_ne_bytes());
            }
            let sum = crate::hash::fingerprint(page[..56].iter().copied());
            page[56..64].copy_from_slice(&sum.to_ne_bytes());
            let file = heap.raw(pe);
            for slot in 0..2 {
                Disk::write(&file, slot * HEADER_PAGE as u64, &page).unwrap();
            }
            // Of holes, which cost nothing.
            _ = file.set_len(length);
        }
        if let Ok((_, mut files)) = heap.open() {
            files.iter_mut().for_each(|file| file.persist().unwrap());
        }
    }
}
