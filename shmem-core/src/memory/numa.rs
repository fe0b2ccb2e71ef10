//! System calls that set the NUMA nodes of pages, and read the nodes to compare them with the request.
//!
//! The kernel stores the policy of a memfd of base pages with the file, by offset. So the policy holds whichever process touches a
//! page first. A policy is set through a second, temporary mapping, because setting it splits a mapping; the arena's mapping stays
//! whole. A page of a huge-page pool follows the policy of the mapping through which it is made.
//!
//! A page on another node than requested is an error under [`Spread::Bound`]. Otherwise it is reported, if a kind is requested.
//!
//! A kernel without NUMA returns `ENOSYS`, and containers often forbid these calls with `EPERM` ([`unknown`]).

use core::ops::Range;
use core::ptr::null;
use std::collections::BTreeMap;

use rustix::io::Errno;

use super::error::{MemoryError, node_list};
use super::machine_memory::Machine;
use super::mapping::{HUGE, Reservation, last_error};
use super::placement::Spread;
use super::segment_request::Request;

/// `MPOL_PREFERRED_MANY` (Linux 5.15), which the libc crate does not name.
const PREFERRED_MANY: libc::c_int = 5;

/// Upper limit on the pages of one `move_pages` call, to bound the lists that the call needs.
const BATCH: usize = 1 << 14;

/// Upper limit on the ranges of a temporary mapping, because each range splits the mapping.
const RANGES: usize = 1 << 10;

/// Whether an error means that NUMA calls are unavailable.
pub(super) fn unknown(errno: Errno) -> bool {
    matches!(errno, Errno::NOSYS | Errno::PERM)
}

/// A set of NUMA nodes for system calls, with one bit for each node.
type Mask = [libc::c_ulong; 1024 / WORD];

const WORD: usize = libc::c_ulong::BITS as usize;

/// Number of bits that the kernel is told, one more than the mask has, because the kernel reads one bit less.
const BITS: usize = size_of::<Mask>() * 8 + 1;

fn call(result: libc::c_long) -> Result<(), Errno> {
    if result >= 0 {
        return Ok(());
    }
    Err(last_error())
}

fn mbind(address: *mut u8, bytes: usize, mode: libc::c_int, nodes: &[u32]) -> Result<(), Errno> {
    let mut mask: Mask = [0; _];
    for &node in nodes {
        *mask.get_mut(node as usize / WORD).ok_or(Errno::INVAL)? |= 1 << (node as usize % WORD);
    }
    // Without nodes the kernel reads no mask.
    let (words, bits) = if nodes.is_empty() { (null(), 0) } else { (mask.as_ptr(), BITS) };
    // SAFETY: the mask lives until the call returns; a policy changes no contents, and the kernel checks the addresses.
    call(unsafe { libc::syscall(libc::SYS_mbind, address, bytes, mode, words, bits, 0) })
}

/// Sets the preferred node of the policy of an address range.
fn home(address: *mut u8, bytes: usize, node: u32) -> Result<(), Errno> {
    let node = libc::c_ulong::from(node);
    // SAFETY: a policy changes no contents, and the kernel checks the addresses.
    call(unsafe { libc::syscall(libc::SYS_set_mempolicy_home_node, address, bytes, node, 0) })
}

/// Sets the NUMA nodes of future pages of mapped addresses. Without nodes, or with [`Spread::System`], removes the policy.
pub(super) fn bind(address: *mut u8, bytes: usize, nodes: &[u32], spread: Spread) -> Result<(), Errno> {
    let Some((&first, rest)) = nodes.split_first() else { return unbind(address, bytes) };
    let ordered = |mode| {
        mbind(address, bytes, mode, nodes)?;
        // Before Linux 5.17, and where a container forbids this call, the kernel prefers the node nearest to the CPU that touches
        // the page.
        match home(address, bytes, first) {
            Err(errno) if unknown(errno) => Ok(()),
            result => result,
        }
    };
    match spread {
        Spread::System => unbind(address, bytes),
        Spread::Bound if rest.is_empty() => mbind(address, bytes, libc::MPOL_BIND, nodes),
        Spread::Bound => ordered(libc::MPOL_BIND),
        Spread::Interleaved => mbind(address, bytes, libc::MPOL_INTERLEAVE, nodes),
        Spread::Preferred if rest.is_empty() => mbind(address, bytes, libc::MPOL_PREFERRED, nodes),
        Spread::Preferred => match ordered(PREFERRED_MANY) {
            Err(Errno::INVAL) => mbind(address, bytes, libc::MPOL_PREFERRED, &[first]),
            result => result,
        },
    }
}

