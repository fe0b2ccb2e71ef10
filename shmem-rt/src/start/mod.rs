//! Starts a job: makes its memory, connects its PEs, and returns its world.
//!
//! ```text
//! setup      environment + what the binary declares -> partitions, statics, layout of a slot
//! agree      every PE compares the description of its setup with that of PE 0
//! memory     reserve addresses, open files that outlive jobs, make the memory of the own slot, initialise statics, map the slots
//!            of the other PEs of this node
//! fabric     the way to other hosts, if there are any: memory registered, keys and addresses exchanged
//! assemble   a world of these parts; no PE leaves before all are here
//! ```
//!
//! Every step fails on all PEs or on none: a PE that finds an error ends the job with one message.

mod agreement;
mod assemble;
pub(crate) mod fabric;
mod finalize;
mod info;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use shmem_core::memory::{Arena, Machine, PeList, PmemFile};
use shmem_core::partition::{PartitionSpec, Policy};
use shmem_core::pe::Pe;
use shmem_core::run_length::EqualRun;
use shmem_core::sync::Patience;
use shmem_core::transport::Transport;
use shmem_launch::bootstrap::{self, Bootstrap};
use shmem_launch::codec;
use shmem_launch::cpus::Cpus;
use shmem_launch::env::Settings;

use self::agreement::{PeMemory, agree};
pub(crate) use self::assemble::{JobParts, assemble};
pub(crate) use self::finalize::leave;
use crate::error::{Error, Result};
use crate::members::Directory;
use crate::observe::Observers;
use crate::persistent;
use crate::setup::Setup;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Starts this PE of a job whose PEs a launcher has started, and returns its world.
pub(crate) fn start<L: ThreadLevel>(settings: Settings, mut bootstrap: Arc<dyn Bootstrap>) -> World<L> {
    if settings.attach_wait {
        bootstrap::attach_wait(bootstrap.number());
    }
    if fabric::keeps_apart(&settings) {
        let own =
            Arc::get_mut(&mut bootstrap).unwrap_or_else(|| unreachable!("the launcher is not in use yet"));
        own.keep_apart();
    }
    try_start(settings, &bootstrap).unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()))
}

fn try_start<L: ThreadLevel>(settings: Settings, bootstrap: &Arc<dyn Bootstrap>) -> Result<World<L>> {
    let setup = Setup::make(settings)?;
    fabric::check_hosts(&setup.settings, bootstrap.as_ref())?;
    agree(&setup, bootstrap.as_ref())?;

    let (hosts, me) = (bootstrap.hosts(), bootstrap.number());
    let pes = all_pes(&hosts, me, Observers::are_wanted(&setup.settings));
    let slots = pes.iter().filter(|pe| pe.on_node().is_some()).count();
    let NodeMemory { arena, files, all, list } = node_memory(&setup, bootstrap.as_ref(), &pes, slots)?;

    // The cores of all PEs of the node are counted together, because each PE may be bound to a core of its own.
    let cores = Cpus::of_the_node(&all.map(|pe| pe.cpus.clone()), me, slots);
    let on_node = pes.iter().zip(all.iter()).filter(|(pe, _)| pe.on_node().is_some());
    let cpus = on_node.map(|(_, pe)| pe.cpus.list.clone()).collect();
    let ofi = fabric::open(&setup.settings, bootstrap, Patience::for_node(slots, cores).has_cores())?;
    let mine = arena.start_of(slot_of(pes[me]));
    let join = |ofi| fabric::join(ofi, bootstrap.as_ref(), &pes, &setup.layout, mine);
    let fabric = ofi.as_ref().map(join).transpose()?;
    let directory = Arc::new(Directory::new(list_of_the_node(pes, list)?, &hosts));
    Ok(assemble(JobParts {
        setup,
        bootstrap: Arc::clone(bootstrap),
        arena: Arc::new(arena),
        grants: all.map(|pe| pe.grants.clone()),
        files,
        directory,
        cores,
        cpus,
        transport: ofi.map(|ofi| ofi as Arc<dyn Transport>),
        fabric,
        inside: None,
    }))
}

struct NodeMemory {
    arena: Arena,
    /// Files of this PE's partitions that outlive the job, by the partition's position.
    files: BTreeMap<usize, PmemFile>,
    all: EqualRun<PeMemory>,
    /// The memfd with the list of all PEs, which the first PE of the node shares.
    list: Option<OwnedFd>,
}

