//! Properties of memory from the library hwloc.
//!
//! hwloc adds to the kernel's nodes: speeds (from the administrator's file or a plugin, too) and types of memory (from
//! drivers, PCI and tables of known processors). A node's CPUs are from the kernel, since hwloc reports all near CPUs.

use hwlocality::Topology;
use hwlocality::memory::attribute::MemoryAttribute;
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{BuildFlags, TypeFilter};

use super::node::{NumaNode, Speed};
use crate::loader::keep_signal_handlers;

/// Adds hwloc's properties to these nodes. Fails, in words, if hwloc fails or describes another machine.
pub(super) fn ask(nodes: &mut [NumaNode]) -> Result<(), String> {
    // hwloc loads plugins.
    // SAFETY: plugins install their own handlers, and free no others.
    let topology = unsafe { keep_signal_handlers(load) }.map_err(|error| error.to_string())?;
    if !topology.is_this_system() {
        return Err("it describes another machine (HWLOC_XMLFILE or HWLOC_SYNTHETIC is set)".into());
    }
    supplement(nodes, &topology);
    Ok(())
}

fn load() -> Result<Topology, Box<dyn core::error::Error>> {
    let builder = Topology::builder().with_flags(BuildFlags::INCLUDE_DISALLOWED)?;
    let builder = builder.with_cpu_cache_type_filter(TypeFilter::KeepNone)?;
    Ok(builder.with_cpu_icache_type_filter(TypeFilter::KeepNone)?.build()?)
}

/// Adds hwloc's properties to these nodes, as seen from the nearest CPUs.
pub(super) fn supplement(nodes: &mut [NumaNode], topology: &Topology) {
    let bandwidth = MemoryAttribute::bandwidth(topology);
    let latency = MemoryAttribute::latency(topology);
    for object in topology.objects_with_type(ObjectType::NUMANode) {
        let Some(number) = object.os_index() else { continue };
        let Some(node) = nodes.iter_mut().find(|node| node.number as usize == number) else { continue };
        let Speed { bandwidth: old, latency: old_latency } = node.speed;
        node.speed = Speed {
            bandwidth: values(bandwidth, object).into_iter().max().or(old),
            latency: values(latency, object).into_iter().min().or(old_latency),
        };
        if let Some(subtype) = object.subtype() {
            node.subtype = Some(subtype.to_string_lossy().into_owned());
        }
    }
}

/// The values of an attribute, one per initiator (CPUs); 0 means no value.
fn values(of: MemoryAttribute<'_>, node: &TopologyObject) -> Vec<u64> {
    let (_, values) = of.initiators(node).unwrap_or_default();
    values.into_iter().filter(|value| *value > 0).collect()
}
