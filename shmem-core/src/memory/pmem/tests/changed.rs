//! Files of two PEs that somebody has changed, cut, mixed up or put back: an opening refuses them, or gives what a
//! persist has kept. It takes neither for ever nor as much memory as a file asks for.

use std::path::PathBuf;

use proptest::prelude::*;

use super::files::identity_of;
use crate::fixture::Tree;
use crate::memory::pmem::format::{Geometry, SLOT};
use crate::memory::pmem::{Identity, PmemFile, agree};

const SIZE: u64 = 64 << 10;
const PES: usize = 2;

fn identity(pe: usize) -> Identity {
    identity_of(SIZE, pe, PES)
}

fn geometry() -> Geometry {
    Geometry::new(SIZE, identity(0).layout.len() as u64).unwrap()
}

/// What every byte of a PE is in a persist; 0: before the first.
fn value(pe: usize, persist: u64) -> u8 {
    if persist == 0 { 0 } else { (10 * persist + pe as u64) as u8 }
}

/// A heap: a file for each PE.
struct Heap(Tree);

impl Heap {
    fn path(&self, pe: usize) -> PathBuf {
        self.0.root().join(format!("heap.{pe}"))
    }

    fn read(&self, pe: usize) -> Vec<u8> {
        std::fs::read(self.path(pe)).unwrap()
    }

    fn write(&self, pe: usize, bytes: &[u8]) {
        std::fs::write(self.path(pe), bytes).unwrap();
    }

    /// Opens all files, comes to what they agree on, and gives that; `None`: refused.
    fn open(&self) -> Option<(u64, Vec<PmemFile>)> {
        let open = |pe| PmemFile::open(&self.path(pe), &identity(pe));
        let files: Result<Vec<_>, _> = (0..PES).map(open).collect();
        let mut files = match files {
            Ok(files) => files,
            Err(error) => {
                assert!(error.to_string().contains("heap."), "{error}");
                return None;
            }
        };
        let found: Vec<_> = files.iter().map(PmemFile::found).collect();
        let persist = agree(&found).ok()?;
        files.iter_mut().for_each(|file| file.settle(persist, 5).unwrap());
        Some((persist, files))
    }

    /// The files as jobs leave them, after each persist and in the middle of the last one.
    fn history(&self) -> Vec<Vec<Vec<u8>>> {
        let snapshot = || (0..PES).map(|pe| self.read(pe)).collect::<Vec<_>>();
        let mut history = Vec::new();
        for persist in 1..=3 {
            let (before, mut files) = self.open().unwrap();
            assert_eq!(before, persist - 1);
            for (pe, file) in files.iter_mut().enumerate() {
                self.scribble(pe, value(pe, persist));
                file.prepare().unwrap();
            }
            if persist == 3 {
                history.push(snapshot());
            }
            files.iter_mut().for_each(|file| file.complete().unwrap());
            history.push(snapshot());
        }
        history
    }

    /// Overwrites the working area, as a program does.
    fn scribble(&self, pe: usize, with: u8) {
        let mut bytes = self.read(pe);
        let work = geometry().work as usize..geometry().copy as usize;
        if let Some(work) = bytes.get_mut(work) {
            work.fill(with);
        }
        let file = std::fs::File::options().write(true).open(self.path(pe)).unwrap();
        // In place: who has the file mapped keeps it.
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
    }
}

#[derive(Clone, Debug)]
enum Change {
    /// A byte of the headers or of the layout.
    Byte(usize, u8),
    /// Another length.
    Length(u64),
    /// As it was after a persist, or in the middle of one.
    Back(usize),
    /// The file of the other PE, of some time.
    Other(usize),
    /// Something else.
    Junk(Vec<u8>),
    /// No file.
    Gone,
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let headers = prop_oneof![0..80_usize, 4096..4176_usize, 8192..8240_usize];
    let ends = prop_oneof![0..20_000_u64, (2 << 20) - 3..(2 << 20) + 200_000_u64];
    let change = prop_oneof![
        4 => (headers, 1..=u8::MAX).prop_map(|(at, bits)| Change::Byte(at, bits)),
        2 => ends.prop_map(Change::Length),
        3 => (0..4_usize).prop_map(Change::Back),
        1 => (0..4_usize).prop_map(Change::Other),
        1 => prop::collection::vec(any::<u8>(), 0..9000).prop_map(Change::Junk),
        1 => Just(Change::Gone),
    ];
    prop::collection::vec((0..PES, change), 1..5)
}

