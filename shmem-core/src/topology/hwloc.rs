//! What the library hwloc knows of memory.
//!
//! Which CPUs a node consists of is the kernel's to say: hwloc tells which CPUs are near. It knows more
//! of speeds (values of other CPUs than the nearest, which a file of the administrator or a plugin may
//! give it) and of what memory is (from drivers, PCI and tables of known processors). So it fills in
//! nodes that the kernel's files told of.

use hwlocality::Topology;
use hwlocality::cpu::cpuset::CpuSet;
use hwlocality::memory::attribute::{Initiator, MemoryAttribute};
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{BuildFlags, TypeFilter};

use super::node::{NumaNode, Speed};
use crate::dispositions;

/// Fills in what hwloc knows of these nodes, as seen from anywhere and from the CPUs `own`.
///
/// # Errors
///
/// If hwloc fails, or is told to describe another machine; in words.
pub(super) fn ask(nodes: &mut [NumaNode], own: &[usize]) -> Result<(), String> {
    // hwloc loads plugins.
    // SAFETY: these install what is their own, and free nothing of others.
    let topology = unsafe { dispositions::keep(load) }.map_err(|error| error.to_string())?;
    if !topology.is_this_system() {
        return Err("it describes another machine (HWLOC_XMLFILE or HWLOC_SYNTHETIC is set)".into());
    }
    supplement(nodes, &topology, &set(own.iter().copied()));
    Ok(())
}

fn load() -> Result<Topology, Box<dyn core::error::Error>> {
    let builder = Topology::builder().with_flags(BuildFlags::INCLUDE_DISALLOWED)?;
    let builder = builder.with_cpu_cache_type_filter(TypeFilter::KeepNone)?;
    Ok(builder.with_cpu_icache_type_filter(TypeFilter::KeepNone)?.build()?)
}

pub(super) fn set(cpus: impl IntoIterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    cpus.into_iter().for_each(|cpu| set.set(cpu));
    set
}

/// Fills in what a topology knows of these nodes, as seen from anywhere and from the CPUs `own`.
pub(super) fn supplement(nodes: &mut [NumaNode], topology: &Topology, own: &CpuSet) {
    let bandwidth = MemoryAttribute::bandwidth(topology);
    let latency = MemoryAttribute::latency(topology);
    for object in topology.objects_with_type(ObjectType::NUMANode) {
        let Some(number) = object.os_index() else { continue };
        let Some(at) = nodes.iter().position(|node| node.number as usize == number) else { continue };
        let here = |of| value(of, object, own);
        let here = Speed { bandwidth: here(bandwidth), latency: here(latency) };
        let bandwidths = values(bandwidth, object);
        let latencies = values(latency, object);
        let best = Speed {
            bandwidth: bandwidths.iter().map(|&(_, value)| value).max(),
            latency: latencies.iter().map(|&(_, value)| value).min(),
        };
        let nearest = bandwidths.iter().filter(|&&(_, value)| Some(value) == best.bandwidth);
        let nearest: Vec<usize> = nearest.flat_map(|(cpus, _)| cpus.iter().copied()).collect();
        if !nearest.is_empty() {
            let sees = |node: &&NumaNode| node.cpus.iter().any(|cpu| nearest.contains(cpu));
            nodes[at].initiators = nodes.iter().filter(sees).map(|node| node.number).collect();
        }
        let node = &mut nodes[at];
        let or = |new: Speed, old: Speed| Speed {
            bandwidth: new.bandwidth.or(old.bandwidth),
            latency: new.latency.or(old.latency),
        };
        node.speed = or(best, node.speed);
        node.here = or(here, node.here);
        if let Some(subtype) = object.subtype() {
            node.subtype = Some(subtype.to_string_lossy().into_owned());
        }
    }
}

/// The value of an attribute as seen from some CPUs; 0 is none.
fn value(of: MemoryAttribute<'_>, node: &TopologyObject, cpus: &CpuSet) -> Option<u64> {
    let value = of.value(Some(Initiator::from(cpus)), node).ok().flatten();
    value.filter(|&value| value > 0)
}

/// The values of an attribute with the CPUs that see it so.
fn values(of: MemoryAttribute<'_>, node: &TopologyObject) -> Vec<(Vec<usize>, u64)> {
    let (initiators, values) = of.initiators(node).unwrap_or_default();
    let known = initiators.into_iter().zip(values).filter(|&(_, value)| value > 0);
    known
        .filter_map(|(initiator, value)| match initiator {
            Initiator::CpuSet(cpus) => Some((cpus.iter_set().map(usize::from).collect(), value)),
            Initiator::Object(_) => None,
        })
        .collect()
}
