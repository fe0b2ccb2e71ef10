//! Arenas in one process. One arena attaches what another has created, as that of another process would.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::Relaxed;

use rustix::io::Errno;
use shmem_grammar::{Kind, Policy, Traits};

use super::{NO_FILES, layout, plain, reserve, smaps_line, word};
use crate::fixture::{Tree, assert_says};
use crate::memory::{
    Arena, DynamicRange, FilePart, Identity, Machine, OWN_ALIGN, OwnMemory, PmemFile, Request, mapping,
};
use crate::partition::{Grant, PartitionSpec};

const M: usize = 1 << 20;
const G: usize = 1 << 30;

fn arena(specs: &[PartitionSpec], slots: usize) -> Arena {
    reserve(specs, slots, Machine::default()).unwrap()
}

/// The number of mappings that overlap an arena.
pub(super) fn mappings(arena: &Arena) -> usize {
    let start = arena.base() as usize;
    let end = start + arena.slots() * arena.stride();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let inside = |line: &&str| {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let hex = |n| usize::from_str_radix(n, 16).unwrap();
        hex(from) < end && hex(to) > start
    };
    maps.lines().filter(inside).count()
}

/// Whether core dumps leave out what is mapped at an address: `dd` among the `VmFlags` of proc(5).
fn is_left_out_of_dumps(address: *const u8) -> bool {
    smaps_line(address as usize, "VmFlags:").split(' ').any(|flag| flag == "dd")
}

#[test]
fn core_dumps_have_the_own_place_and_not_those_of_peers() {
    let specs = [plain(1, 4 << 20)];
    let (made, attached) = (arena(&specs, 2), arena(&specs, 2));
    let mine = made.create(0, NO_FILES).unwrap();
    attached.attach(0, None, &mine.descriptors, &mine.parts).unwrap();
    assert!(!is_left_out_of_dumps(made.start_of(0)) && is_left_out_of_dumps(attached.start_of(0)));
}

#[test]
fn the_own_place_starts_at_a_multiple_of_what_its_blocks_are_aligned_to() {
    for slot in 0..5 {
        let layout = layout(&[plain(1, M as u64)], 0);
        let unit = layout.unit();
        let arena = Arena::reserve(slot, layout, 5, 5, Machine::default()).unwrap();
        assert!((arena.start_of(slot) as usize).is_multiple_of(OWN_ALIGN), "slot {slot}");
        assert!((arena.base() as usize).is_multiple_of(unit), "slot {slot}");
    }
}

#[test]
fn places_may_have_more_memory_than_any_machine_and_mappings_do_not_grow_with_partitions() {
    let specs: Vec<_> = (1..=127).map(|id| plain(id, G as u64)).collect();
    let (made, attached) = (arena(&specs, 64), arena(&specs, 64));
    assert!(made.stride() > 127 * G);
    for slot in 0..64 {
        let OwnMemory { descriptors, parts, grants } = made.create(slot, NO_FILES).unwrap();
        assert_eq!((descriptors.len(), &grants[..]), (1, &vec![Grant::plain(G as u64, 4096); 127][..]));
        attached.attach(slot, None, &descriptors, &parts).unwrap();
    }
    // The slot, and the addresses behind it.
    assert!(mappings(&attached) <= 2 * 64, "{}", mappings(&attached));
    // The system area, the partitions with their advice, and the addresses behind them.
    assert!(mappings(&made) <= 3 * 64, "{}", mappings(&made));
    let places = |slot| {
        let partitions = [0, 126].map(|k| made.layout().partition(k));
        let words = [0, partitions[0].start, partitions[1].end - 64].into_iter().enumerate();
        words.map(move |(number, offset)| (offset, (slot * 3 + number) as u64))
    };
    for (slot, (offset, value)) in (0..64).flat_map(|slot| places(slot).map(move |place| (slot, place))) {
        word(&attached, slot, offset).store(value, Relaxed);
    }
    for (slot, (offset, value)) in (0..64).flat_map(|slot| places(slot).map(move |place| (slot, place))) {
        assert_eq!(word(&made, slot, offset).load(Relaxed), value);
    }
}

