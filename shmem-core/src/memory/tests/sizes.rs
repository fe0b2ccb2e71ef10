//! The choice of pages, on invented machines.

use shmem_grammar::{Kind, Policy, Traits};

use super::add_pool;
use crate::fixture::{Tree, assert_says};
use crate::memory::pages::{PageSizes, Pool};
use crate::memory::{Placement, Request, Spread};
use crate::partition::Pages;
use crate::proc_sys::Root;

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;
const G: u64 = 1 << 30;

fn machine(pools: &[(u64, u64, u64)], shmem: Option<&str>) -> PageSizes {
    let tree = Tree::new();
    pools.iter().for_each(|&(size, total, free)| add_pool(&tree, size, total, free, &[]));
    tree.write("sys/kernel/mm/hugepages/README", "not a pool");
    if let Some(enabled) = shmem {
        tree.write("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
        tree.write("sys/kernel/mm/transparent_hugepage/shmem_enabled", enabled);
    }
    PageSizes::read(&Root::at(tree.root()), 4 * K)
}

fn ask(asked: u64, policy: Policy, bytes: u64) -> Request {
    let traits = Traits { pgsize: Some(asked), policy: Some(policy), ..Traits::NONE };
    Request { traits, ..Request::plain("a", bytes as usize) }
}

fn chosen(sizes: &PageSizes, asked: u64, policy: Policy, bytes: u64) -> Result<(Pages, u64, bool), String> {
    let request = ask(asked, policy, bytes);
    sizes.choose(&request, request.room()).map(|c| (c.pages, c.size, c.downgrade.is_some()))
}

const NEVER: Option<&str> = Some("always within_size advise [never] deny force\n");
const DENY: Option<&str> = Some("always within_size advise never [deny] force\n");

/// The smallest sufficient size is taken. Without a sufficient size, MANDATORY is an error, and other policies report a downgrade.
#[test]
fn the_whole_choice() {
    use Pages::{Base, HugeTlb, Transparent};
    use Policy::{Interleaved, Mandatory, Preferred, SysDefault};
    let rich = machine(&[(G, 2, 2), (2 * M, 100, 100)], NEVER);
    let short = machine(&[(G, 4, 1), (2 * M, 100, 100)], NEVER);
    let pool_first = machine(&[(64 * K, 9999, 9999), (2 * M, 1000, 1000)], NEVER);
    let poor = machine(&[(64 * K, 9999, 9999)], DENY);
    let bare = machine(&[], None);
    // A start that is aligned to the pages asked for may not do for larger ones.
    let large = machine(&[(32 * M, 100, 100)], None);
    for (sizes, asked, policies, bytes, expected) in [
        (&rich, 4 * K, &[Mandatory, Preferred][..], M, Some((Base, 4 * K, false))),
        (&rich, 8 * K, &[Mandatory], 64 * M, Some((HugeTlb, 2 * M, false))),
        (&rich, 2 * M, &[Mandatory], 200 * M, Some((HugeTlb, 2 * M, false))),
        (&rich, 2 * M, &[Mandatory], 200 * M + 1, Some((Transparent, 2 * M, false))),
        (&rich, 64 * M, &[Mandatory], M, Some((HugeTlb, G, false))),
        (&rich, G, &[Mandatory], 2 * G, Some((HugeTlb, G, false))),
        (&rich, G, &[Mandatory], 2 * G + 1, None),
        (&short, G, &[Preferred, Interleaved, SysDefault], 100 * M, Some((HugeTlb, G, false))),
        (&short, G, &[Preferred, Interleaved, SysDefault], G + 1, Some((Transparent, 2 * M, true))),
        (&short, 32 * G, &[Preferred, Interleaved, SysDefault], 100 * M, Some((HugeTlb, G, true))),
        (&pool_first, G, &[Preferred], 64 * M, Some((HugeTlb, 2 * M, true))),
        (&poor, 2 * M, &[Preferred], 64 * M, Some((HugeTlb, 64 * K, true))),
        (&bare, 2 * M, &[Preferred], 64 * M, Some((Base, 4 * K, true))),
        (&bare, 2 * M, &[Mandatory], 64 * M, None),
        (&large, 2 * M, &[Preferred], M, Some((Base, 4 * K, true))),
        (&large, 4 * M, &[Preferred], M, Some((HugeTlb, 32 * M, false))),
    ] {
        for policy in policies {
            let choice = chosen(sizes, asked, *policy, bytes).ok();
            assert_eq!(choice, expected, "{bytes} bytes in pages of {asked}, {policy}");
        }
    }
    let nothing = Request::plain("a", 1 << 20);
    assert_eq!(rich.choose(&nothing, nothing.room()).unwrap().pages, Base);
    let list = chosen(&short, G, Mandatory, 2 * G).unwrap_err();
    let parts = ["base pages of 4K", "transparent huge pages of 2M", "2M (100 of 100 can", "1G (1 of 4 can"];
    assert_says(&list, &parts);
}

#[test]
fn reserved_pages_are_not_to_be_had_and_pages_beyond_the_pool_are() {
    let tree = Tree::new();
    let files = [("nr", 10), ("free", 8), ("resv", 5), ("nr_overcommit", 7), ("surplus", 4)];
    for (name, n) in files {
        tree.write(&format!("sys/kernel/mm/hugepages/hugepages-2048kB/{name}_hugepages"), &n.to_string());
    }
    let sizes = PageSizes::read(&Root::at(tree.root()), 4 * K);
    assert_eq!(sizes.pools, [Pool { size: 2 * M, free: 8 - 5 + 7 - 4, total: 13, nodes: vec![] }]);
}

#[test]
fn base_pages_are_not_4k_everywhere() {
    for (base, transparent, pools) in
        [(16 * K, 32 * M, vec![2 * M, 32 * M, G]), (64 * K, 512 * M, vec![2 * M, 512 * M, 16 * G])]
    {
        let tree = Tree::new();
        pools.iter().for_each(|size| add_pool(&tree, *size, 9, 9, &[]));
        tree.write("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &transparent.to_string());
        let sizes = PageSizes::read(&Root::at(tree.root()), base);
        for policy in [Policy::Mandatory, Policy::Preferred] {
            for asked in [4 * K, base] {
                assert_eq!(chosen(&sizes, asked, policy, M), Ok((Pages::Base, base, false)));
            }
            assert_eq!(chosen(&sizes, 2 * base, policy, 16 * M), Ok((Pages::HugeTlb, 2 * M, false)));
            // Pages that merge are too large for a place that is aligned to the pages asked for.
            assert!(chosen(&sizes, 2 * M, Policy::Mandatory, 20 * M).is_err());
        }
        let large = chosen(&sizes, 64 * M, Policy::Mandatory, G).unwrap();
        assert_eq!(large, (Pages::HugeTlb, if base == 16 * K { G } else { 512 * M }, false));
    }
}

/// The page sizes of a machine whose pool of 2 MiB has so many free pages on nodes 0, 2 and 3.
fn on_nodes(free: [u64; 3]) -> PageSizes {
    let (tree, all) = (Tree::new(), free.iter().sum());
    add_pool(&tree, 2 * M, all, all, &[(2, free[1]), (0, free[0]), (3, free[2])]);
    tree.write("sys/devices/system/node/online", "0,2-3");
    PageSizes::read(&Root::at(tree.root()), 4 * K)
}

fn on(nodes: &[u32], kind: Option<Kind>, policy: Policy, bytes: u64) -> Request {
    let spread = if policy == Policy::Mandatory { Spread::Bound } else { Spread::Preferred };
    let placement = Placement { kind, nodes: nodes.into(), spread, downgrade: None };
    Request { placement, ..ask(2 * M, policy, bytes) }
}

#[test]
fn a_kind_has_the_huge_pages_of_its_nodes_only() {
    let sizes = on_nodes([10, 3, 2]);
    let choose = |nodes: &[u32], kind, policy, pages: u64| {
        let request = on(nodes, kind, policy, pages * 2 * M);
        sizes.choose(&request, request.room()).map(|choice| (choice.pages, choice.downgrade))
    };
    let fast = Some(Kind::FastMem);
    for policy in [Policy::Mandatory, Policy::Preferred] {
        assert_eq!(choose(&[2], fast, policy, 3), Ok((Pages::HugeTlb, None)));
        assert_eq!(choose(&[2, 3], fast, policy, 5), Ok((Pages::HugeTlb, None)));
        assert_eq!(choose(&[2], None, policy, 15), Ok((Pages::HugeTlb, None)), "no kind is asked for");
    }
    let has = choose(&[2], fast, Policy::Mandatory, 4).unwrap_err();
    assert!(has.contains("2M (3 of 15 can be had on node 2)"), "{has}");
    let (pages, downgrade) = choose(&[2, 3], fast, Policy::Preferred, 6).unwrap();
    assert_eq!(pages, Pages::Base);
    let downgrade = downgrade.unwrap();
    assert!(downgrade.contains("(5 of 15 can be had on nodes 2-3)"), "{downgrade}");
}
