//! Bringing a job up.
//!
//! ```text
//! setup     environment + what the binary declares -> partitions, statics, layout of a slot
//! agree     every PE's setup is compared with every other's
//! files     those partitions that outlive jobs: open, come to one persist on all PEs
//! memory    reserve the arena, make the memory of the own slot, pass descriptors, map the other slots of this node
//! objects   write each static's position and initial image
//! fabric    the way to other hosts, if there are any: registered, told to all
//! meet      nobody leaves before all are here
//! ```
//!
//! Every step fails on all PEs or on none: who finds an error ends the job with one message.

mod agreement;
mod assemble;
pub(crate) mod fabric;
mod introduction;
mod leave;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use shmem_core::memory::{Arena, Machine, PeList};
use shmem_core::partition::{PartitionSpec, Policy};
use shmem_core::pe::Pe;
use shmem_core::sync::Patience;
use shmem_core::transport::Transport;
use shmem_launch::bootstrap::{self, Bootstrap};
use shmem_launch::codec;
use shmem_launch::cpus::Cpus;
use shmem_launch::env::Settings;

use self::agreement::{PeMemory, agree};
pub(crate) use self::assemble::{JobPes, assemble};
pub(crate) use self::leave::leave;
use crate::error::{Error, Result};
use crate::grants::by_partition;
use crate::members::Directory;
use crate::observe::Observers;
use crate::persistent;
use crate::setup::Setup;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Brings the job up, as one of the PEs that the launcher started.
pub(crate) fn start<L: ThreadLevel>(settings: Settings, bootstrap: Arc<dyn Bootstrap>) -> World<L> {
    let counted = bootstrap::CountedBootstrap::new(bootstrap, fabric::keeps_apart(&settings));
    let bootstrap: Arc<dyn Bootstrap> = Arc::new(counted);
    try_start(settings, &bootstrap).unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()))
}

fn try_start<L: ThreadLevel>(settings: Settings, bootstrap: &Arc<dyn Bootstrap>) -> Result<World<L>> {
    let setup = Setup::make(settings)?;
    fabric::check_hosts(&setup.settings, bootstrap.as_ref())?;
    let me = bootstrap.number();
    agree(&setup.describe(), bootstrap.as_ref())?;

    let hosts = bootstrap.hosts();
    let pes = all_pes(&hosts, me, Observers::are_wanted(&setup.settings));
    let slots = pes.iter().filter(|pe| pe.on_node().is_some()).count();
    let my_slot = pes[me].on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"));

    let alike = with_the_same_nodes(&setup, bootstrap.as_ref(), &pes, slots)?;
    let arena = Arena::reserve(my_slot, setup.layout.clone(), slots, alike, Machine::default())?;
    let files = persistent::open(&setup, bootstrap.as_ref())?;
    // What is left of the node's memory is looked at by all before anyone takes of it.
    bootstrap.fence().map_err(Error::launcher)?;
    let mine = arena.create(my_slot, &files)?;
    setup.place_statics(arena.start_of(my_slot), &files);
    // The first PE of a node gives the list of all PEs with its memory, for all of the node.
    let list =
        (slots > 1 && my_slot == 0).then(|| PeList::share(&pes)).transpose().map_err(Error::launcher)?;
    let descriptors: Vec<_> = mine.descriptors.iter().chain(&list).map(AsFd::as_fd).collect();
    let mut shared = bootstrap.share(&descriptors).map_err(Error::launcher)?;
    drop(list);
    let list = if slots > 1 { shared.first_mut().and_then(Vec::pop) } else { None };
    let told = PeMemory::exchange(&mine.pieces, &mine.grants, bootstrap.as_ref())?;
    let on_node = pes.iter().zip(told.iter()).filter_map(|(pe, told)| Some((pe.on_node()?, told)));
    for ((slot, told), shared) in on_node.clone().zip(shared) {
        if slot != my_slot {
            arena.attach(slot, None, &shared, &told.pieces)?;
        }
    }
    // Each PE may be bound to a core of its own: together they have more than each sees.
    let cpus = on_node.map(|(_, told)| told.cpus.list.clone()).collect();
    let cores = Cpus::of_the_node(&told.map(|told| told.cpus.clone()), me, slots);
    let has_cores = Patience::for_node(slots, cores).has_cores();
    let ofi = fabric::open(&setup.settings, bootstrap, has_cores)?;
    let join = |ofi| fabric::join(ofi, bootstrap.as_ref(), &pes, &setup.layout, arena.start_of(my_slot));
    let fabric = ofi.as_ref().map(join).transpose()?;
    let transport = ofi.map(|ofi| ofi as Arc<dyn Transport>);
    let directory = Arc::new(Directory::new(list_of_the_node(pes, list)?, &hosts));
    let members = JobPes { directory, cores, cpus, files, fabric, inside: None };
    let grants = by_partition(setup.table.specs().len(), &told.map(|told| told.grants.clone()));
    Ok(assemble(setup, Arc::clone(bootstrap), Arc::new(arena), members, grants, transport))
}

/// All PEs, as PE `me` reaches them.
fn all_pes(hosts: &[u32], me: usize, is_observed: bool) -> Vec<Pe> {
    let mut slots = 0;
    let pe = |(number, host): (usize, &u32)| {
        let slot = if *host == hosts[me] { slots } else { Pe::OFF_NODE };
        slots += u32::from(*host == hosts[me]);
        // SAFETY: the launcher says that PE `number` exists, and on our host PEs take the slots
        // of the arena in the order of their numbers.
        let pe = unsafe { Pe::new(number as u32, slot) };
        match is_observed {
            // SAFETY: all PEs of the job, or none, as all have agreed, and none was given out.
            true => unsafe { pe.observed() },
            false => pe,
        }
    };
    hosts.iter().enumerate().map(pe).collect()
}

/// How many PEs of this host may have memory of the same NUMA nodes as this one: cpusets may leave nodes out. Only where memory
/// must be of a kind is that asked of the others.
fn with_the_same_nodes(setup: &Setup, bootstrap: &dyn Bootstrap, pes: &[Pe], slots: usize) -> Result<usize> {
    let mandatory = |spec: &PartitionSpec| spec.traits.policy == Some(Policy::Mandatory);
    if !setup.table.specs().iter().any(mandatory) {
        return Ok(slots);
    }
    let mine = codec::encode(&setup.layout.allowed_nodes());
    let all = bootstrap.exchange("nodes", &mine).map_err(Error::launcher)?;
    Ok(pes.iter().zip(&all).filter(|(pe, nodes)| pe.on_node().is_some() && **nodes == mine).count())
}

/// All PEs, in memory that those of the node share, if there are several: in place of the own list, which must be the same.
fn list_of_the_node(own: Vec<Pe>, shared: Option<OwnedFd>) -> Result<PeList> {
    let Some(shared) = shared else { return Ok(PeList::new(own)) };
    PeList::in_place_of(&own, shared).map_err(|why| {
        let first = own.iter().find(|pe| pe.on_node().is_some()).map_or(0, |pe| pe.number());
        Error::launcher(format!(
            "the list of all PEs that PE {first} has made for its node is not theirs: {why}"
        ))
    })
}
