//! The page sizes of the machine, and the choice among them.
//!
//! `PGSIZE` asks for pages of *at least* that size. The choice is the smallest sufficient size; pools of huge pages are preferred
//! to merged base pages. If no size suffices, `POLICY=MANDATORY` is an error, and other policies use the largest available size and
//! report it. A request for a kind of memory may use only pages on that kind's nodes ([`Request::only_on`]).
//!
//! Only an attempt to allocate shows whether a pool has the pages. After a failed attempt another size is chosen.

use shmem_grammar::Policy;

use super::error::{Size, node_list};
use super::segment_request::Request;
use crate::partition::Pages;
use crate::proc_sys::Root;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) size: u64,
    /// Number of pages that are free and unreserved, or that the kernel may add to the pool.
    pub(super) free: u64,
    pub(super) total: u64,
    /// Number of free pages on each NUMA node, by node number; empty: unknown.
    pub(super) nodes: Vec<(u32, u64)>,
}

impl Pool {
    /// Number of free pages on `nodes`; `None`: on all nodes.
    fn free_on(&self, nodes: Option<&[u32]>) -> u64 {
        let Some(nodes) = nodes.filter(|_| !self.nodes.is_empty()) else { return self.free };
        let there = self.nodes.iter().filter(|(node, _)| nodes.contains(node));
        // The counts of nodes include free pages that are reserved for other processes.
        there.map(|(_, free)| free).sum::<u64>().min(self.free)
    }

    /// Subtracts pages: first from `nodes` in order, then from other nodes.
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
        let nodes = nodes.filter(|_| !self.nodes.is_empty()).unwrap_or_default();
        let free = if nodes.is_empty() { self.free } else { self.free_on(Some(nodes)) };
        let (size, on) = (Size(self.size), node_list(" on", nodes));
        format!("huge pages of {size} ({free} of {} can be had{on})", self.total)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageSizes {
    pub(super) base: u64,
    pub(super) pools: Vec<Pool>,
    /// Bytes of a huge page that is merged from base pages; `None`: the kernel does not merge base pages.
    pub(super) transparent: Option<u64>,
    failures: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageChoice {
    pub(super) pages: Pages,
    pub(super) size: u64,
    /// The wish that is not granted, in words.
    pub(super) downgrade: Option<String>,
}

impl PageSizes {
    pub(super) fn read(root: &Root, base: u64) -> Self {
        let pools = root.numbered("sys/kernel/mm/hugepages", "hugepages-", "kB");
        let pools = pools.into_iter().filter_map(|kibibytes| pool(root, kibibytes)).collect();
        let merged = |file| format!("sys/kernel/mm/transparent_hugepage/{file}");
        // `never` keeps page faults from merging, but not `MADV_COLLAPSE`; `deny` keeps both from merging.
        let denied = root.text(&merged("shmem_enabled")).is_some_and(|text| text.contains("[deny]"));
        let transparent = root.number(&merged("hpage_pmd_size")).filter(|&size| size > base && !denied);
        Self { pools, transparent, ..Self::only(base) }
    }

    pub(super) fn only(base: u64) -> Self {
        Self { base, pools: Vec::new(), transparent: None, failures: Vec::new() }
    }

    /// Chooses pages for a request whose segment starts at a multiple of `room`. The error lists the machine's page sizes.
    pub(super) fn choose(&self, request: &Request, room: usize) -> Result<PageChoice, String> {
        let base = PageChoice { pages: Pages::Base, size: self.base, downgrade: None };
        let Some(asked) = request.traits.pgsize.filter(|&asked| asked > self.base) else { return Ok(base) };
        let candidates = self.candidates(request, room as u64);
        let enough = candidates.iter().filter(|c| c.size >= asked).min_by_key(|c| c.size);
        if let Some(choice) = enough {
            return Ok(choice.clone());
        }
        if request.traits.policy == Some(Policy::Mandatory) {
            return Err(self.describe(request));
        }
        // Of choices with one size, that of the pool comes first. `max_by_key` returns the last maximum, hence `rev`.
        let mut choice = candidates.into_iter().rev().max_by_key(|c| c.size).unwrap_or(base);
        choice.downgrade = Some(format!(
            "PGSIZE={}: pages of {} instead; this machine has {}",
            Size(asked),
            Size(choice.size),
            self.describe(request)
        ));
        Ok(choice)
    }

    /// Possible choices above the base page size. Of two choices with one size, that of the pool comes first.
    fn candidates(&self, request: &Request, room: u64) -> Vec<PageChoice> {
        let choice = |pages, size| PageChoice { pages, size, downgrade: None };
        let (bytes, nodes) = (request.bytes as u64, request.only_on());
        let pools = self.pools.iter().filter(|pool| pool.free_on(nodes) >= bytes.div_ceil(pool.size));
        pools
            .map(|pool| choice(Pages::HugeTlb, pool.size))
            .chain(self.transparent.map(|size| choice(Pages::Transparent, size)))
            .filter(|choice| choice.size > self.base && choice.size <= room)
            .collect()
    }

    pub(super) fn take(&mut self, choice: &PageChoice, request: &Request) {
        if choice.pages == Pages::HugeTlb
            && let Some(pool) = self.pools.iter_mut().find(|pool| pool.size == choice.size)
        {
            pool.take((request.bytes as u64).div_ceil(pool.size), &request.placement.nodes);
        }
    }

    /// Excludes a choice that failed from later choices.
    pub(super) fn failed(&mut self, choice: &PageChoice, reason: &str) {
        let size = Size(choice.size);
        self.failures.push(match choice.pages {
            Pages::HugeTlb => {
                self.pools.retain(|pool| pool.size != choice.size);
                format!("huge pages of {size} which could not be taken ({reason})")
            }
            Pages::Transparent => {
                self.transparent = None;
                format!("transparent huge pages of {size} which could not be made ({reason})")
            }
            Pages::Base => return,
        });
    }

    /// The page sizes available to a request, in words.
    pub(super) fn describe(&self, request: &Request) -> String {
        let mut list = vec![format!("base pages of {}", Size(self.base))];
        list.extend(self.transparent.map(|size| format!("transparent huge pages of {}", Size(size))));
        list.extend(self.pools.iter().map(|pool| pool.describe(request.only_on())));
        list.extend(self.failures.iter().cloned());
        list.join(", ")
    }
}

/// Reads one pool. Subtracts reserved pages, which the kernel counts as free, and adds pages up to the overcommit limit.
fn pool(root: &Root, kibibytes: u64) -> Option<Pool> {
    let name = format!("hugepages-{kibibytes}kB");
    let read = |what: &str| root.number(&format!("sys/kernel/mm/hugepages/{name}/{what}_hugepages"));
    let size = kibibytes.checked_mul(1024).filter(|size| size.is_power_of_two())?;
    let more = read("nr_overcommit").unwrap_or(0).saturating_sub(read("surplus").unwrap_or(0));
    let free = read("free")?.saturating_sub(read("resv").unwrap_or(0));
    let on_node = |node: u64| {
        let file = format!("sys/devices/system/node/node{node}/hugepages/{name}/free_hugepages");
        Some((u32::try_from(node).ok()?, root.number(&file)?))
    };
    let nodes =
        root.numbered("sys/devices/system/node", "node", "").into_iter().filter_map(on_node).collect();
    Some(Pool { size, free: free + more, total: read("nr")? + more, nodes })
}
