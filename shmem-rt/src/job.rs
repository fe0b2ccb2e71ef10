//! One PE's part of a running job, shared by the world, its teams and its contexts.

use std::collections::HashSet;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use shmem_core::context::{Endpoints, Far};
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Allocation, Ledger, Made, Released};
use shmem_core::memory::{Arena, Machine};
use shmem_core::object::Extent;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::run_length::Alike;
use shmem_core::segment::Segments;
use shmem_core::topology::Topology;
use shmem_core::transport::{CountedTransport, Transport};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::Settings;

use crate::caller;
use crate::members::Members;
use crate::model::Model;
use crate::observe::Observers;
use crate::state::holdings::Holdings;
use crate::state::indexes::Indexes;
use crate::state::later::Later;
use crate::state::partitions::Partitions;
use crate::state::room::Room;
use crate::state::shelf::Shelf;
use crate::state::threads::Threads;

/// One PE's part of a running job.
pub(crate) struct Job {
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) settings: Settings,
    /// Statistics, trace and checks, if the environment asks for one.
    pub(crate) observers: Option<Arc<Observers>>,
    /// File, line and subject of the warnings that were printed.
    pub(crate) warned: Mutex<HashSet<(&'static str, u32, String)>>,
    pub(crate) site: Site,
    pub(crate) contexts: Contexts,
    pub(crate) teams: Teams,
    pub(crate) network: Network,
    /// The last field, so that memory is unmapped after everything that could use it is dropped.
    pub(crate) memory: Memory,
}

/// The PEs, and where the calling PE runs.
pub(crate) struct Site {
    /// All PEs; shared with their team and with grids.
    pub(crate) everyone: Arc<Members>,
    /// This PE's slot in the arena.
    pub(crate) slot: usize,
    /// Number of CPUs per PE on this node.
    pub(crate) cpus_per_pe: usize,
    /// Whether each PE of this node has a core; equal on all its PEs. If not, a waiting PE sleeps.
    pub(crate) has_cores: bool,
    /// The CPUs of each PE on this host; empty: not known.
    pub(crate) cpus: Alike<Vec<usize>>,
    /// The NUMA nodes of this machine. Read at the first use after the start, because a program may bind itself to CPUs first.
    pub(crate) topology: OnceLock<Topology>,
    /// The largest number of NUMA nodes on which a PE has CPUs; set by the first array.
    pub(crate) most_homes: OnceLock<usize>,
}

pub(crate) struct Contexts {
    /// Units of contexts and domains.
    pub(crate) holdings: Mutex<Holdings>,
    pub(crate) threads: Mutex<Threads>,
}

pub(crate) struct Teams {
    pub(crate) indexes: Mutex<Indexes>,
    /// Range of the memory of teams in the slot. Outside the lock, because each collective on a symmetric object reads it.
    pub(crate) area: Range<usize>,
    /// Free ranges of `area`.
    pub(crate) room: Mutex<Room>,
}

pub(crate) struct Network {
    /// All endpoints of this PE.
    pub(crate) endpoints: Endpoints,
    /// Name of the transport to other nodes, or of shared memory.
    pub(crate) transport: &'static str,
    /// Description of the chosen provider, for reports.
    pub(crate) fabric: Option<String>,
    /// The transport to PEs on other nodes, if there are any.
    pub(crate) far: Option<Arc<dyn Transport>>,
    /// A channel of the runtime. A quiet of the program does not wait for it.
    pub(crate) own: Option<Far>,
    /// Cost of messages to other nodes.
    pub(crate) model: Model,
    /// A channel for the words of barriers. Their receivers answer by words of the next round, so completion is never waited for.
    pub(crate) meetings: Option<Far>,
    /// A channel for the detection of deadlocks.
    pub(crate) asking: Option<Far>,
    /// `far`, if its traffic is counted.
    pub(crate) counted: Option<Arc<CountedTransport>>,
}

/// Symmetric memory, and its objects.
pub(crate) struct Memory {
    pub(crate) partitions: RwLock<Partitions>,
    pub(crate) statics: Arc<[(Extent, String)]>,
    /// Allocations. Shared with waiting threads, whose messages name them.
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) released: Arc<Released>,
    pub(crate) shelves: Mutex<Vec<Shelf>>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) later: Mutex<Later>,
    /// Keeps the memory mapped. The last field.
    pub(crate) arena: Arc<Arena>,
}

