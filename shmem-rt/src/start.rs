//! Bringing a job up.
//!
//! ```text
//! plan      environment + what the binary declares -> partitions, statics, layout of a place
//! agree     every PE's plan is compared with every other's
//! files     those partitions that outlive jobs: open, come to one persist on all PEs
//! memory    reserve the arena, make the own place, pass descriptors, map the neighbours' places
//! objects   write each static's position and initial image
//! fabric    the way to other hosts, if there are any: registered, told to all
//! meet      nobody leaves before all are here
//! ```
//!
//! Every step fails on all PEs or on none: who finds an error ends the job with one message.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use shmem_core::context::{Endpoints, Resource, Waiting};
use shmem_core::heap::statics::{self, Layout, StaticEntry};
use shmem_core::heap::{Allocator, Ledger};
use shmem_core::memory::{Arena, Backing, Machine, PlaceLayout};
use shmem_core::object::{Descriptor, Extent};
use shmem_core::observe::Observer;
use shmem_core::partition::{Environment, Grant, ObjectWish, PartitionSpec, Policy, Table, show_size};
use shmem_core::pe::Pe;
use shmem_core::section;
use shmem_core::strided::advice;
use shmem_core::sync::Patience;
use shmem_core::system::{Stage, SystemArea};
use shmem_core::transport::{Counted, Transport};

use crate::agreement::{Told, agree};
use crate::bootstrap::{self, Bootstrap};
use crate::calibration;
use crate::context::{Holdings, Threads};
use crate::cpus::Cpus;
use crate::env::{self, Settings};
use crate::error::{Error, Result};
use crate::fabric;
use crate::grants;
use crate::job::Job;
use crate::observe::{Node, Observers};
use crate::partitions::Partitions;
use crate::persistent;
use crate::report;
use crate::segments::Later;
use crate::team::{Indexes, Room, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

/// What the job is to look like, before anything exists.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) table: Table,
    descriptors: Vec<&'static Descriptor>,
    pub(crate) statics: Layout,
    pub(crate) layout: PlaceLayout,
}

impl Plan {
    /// Joins the environment with what the binary declares.
    pub(crate) fn make(settings: Settings) -> Result<Self> {
        let descriptors = section::descriptors()?;
        let declared: Vec<_> = section::declarations()?.into_iter().copied().collect();
        let entries: Vec<StaticEntry> = descriptors.iter().map(|d| StaticEntry::from(*d)).collect();
        let wishes: Vec<_> = entries.iter().map(ObjectWish::from).collect();
        let table = Table::resolve(&declared, &wishes, &Environment::collect(env::process())?)?;
        let statics = statics::layout(&entries, table.specs())?;
        let layout = PlaceLayout::with_teams(
            table.specs(),
            settings.team_size as usize,
            settings.later_size as usize,
            &Machine::default().topology(),
        )?;
        Ok(Self { settings, table, descriptors, statics, layout })
    }

    /// Gives every static its position, and the PE whose place starts at `place` the initial images; but not
    /// where a file has what a job before has left. Before any token exists in this process.
    pub(crate) fn place_statics(&self, place: *mut u8, files: &BTreeMap<usize, Backing>) {
        for part in &self.statics.partitions {
            let k = part.index as usize - 1;
            let (start, kept) = (self.layout.start(k), persistent::kept(files, k));
            for placed in &part.objects {
                let offset = start + placed.offset as usize;
                let descriptor = self.descriptors[placed.entry];
                let here = (!kept).then(|| place.wrapping_add(offset));
                place_static(descriptor, part.index, offset, here);
            }
        }
    }