/// Makes the memory of this PE, and maps the memory of the other PEs of its node.
fn node_memory(setup: &Setup, bootstrap: &dyn Bootstrap, pes: &[Pe], slots: usize) -> Result<NodeMemory> {
    let my_slot = slot_of(pes[bootstrap.number()]);
    let alike = with_the_same_nodes(setup, bootstrap, pes, slots)?;
    let arena = Arena::reserve(my_slot, setup.layout.clone(), slots, alike, Machine::default())?;
    let files = persistent::open(setup, bootstrap)?;
    // The fence ensures that all PEs have read the node's free memory before any PE allocates.
    bootstrap.fence().map_err(Error::launcher)?;
    let mine = arena.create(my_slot, &files)?;
    setup.place_statics(arena.start_of(my_slot), &files);
    // The first PE of a node shares its list of all PEs, together with its memory, so that the node stores the list once.
    let list =
        (slots > 1 && my_slot == 0).then(|| PeList::share(pes)).transpose().map_err(Error::launcher)?;
    let descriptors: Vec<_> = mine.descriptors.iter().chain(&list).map(AsFd::as_fd).collect();
    let mut shared = bootstrap.share(&descriptors).map_err(Error::launcher)?;
    let list = if slots > 1 { shared.first_mut().and_then(Vec::pop) } else { None };
    let told = PeMemory { files: mine.parts, cpus: Cpus::here(), grants: mine.grants };
    let all = told.exchange(bootstrap)?;
    let on_node = pes.iter().zip(all.iter()).filter_map(|(pe, theirs)| Some((pe.on_node()?, theirs)));
    for ((slot, theirs), shared) in on_node.zip(shared).filter(|((slot, _), _)| *slot != my_slot) {
        arena.attach(slot, None, &shared, &theirs.files)?;
    }
    Ok(NodeMemory { arena, files, all, list })
}

fn slot_of(pe: Pe) -> usize {
    pe.on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"))
}

/// Returns all PEs of the job, with the slots of those on the node of PE `me`.
pub(crate) fn all_pes(hosts: &[u32], me: usize, is_observed: bool) -> Vec<Pe> {
    let mut slots = 0;
    let pe = |(number, host): (usize, &u32)| {
        let slot = if *host == hosts[me] { slots } else { Pe::OFF_NODE };
        slots += u32::from(*host == hosts[me]);
        // SAFETY: the launcher says that PE `number` exists. The PEs of this host have slots in the order of their numbers.
        let pe = unsafe { Pe::new(number as u32, slot) };
        match is_observed {
            // SAFETY: all PEs have agreed to mark all `Pe`s as observed, and no `Pe` was handed out yet.
            true => unsafe { pe.observed() },
            false => pe,
        }
    };
    hosts.iter().enumerate().map(pe).collect()
}

/// Returns the number of PEs of this host that may use the same NUMA nodes as this PE. The PEs exchange their nodes
/// only if a partition has a mandatory policy; otherwise all PEs of the host count.
fn with_the_same_nodes(setup: &Setup, bootstrap: &dyn Bootstrap, pes: &[Pe], slots: usize) -> Result<usize> {
    let mandatory = |spec: &PartitionSpec| spec.traits.policy == Some(Policy::Mandatory);
    if !setup.table.specs().iter().any(mandatory) {
        return Ok(slots);
    }
    let mine = codec::encode(&setup.layout.allowed_nodes());
    let all = bootstrap.exchange("nodes", &mine).map_err(Error::launcher)?;
    Ok(pes.iter().zip(&all).filter(|(pe, nodes)| pe.on_node().is_some() && **nodes == mine).count())
}

/// Replaces this PE's list of all PEs by an equal list that the PEs of the node share, if the node has several PEs.
fn list_of_the_node(own: Vec<Pe>, shared: Option<OwnedFd>) -> Result<PeList> {
    let Some(shared) = shared else { return Ok(PeList::new(own)) };
    PeList::in_place_of(&own, shared).map_err(|why| {
        let first = own.iter().find(|pe| pe.on_node().is_some()).map_or(0, |pe| pe.number());
        Error::launcher(format!(
            "the list of all PEs that PE {first} has made for its node is not theirs: {why}"
        ))
    })
}
