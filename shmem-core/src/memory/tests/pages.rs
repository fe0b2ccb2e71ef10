//! Pages of each sort, as the kernel of this machine makes them.

use std::sync::atomic::Ordering::Relaxed;

use shmem_grammar::{Kind, Policy, Traits};

use super::{NO_FILES, add_pool, paged, plain, reserve, smaps_line, word};
use crate::fixture::{Tree, assert_says, in_child};
use crate::memory::pages::PageSizes;
use crate::memory::{Arena, Machine, OwnMemory, mapping};
use crate::partition::{Pages, PartitionSpec};
use crate::proc_sys::Root;

const M: u64 = 1 << 20;
const HUGE: u64 = 2 << 20;

fn arena(specs: &[PartitionSpec], machine: Machine) -> Arena {
    reserve(specs, 1, machine).unwrap()
}

/// Returns the size `key` in /proc/self/smaps, in bytes, of the mapping that holds an address.
fn smaps(address: usize, key: &str) -> u64 {
    let line = smaps_line(address, key);
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn heap(arena: &Arena, k: usize) -> usize {
    arena.start_of(0) as usize + arena.layout().partition(k).start
}

/// A `/sys` without pools of huge pages, so that tests use none up. Skips the test without transparent huge pages.
pub(super) fn without_pools() -> Option<Tree> {
    let file = "kernel/mm/transparent_hugepage/hpage_pmd_size";
    let Ok(size) = std::fs::read_to_string(format!("/sys/{file}")) else {
        println!("skipped: no transparent huge pages");
        return None;
    };
    if size.trim() != HUGE.to_string() {
        println!("skipped: transparent huge pages of {} bytes", size.trim());
        return None;
    }
    let tree = Tree::new();
    tree.write(&format!("sys/{file}"), &size);
    Some(tree)
}

#[test]
fn merged_pages_are_huge_when_the_grant_says_so() {
    let Some(tree) = without_pools() else { return };
    for policy in [Policy::Preferred, Policy::Mandatory] {
        let specs = [plain(1, 5 * M), paged(2, 130 * M, HUGE, policy), plain(3, M)];
        let arena = arena(&specs, Machine::at(tree.root()));
        let mine = match arena.create(0, NO_FILES) {
            Err(error) if policy == Policy::Mandatory => {
                return assert_says(error, &["which could not be made"]);
            }
            mine => mine.unwrap(),
        };
        let grant = &mine.grants[1];
        if grant.pages != Pages::Transparent {
            assert_eq!(policy, Policy::Preferred);
            println!("skipped: the kernel does not merge pages: {:?}", grant.downgrades);
            continue;
        }
        assert_eq!((grant.pgsize, grant.populated, grant.downgrades.len()), (HUGE, true, 0));
        assert_eq!(smaps(heap(&arena, 1), "ShmemPmdMapped:"), 130 * M);
        assert_eq!((mine.grants[0].pages, mine.grants[0].populated), (Pages::Base, false));
        assert_eq!(mine.descriptors.len(), 1, "no file of its own");
    }
}

#[test]
fn pages_that_cannot_be_merged_are_base_pages_and_reported() {
    let Some(tree) = without_pools() else { return };
    in_child(|| {
        // SAFETY: the option takes plain numbers.
        let result = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
        let machine = Machine::at(tree.root());
        let specs = [plain(1, M), paged(2, 8 * M, HUGE, Policy::Preferred)];
        let one = arena(&specs, machine.clone());
        let mine = one.create(0, NO_FILES).unwrap();
        let grant = &mine.grants[1];
        assert_eq!((grant.pages, grant.pgsize, grant.populated), (Pages::Base, 4096, true));
        assert!(grant.downgrades[0].contains("could not be made"), "{:?}", grant.downgrades);
        assert_eq!(smaps(heap(&one, 1), "Rss:"), 8 * M);
        let specs = [paged(2, 8 * M, HUGE, Policy::Mandatory)];
        assert!(arena(&specs, machine).create(0, NO_FILES).is_err());
    });
}

/// A machine that says it has huge pages of 2 MiB in a pool, in which there are none.
fn empty_pool() -> Option<Tree> {
    let real = PageSizes::read(&Root::default(), 4096);
    if real.pools.iter().find(|pool| pool.size == HUGE).is_none_or(|pool| pool.free > 0) {
        println!("skipped: no pool of pages of 2 MiB, or it is not empty");
        return None;
    }
    let tree = Tree::new();
    add_pool(&tree, HUGE, 1000, 1000, &[]);
    Some(tree)
}

#[test]
fn an_empty_pool_is_an_error_and_no_signal() {
    let Some(tree) = empty_pool() else { return };
    let file = mapping::memfd(Some(HUGE)).unwrap();
    mapping::resize(&file, 8 * M).unwrap();
    let mapping = mapping::Reservation::of(&file, 0, 8 << 20);
    assert!(mapping.and_then(|mapping| mapping.populate(0..8 << 20, HUGE as usize)).is_err());
    let machine = Machine::at(tree.root());
    let error =
        arena(&[paged(1, 8 * M, HUGE, Policy::Mandatory)], machine.clone()).create(0, NO_FILES).unwrap_err();
    assert_says(error, &["which could not be taken"]);
    let arena = arena(&[plain(1, M), paged(2, 8 * M, HUGE, Policy::Preferred)], machine);
    let mine = arena.create(0, NO_FILES).unwrap();
    let grant = &mine.grants[1];
    assert_eq!((grant.pages, grant.pgsize, grant.populated), (Pages::Base, 4096, true));
    assert!(grant.downgrades[0].contains("could not be taken"), "{:?}", grant.downgrades);
    assert_eq!(mine.descriptors.len(), 1);
    assert_eq!(smaps(heap(&arena, 1), "Rss:"), 8 * M);
}

#[test]
fn pages_of_a_pool_are_shared_with_peers() {
    let real = PageSizes::read(&Root::default(), 4096);
    if !real.pools.iter().any(|pool| pool.size == HUGE && pool.free >= 10) {
        println!("skipped: fewer than 10 huge pages of 2 MiB are free");
        return;
    }
    let specs = [
        plain(1, 5 * M),
        paged(2, 6 * M, HUGE, Policy::Mandatory),
        paged(3, 4 * M, HUGE, Policy::Preferred),
        plain(4, 5 * M),
    ];
    let made = arena(&specs, Machine::default());
    let OwnMemory { descriptors, parts, grants } = made.create(0, NO_FILES).unwrap();
    assert_eq!(descriptors.len(), 2, "base pages and one class of huge pages");
    let pages: Vec<_> = grants.iter().map(|grant| grant.pages).collect();
    assert_eq!(pages, [Pages::Base, Pages::HugeTlb, Pages::HugeTlb, Pages::Base]);
    let attached = arena(&specs, Machine::default());
    attached.attach(0, None, &descriptors, &parts).unwrap();
    for k in 0..4 {
        let heap = made.layout().partition(k);
        for offset in [heap.start.next_multiple_of(8), (heap.end - 8) / 8 * 8] {
            word(&made, 0, offset).store(offset as u64, Relaxed);
            assert_eq!(word(&attached, 0, offset).load(Relaxed), offset as u64);
        }
    }
    for arena in [&made, &attached] {
        assert_eq!(smaps(heap(arena, 1), "KernelPageSize:"), HUGE);
        assert_eq!(smaps(heap(arena, 2), "KernelPageSize:"), HUGE);
        assert_eq!(smaps(heap(arena, 3), "KernelPageSize:"), 4096);
    }
}

#[test]
fn explicit_partitions_are_populated_and_reserved_ones_cost_nothing() {
    let traits = Traits { kind: Some(Kind::NormalMem), ..Traits::NONE };
    let populated = PartitionSpec { traits, explicit: true, ..plain(2, 200 * M) };
    let arena = arena(&[plain(1, 300 * M), populated], Machine::default());
    let mine = arena.create(0, NO_FILES).unwrap();
    assert_eq!((mine.grants[0].populated, mine.grants[1].populated), (false, true));
    let blocks = rustix::fs::fstat(&mine.descriptors[0]).unwrap().st_blocks as u64 * 512;
    assert!((200 * M..204 * M).contains(&blocks), "{blocks} bytes");
}

#[test]
fn huge_pages_are_advised_where_nobody_said_anything() {
    if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        println!("skipped: no transparent huge pages");
        return;
    }
    let with = |id, traits| PartitionSpec { traits, ..plain(id, 4 * M) };
    let specs = [
        plain(1, 4 * M),
        with(2, Traits { kind: Some(Kind::SysDefault), ..Traits::NONE }),
        with(3, Traits { policy: Some(Policy::SysDefault), ..Traits::NONE }),
        paged(4, 4 * M, 4096, Policy::Preferred),
        with(5, Traits { kind: Some(Kind::NormalMem), ..Traits::NONE }),
    ];
    let arena = arena(&specs, Machine::default());
    arena.create(0, NO_FILES).unwrap();
    let advised = |k| smaps_line(heap(&arena, k), "VmFlags:").split_whitespace().any(|flag| flag == "hg");
    assert_eq!([0, 1, 2, 3, 4].map(advised), [true, false, false, false, true]);
}
