//! Pages on the nodes that were asked for, by what the kernel says. Most tests need several nodes.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use shmem_grammar::{Kind, Policy, Traits};

use super::arena::mappings;
use super::capacity::forbid;
use super::pages::without_pools;
use super::{NO_FILES, add_pool, plain, reserve, word};
use crate::fixture::{Tree, assert_says, in_child};
use crate::memory::{Arena, Machine, MemoryError, Placement, Request, Spread};
use crate::partition::Pages;

const M: usize = 1 << 20;
const HUGE: usize = 2 << 20;

fn page() -> usize {
    rustix::param::page_size()
}

/// An arena of two slots with a partition and room for dynamic segments.
fn arena() -> Arena {
    on(Machine::default())
}

fn on(machine: Machine) -> Arena {
    reserve(&[plain(1, 64 << 20)], 2, machine).unwrap()
}

/// Places a range of the first slot on nodes.
fn place(arena: &Arena, range: &Range<usize>, nodes: &[u32], spread: Spread) -> Result<(), MemoryError> {
    arena.place_ranges(0, &[(range.clone(), nodes)], spread)
}

fn heap(arena: &Arena) -> usize {
    arena.layout().partition(0).start
}

/// Nodes with memory, if there are at least two.
fn nodes() -> Option<Vec<u32>> {
    let topology = Machine::default().topology();
    let nodes: Vec<_> =
        topology.nodes().iter().filter(|node| node.memory > 0).map(|node| node.number).collect();
    if nodes.len() < 2 {
        println!("skipped: one NUMA node with memory");
        return None;
    }
    Some(nodes)
}

/// A request for memory of nodes, in pages of `pgsize` bytes.
fn request(bytes: usize, nodes: &[u32], spread: Spread, pgsize: Option<usize>) -> Request {
    let policy = match spread {
        Spread::System => Policy::SysDefault,
        Spread::Preferred => Policy::Preferred,
        Spread::Bound => Policy::Mandatory,
        Spread::Interleaved => Policy::Interleaved,
    };
    let traits = Traits {
        kind: Some(Kind::FastMem),
        policy: Some(policy),
        pgsize: pgsize.map(|size| size as u64),
        ..Traits::NONE
    };
    let placement = Placement { kind: Some(Kind::FastMem), nodes: nodes.into(), spread, downgrade: None };
    Request { traits, placement, populate: true, ..Request::plain("A", bytes) }
}

fn dynamic(arena: &Arena) -> usize {
    arena.layout().dynamic().start.next_multiple_of(arena.layout().unit())
}

#[test]
fn a_range_of_a_place_has_its_nodes_or_the_system_says_that_it_has_none() {
    let arena = arena();
    arena.create(0, NO_FILES).unwrap();
    let range = heap(&arena)..heap(&arena) + 8 * page();
    let home = Machine::default().topology().nodes().first().map_or(0, |node| node.number);
    match place(&arena, &range, &[home], Spread::Bound) {
        Err(error) => {
            assert!(error.no_nodes(), "{error}");
            println!("skipped: {error}");
        }
        Ok(()) => {
            assert_eq!(arena.nodes_of(0, range.clone(), page()).unwrap(), [None; 8]);
            word(&arena, 0, range.start + 3 * page()).store(1, Relaxed);
            let mut expected = [None; 8];
            expected[3] = Some(home);
            assert_eq!(arena.nodes_of(0, range.clone(), page()).unwrap(), expected);
            arena.populate(0, range.clone()).unwrap();
            assert_eq!(arena.pages_per_node(0, range.clone(), page()).unwrap(), [(home, 8)]);
            assert_eq!(word(&arena, 0, range.start + 3 * page()).load(Relaxed), 1, "populating keeps it");
            // SAFETY: nobody else knows of the memory.
            unsafe { arena.discard(0, range.clone()) }.unwrap();
            assert_eq!(arena.nodes_of(0, range.clone(), page()).unwrap(), [None; 8]);
            assert_eq!(word(&arena, 0, range.start + 3 * page()).load(Relaxed), 0);
        }
    }
    let error = place(&arena, &range, &[1023], Spread::Bound).unwrap_err();
    assert!(error.no_nodes() || error.to_string().contains("mbind"), "{error}");
}