/// The byte that fills an area, if one does.
fn filled(bytes: &[u8]) -> Option<u8> {
    let first = *bytes.first()?;
    bytes.iter().all(|byte| *byte == first).then_some(first)
}

#[test]
fn what_somebody_has_changed_is_refused_or_what_a_persist_has_kept() {
    let heap = Heap(Tree::new());
    let history = heap.history();
    let cases = ProptestConfig::default().cases.min(128);
    let config = ProptestConfig { cases, ..ProptestConfig::with_source_file(file!()) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let opened = std::cell::Cell::new(0);
    let ran = runner.run(&changes(), |changes| {
        let last = history.len() - 1;
        (0..PES).for_each(|pe| heap.write(pe, &history[last][pe]));
        // Headers carry a checksum, areas do not. If the newest header of a file is lost without a crash, the one before
        // counts, which says that the working area holds the persist, and the copy perhaps the one before: so it
        // does, unless the files of the others were put back to that one.
        let mixed = changes.iter().any(|(_, change)| matches!(change, Change::Back(_) | Change::Other(_)));
        let mut lost = [false; PES];
        // What was cut off is gone, whatever length the file has later.
        let mut cut = [false; PES];
        for (pe, change) in changes {
            let mut bytes = std::fs::read(heap.path(pe)).unwrap_or_default();
            match change {
                Change::Byte(at, bits) => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= bits;
                    }
                    heap.write(pe, &bytes);
                    lost[pe] = true;
                }
                Change::Length(length) => {
                    bytes.resize(length as usize, 0);
                    heap.write(pe, &bytes);
                    cut[pe] |= length < geometry().end();
                }
                Change::Back(time) => {
                    heap.write(pe, &history[time][pe]);
                    (lost[pe], cut[pe]) = (false, false);
                }
                Change::Other(time) => heap.write(pe, &history[time][1 - pe]),
                Change::Junk(junk) => heap.write(pe, &junk),
                Change::Gone => _ = std::fs::remove_file(heap.path(pe)),
            }
        }
        let Some((persist, files)) = heap.open() else { return Ok(()) };
        opened.set(opened.get() + 1);
        drop(files);
        for pe in 0..PES {
            if cut[pe] || lost[pe] && mixed {
                continue;
            }
            let bytes = heap.read(pe);
            let work = &bytes[geometry().work as usize..geometry().copy as usize];
            prop_assert_eq!(filled(work), Some(value(pe, persist)), "PE {} in persist {}", pe, persist);
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
        copying in 0..=1_u64,
        generation in prop_oneof![0..5_u64, any::<u64>(), Just(u64::MAX)],
        sequence in prop_oneof![0..5_u64, any::<u64>(), Just(u64::MAX)],
        size in prop_oneof![Just(SIZE), any::<u64>()],
        layout in prop_oneof![Just(34_u64), any::<u64>(), 0..1_u64 << 41],
        length in prop_oneof![Just(geometry().end()), 0..1_u64 << 42],
    ) {
        let heap = Heap(Tree::new());
        drop(heap.open().unwrap());
        for pe in 0..PES {
            let mut page = heap.read(pe)[..SLOT as usize].to_vec();
            for (at, word) in [(1, copying), (2, generation), (3, sequence), (6, size), (7, layout)] {
                page[at * 8..at * 8 + 8].copy_from_slice(&word.to_le_bytes());
            }
            let sum = crate::fingerprint::fingerprint(page[..72].iter().copied());
            page[72..80].copy_from_slice(&sum.to_le_bytes());
            let file = std::fs::File::options().write(true).open(heap.path(pe)).unwrap();
            for slot in 0..2 {
                std::os::unix::fs::FileExt::write_all_at(&file, &page, slot * SLOT).unwrap();
            }
            // Of holes, which cost nothing.
            _ = file.set_len(length);
        }
        if let Some((_, mut files)) = heap.open() {
            for file in &mut files {
                file.prepare().unwrap();
                file.complete().unwrap();
            }
        }
    }
}
