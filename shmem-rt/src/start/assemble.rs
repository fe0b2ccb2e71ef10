//! Constructs the world of a PE, after the start has made its memory.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use shmem_core::context::{Endpoint, Endpoints, RemotePath, Waiting, Watch};
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Allocator, Ledger};
use shmem_core::memory::{Arena, PmemFile};
use shmem_core::object::{self, Extent};
use shmem_core::observe::{Family, Observer};
use shmem_core::partition::Grant;
use shmem_core::run_length::EqualRun;
use shmem_core::sync::Patience;
use shmem_core::system_area::Stage;
use shmem_core::transport::ofi::strided::Row;
use shmem_core::transport::{ChannelOptions, CountedTransport, Tracking, Transport};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::diagnostics::say;

use super::info::introduce;
use crate::cost_model::Model;
use crate::deadlock_report::{Guard, Neighbours, Others, record_forks};
use crate::error::Error;
use crate::group::{Operation, Team};
use crate::job::{Contexts, Job, Memory, Network, Site, Teams};
use crate::members::{Directory, Members};
use crate::observe::{NodePes, Observers};
use crate::persistent;
use crate::setup::Setup;
use crate::state::contexts_domains::ContextTable;
use crate::state::dynamic_memory::DynamicMemory;
use crate::state::object_names::ObjectNames;
use crate::state::partitions::Partitions;
use crate::state::team_indexes::TeamTable;
use crate::state::team_memory::TeamAllocator;
use crate::state::threads::Threads;
use crate::thread::ThreadLevel;
use crate::warnings;
use crate::world::World;

pub(crate) struct JobParts {
    pub(crate) setup: Setup,
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) arena: Arc<Arena>,
    /// For each PE, the grants of its partitions.
    pub(crate) grants: EqualRun<Vec<Grant>>,
    /// Files of this PE's partitions that outlive the job, by the partition's position.
    pub(crate) files: BTreeMap<usize, PmemFile>,
    pub(crate) directory: Arc<Directory>,
    /// Number of cores for the PEs of this host.
    pub(crate) cores: usize,
    /// CPUs of each PE of this host. Empty if they are unknown.
    pub(crate) cpus: EqualRun<Vec<usize>>,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) fabric: Option<String>,
    /// All PEs, if they are threads of this process. Their memory is mapped until the last of them has ended.
    pub(crate) inside: Option<Neighbours>,
}