#[test]
fn a_system_without_nodes_says_so_and_fails_only_where_it_must() {
    in_child(|| {
        for errno in [libc::EPERM, libc::ENOSYS] {
            forbid(libc::SYS_mbind, errno);
            forbid(libc::SYS_move_pages, errno);
            let arena = arena();
            arena.create(0, NO_FILES).unwrap();
            let at = dynamic(&arena);
            let error =
                arena.create_dynamic(0, at, &request(M, &[0], Spread::Bound, None), None).unwrap_err();
            assert_says(
                &error,
                &["must lie on node 0, and cannot", "does not let this process place memory"],
            );
            let mine = arena.create_dynamic(0, at, &request(M, &[0], Spread::Preferred, None), None).unwrap();
            let grant = &mine.grants[0];
            assert!(grant.nodes.is_empty() && grant.populated);
            assert!(grant.downgrades[0].contains("KIND=FASTMEM: pages lie where"), "{:?}", grant.downgrades);
            let range = at..at + M;
            assert!(place(&arena, &range, &[0], Spread::Bound).unwrap_err().no_nodes());
            assert!(arena.pages_per_node(0, range, page()).unwrap_err().no_nodes());
        }
    });
}

#[test]
fn each_way_to_share_pages_out_among_nodes() {
    let Some(nodes) = nodes() else { return };
    let arena = arena();
    arena.create(0, NO_FILES).unwrap();
    let pages = 12 * nodes.len();
    let range = heap(&arena)..heap(&arena) + pages * page();
    let placed = |nodes: &[u32], spread| {
        // SAFETY: nobody else knows of the memory.
        unsafe { arena.discard(0, range.clone()) }.unwrap();
        place(&arena, &range, nodes, spread).unwrap();
        arena.populate(0, range.clone()).unwrap();
        arena.pages_per_node(0, range.clone(), page()).unwrap()
    };
    for &node in &nodes {
        assert_eq!(placed(&[node], Spread::Bound), [(node, pages as u64)]);
        assert_eq!(placed(&[node], Spread::Preferred), [(node, pages as u64)]);
        // The first of several comes first, wherever this thread runs.
        let mut order = nodes.clone();
        order.sort_by_key(|&other| other != node);
        assert_eq!(placed(&order, Spread::Bound), [(node, pages as u64)]);
        assert_eq!(placed(&order, Spread::Preferred), [(node, pages as u64)]);
    }
    let evenly: Vec<_> = nodes.iter().map(|&node| (node, 12)).collect();
    assert_eq!(placed(&nodes, Spread::Interleaved), evenly);
    // Without a policy, pages come from the node of this thread.
    assert!(nodes.iter().any(|&node| {
        placed(&[node], Spread::Bound);
        placed(&[node], Spread::System) != [(node, pages as u64)]
    }));
}

#[test]
fn thousands_of_ranges_are_one_mapping() {
    let Some(nodes) = nodes() else { return };
    let arena = arena();
    arena.create(0, NO_FILES).unwrap();
    let start = heap(&arena);
    let before = mappings(&arena);
    let of = |i: usize| &nodes[i % nodes.len()..][..1];
    let ranges: Vec<_> = (0..3000).map(|i| (start + i * page()..start + (i + 1) * page(), of(i))).collect();
    arena.place_ranges(0, &ranges, Spread::Bound).unwrap();
    assert_eq!(mappings(&arena), before);
    let whole = start..start + 3000 * page();
    arena.populate(0, whole.clone()).unwrap();
    let expected: Vec<_> = (0..3000).map(|i| Some(of(i)[0])).collect();
    assert_eq!(arena.nodes_of(0, whole, page()).unwrap(), expected);
}