    /// Everything that all PEs must agree on, a line each.
    fn describe(&self) -> String {
        let storage = self.settings.array_storage.map(|storage| storage.to_string());
        let mut lines = vec![
            crate::version::NAME.into(),
            format!("words of the runtime: {}", show_size(size_of::<SystemArea>() as u64)),
            format!("base pages: {}", show_size(rustix::param::page_size() as u64)),
            format!("memory of teams: {}", show_size(self.settings.team_size)),
            format!("barrier of a node: {}", self.settings.barrier.name()),
            format!("address space for later segments: {}", show_size(self.settings.later_size)),
            format!("asked to observe: {}", Observers::asked(&self.settings)),
            format!("storage of arrays that name none: {}", storage.unwrap_or_else(|| "by size".to_owned())),
        ];
        lines.extend(self.table.describe());
        lines.extend(self.statics.describe());
        lines.join("\n")
    }
}

/// Brings the job up, as one of the PEs that the launcher started.
pub(crate) fn start<L: ThreadLevel>(settings: Settings, bootstrap: Arc<dyn Bootstrap>) -> World<L> {
    let bootstrap: Arc<dyn Bootstrap> = Arc::new(bootstrap::Counted::new(bootstrap));
    try_start(settings, &bootstrap).unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()))
}

fn try_start<L: ThreadLevel>(settings: Settings, bootstrap: &Arc<dyn Bootstrap>) -> Result<World<L>> {
    let lost = |error: std::io::Error| Error::Launcher(error.to_string());
    let plan = Plan::make(settings)?;
    let bootstrap = &fabric::hosts(&plan.settings, Arc::clone(bootstrap))?;
    let me = bootstrap.number();
    agree(&plan.describe(), bootstrap.as_ref())?;

    let hosts = bootstrap.hosts();
    let mut slots = 0;
    let pes: Vec<Pe> = hosts
        .iter()
        .enumerate()
        .map(|(number, host)| {
            let slot = if *host == hosts[me] { slots } else { Pe::OFF_NODE };
            slots += u32::from(*host == hosts[me]);
            // SAFETY: the launcher says that PE `number` exists, and on our host PEs take the slots
            // of the arena in the order of their numbers.
            unsafe { Pe::new(number as u32, slot) }
        })
        .collect();
    let my_slot = pes[me].on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"));

    let arena = reserve(&plan, bootstrap.as_ref(), &pes, slots as usize)?;
    let files = persistent::open(&plan, bootstrap.as_ref())?;
    // What is left of the node's memory is looked at by all before anyone takes of it.
    bootstrap.fence().map_err(lost)?;
    let mine = arena.create_with(my_slot, &files)?;
    plan.place_statics(arena.place(my_slot), &files);
    let descriptors: Vec<_> = mine.descriptors.iter().map(std::os::fd::AsFd::as_fd).collect();
    let shared = bootstrap.share(&descriptors).map_err(lost)?;
    let told = Told::exchange(&mine.pieces, &mine.grants, bootstrap.as_ref())?;
    let on_node = pes.iter().zip(&told).filter_map(|(pe, told)| Some((pe.on_node()?, told)));
    for ((slot, told), shared) in on_node.clone().zip(shared) {
        if slot != my_slot {
            arena.attach(slot, shared, &told.pieces)?;
        }
    }
    // Each PE may be bound to a core of its own: together they have more than each sees.
    let cpus: Vec<_> = on_node.map(|(_, told)| told.cpus.list.clone()).collect();
    let all: Vec<_> = told.iter().map(|told| told.cpus.clone()).collect();
    let cores = Cpus::of_the_node(&all, me, slots as usize);
    let spins = Patience::for_node(slots as usize, cores).spins();
    let ofi = fabric::open(&plan.settings, bootstrap, spins)?;
    let join = |ofi| fabric::join(ofi, bootstrap.as_ref(), &pes, &plan.layout, arena.place(my_slot));
    let fabric = ofi.as_ref().map(join).transpose()?;
    let transport = ofi.map(|ofi| ofi as Arc<dyn Transport>);
    let members = Members { pes, hosts: &hosts, cores, cpus, files, fabric };
    let grants = told.into_iter().map(|told| told.grants).collect();
    Ok(assemble(plan, Arc::clone(bootstrap), Arc::new(arena), members, grants, transport))
}

