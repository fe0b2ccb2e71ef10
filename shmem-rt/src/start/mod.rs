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
pub(crate) mod fabric;
mod introduction;
mod leave;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use shmem_core::alike::Alike;
use shmem_core::context::mapping::Level;
use shmem_core::context::{Endpoints, Far, Resource, WaitReport, Waiting, Watch};
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Allocator, Ledger};
use shmem_core::memory::{Arena, Backing, Machine, PeList};
use shmem_core::object::{self, Extent};
use shmem_core::observe::{Family, Observer};
use shmem_core::partition::{Grant, PartitionSpec, Policy};
use shmem_core::pe::Pe;
use shmem_core::strided::advice;
use shmem_core::sync::Patience;
use shmem_core::system::Stage;
use shmem_core::transport::ofi::strided::Row;
use shmem_core::transport::{CountedTransport, Lane, Tracking, Transport};
use shmem_launch::bootstrap::{self, Bootstrap};
use shmem_launch::cpus::Cpus;
use shmem_launch::env::Settings;
use shmem_launch::say::say;

use self::agreement::{PeMemory, agree};
use self::introduction::introduce;
use crate::calibration;
use crate::error::{Error, Result};
use crate::grants::{self, by_partition};
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

    let (hosts, is_observed) = (bootstrap.hosts(), Observers::are_wanted(&setup.settings));
    let mut slots = 0;
    let pes: Vec<Pe> = hosts
        .iter()
        .enumerate()
        .map(|(number, host)| {
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
        })
        .collect();
    let my_slot = pes[me].on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"));

    let arena = reserve(&setup, bootstrap.as_ref(), &pes, my_slot, slots as usize)?;
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
    let cores = Cpus::of_the_node(&told.map(|told| told.cpus.clone()), me, slots as usize);
    let has_cores = Patience::for_node(slots as usize, cores).has_cores();
    let ofi = fabric::open(&setup.settings, bootstrap, has_cores)?;
    let join = |ofi| fabric::join(ofi, bootstrap.as_ref(), &pes, &setup.layout, arena.start_of(my_slot));
    let fabric = ofi.as_ref().map(join).transpose()?;
    let transport = ofi.map(|ofi| ofi as Arc<dyn Transport>);
    let directory = Arc::new(Directory::new(list_of_the_node(pes, list)?, &hosts));
    let members = JobPes { directory, cores, cpus, files, fabric, inside: None };
    let grants = by_partition(setup.table.specs().len(), &told.map(|told| told.grants.clone()));
    Ok(assemble(setup, Arc::clone(bootstrap), Arc::new(arena), members, grants, transport))
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

/// Reserves the addresses of the node's PEs. Where memory must be of a kind, it is checked that the nodes
/// that have it have enough for all PEs: these differ, when PEs are bound to different ones.
fn reserve(setup: &Setup, bootstrap: &dyn Bootstrap, pes: &[Pe], own: usize, slots: usize) -> Result<Arena> {
    let (layout, machine) = (setup.layout.clone(), Machine::default());
    let mandatory = |spec: &PartitionSpec| spec.traits.policy == Some(Policy::Mandatory);
    if !setup.table.specs().iter().any(mandatory) {
        return Ok(Arena::reserve(own, layout, slots, machine)?);
    }
    let mine = grants::encode_placements(layout.requests().iter().map(|request| &request.placement));
    let all = bootstrap.exchange("places", &mine).map_err(Error::launcher)?;
    let on_node = pes.iter().zip(&all).filter(|(pe, _)| pe.on_node().is_some());
    let places = on_node.map(|(_, bytes)| grants::decode_placements(bytes)).collect::<Option<Vec<_>>>();
    let places = places.filter(|all| all.iter().all(|places| places.len() == layout.requests().len()));
    let places = places.ok_or_else(|| Error::launcher("a PE's places are garbled"))?;
    Ok(Arena::reserve_among(own, layout, &places, machine)?)
}

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

