//! A world put together, once the memory exists: what the job knows of itself, a step for each part of it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use shmem_core::alike::Alike;
use shmem_core::context::{Endpoints, Far, WaitReport, Waiting, Watch};
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Allocator, Ledger};
use shmem_core::memory::{Arena, Backing};
use shmem_core::object::{self, Extent};
use shmem_core::observe::{Family, Observer};
use shmem_core::partition::Grant;

use shmem_core::sync::Patience;
use shmem_core::system::Stage;
use shmem_core::transport::ofi::strided::Row;
use shmem_core::transport::{CountedTransport, Lane, Tracking, Transport};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::say::say;

use super::introduction::introduce;
use crate::error::Error;
use crate::group::{Operation, Team};
use crate::job::{Contexts, Job, Memory, Network, Site, Teams};
use crate::members::{Directory, Members};
use crate::model::Model;
use crate::observe::{NodePes, Observers};
use crate::persistent;
use crate::process;
use crate::report;
use crate::setup::Setup;
use crate::standstill::{Guard, Neighbours, Others};
use crate::state::holdings::Holdings;
use crate::state::indexes::Indexes;
use crate::state::later::Later;
use crate::state::partitions::Partitions;
use crate::state::room::Room;
use crate::state::threads::Threads;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The PEs of a job, by their numbers.
pub(crate) struct JobPes {
    pub(crate) directory: Arc<Directory>,
    /// Cores that those on this host may run on.
    pub(crate) cores: usize,
    /// The CPUs of each on this host; empty: not known.
    pub(crate) cpus: Alike<Vec<usize>>,
    /// What the partitions of this one lie in that are to outlive the job, by their position.
    pub(crate) files: BTreeMap<usize, Backing>,
    /// What reaches other hosts, in words.
    pub(crate) fabric: Option<String>,
    /// All of them, if they are threads of this process: mapped for as long as any of these runs.
    pub(crate) inside: Option<Neighbours>,
}

/// Puts a world together. The job ends if files, observers or the number of endpoints do not allow it.
pub(crate) fn assemble<L: ThreadLevel>(
    setup: Setup,
    bootstrap: Arc<dyn Bootstrap>,
    arena: Arc<Arena>,
    members: JobPes,
    grants: Vec<Alike<Grant>>,
    transport: Option<Arc<dyn Transport>>,
) -> World<L> {
    let JobPes { directory, cores, cpus, files, fabric, inside } = members;
    let number = bootstrap.number();
    let (pes, me) = (directory.pes(), directory.pes()[number]);
    let slot = me.on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"));
    let mine = arena.start_of(slot);

    // Before anything is dropped: what is open may wait for other PEs.
    let end = |error: &Error| -> ! { bootstrap.abort(1, &error.to_string()) };
    let mut ledger = heaps(&setup);
    let shelves = persistent::shelve(&setup, files, mine, &mut ledger, bootstrap.as_ref());
    let shelves = shelves.unwrap_or_else(|error| end(&error));
    let released = Arc::clone(ledger.released());
    let names = Names { statics: names(&setup), ledger: Arc::new(Mutex::new(ledger)) };
    let Setup { settings, table, layout, .. } = setup;
    let segments = Arc::new(layout.segments());
    let known = names.clone();
    object::call_by(move |offset| report::known_at(&known.statics, &known.ledger, offset));

    let on_node: Vec<(usize, usize)> =
        pes.iter().filter_map(|pe| Some((pe.number(), arena.start_of(pe.on_node()?) as usize))).collect();
    let index = on_node.iter().position(|(pe, _)| *pe == number).unwrap_or_default();
    let patience = Patience::for_node(on_node.len(), cores);
    let node = NodePes {
        numbers: on_node.iter().map(|(number, _)| *number).collect(),
        first_slot: pes.iter().filter_map(|pe| pe.on_node()).min().unwrap_or_default(),
        index,
        place: mine as usize..mine as usize + arena.stride(),
        name_of: Box::new(names.clone().into_words()),
    };
    let observers = Observers::new(&settings, node, &bootstrap).unwrap_or_else(|error| end(&error));
    // SAFETY: the slots of the PEs on this node, mapped for as long as anyone can wait: that takes an endpoint.
    let neighbours = unsafe { Neighbours::new(&on_node, index) };

    let is_watched = settings.standstill && transport.as_ref().is_none_or(|far| far.threads().is_some());
    // Before anything is counted: it is none of the program's.
    let asking = transport.as_ref().filter(|_| is_watched).map(|far| open(far, false, &bootstrap));
    let watch = is_watched.then(|| {
        process::notice_forks();
        let others = asking.clone().map(|far| others(far, &directory, &bootstrap));
        let (neighbours, bootstrap) = (neighbours.clone(), Arc::clone(&bootstrap));
        let guard = Guard { neighbours, others, inside, bootstrap, observers: observers.clone() };
        Box::new(guard) as Box<dyn Watch>
    });
    let beside = neighbours.clone();
    let warn = move |wait: &WaitReport| say(&report::long_wait(number, wait, neighbours.peers()));
    let words = names.clone().into_words();
    let waiting = Waiting::new(patience, move || beside.share_cpu(), settings.wait_warn, words, warn);

    let counted = transport.as_ref().filter(|_| settings.stats);
    let counted = counted.map(|far| Arc::new(CountedTransport::new(Arc::clone(far), pes.len())));
    let transport = counted.clone().map(|counted| counted as Arc<dyn Transport>).or(transport);
    // SAFETY: the arena maps every slot that a `Pe` of this job carries, and the job keeps it; the
    // transport reaches the PEs that have none.
    let endpoints = unsafe {
        let (far, segments, waiting) = (transport.clone(), Arc::clone(&segments), waiting.watched(watch));
        Endpoints::new(arena.base(), arena.stride(), mine, me, far, segments, Arc::new(waiting))
    };
    let endpoints = endpoints.observed_by(observers.clone().map(|observers| observers as Arc<dyn Observer>));
    let holdings = Holdings::start(&settings, endpoints.units(), on_node.len(), index, L::USE);
    let holdings = holdings.unwrap_or_else(|error| end(&error));
    let endpoint = endpoints.open(holdings.of_the_world()).unwrap_or_else(|why| bootstrap.abort(1, &why));
    let runtime = |patient| transport.as_ref().map(|far| open(far, patient, &bootstrap));
    let (own, meetings) = (runtime(false), runtime(true));
    // SAFETY: only the record of this PE is changed, by its own methods, which keep its protocol.
    let record = &unsafe { endpoint.system() }.record;
    record.start(number as u32, std::process::id());
    record.set_stage(Stage::Running);

    shmem_core::strided::Settings { algorithm: settings.strided_algorithm, ..Default::default() }.install();

    let threads = Mutex::new(Threads::new(settings.max_num_threads));
    let contexts = Contexts { threads, holdings: Mutex::new(holdings) };
    let site = Site {
        everyone: Arc::new(Members::all(directory)),
        slot,
        cpus_per_pe: (cores / on_node.len()).max(1),
        has_cores: patience.has_cores(),
        cpus,
        topology: OnceLock::new(),
        most_homes: OnceLock::new(),
    };
    let network = Network {
        endpoints,
        transport: transport.as_ref().map_or("shm", |transport| transport.name()),
        fabric,
        // As PE 0 has measured it, which has just been told.
        model: Model::from(transport.as_ref().map_or(Row::TCP, |transport| transport.costs())),
        far: transport,
        own,
        meetings,
        asking,
        counted,
    };
    let memory = Memory {
        partitions: RwLock::new(Partitions::new(table, grants)),
        statics: names.statics,
        released,
        ledger: names.ledger,
        shelves: Mutex::new(shelves),
        segments,
        later: Mutex::new(Later::new(&layout)),
        arena,
    };
    let (indexes, room) = (Mutex::new(Indexes::new()), Mutex::new(Room::new(layout.teams())));
    let teams = Teams { indexes, area: layout.teams(), room };
    let warned = Mutex::default();
    let job =
        Arc::new(Job { bootstrap, settings, observers, warned, site, contexts, teams, network, memory });
    let (team, node) = Team::first(&job, &endpoint);
    team.meet_once(&endpoint, Operation::named(Family::TeamSync, "the start of the program"), None);
    let world = World::new(job, (team, node), endpoint);
    introduce(&world);
    world
}