#[test]
fn peers_that_lie_are_refused_and_nothing_stays_mapped() {
    let specs = [plain(1, 4 << 20), plain(2, 4 << 20)];
    let (made, attached) = (arena(&specs, 1), arena(&specs, 1));
    let OwnMemory { descriptors, parts, .. } = made.create(0, NO_FILES).unwrap();
    let size = made.layout().bytes() as u64;
    let list = |words: &[u64]| -> Vec<FilePart> {
        let part = |words: &[u64; 5]| {
            let [offset, bytes, file, at, page] = *words;
            FilePart { offset, bytes, file, at, page }
        };
        words.as_chunks().0.iter().map(part).collect()
    };
    assert_eq!(parts, list(&[0, size, 0, 0, 4096]), "one part");
    let lies: &[(&[u64], &str)] = &[
        (&[], "end at 0x0"),
        (&[0, size - 4096, 0, 0, 4096], "end at"),
        (&[0, size + 4096, 0, 0, 4096], "beyond"),
        (&[0, u64::MAX - 4095, 0, 4096, 4096], "beyond"),
        (&[4096, size - 4096, 0, 0, 4096], "follows"),
        (&[0, 4096, 0, 0, 4096, 8192, size - 8192, 0, 8192, 4096], "follows"),
        (&[0, 8192, 0, 0, 4096, 4096, size - 4096, 0, 4096, 4096], "follows"),
        (&[0, 0, 0, 0, 4096, 0, size, 0, 0, 4096], "follows"),
        (&[0, size, 1, 0, 4096], "file 1 of 1"),
        (&[0, size, 0, 4096, 4096], "parts up to"),
        (&[0, size, 0, 0, 2 << 20], "file 0 has pages of"),
        (&[0, size, 0, 0, 0], "pages of 0"),
        (&[0, size, 0, 0, 64], "pages of 64"),
        (&[0, size, 0, 64, 4096], "does not consist of pages"),
    ];
    let refuse = |files: &[OwnedFd], parts: &[FilePart], part: &str| {
        let error = attached.attach(0, None, files, parts).unwrap_err();
        assert_says(error, &["the PE in slot 0", part]);
    };
    for (words, part) in lies {
        refuse(&descriptors, &list(words), part);
    }
    refuse(&[], &parts, "file 0 of 0");
    let open = mapping::memfd(None).unwrap();
    mapping::resize(&open, size).unwrap();
    refuse(&[open], &parts, "not sealed");
    let small = mapping::memfd(None).unwrap();
    mapping::resize(&small, size - 4096).unwrap();
    mapping::seal(&small).unwrap();
    refuse(&[small], &parts, "has");
    refuse(&[std::fs::File::open("/dev/null").unwrap().into()], &parts, "not a memfd");
    let read_only = mapping::memfd(None).unwrap();
    mapping::resize(&read_only, size).unwrap();
    rustix::fs::fcntl_add_seals(&read_only, rustix::fs::SealFlags::WRITE | mapping::SEALS).unwrap();
    let error = attached.attach(0, None, &[read_only], &parts).unwrap_err();
    assert_says(error, &["mmap failed while mapping the memory of a peer"]);
    assert_eq!(mappings(&attached), 1);
    attached.attach(0, None, &descriptors, &parts).unwrap();
    word(&made, 0, 4096).store(5, Relaxed);
    assert_eq!(word(&attached, 0, 4096).load(Relaxed), 5);
}

#[test]
#[should_panic(expected = "has memory at")]
fn a_slot_is_filled_once() {
    let arena = arena(&[plain(1, 4 << 20)], 1);
    drop(arena.create(0, NO_FILES).unwrap());
    drop(arena.create(0, NO_FILES));
}