/// Puts a world together, once the memory exists.
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
    let (base, stride) = (arena.base(), arena.stride());

    let mut ledger = Ledger::new();
    for part in &setup.statics.partitions {
        let start = setup.layout.partition(part.index as usize - 1).start;
        let heap = start + part.end as usize..start + part.size as usize;
        ledger.add_heap(part.index, Allocator::new(part.id, part.name, heap));
    }
    let shelves = persistent::shelve(&setup, files, mine, &mut ledger, bootstrap.as_ref())
        .unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()));
    let Setup { settings, table, statics, layout, .. } = setup;
    let segments = Arc::new(layout.segments());
    let names: Arc<[_]> = statics
        .partitions
        .iter()
        .flat_map(|part| {
            let start = layout.partition(part.index as usize - 1).start;
            part.objects.iter().map(move |placed| {
                let offset = start + placed.offset as usize;
                (Extent { offset, bytes: placed.object.size as usize }, placed.object.name.to_string())
            })
        })
        .collect();

    let neighbours: Vec<(usize, usize)> =
        pes.iter().filter_map(|pe| Some((pe.number(), arena.start_of(pe.on_node()?) as usize))).collect();
    let patience = Patience::for_node(neighbours.len(), cores);
    let (on_node, place) = (neighbours.len(), neighbours.iter().position(|(pe, _)| *pe == number));
    let cpus_per_pe = (cores / on_node).max(1);
    let released = Arc::clone(ledger.released());
    let ledger = Arc::new(Mutex::new(ledger));
    let named = || {
        let (names, ledger) = (Arc::clone(&names), Arc::clone(&ledger));
        move |offset| report::name_at(&names, &ledger, offset)
    };
    let known = (Arc::clone(&names), Arc::clone(&ledger));
    object::call_by(move |offset| report::known_at(&known.0, &known.1, offset));
    let node = NodePes {
        numbers: neighbours.iter().map(|(number, _)| *number).collect(),
        first_slot: pes.iter().filter_map(|pe| pe.on_node()).min().unwrap_or_default(),
        index: place.unwrap_or_default(),
        place: mine as usize..mine as usize + stride,
        many_threads: L::USE == Level::Multiple,
        names: Box::new(named()),
    };
    let observers = Observers::new(&settings, node, &bootstrap)
        .unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()));
    // SAFETY: the slots of the PEs on this node, mapped for as long as anyone can wait: that takes an endpoint.
    let neighbours = unsafe { Neighbours::new(&neighbours, place.unwrap_or_default()) };
    let open = |far: &Arc<dyn Transport>, patient| {
        let lane = Lane { unit: 0, shared: true, tracking: Tracking::Events, patient };
        let channel = far.open(lane).unwrap_or_else(|why| bootstrap.abort(1, &why));
        Far { transport: Arc::clone(far), channel }
    };
    let is_watched = settings.standstill && transport.as_ref().is_none_or(|far| far.threads().is_some());
    // Before anything is counted: it is none of the program's.
    let asking = transport.as_ref().filter(|_| is_watched).map(|far| open(far, false));
    let watch = is_watched.then(|| {
        process::notice_forks();
        let others = asking.clone().map(|far| {
            let (hosts, firsts) = (bootstrap.hosts(), bootstrap.firsts());
            let node = firsts.iter().position(|first| hosts[*first] == hosts[number]);
            Others::new(far, Arc::clone(&directory), &firsts, node.unwrap_or_default())
        });
        let (neighbours, bootstrap) = (neighbours.clone(), Arc::clone(&bootstrap));
        Box::new(Guard { neighbours, others, inside, bootstrap, observers: observers.clone() })
            as Box<dyn Watch>
    });
    let beside = neighbours.clone();
    let warn = move |wait: &WaitReport| say(&report::long_wait(number, wait, neighbours.peers()));
    let waiting = Waiting::new(patience, move || beside.share_cpu(), settings.wait_warn, named(), warn);
    let waiting = Arc::new(waiting.watched(watch));

    let counted = match &transport {
        Some(transport) if settings.stats => {
            Some(Arc::new(CountedTransport::new(Arc::clone(transport), pes.len())))
        }
        _ => None,
    };
    let transport = counted.clone().map(|counted| counted as Arc<dyn Transport>).or(transport);
    let transport_name = transport.as_ref().map_or("shm", |transport| transport.name());
    // SAFETY: the arena maps every slot that a `Pe` of this job carries, and the job keeps it; the
    // transport reaches the PEs that have none.
    let resource = unsafe {
        let (far, segments) = (transport.clone(), Arc::clone(&segments));
        Endpoints::new(base, stride, mine, me, far, segments, waiting)
    };
    let resource = resource.observed_by(observers.clone().map(|observers| observers as Arc<dyn Observer>));
    let holdings = Holdings::start(&settings, &resource, on_node, place.unwrap_or_default(), L::USE)
        .unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()));
    let endpoint = resource.open(holdings.of_the_world()).unwrap_or_else(|why| bootstrap.abort(1, &why));
    let runtime = |patient| transport.as_ref().map(|far| open(far, patient));
    let (own, meetings) = (runtime(false), runtime(true));
    // SAFETY: the record of this PE, told what it is meant for.
    let record = &unsafe { endpoint.system() }.record;
    record.start(number as u32, std::process::id());
    record.set_stage(Stage::Running);

    calibration::install(&settings, bootstrap.as_ref())
        .unwrap_or_else(|error| bootstrap.abort(1, &Error::launcher(error).to_string()));

    // All PEs run one program: one of them is enough to speak of it.
    if number == 0 && settings.strided_advice {
        advice::install(report::advise);
    }

    let contexts = Contexts {
        threads: Mutex::new(Threads::new(settings.max_num_threads)),
        holdings: Mutex::new(holdings),
    };
    let everyone = Arc::new(Members::all(directory));
    let has_cores = patience.has_cores();
    let (topology, most_homes) = (OnceLock::new(), OnceLock::new());
    let site = Site { everyone, slot, cpus_per_pe, has_cores, cpus, topology, most_homes };
    let resource = Box::new(resource);
    // As PE 0 has measured it, which has just been told.
    let model = Model::from(transport.as_ref().map_or(Row::TCP, |transport| transport.costs()));
    let network = Network {
        resource,
        transport: transport_name,
        fabric,
        far: transport,
        own,
        model,
        meetings,
        asking,
        counted,
    };
    let memory = Memory {
        partitions: RwLock::new(Partitions::new(table, grants)),
        statics: names,
        released,
        ledger,
        shelves: Mutex::new(shelves),
        segments,
        later: Mutex::new(Later::new(&layout)),
        arena,
    };
    let teams = Teams {
        indexes: Mutex::new(Indexes::new()),
        area: layout.teams(),
        room: Mutex::new(Room::new(layout.teams())),
    };
    let job = Job {
        bootstrap,
        settings,
        observers,
        warned: Mutex::default(),
        site,
        contexts,
        teams,
        network,
        memory,
    };
    let job = Arc::new(job);
    let (team, node) = Team::first(&job, &endpoint);
    team.meet_once(&endpoint, Operation::named(Family::TeamSync, "the start of the program"), None);
    let world = World::new(job, (team, node), endpoint);
    introduce(&world);
    world
}