pub(super) fn unbind(address: *mut u8, bytes: usize) -> Result<(), Errno> {
    // The kernel changes the file's policy only if the mapping has a policy, so one is set first.
    mbind(address, bytes, libc::MPOL_LOCAL, &[])?;
    mbind(address, bytes, libc::MPOL_DEFAULT, &[])
}

/// Sets the policies of ascending ranges of a memfd of base pages. Ranges are relative to `address`, where the memfd is mapped.
pub(super) fn bind_file(
    address: *mut u8,
    ranges: &[(Range<usize>, &[u32])],
    spread: Spread,
) -> Result<(), Errno> {
    ranges.chunks(RANGES).try_for_each(|ranges| {
        let (Some((first, _)), Some((last, _))) = (ranges.first(), ranges.last()) else { return Ok(()) };
        let second = Reservation::again(address.wrapping_add(first.start), last.end - first.start)?;
        ranges.iter().try_for_each(|(range, nodes)| {
            let there = range.start - first.start..range.end - first.start;
            bind(second.address(&there), there.len(), nodes, spread)
        })
    })
}

/// Returns the NUMA node of each page of mapped addresses; `None`: the page is not in this process's page table.
pub(super) fn nodes_of_pages(address: *mut u8, bytes: usize, page: usize) -> Result<Vec<Option<u32>>, Errno> {
    let pages = bytes.div_ceil(page);
    let mut found = Vec::with_capacity(pages);
    let mut status: Vec<libc::c_int> = vec![0; pages.min(BATCH)];
    for first in (0..pages).step_by(BATCH) {
        let at: Vec<_> = (first..pages.min(first + BATCH)).map(|i| address.wrapping_add(i * page)).collect();
        let status = &mut status[..at.len()];
        status.fill(-libc::ENOENT);
        let (number, count, status_at) = (libc::SYS_move_pages, at.len(), status.as_mut_ptr());
        let no_nodes: *const libc::c_int = null();
        // SAFETY: the lists have `count` entries and live until the call returns. Without target nodes, no page is moved.
        call(unsafe { libc::syscall(number, 0, count, at.as_ptr(), no_nodes, status_at, 0) })?;
        found.extend(status.iter().map(|&node| u32::try_from(node).ok()));
    }
    Ok(found)
}

/// Counts the pages on each node. The result is in the order of node numbers.
pub(super) fn count(pages: impl IntoIterator<Item = Option<u32>>) -> Vec<(u32, u64)> {
    let mut nodes = BTreeMap::new();
    for node in pages.into_iter().flatten() {
        *nodes.entry(node).or_insert(0_u64) += 1;
    }
    nodes.into_iter().collect()
}

/// Sets the NUMA nodes of a request's future pages by calling `bind`. Returns the wish that cannot be granted, in words.
pub(super) fn apply(
    request: &Request,
    bind: impl FnOnce(&[u32], Spread) -> Result<(), Errno>,
) -> Result<Option<String>, MemoryError> {
    let placement = &request.placement;
    if placement.spread == Spread::System || placement.nodes.is_empty() {
        return Ok(None);
    }
    let Err(errno) = bind(&placement.nodes, placement.spread) else { return Ok(None) };
    let reason = match errno {
        errno if unknown(errno) => {
            format!("the system does not let this process place memory (mbind: {errno})")
        }
        Errno::INVAL => "this process may not have memory of these nodes (mbind: EINVAL)".into(),
        errno => format!("mbind: {errno}"),
    };
    if placement.spread == Spread::Bound {
        let (what, place) = (&request.what, node_list(" on", &placement.nodes));
        return Err(MemoryError::new(format!(
            "{what}: its pages must lie{place}, and cannot: {reason}; take POLICY=PREFERRED to run all the same"
        )));
    }
    let asked = request.traits.kind;
    Ok(asked.map(|kind| format!("KIND={kind}: pages lie where they are touched first; {reason}")))
}