fn in_file(directory: &std::path::Path) -> (PartitionSpec, BTreeMap<usize, PmemFile>) {
    let traits = Traits { kind: Some(Kind::Pmem), policy: Some(Policy::Mandatory), ..Traits::NONE };
    let spec = PartitionSpec { traits, explicit: true, ..plain(2, 3 << 20) };
    let identity = Identity { what: spec.title(), size: spec.size, pe: 0, pes: 1, layout: "nothing".into() };
    let mut file = PmemFile::open(&directory.join("heap.0"), &identity).unwrap();
    file.settle(0, 1).unwrap();
    (spec, BTreeMap::from([(1, file)]))
}

#[test]
fn a_file_that_is_not_sealed_is_taken_only_where_it_belongs() {
    let tree = Tree::new();
    let (spec, files) = in_file(tree.root());
    let specs = [plain(1, M as u64), spec];
    let OwnMemory { descriptors, parts, .. } = arena(&specs, 1).create(0, &files).unwrap();
    // A peer whose partition 2 is ordinary memory.
    let ordinary = arena(&[plain(1, M as u64), plain(2, 3 << 20)], 1);
    let error = ordinary.attach(0, None, &descriptors, &parts).unwrap_err().to_string();
    assert!(error.contains("is not sealed") || error.contains("is not a memfd"), "{error}");
    // A file that was cut short.
    let named = descriptors.iter().find(|file| rustix::fs::fstat(file).unwrap().st_nlink == 1).unwrap();
    rustix::fs::ftruncate(named, 4 << 20).unwrap();
    let error = arena(&specs, 1).attach(0, None, &descriptors, &parts).unwrap_err().to_string();
    assert!(error.contains("and parts up to"), "{error}");
}

#[test]
fn memory_that_was_there_before_is_a_segment_of_every_arena() {
    let (mine, theirs) = (arena(&[plain(1, M as u64)], 1), arena(&[plain(1, M as u64)], 1));
    let page = rustix::param::page_size();
    let memfd = mapping::memfd(None).unwrap();
    mapping::resize(&memfd, 3 * page as u64).unwrap();
    rustix::io::pwrite(&memfd, &[7], page as u64).unwrap();
    let request = Request::plain("what was there", 3 * page);
    let offset = DynamicRange::new(mine.layout()).allocate(request.bytes, request.room()).unwrap().offset;
    let OwnMemory { descriptors, parts, grants } =
        mine.create_dynamic(0, offset, &request, memfd.try_clone().ok()).unwrap();
    assert_eq!((descriptors.len(), grants[0].size, grants[0].populated), (1, 3 * page as u64, false));
    assert_eq!(mapping::resize(&memfd, 0), Err(Errno::PERM), "sealed");
    theirs.attach(0, Some((offset, &request)), &descriptors, &parts).unwrap();
    for arena in [&mine, &theirs] {
        assert_eq!(word(arena, 0, offset + page).load(Relaxed), 7);
    }
    word(&theirs, 0, offset + 2 * page).store(8, Relaxed);
    assert_eq!(word(&mine, 0, offset + 2 * page).load(Relaxed), 8);
    let mut byte = [0];
    rustix::io::pread(&memfd, &mut byte, 2 * page as u64).unwrap();
    assert_eq!(byte, [8], "it is where it was, too");
    // SAFETY: nobody refers to it any more.
    unsafe { mine.remove_dynamic(0, offset) };
    // What is sealed already is taken as well; what is shorter than it is said to be is not taken by others.
    let longer = Request::plain("what was there", 4 * page);
    let short = mine.create_dynamic(0, offset, &longer, Some(memfd)).unwrap();
    let again = arena(&[plain(1, M as u64)], 1);
    assert!(again.attach(0, Some((offset, &longer)), &short.descriptors, &short.parts).is_err());
}