/// Constructs a world. Ends the job if persistent files, observers or the number of endpoints do not allow it.
pub(crate) fn assemble<L: ThreadLevel>(parts: JobParts) -> World<L> {
    let JobParts { setup, bootstrap, arena, grants, files, directory, .. } = parts;
    // Ends the job before any part is dropped, because a drop may wait for other PEs.
    let end = |error: &Error| -> ! { bootstrap.abort(1, &error.to_string()) };
    let (number, pes) = (bootstrap.number(), directory.pes());
    let slot = pes[number].on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"));
    let (mine, stride) = (arena.start_of(slot), arena.stride());
    // (PE number, address of the PE's slot) for each PE of this node, by slot.
    let on_node = pes.iter().filter_map(|pe| Some((pe.number(), arena.start_of(pe.on_node()?) as usize)));
    let on_node: Vec<_> = on_node.collect();

    let mut ledger = heaps(&setup);
    let persistent_partitions =
        persistent::open_partitions(&setup, files, mine, &mut ledger, bootstrap.as_ref());
    let persistent_partitions = persistent_partitions.unwrap_or_else(|error| end(&error));
    let released = Arc::clone(ledger.released());
    let persistent_partitions = Arc::new(Mutex::new(persistent_partitions));
    let names = ObjectNames {
        statics: statics(&setup),
        ledger: Arc::new(Mutex::new(ledger)),
        persistent_partitions: Arc::downgrade(&persistent_partitions),
        room: Arc::new(Mutex::new(TeamAllocator::new(setup.layout.teams()))),
    };
    let Setup { settings, table, layout, .. } = setup;
    shmem_core::strided::Settings { algorithm: settings.strided_algorithm, ..Default::default() }.install();
    let known = names.clone();
    object::call_by(move |offset| known.at(offset));
    let node = NodePes {
        numbers: on_node.iter().map(|(number, _)| *number).collect(),
        slot,
        place: mine as usize..mine as usize + stride,
        names: names.clone(),
    };
    let observers = Observers::new(&settings, node, &bootstrap);
    let observers = observers.unwrap_or_else(|error| end(&error));

    let (far, segments) = (parts.transport, Arc::new(layout.segments()));
    // SAFETY: a thread waits through an endpoint of the job. The job owns the arena, so the slots of this node's PEs are mapped.
    let neighbours = unsafe { Neighbours::new(&on_node, slot) };
    let is_watched = settings.standstill && far.as_ref().is_none_or(|far| far.threads().is_some());
    // Deadlock detection uses the transport that does not count, because its operations are not the program's.
    let asking = far.as_ref().filter(|_| is_watched).map(|far| open(far, false, &bootstrap));
    let reported = parts.inside.clone().unwrap_or_else(|| neighbours.clone());
    let watch = is_watched.then(|| {
        record_forks();
        let others = asking.clone().map(|far| Others::new(far, Arc::clone(&directory), bootstrap.as_ref()));
        let (neighbours, bootstrap) = (neighbours.clone(), Arc::clone(&bootstrap));
        let observers = observers.clone();
        let guard = Guard { neighbours, others, inside: parts.inside, bootstrap, observers };
        Box::new(guard) as Box<dyn Watch>
    });
    let patience = Patience::for_node(on_node.len(), parts.cores);
    let known = names.clone();
    let warn =
        move |activity: &_, waited| say(&warnings::long_wait(number, activity, waited, reported.peers()));
    let words = move |offset| known.word_at(offset);
    let shares = move || neighbours.share_cpu();
    let waiting = Waiting::new(patience, shares, settings.wait_warn, words, warn).watched(watch);

    let counted = far.as_ref().filter(|_| settings.stats);
    let counted = counted.map(|far| Arc::new(CountedTransport::new(Arc::clone(far), directory.pes().len())));
    let far = counted.clone().map(|counted| counted as Arc<dyn Transport>).or(far);
    let (base, me) = (arena.base(), pes[number]);
    let (known, waiting) = (Arc::clone(&segments), Arc::new(waiting));
    // SAFETY: the arena maps the slot of every `Pe` of this job that has a slot, and the job owns the arena.
    let template = unsafe { Endpoint::new(base, stride, mine, me, None, known, waiting) };
    let template = template.observed_by(observers.clone().map(|observers| observers as Arc<dyn Observer>));
    // SAFETY: the transport reaches all PEs that have no slot in this node's arena.
    let endpoints = unsafe { Endpoints::new(template, far.clone()) };
    let holdings = ContextTable::start(&settings, endpoints.units(), on_node.len(), slot, L::USE);
    let holdings = holdings.unwrap_or_else(|error| end(&error));
    let endpoint = endpoints.open(holdings.of_the_world()).unwrap_or_else(|why| bootstrap.abort(1, &why));
    // SAFETY: only the record of this PE is changed, by the record's own methods, which keep its protocol.
    let record = &unsafe { endpoint.system() }.record;
    record.start(me.number() as u32, std::process::id());
    record.set_stage(Stage::Running);

    let runtime = |patient| far.as_ref().map(|far| open(far, patient, &bootstrap));
    let network = Network {
        own: runtime(false),
        barriers: runtime(true),
        endpoints,
        transport: far.as_ref().map_or("shm", |far| far.name()),
        fabric: parts.fabric,
        // The costs that PE 0 has measured and sent to all PEs.
        model: Model::from(far.as_ref().map_or(Row::TCP, |far| far.costs())),
        far,
        asking,
        counted,
    };
    let site = Site {
        everyone: Arc::new(Members::all(directory)),
        slot,
        cpus_per_pe: (parts.cores / on_node.len()).max(1),
        has_cores: patience.has_cores(),
        cpus: parts.cpus,
        topology: OnceLock::new(),
        most_homes: OnceLock::new(),
    };
    let contexts = Contexts {
        threads: Mutex::new(Threads::new(settings.max_num_threads)),
        holdings: Mutex::new(holdings),
    };
    let teams =
        Teams { indexes: Mutex::new(TeamTable::new()), area: layout.teams(), room: Arc::clone(&names.room) };
    let memory = Memory {
        partitions: RwLock::new(Partitions::new(table, &grants)),
        released,
        ledger: Arc::clone(&names.ledger),
        persistent_partitions,
        names,
        segments,
        dynamic: Mutex::new(DynamicMemory::new(&layout)),
        arena,
    };
    let warned = Mutex::default();
    let job =
        Arc::new(Job { bootstrap, settings, observers, warned, site, contexts, teams, network, memory });
    let (team, node) = Team::first(&job, &endpoint);
    team.meet_once(&endpoint, Operation::named(Family::TeamSync, "the start of the program"), None);
    let world = World::new(job, (team, node), endpoint);
    introduce(&world);
    world
}

fn heaps(setup: &Setup) -> Ledger {
    let mut ledger = Ledger::new();
    for part in &setup.statics.partitions {
        let start = setup.layout.partition(part.index as usize - 1).start;
        let heap = start + part.end as usize..start + part.size as usize;
        ledger.add_heap(part.index, Allocator::new(part.id, part.name, heap, part.size as usize));
    }
    ledger
}

fn statics(setup: &Setup) -> Arc<[(Extent, String)]> {
    let of_partition = setup.statics.partitions.iter().flat_map(|part| {
        let start = setup.layout.partition(part.index as usize - 1).start;
        part.objects.iter().map(move |placed| {
            let offset = start + placed.offset as usize;
            (Extent { offset, bytes: placed.object.size as usize }, placed.object.name.to_string())
        })
    });
    of_partition.collect()
}

/// Opens a channel to other nodes for the runtime's own operations.
fn open(far: &Arc<dyn Transport>, patient: bool, bootstrap: &Arc<dyn Bootstrap>) -> RemotePath {
    let lane = ChannelOptions { unit: 0, tracking: Tracking::Events, patient };
    let channel = far.open(lane).unwrap_or_else(|why| bootstrap.abort(1, &why));
    RemotePath { transport: Arc::clone(far), channel }
}