/// The heaps of the partitions, behind their statics.
fn heaps(setup: &Setup) -> Ledger {
    let mut ledger = Ledger::new();
    for part in &setup.statics.partitions {
        let start = setup.layout.partition(part.index as usize - 1).start;
        let heap = start + part.end as usize..start + part.size as usize;
        ledger.add_heap(part.index, Allocator::new(part.id, part.name, heap, part.size as usize));
    }
    ledger
}

/// Extent and name of each static.
fn names(setup: &Setup) -> Arc<[(Extent, String)]> {
    let of_partition = setup.statics.partitions.iter().flat_map(|part| {
        let start = setup.layout.partition(part.index as usize - 1).start;
        part.objects.iter().map(move |placed| {
            let offset = start + placed.offset as usize;
            (Extent { offset, bytes: placed.object.size as usize }, placed.object.name.to_string())
        })
    });
    of_partition.collect()
}

/// What messages name places by.
#[derive(Clone)]
struct Names {
    statics: Arc<[(Extent, String)]>,
    ledger: Arc<Mutex<Ledger>>,
}

impl Names {
    /// What lies at an offset, in words.
    fn into_words(self) -> impl Fn(usize) -> String + Send + Sync + 'static {
        move |offset| report::name_at(&self.statics, &self.ledger, offset)
    }
}

/// A stream of the runtime's own operations to other nodes.
fn open(far: &Arc<dyn Transport>, patient: bool, bootstrap: &Arc<dyn Bootstrap>) -> Far {
    let lane = Lane { unit: 0, shared: true, tracking: Tracking::Events, patient };
    let channel = far.open(lane).unwrap_or_else(|why| bootstrap.abort(1, &why));
    Far { transport: Arc::clone(far), channel }
}

/// The other nodes, asked by this one whether anybody can go on.
fn others(far: Far, directory: &Arc<Directory>, bootstrap: &Arc<dyn Bootstrap>) -> Others {
    let (hosts, firsts) = (bootstrap.hosts(), bootstrap.firsts());
    let node = firsts.iter().position(|first| hosts[*first] == hosts[bootstrap.number()]);
    Others::new(far, Arc::clone(directory), &firsts, node.unwrap_or_default())
}
