//! Which page sizes the machine has, and which one a partition gets.
//!
//! `PGSIZE` asks for pages of *at least* that size. The smallest size that is large enough and to be
//! had is taken; at equal sizes the pool of huge pages goes before base pages merged into huge ones.
//! Where no size is large enough, `POLICY=MANDATORY` is an error and every other policy takes the
//! largest smaller size and says so.
//!
//! A pool has its pages on certain nodes: memory of a kind that is asked for has only those that lie on
//! nodes of that kind ([`Request::only_on`]). Where these do not do, smaller pages of the right kind come
//! before large ones of a wrong one.
//!
//! What can be had is known for certain only after it was tried: other processes take pages of the
//! same pool. So the choice is made anew after each failure, without what failed.

use std::fs;
use std::path::Path;

use super::error::Size;
use super::machine::number;
use super::request::Request;
use crate::partition::{Pages, Policy};

/// A pool of huge pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Bytes of a page.
    pub size: u64,
    /// Pages that can be had: free and not reserved, and those the kernel may still add.
    pub free: u64,
    /// Pages in the pool.
    pub total: u64,
    /// Free pages on each NUMA node, in the order of the nodes' numbers; empty: not known.
    pub nodes: Vec<(u32, u64)>,
}

impl Pool {
    /// Pages that can be had on `nodes`; `None`: on any.
    fn free_on(&self, nodes: Option<&[u32]>) -> u64 {
        let Some(nodes) = nodes.filter(|_| !self.nodes.is_empty()) else { return self.free };
        let there = self.nodes.iter().filter(|(node, _)| nodes.contains(node));
        // Pages that are promised to somebody are free on their nodes.
        there.map(|(_, free)| free).sum::<u64>().min(self.free)
    }

    /// Takes pages, from the first of `nodes` before the others, and from these before any.
    fn take(&mut self, mut pages: u64, nodes: &[u32]) {
        self.free = self.free.saturating_sub(pages);
        let order = nodes.iter().copied().chain(self.nodes.iter().map(|&(node, _)| node)).collect::<Vec<_>>();
        for node in order {
            if let Some((_, free)) = self.nodes.iter_mut().find(|(other, _)| *other == node) {
                let taken = pages.min(*free);
                *free -= taken;
                pages -= taken;
            }
        }
    }

    fn describe(&self, nodes: Option<&[u32]>) -> String {
        let Self { size, free, total, .. } = self;
        let size = Size(*size);
        let Some(wanted) = nodes.filter(|_| !self.nodes.is_empty()) else {
            return format!("huge pages of {size} ({free} of {total} can be had)");
        };
        let list = |on: bool| {
            let some =
                self.nodes.iter().filter(|(node, free)| wanted.contains(node) == on && (on || *free > 0));
            some.map(|(node, free)| format!("{free} on node {node}")).collect::<Vec<_>>().join(", ")
        };
        let there = match list(true) {
            none if none.is_empty() => "none there".into(),
            some => format!("{some} are free"),
        };
        let elsewhere = list(false);
        let elsewhere = if elsewhere.is_empty() { elsewhere } else { format!("; elsewhere {elsewhere}") };
        format!("huge pages of {size} ({there}{elsewhere})")
    }
}

/// The page sizes of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSizes {
    /// Bytes of a base page.
    pub base: u64,
    /// Pools of huge pages, by size.
    pub pools: Vec<Pool>,
    /// Bytes of a page that base pages can be merged into; `None`: the kernel does not.
    pub transparent: Option<u64>,
    /// What was tried and did not work.
    failures: Vec<String>,
}

/// What is chosen for a piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the pages are.
    pub pages: Pages,
    /// Bytes of a page.
    pub size: u64,
    /// What was asked and is not given.
    pub downgrade: Option<String>,
}

impl PageSizes {
    /// Those that a directory like `/sys` tells of, with base pages of `base` bytes.
    pub fn read(sys: &Path, base: u64) -> Self {
        let mut pools: Vec<_> = fs::read_dir(sys.join("kernel/mm/hugepages"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?;
                let kibibytes = name.strip_prefix("hugepages-")?.strip_suffix("kB")?;
                let size = kibibytes.parse::<u64>().ok()?.checked_mul(1024)?;
                pool(size, &entry.path(), free_on_nodes(sys, name))
            })
            .collect();
        pools.sort_by_key(|pool| pool.size);
        let merged = sys.join("kernel/mm/transparent_hugepage");
        // `never` stops page faults from merging, not MADV_COLLAPSE; `deny` stops both.
        let denied =
            fs::read_to_string(merged.join("shmem_enabled")).is_ok_and(|text| text.contains("[deny]"));
        let transparent = number(&merged.join("hpage_pmd_size")).filter(|&size| size > base && !denied);
        Self { base, pools, transparent, failures: Vec::new() }
    }