#[derive(Debug, Default)]
pub(super) struct PlacedPages {
    /// Number of pages on each node, by node number; empty: unknown.
    pub(super) nodes: Vec<(u32, u64)>,
    /// The wish that was not granted, in words.
    pub(super) downgrade: Option<String>,
}

impl PlacedPages {
    /// Fails, with the reason, if huge pages are on nodes of another kind than requested, because base pages of the requested kind
    /// are better than these.
    pub(super) fn of_kind(self, request: &Request) -> Result<Self, String> {
        let elsewhere = |nodes: &[u32]| self.nodes.iter().any(|(node, _)| !nodes.contains(node));
        match self.downgrade {
            Some(downgrade) if request.only_on().is_some_and(elsewhere) => Err(downgrade),
            _ => Ok(self),
        }
    }
}

/// Compares the NUMA nodes of pages with the requested nodes. Fails, with an error text, if a bound page is on another node.
pub(super) fn compare(
    request: &Request,
    machine: &Machine,
    page: usize,
    pages: Result<Vec<Option<u32>>, Errno>,
) -> Result<PlacedPages, String> {
    let placement = &request.placement;
    let placed = placement.spread != Spread::System && !placement.nodes.is_empty();
    let asked = request.traits.kind.filter(|_| placed);
    let pages = match pages {
        Ok(pages) => pages,
        Err(errno) => {
            let downgrade = asked.map(|kind| {
                format!("KIND={kind}: the system does not tell where pages lie (move_pages: {errno})")
            });
            return Ok(PlacedPages { nodes: Vec::new(), downgrade });
        }
    };
    let nodes = count(pages.iter().copied());
    let elsewhere: Vec<_> = nodes.iter().filter(|(node, _)| !placement.nodes.contains(node)).collect();
    if !placed || elsewhere.is_empty() {
        let uneven = placement.spread == Spread::Interleaved && !is_even(&nodes, &placement.nodes, page);
        let list: Vec<_> = nodes.iter().map(|(node, n)| format!("{n} on node {node}")).collect();
        let uneven = uneven.then(|| format!("POLICY=INTERLEAVED: pages are not even: {}", list.join(", ")));
        return Ok(PlacedPages { nodes, downgrade: uneven });
    }
    let topology = machine.topology();
    let kind = |number: u32| {
        let node = topology.nodes().iter().find(|node| node.number == number);
        node.and_then(|node| node.kind).map_or_else(String::new, |kind| format!(", which is {kind}"))
    };
    let count = pages.len();
    let list: Vec<_> = elsewhere
        .into_iter()
        .map(|&(node, n)| format!("{n} of {count} pages on node {node}{}", kind(node)))
        .collect();
    let text = format!("{}, and not{}", list.join("; "), node_list(" on", &placement.nodes));
    if placement.spread == Spread::Bound {
        return Err(text);
    }
    Ok(PlacedPages { nodes, downgrade: asked.map(|kind| format!("KIND={kind}: {text}")) })
}

/// Whether the page counts of these nodes differ by at most 2 MiB of pages, or by one larger page.
fn is_even(found: &[(u32, u64)], nodes: &[u32], page: usize) -> bool {
    let pages = |node| found.iter().find(|(other, _)| *other == node).map_or(0, |&(_, pages)| pages);
    let (fewest, most) = (nodes.iter().map(|&n| pages(n)).min(), nodes.iter().map(|&n| pages(n)).max());
    most.unwrap_or(0) - fewest.unwrap_or(0) <= (HUGE / page).max(1) as u64
}