#[test]
fn a_page_that_a_peer_touches_first_lies_where_its_owner_asked() {
    let Some(nodes) = nodes() else { return };
    let arena = arena();
    let pages = 64;
    // A range for each node, each spread, and one that nobody placed.
    let range = |i: usize| heap(&arena) + i * pages * page()..heap(&arena) + (i + 1) * pages * page();
    let spreads = [Spread::Bound, Spread::Preferred];
    let placed: Vec<_> = spreads.iter().flat_map(|&s| nodes.iter().map(move |&node| (s, node))).collect();
    let mine = arena.create(0, NO_FILES).unwrap();
    for (i, &(spread, node)) in placed.iter().enumerate() {
        place(&arena, &range(i), &[node], spread).unwrap();
    }
    let touch = || {
        let peer = self::arena();
        peer.attach(0, None, &mine.descriptors, &mine.parts).unwrap();
        for at in (0..=placed.len()).flat_map(range).step_by(page()) {
            word(&peer, 0, at).store(1, Relaxed);
        }
    };
    // SAFETY: the child touches pages of a mapping of its own, and ends without coming back; allocators work behind a fork.
    match unsafe { libc::fork() } {
        0 => {
            let touched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(touch));
            // SAFETY: it ends a process.
            unsafe { libc::_exit(i32::from(touched.is_err())) }
        }
        child => {
            let mut status = -1;
            // SAFETY: the status is this function's.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "the peer has failed");
        }
    }
    for (i, &(spread, node)) in placed.iter().enumerate() {
        let found = arena.pages_per_node(0, range(i), page()).unwrap();
        assert_eq!(found, [(node, pages as u64)], "{spread:?}");
    }
    let anywhere = arena.pages_per_node(0, range(placed.len()), page()).unwrap();
    assert_eq!(anywhere.iter().map(|(_, n)| n).sum::<u64>(), pages as u64, "pages of a peer count");
}

/// Makes a segment under each policy, and checks that its pages have `page` bytes and are on the nodes that were asked for.
fn are_where_asked(arena: &Arena, nodes: &[u32], bytes: usize, page: usize, sort: Pages) {
    let at = dynamic(arena);
    for (spread, asked) in
        [(Spread::Bound, &nodes[1..2]), (Spread::Preferred, &nodes[1..2]), (Spread::Interleaved, &nodes[..2])]
    {
        let pgsize = (sort != Pages::Base).then_some(page);
        let mine = arena.create_dynamic(0, at, &request(bytes, asked, spread, pgsize), None).unwrap();
        let grant = &mine.grants[0];
        assert_eq!(
            (grant.pages, grant.populated, &grant.downgrades[..]),
            (sort, true, &[][..]),
            "{spread:?}"
        );
        let each = (bytes / page / asked.len()) as u64;
        let expected: Vec<_> = asked.iter().map(|&node| (node, each)).collect();
        assert_eq!(grant.nodes, expected, "{spread:?}");
        // SAFETY: nothing refers to it.
        unsafe { arena.remove_dynamic(0, at) };
    }
}

#[test]
fn a_segment_is_granted_the_pages_that_it_has() {
    let Some(nodes) = nodes() else { return };
    are_where_asked(&arena(), &nodes, 4 * M, page(), Pages::Base);
}

#[test]
fn merged_pages_are_placed_as_base_pages_are() {
    let (Some(nodes), Some(machine)) = (nodes(), without_pools()) else { return };
    are_where_asked(&on(Machine::at(machine.root())), &nodes, 16 * M, HUGE, Pages::Transparent);
}

#[test]
fn pages_of_a_pool_come_from_the_nodes_asked() {
    let Some(nodes) = nodes() else { return };
    let sizes = Machine::default().page_sizes();
    let pool = sizes.pools.iter().find(|pool| pool.size == HUGE as u64);
    let free = |node| pool?.nodes.iter().find(|(other, free)| *other == node && *free >= 8);
    let [Some(_), Some(&(second, there))] = [free(nodes[0]), free(nodes[1])] else {
        println!("skipped: fewer than 8 pages of 2 MiB are free on the first two nodes");
        return;
    };
    are_where_asked(&arena(), &nodes, 8 * M, HUGE, Pages::HugeTlb);

    // A machine that says it has more of them on the node than it has.
    let tree = Tree::new();
    add_pool(&tree, HUGE as u64, 9999, 9999, &[(second, 9999)]);
    let arena = on(Machine::at(tree.root()));
    let at = dynamic(&arena);
    let bytes = (there as usize + 1) * HUGE;
    let error =
        arena.create_dynamic(0, at, &request(bytes, &[second], Spread::Bound, Some(HUGE)), None).unwrap_err();
    assert_says(error, &["which could not be taken"]);
    let wish = request(bytes, &[second], Spread::Preferred, Some(HUGE));
    let mine = arena.create_dynamic(0, at, &wish, None).unwrap();
    let grant = &mine.grants[0];
    assert_eq!(grant.pages, Pages::Base, "smaller ones there and not large ones elsewhere");
    assert_eq!(grant.nodes, [(second, (bytes / page()) as u64)]);
    assert!(grant.downgrades[0].contains("which could not be taken"), "{:?}", grant.downgrades);
}