    /// Base pages only.
    pub fn only(base: u64) -> Self {
        Self { base, pools: Vec::new(), transparent: None, failures: Vec::new() }
    }

    /// Chooses pages for the segment of `request`, whose start is a multiple of `room`.
    ///
    /// # Errors
    ///
    /// If the page size is mandatory and cannot be had: what the machine has, in words.
    pub fn choose(&self, request: &Request, room: usize) -> Result<Choice, String> {
        let base = Choice { pages: Pages::Base, size: self.base, downgrade: None };
        let Some(asked) = request.traits.pgsize.filter(|&asked| asked > self.base) else { return Ok(base) };
        let candidates = self.candidates(request, room as u64);
        let enough = candidates.iter().filter(|c| c.size >= asked).min_by_key(|c| c.size);
        if let Some(choice) = enough {
            return Ok(choice.clone());
        }
        if request.traits.policy == Some(Policy::Mandatory) {
            return Err(self.describe(request));
        }
        // The first of equals is the pool: `rev` makes it the last, which `max_by_key` takes.
        let mut choice = candidates.into_iter().rev().max_by_key(|c| c.size).unwrap_or(base);
        choice.downgrade = Some(format!(
            "PGSIZE={}: pages of {} instead; this machine has {}",
            Size(asked),
            Size(choice.size),
            self.describe(request)
        ));
        Ok(choice)
    }

    /// Pages above the base size that a request can have; at equal sizes the pool comes first.
    fn candidates(&self, request: &Request, room: u64) -> Vec<Choice> {
        let choice = |pages, size| Choice { pages, size, downgrade: None };
        let (bytes, nodes) = (request.bytes as u64, request.only_on());
        let pools = self.pools.iter().filter(|pool| pool.free_on(nodes) >= bytes.div_ceil(pool.size));
        pools
            .map(|pool| choice(Pages::HugeTlb, pool.size))
            .chain(self.transparent.map(|size| choice(Pages::Transparent, size)))
            .filter(|choice| choice.size > self.base && choice.size <= room)
            .collect()
    }

    /// Takes the pages of a choice for a request out of what can be had.
    pub fn take(&mut self, choice: &Choice, request: &Request) {
        if choice.pages == Pages::HugeTlb
            && let Some(pool) = self.pools.iter_mut().find(|pool| pool.size == choice.size)
        {
            pool.take((request.bytes as u64).div_ceil(pool.size), &request.placement.nodes);
        }
    }

    /// Leaves out what was chosen and did not work.
    pub fn failed(&mut self, choice: &Choice, reason: &str) {
        let size = Size(choice.size);
        match choice.pages {
            Pages::HugeTlb => {
                self.pools.retain(|pool| pool.size != choice.size);
                self.failures.push(format!("huge pages of {size} which could not be taken ({reason})"));
            }
            Pages::Transparent => {
                self.transparent = None;
                self.failures
                    .push(format!("transparent huge pages of {size} which could not be made ({reason})"));
            }
            Pages::Base => {}
        }
    }

    /// The page sizes that there are for a request, in words.
    pub fn describe(&self, request: &Request) -> String {
        let mut list = vec![format!("base pages of {}", Size(self.base))];
        list.extend(self.transparent.map(|size| format!("transparent huge pages of {}", Size(size))));
        list.extend(self.pools.iter().map(|pool| pool.describe(request.only_on())));
        list.extend(self.failures.iter().cloned());
        list.join(", ")
    }
}

/// One pool's directory. Pages that are reserved are still counted as free; pages beyond the pool may
/// be added up to the overcommit limit.
fn pool(size: u64, directory: &Path, nodes: Vec<(u32, u64)>) -> Option<Pool> {
    let read = |name| number(&directory.join(name));
    let surplus = read("surplus_hugepages").unwrap_or(0);
    let more = read("nr_overcommit_hugepages").unwrap_or(0).saturating_sub(surplus);
    let free = read("free_hugepages")?.saturating_sub(read("resv_hugepages").unwrap_or(0));
    size.is_power_of_two().then_some(())?;
    Some(Pool { size, free: free + more, total: read("nr_hugepages")? + more, nodes })
}