/// Reserves the addresses of the node's PEs. Where memory must be of a kind, it is checked that the nodes
/// that have it have enough for all PEs: these differ, when PEs are bound to different ones.
fn reserve(plan: &Plan, bootstrap: &dyn Bootstrap, pes: &[Pe], slots: usize) -> Result<Arena> {
    let lost = |error: std::io::Error| Error::Launcher(error.to_string());
    let (layout, machine) = (plan.layout.clone(), Machine::default());
    let mandatory = |spec: &PartitionSpec| spec.traits.policy == Some(Policy::Mandatory);
    if !plan.table.specs().iter().any(mandatory) {
        return Ok(Arena::reserve(layout, slots, machine)?);
    }
    let mine = grants::encode_places(layout.requests().iter().map(|request| &request.placement));
    let all = bootstrap.exchange("places", &mine).map_err(lost)?;
    let on_node = pes.iter().zip(&all).filter(|(pe, _)| pe.on_node().is_some());
    let places = on_node.map(|(_, bytes)| grants::decode_places(bytes)).collect::<Option<Vec<_>>>();
    let places = places.filter(|all| all.iter().all(|places| places.len() == layout.requests().len()));
    let places = places.ok_or_else(|| Error::Launcher("a PE's places are garbled".to_owned()))?;
    Ok(Arena::reserve_among(layout, &places, machine)?)
}

/// The PEs of a job, by their numbers.
pub(crate) struct Members<'a> {
    pub(crate) pes: Vec<Pe>,
    /// The host of each.
    pub(crate) hosts: &'a [u32],
    /// Cores that those on this host may run on.
    pub(crate) cores: usize,
    /// The CPUs of each on this host; empty: not known.
    pub(crate) cpus: Vec<Vec<usize>>,
    /// What the partitions of this one lie in that are to outlive the job, by their position.
    pub(crate) files: BTreeMap<usize, Backing>,
    /// What reaches other hosts, in words.
    pub(crate) fabric: Option<String>,
}

