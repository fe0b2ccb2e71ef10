//! Checks that memory, files and limits suffice, before memory is made. Error texts name request, limit and remedy.
//!
//! The sum of all sizes may exceed the memory, because pages are made at their first touch. A single partition may not exceed it,
//! nor may the sum of the partitions that are populated at start.

use core::iter::repeat_n;
use std::collections::BTreeMap;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use shmem_grammar::Kind;

use super::error::{MemoryError, Size, node_list};
use super::layout::{ADDRESSES, SlotLayout};
use super::machine_memory::{Limit, Machine};
use super::placement::{Placement, Spread};
use super::segment_request::Request;
use crate::partition::Pages;

/// Checks the requests of all PEs of the node, which are equal. `bytes` is the size of a PE's memfd. `alike` of these PEs, this one
/// included, may have memory of the same NUMA nodes. What the others request counts for the machine's memory, but for no NUMA node.
pub(super) fn check(
    requests: &[Request],
    bytes: usize,
    slots: usize,
    alike: usize,
    machine: &Machine,
) -> Result<(), MemoryError> {
    let memory = machine.memory();
    let mut in_memory = requests.iter().filter(|request| !request.is_in_file());
    in_memory.try_for_each(|request| fits(request, &memory))?;
    populated(requests, slots, alike.clamp(1, slots), machine)?;
    file_size(bytes as u64)
}

fn fits(request: &Request, memory: &Limit) -> Result<(), MemoryError> {
    let asked = request.bytes as u64;
    if asked <= memory.bytes {
        return Ok(());
    }
    Err(MemoryError::new(format!("{}: {} are asked for, and {memory}; lower it", request.what, Size(asked))))
}

/// Checks the memory that is populated at start: simulates the page allocations of all PEs, one PE after the other.
fn populated(requests: &[Request], slots: usize, alike: usize, machine: &Machine) -> Result<(), MemoryError> {
    let mine: Vec<_> = requests.iter().filter(|request| request.populate).cloned().collect();
    if mine.is_empty() {
        return Ok(());
    }
    let elsewhere = |request: &Request| Request { placement: Placement::system(), ..request.clone() };
    let elsewhere: Vec<_> = mine.iter().map(elsewhere).collect();
    let all = repeat_n(&mine, alike).chain(repeat_n(&elsewhere, slots - alike)).flatten();
    let sizes = machine.page_sizes();
    let mut left = sizes.clone();
    let mut demands = Vec::new();
    for request in all {
        let choice = left
            .choose(request, request.room())
            .map_err(|_| no_pages(request, slots, &sizes.describe(request)))?;
        left.take(&choice, request);
        if choice.pages != Pages::HugeTlb {
            demands.push((request, (request.bytes as u64).next_multiple_of(choice.size)));
        }
    }
    on_nodes(&demands, machine)?;
    let asked = demands.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let available = machine.available();
    if asked <= available.bytes {
        return Ok(());
    }
    let each = Size(mine.iter().map(|request| request.bytes as u64).sum());
    let mut who: Vec<_> = mine.iter().map(|request| request.what.as_str()).collect();
    if who.len() > 4 {
        who.truncate(3);
        who.push("and more");
    }
    Err(MemoryError::new(format!(
        "{} of symmetric memory are to be populated on this node ({slots} x {each}: {}), and {available}; lower these sizes, start fewer PEs on a node, or leave KIND, POLICY and PGSIZE out, so that pages come when they are touched",
        Size(asked),
        who.join(", ")
    )))
}