/// Free pages of the pool `name` on each node.
fn free_on_nodes(sys: &Path, name: &str) -> Vec<(u32, u64)> {
    let nodes = fs::read_dir(sys.join("devices/system/node")).into_iter().flatten().flatten();
    let mut free: Vec<_> = nodes
        .filter_map(|entry| {
            let node = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            Some((node, number(&entry.path().join("hugepages").join(name).join("free_hugepages"))?))
        })
        .collect();
    free.sort_unstable();
    free
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;
    use crate::memory::tests::Tree;
    use crate::memory::{Placement, Spread};
    use crate::partition::{Kind, Traits};

    const K: u64 = 1 << 10;
    const M: u64 = 1 << 20;
    const G: u64 = 1 << 30;

    fn machine(pools: &[(u64, u64, u64)], shmem: Option<&str>) -> PageSizes {
        let tree = Tree::new();
        for &(size, total, free) in pools {
            let directory = format!("kernel/mm/hugepages/hugepages-{}kB", size / K);
            tree.write(&format!("{directory}/nr_hugepages"), &format!("{total}\n"));
            tree.write(&format!("{directory}/free_hugepages"), &format!("{free}\n"));
        }
        tree.write("kernel/mm/hugepages/README", "not a pool");
        if let Some(enabled) = shmem {
            tree.write("kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
            tree.write("kernel/mm/transparent_hugepage/shmem_enabled", enabled);
        }
        PageSizes::read(tree.root(), 4 * K)
    }

    fn ask(asked: u64, policy: Policy, bytes: u64) -> Request {
        let traits = Traits { pgsize: Some(asked), policy: Some(policy), ..Traits::NONE };
        Request { traits, ..Request::array("a", bytes as usize) }
    }

    fn chosen(
        sizes: &PageSizes,
        asked: u64,
        policy: Policy,
        bytes: u64,
    ) -> Result<(Pages, u64, bool), String> {
        let request = ask(asked, policy, bytes);
        sizes.choose(&request, request.room()).map(|c| (c.pages, c.size, c.downgrade.is_some()))
    }

    const NEVER: Option<&str> = Some("always within_size advise [never] deny force\n");
    const DENY: Option<&str> = Some("always within_size advise never [deny] force\n");

    #[test]
    fn nothing_asked_and_no_more_than_a_base_page_asked_are_base_pages() {
        let sizes = machine(&[(2 * M, 100, 100)], NEVER);
        let nothing = Request::array("a", 1 << 20);
        assert_eq!(sizes.choose(&nothing, nothing.room()).unwrap().pages, Pages::Base);
        for policy in [Policy::Mandatory, Policy::Preferred] {
            assert_eq!(chosen(&sizes, 4 * K, policy, M), Ok((Pages::Base, 4 * K, false)));
        }
    }

    #[test]
    fn the_smallest_size_that_is_large_enough_is_taken() {
        let sizes = machine(&[(G, 2, 2), (2 * M, 100, 100)], NEVER);
        let policy = Policy::Mandatory;
        assert_eq!(chosen(&sizes, 8 * K, policy, 64 * M), Ok((Pages::HugeTlb, 2 * M, false)));
        assert_eq!(chosen(&sizes, 2 * M, policy, 64 * M), Ok((Pages::HugeTlb, 2 * M, false)));
        assert_eq!(chosen(&sizes, 2 * M, policy, 200 * M), Ok((Pages::HugeTlb, 2 * M, false)));
        assert_eq!(chosen(&sizes, 2 * M, policy, 200 * M + 1), Ok((Pages::Transparent, 2 * M, false)));
        assert_eq!(chosen(&sizes, 64 * M, policy, M), Ok((Pages::HugeTlb, G, false)));
        assert_eq!(chosen(&sizes, G, policy, 2 * G), Ok((Pages::HugeTlb, G, false)));
        assert!(chosen(&sizes, G, policy, 2 * G + 1).is_err(), "three pages");
    }

    #[test]
    fn what_is_too_small_is_an_error_or_a_reported_downgrade() {
        let sizes = machine(&[(G, 4, 1), (2 * M, 100, 100)], NEVER);
        let list = chosen(&sizes, G, Policy::Mandatory, 2 * G).unwrap_err();
        for part in
            ["base pages of 4K", "transparent huge pages of 2M", "2M (100 of 100 can", "1G (1 of 4 can"]
        {
            assert!(list.contains(part), "`{part}` in: {list}");
        }
        for policy in [Policy::Preferred, Policy::Interleaved, Policy::SysDefault] {
            assert_eq!(chosen(&sizes, G, policy, 100 * M), Ok((Pages::HugeTlb, G, false)));
            assert_eq!(chosen(&sizes, G, policy, G + 1), Ok((Pages::Transparent, 2 * M, true)));
            assert_eq!(chosen(&sizes, 32 * G, policy, 100 * M), Ok((Pages::HugeTlb, G, true)));
        }
        let pool_first = machine(&[(64 * K, 9999, 9999), (2 * M, 1000, 1000)], NEVER);
        assert_eq!(chosen(&pool_first, G, Policy::Preferred, 64 * M), Ok((Pages::HugeTlb, 2 * M, true)));
        let poor = machine(&[(64 * K, 9999, 9999)], DENY);
        assert_eq!(chosen(&poor, 2 * M, Policy::Preferred, 64 * M), Ok((Pages::HugeTlb, 64 * K, true)));
        let bare = machine(&[], None);
        assert_eq!(chosen(&bare, 2 * M, Policy::Preferred, 64 * M), Ok((Pages::Base, 4 * K, true)));
        assert!(chosen(&bare, 2 * M, Policy::Mandatory, 64 * M).is_err());
    }

    #[test]
    fn reserved_pages_are_not_to_be_had_and_pages_beyond_the_pool_are() {
        let tree = Tree::new();
        let files = [("nr", 10), ("free", 8), ("resv", 5), ("nr_overcommit", 7), ("surplus", 4)];
        for (name, n) in files {
            tree.write(&format!("kernel/mm/hugepages/hugepages-2048kB/{name}_hugepages"), &n.to_string());
        }
        let sizes = PageSizes::read(tree.root(), 4 * K);
        assert_eq!(sizes.pools, [Pool { size: 2 * M, free: 8 - 5 + 7 - 4, total: 13, nodes: vec![] }]);
    }

    #[test]
    fn pages_that_are_taken_or_failed_are_not_offered_again() {
        let mut sizes = machine(&[(2 * M, 10, 10)], NEVER);
        let request = ask(2 * M, Policy::Mandatory, 12 * M);
        let first = sizes.choose(&request, request.room()).unwrap();
        sizes.take(&first, &request);
        assert_eq!(sizes.pools[0].free, 4);
        let second = sizes.choose(&request, request.room()).unwrap();
        assert_eq!(second.pages, Pages::Transparent);
        sizes.failed(&second, "no memory");
        let list = sizes.choose(&request, request.room()).unwrap_err();
        assert!(list.contains("could not be made (no memory)"), "{list}");
        sizes.failed(&first, "gone");
        assert!(sizes.pools.is_empty());
    }

    #[test]
    fn pages_larger_than_the_start_allows_are_not_taken() {
        let sizes = machine(&[(32 * M, 100, 100)], None);
        assert_eq!(chosen(&sizes, 2 * M, Policy::Preferred, M), Ok((Pages::Base, 4 * K, true)));
        assert_eq!(chosen(&sizes, 4 * M, Policy::Preferred, M), Ok((Pages::HugeTlb, 32 * M, false)));
    }

    /// Pools of 2 MiB: free pages on nodes 0, 2 and 3.
    fn on_nodes(free: [u64; 3]) -> PageSizes {
        let tree = Tree::new();
        let all: u64 = free.iter().sum();
        let pool = "hugepages/hugepages-2048kB";
        for (name, n) in [("nr", all), ("free", all)] {
            tree.write(&format!("kernel/mm/{pool}/{name}_hugepages"), &n.to_string());
        }
        for (node, n) in [(2, free[1]), (0, free[0]), (3, free[2])] {
            tree.write(&format!("devices/system/node/node{node}/{pool}/free_hugepages"), &n.to_string());
        }
        tree.write("devices/system/node/online", "0,2-3");
        PageSizes::read(tree.root(), 4 * K)
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
        assert!(has.contains("2M (3 on node 2 are free; elsewhere 10 on node 0, 2 on node 3)"), "{has}");
        let (pages, downgrade) = choose(&[2, 3], fast, Policy::Preferred, 6).unwrap();
        assert_eq!(pages, Pages::Base);
        let downgrade = downgrade.unwrap();
        assert!(
            downgrade.contains("(3 on node 2, 2 on node 3 are free; elsewhere 10 on node 0)"),
            "{downgrade}"
        );
        let has = choose(&[7], fast, Policy::Mandatory, 1).unwrap_err();
        assert!(has.contains("(none there; elsewhere 10 on node 0"), "{has}");
    }

    #[test]
    fn pages_are_taken_from_the_first_node_before_the_others() {
        let mut sizes = on_nodes([10, 3, 2]);
        let two = Choice { pages: Pages::HugeTlb, size: 2 * M, downgrade: None };
        sizes.take(&two, &on(&[2, 3], Some(Kind::FastMem), Policy::Mandatory, 8 * M));
        assert_eq!(sizes.pools[0].nodes, [(0, 10), (2, 0), (3, 1)]);
        sizes.take(&two, &on(&[3], None, Policy::Preferred, 6 * M));
        assert_eq!(sizes.pools[0].nodes, [(0, 8), (2, 0), (3, 0)]);
        assert_eq!(sizes.pools[0].free, 8);
    }
}