/// An object and its name.
struct Named {
    whole: Extent,
    name: String,
    /// Whether `name` is a name, as of a static, and not a description.
    is_called: bool,
    /// Whether the object is an array, whose parts are chunks and not ranges of elements.
    is_array: bool,
}

impl Job {
    /// Ends the job on all PEs, with a message of this PE.
    pub(crate) fn abort(&self, code: i32, message: &str) -> ! {
        if let Some(observers) = &self.observers {
            observers.save();
        }
        self.bootstrap.abort(code, message)
    }

    /// Completes the operations of all endpoints of this PE, those of forgotten contexts included.
    #[inline]
    pub(crate) fn quiet_all(&self) {
        self.network.endpoints.quiet_all();
    }

    /// Completes the operations of the runtime's own channels.
    pub(crate) fn quiet_own(&self) {
        let Network { own, meetings, asking, .. } = &self.network;
        for far in [own, meetings, asking].into_iter().flatten() {
            far.transport.quiet(far.channel);
        }
    }

    /// Names the object at an extent for messages: a static, an object of a team, or an allocation; else size and offset.
    pub(crate) fn name_of(&self, extent: Extent) -> String {
        self.name_of_part(extent, 0)
    }

    /// As [`name_of`](Self::name_of), with the range of elements of `element` bytes each: `TABLE[4..8]`.
    pub(crate) fn name_of_part(&self, extent: Extent, element: usize) -> String {
        let Some(Named { whole, name, is_called, is_array }) = self.object_around(extent) else {
            return match self.memory.statics.iter().find(|(there, _)| there.overlaps(extent)) {
                Some((_, name)) => format!("a part of {name}"),
                None => format!("{} at offset {:#x}", show_size(extent.bytes as u64), extent.offset),
            };
        };
        if whole == extent || is_array {
            return name;
        }
        let at = extent.offset - whole.offset;
        match element {
            0 => return format!("a part of {name}"),
            _ if !at.is_multiple_of(element) => {
                return format!("bytes {at}..{} of {name}", at + extent.bytes);
            }
            _ => {}
        }
        let (first, count) = (at / element, extent.bytes / element);
        let part = if count == 1 { format!("[{first}]") } else { format!("[{first}..{}]", first + count) };
        if is_called { name + &part } else { format!("{part} of {name}") }
    }

    /// The object that contains an extent.
    fn object_around(&self, extent: Extent) -> Option<Named> {
        let holds = |whole: &Extent| {
            whole.offset <= extent.offset && extent.offset + extent.bytes <= whole.offset + whole.bytes
        };
        if let Some((whole, name)) = self.memory.statics.iter().find(|(whole, _)| holds(whole)) {
            return Some(Named { whole: *whole, name: name.clone(), is_called: true, is_array: false });
        }
        let of_team = |(offset, bytes, name): (usize, usize, &str)| {
            let whole = Extent { offset, bytes };
            holds(&whole).then(|| Named { whole, name: name.to_owned(), is_called: false, is_array: false })
        };
        if let Some(named) = self.teams.room.lock().name_before(extent.offset).and_then(of_team) {
            return Some(named);
        }
        let ledger = self.memory.ledger.lock();
        let found @ Allocation { offset, bytes, made, .. } = *ledger.find(extent.offset)?;
        let whole = Extent { offset, bytes };
        let is_array = made.is_some_and(|made| made.is_array);
        holds(&whole).then(|| Named { whole, name: found.to_string(), is_called: made.is_none(), is_array })
    }

    /// Describes the allocations of one object, made by a call of a program in Rust.
    pub(crate) fn describe(
        &self,
        ids: &[u64],
        what: &'static str,
        is_array: bool,
        place: &'static Location<'static>,
    ) {
        if caller::finds().is_none()
            && let Some(&first) = ids.first()
        {
            self.memory.ledger.lock().describe(ids, Made { what, place, first, is_array });
        }
    }

    /// Whether there was no warning of this call about `what` yet; records one.
    pub(crate) fn first_time_at(&self, location: &'static Location<'static>, what: &str) -> bool {
        self.warned.lock().insert((location.file(), location.line(), what.to_owned()))
    }
}

impl Site {
    #[inline]
    pub(crate) fn pes(&self) -> &[Pe] {
        self.everyone.directory.pes()
    }

    pub(crate) fn topology(&self) -> &Topology {
        self.topology.get_or_init(|| Machine::default().topology())
    }

    #[expect(clippy::unused_self, reason = "that of the machine on which the job runs")]
    pub(crate) fn base_page(&self) -> usize {
        rustix::param::page_size()
    }
}