/// Puts a world together, once the memory exists.
pub(crate) fn assemble<L: ThreadLevel>(
    plan: Plan,
    bootstrap: Arc<dyn Bootstrap>,
    arena: Arc<Arena>,
    members: Members<'_>,
    grants: Vec<Vec<Grant>>,
    transport: Option<Arc<dyn Transport>>,
) -> World<L> {
    let Plan { settings, table, statics, layout, .. } = plan;
    let Members { pes, hosts, cores, cpus, files, fabric } = members;
    let number = bootstrap.number();
    let pes: Vec<Pe> = match Observers::are_wanted(&settings) {
        true => pes.into_iter().map(Pe::observed).collect(),
        false => pes,
    };
    let me = pes[number];
    let slot = me.on_node().unwrap_or_else(|| unreachable!("a PE is on its own host"));
    let mine = arena.place(slot);
    let (base, stride) = (arena.base(), arena.stride());
    let segments = Arc::new(layout.segments());

    let mut ledger = Ledger::new();
    for part in &statics.partitions {
        let start = layout.start(part.index as usize - 1);
        let heap = start + part.end as usize..start + part.size as usize;
        ledger.add_heap(part.index, Allocator::new(part.id, part.name, heap));
    }
    let shelves = persistent::shelve(files, &table, &statics, &layout, mine, &mut ledger, bootstrap.as_ref())
        .unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()));
    let names: Arc<[_]> = statics
        .partitions
        .iter()
        .flat_map(|part| {
            let start = layout.start(part.index as usize - 1);
            part.objects.iter().map(move |placed| {
                let offset = start + placed.offset as usize;
                (Extent { offset, bytes: placed.object.size as usize }, placed.object.name.to_string())
            })
        })
        .collect();

    let neighbours: Vec<(usize, usize)> =
        pes.iter().filter_map(|pe| Some((pe.number(), arena.place(pe.on_node()?) as usize))).collect();
    let patience = Patience::for_node(neighbours.len(), cores);
    let (on_node, place) = (neighbours.len(), neighbours.iter().position(|(pe, _)| *pe == number));
    let cpus_per_pe = (cores / on_node).max(1);
    let named = |names: &Arc<[_]>| {
        let names = Arc::clone(names);
        move |offset| report::name_at(&names, offset)
    };
    let node = Node {
        numbers: neighbours.iter().map(|(number, _)| *number).collect(),
        first_slot: pes.iter().filter_map(|pe| pe.on_node()).min().unwrap_or_default(),
        index: place.unwrap_or_default(),
        place: mine as usize..mine as usize + stride,
        names: Box::new(named(&names)),
    };
    let observers = Observers::new(&settings, node, &bootstrap)
        .unwrap_or_else(|error| bootstrap.abort(1, &error.to_string()));
    let waiting = Arc::new(Waiting::new(patience, settings.wait_warn, named(&names), move |wait| {
        let peers = neighbours.iter().map(|(number, place)| {
            // SAFETY: the place of a PE on this node, mapped for as long as anyone can wait: that takes
            // an endpoint. Only its record is read.
            let system = unsafe { &*(*place as *const SystemArea) };
            report::Peer { number: *number, record: &system.record }
        });
        report::say(&report::long_wait(number, wait, peers));
    }));

    let counted = match &transport {
        Some(transport) if settings.stats => Some(Arc::new(Counted::new(Arc::clone(transport), pes.len()))),
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
    // SAFETY: the record of this PE, told what it is meant for.
    let record = &unsafe { endpoint.system() }.record;
    record.start(number as u32, std::process::id());
    record.set_stage(Stage::Running);

    calibration::install(&settings, bootstrap.as_ref())
        .unwrap_or_else(|error| bootstrap.abort(1, &Error::Launcher(error.to_string()).to_string()));

    // All PEs run one program: one of them is enough to speak of it.
    if number == 0 && settings.strided_advice {
        advice::install(report::advise);
    }

    let threads = Mutex::new(Threads::new(settings.max_num_threads));
    let job = Arc::new(Job {
        bootstrap,
        settings,
        pes: pes.clone(),
        cpus_per_pe,
        partitions: RwLock::new(Partitions::new(table, grants)),
        cpus,
        topology: OnceLock::new(),
        most_homes: OnceLock::new(),
        statics: names,
        resource: Box::new(resource),
        observers,
        holdings: Mutex::new(holdings),
        threads,
        transport: transport_name,
        fabric,
        indexes: Mutex::new(Indexes::new()),
        room: Mutex::new(Room::new(layout.teams())),
        released: Arc::clone(ledger.released()),
        ledger: Mutex::new(ledger),
        shelves: Mutex::new(shelves),
        warned: Mutex::default(),
        arena,
        slot,
        segments,
        far: transport,
        counted,
        later: Mutex::new(Later::new(&layout)),
    });
    let (team, node) = Team::first(&job, &endpoint, hosts);
    team.assemble(&endpoint);
    let world = World::new(job, (team, node), endpoint);
    world.introduce();
    world
}

/// Gives a static its position, and the copy of this PE that is `here` its initial image.
fn place_static(descriptor: &Descriptor, segment: u32, offset: usize, here: Option<*mut u8>) {
    if let Some(here) = here
        && !descriptor.image.0.is_null()
    {
        // SAFETY: the image has `size` bytes, the layout reserves as many at `here` in this PE's
        // mapped place, and they do not overlap: the image is part of the binary.
        unsafe { core::ptr::copy_nonoverlapping(descriptor.image.0, here, descriptor.size as usize) };
    }
    // SAFETY: no token exists yet in this process; the layout reserves the object's bytes there in
    // every PE's place, and all PEs have agreed on the layout.
    unsafe { descriptor.position.place(segment, offset) };
}