/// Checks that memory that is bound to NUMA nodes fits there, because the kernel would kill a process otherwise. Memory that only
/// prefers NUMA nodes is subtracted first, as if it were allocated there.
fn on_nodes(demands: &[(&Request, u64)], machine: &Machine) -> Result<(), MemoryError> {
    let bound = |request: &Request| request.placement.spread == Spread::Bound;
    if !demands.iter().any(|(request, _)| bound(request)) {
        return Ok(());
    }
    let mut left = BTreeMap::new();
    for node in demands.iter().flat_map(|(request, _)| request.only_on().unwrap_or_default()) {
        left.entry(*node).or_insert_with(|| machine.left_on(*node));
    }
    let there = left.clone();
    let wishes = demands.iter().filter(|(request, _)| !bound(request));
    for (request, bytes) in wishes.chain(demands.iter().filter(|(request, _)| bound(request))) {
        let nodes = request.only_on().unwrap_or_default();
        let mut bytes = *bytes;
        for node in nodes {
            if let Some(left) = left.get_mut(node) {
                let taken = bytes.min(*left);
                *left -= taken;
                bytes -= taken;
            }
        }
        if bytes > 0 && bound(request) {
            let rivals = demands.iter().filter(|(other, _)| {
                other.only_on().unwrap_or_default().iter().any(|node| nodes.contains(node))
            });
            let memory: Vec<_> = nodes
                .iter()
                .map(|node| format!("node {node} has left {}", Size(there.get(node).copied().unwrap_or(0))))
                .collect();
            let kind = request.placement.kind.unwrap_or(Kind::NormalMem);
            return Err(MemoryError::new(format!(
                "{}: KIND={kind} with POLICY=MANDATORY needs {}{}; the PEs of this host want {} there in all, and {}; lower the sizes of what is {kind}, start fewer PEs on a node, or take POLICY=PREFERRED",
                request.what,
                Size(request.bytes as u64),
                node_list(" on", nodes),
                Size(rivals.map(|(_, bytes)| bytes).sum()),
                memory.join(", ")
            )));
        }
    }
    Ok(())
}

pub(super) fn no_pages(request: &Request, slots: usize, has: &str) -> MemoryError {
    let (asked, nodes) = (Size(request.traits.pgsize.unwrap_or(0)), request.only_on().unwrap_or_default());
    let variable = match nodes {
        [] => "vm.nr_hugepages".to_owned(),
        [node, ..] => format!("/sys/devices/system/node/node{node}/hugepages/*/nr_hugepages"),
    };
    MemoryError::new(format!(
        "{}: PGSIZE={asked} with POLICY=MANDATORY needs {} in pages of at least that size on each of {slots} PEs{}, and this machine has {has}; reserve huge pages ({variable}), lower PGSIZE, or take POLICY=PREFERRED",
        request.what,
        Size(request.bytes as u64),
        node_list(", on", nodes)
    ))
}

fn file_size(asked: u64) -> Result<(), MemoryError> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < asked => Err(MemoryError::new(format!(
            "the memory of a PE is a memfd of {}, and files may have at most {} (ulimit -f, RLIMIT_FSIZE); raise the limit, or lower the sizes of the partitions",
            Size(asked),
            Size(limit)
        ))),
        _ => Ok(()),
    }
}

/// Checks the limit on open files, because all descriptors that the PEs send each other are open at once.
pub(super) fn descriptors(requests: &[Request], slots: usize, machine: &Machine) -> Result<(), MemoryError> {
    let base = machine.base_page();
    let huge = requests.iter().filter(|request| request.traits.pgsize.is_some_and(|p| p > base)).count();
    let huge = if huge > 0 { huge.min(machine.page_sizes().pools.len()) } else { 0 };
    let named = requests.iter().filter(|request| request.is_in_file()).count();
    let needed = (slots as u64).saturating_mul(1 + huge as u64 + named as u64);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |list| list.count() as u64);
    if current.is_none_or(|limit| limit >= needed.saturating_add(open)) {
        return Ok(());
    }
    if let Some(limit) = maximum.filter(|&limit| limit < needed.saturating_add(open)) {
        let total = needed.saturating_add(open);
        return Err(MemoryError::new(format!(
            "the PEs of this node hand each other {needed} file descriptors beside the {open} that this process has open, and the hard limit on open files (ulimit -Hn, RLIMIT_NOFILE) is {limit}; raise it to at least {total}, or start fewer PEs on a node"
        )));
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .map_err(MemoryError::of_call("setrlimit", "raising the limit on open files"))
}

pub(super) fn address_space(layout: &SlotLayout, slots: usize) -> MemoryError {
    let (limit, raise) = match getrlimit(Resource::As).current {
        Some(bytes) => {
            let limit = "the limit on addresses (ulimit -v, RLIMIT_AS)";
            (format!("{limit} is {}, what the program uses included", Size(bytes)), "raise the limit, ")
        }
        None => {
            let space = format!("the address space of a process, {} at most,", Size(ADDRESSES));
            (format!("{space} does not have that much left"), "")
        }
    };
    let (what, bytes) = &layout.largest_claim;
    let place = layout.stride() as u64;
    MemoryError::new(format!(
        "symmetric memory of the {slots} PEs of this node needs {} of addresses, {} for each, and {limit}; {raise}lower {what} ({} of these), or start fewer PEs on a node",
        Size(place.saturating_mul(slots as u64)),
        Size(place),
        Size(*bytes)
    ))
}
