//! Placement of a request: applied to addresses without pages, and later compared with the nodes of their pages.
//!
//! Under [`Spread::Bound`] each deviation is an error; otherwise it is reported.

use rustix::io::Errno;

use super::error::{MemoryError, node_list};
use super::machine::Machine;
use super::map::HUGE;
use super::numa;
use super::placement::Spread;
use super::request::Request;

/// Sets the nodes of a request's future pages by `bind`, which sets a policy. Returns a wish that cannot be granted, in words.
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
        errno if numa::unknown(errno) => {
            format!("the system does not let this process place memory (mbind: {errno})")
        }
        Errno::INVAL => "this process may not have memory of these nodes (mbind: EINVAL)".into(),
        errno => format!("mbind: {errno}"),
    };
    if placement.spread == Spread::Bound {
        let (what, place) = (&request.what, node_list(" on", &placement.nodes));
        return Err(MemoryError::Mandatory(format!(
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
    /// A wish that was not granted, in words.
    pub(super) downgrade: Option<String>,
}

impl PlacedPages {
    /// Fails, with the reason, if larger pages have another kind than requested: base pages of that kind are better.
    pub(super) fn of_kind(self, request: &Request) -> Result<Self, String> {
        let elsewhere = |nodes: &[u32]| self.nodes.iter().any(|(node, _)| !nodes.contains(node));
        match self.downgrade {
            Some(downgrade) if request.only_on().is_some_and(elsewhere) => Err(downgrade),
            _ => Ok(self),
        }
    }
}

/// Compares the nodes of pages with the requested nodes. Fails, in words, if a bound page is on another node.
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
    let nodes = numa::count(pages.iter().copied());
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

/// Whether page counts of these nodes differ by at most a huge page.
fn is_even(found: &[(u32, u64)], nodes: &[u32], page: usize) -> bool {
    let pages = |node| found.iter().find(|(other, _)| *other == node).map_or(0, |&(_, pages)| pages);
    let (fewest, most) = (nodes.iter().map(|&n| pages(n)).min(), nodes.iter().map(|&n| pages(n)).max());
    most.unwrap_or(0) - fewest.unwrap_or(0) <= (HUGE / page).max(1) as u64
}
