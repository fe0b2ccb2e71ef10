//! What one PE knows and owns of a running job, whoever holds it: the world, a team, a dropped
//! handle on its way to be reclaimed.

use std::collections::HashSet;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use shmem_core::alike::Alike;
use shmem_core::context::{Endpoints, Far};
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Allocation, Ledger, Made, Released};
use shmem_core::memory::{Arena, Machine};
use shmem_core::object::Extent;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
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
    /// Who is told of operations, if anybody.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Calls that have been warned about, and what of each.
    pub(crate) warned: Mutex<HashSet<(&'static str, u32, String)>>,
    pub(crate) site: Site,
    pub(crate) contexts: Contexts,
    pub(crate) teams: Teams,
    pub(crate) network: Network,
    /// The last field: memory is unmapped when nothing is left that could reach it.
    pub(crate) memory: Memory,
}

/// Which PEs there are, and where the calling one runs.
pub(crate) struct Site {
    /// All PEs, shared with the team of them and with grids.
    pub(crate) everyone: Arc<Members>,
    /// This PE's slot in the arena.
    pub(crate) slot: usize,
    /// CPUs of this node for each of its PEs.
    pub(crate) cpus_per_pe: usize,
    /// Whether each PE of this node has a core: the same for all of them. Where not, who waits sleeps, and is woken.
    pub(crate) has_cores: bool,
    /// The CPUs of each PE on this host; empty: not known.
    pub(crate) cpus: Alike<Vec<usize>>,
    /// The nodes of this machine, once somebody has asked: later than the start, because a program may bind itself
    /// to CPUs first.
    pub(crate) topology: OnceLock<Topology>,
    /// The most nodes on which a PE has CPUs, once an array was made.
    pub(crate) most_homes: OnceLock<usize>,
}

pub(crate) struct Contexts {
    /// Which domain and context has which unit.
    pub(crate) holdings: Mutex<Holdings>,
    pub(crate) threads: Mutex<Threads>,
}

pub(crate) struct Teams {
    /// Which ones this PE is in.
    pub(crate) indexes: Mutex<Indexes>,
    /// Where its memory of teams lies in its slot: asked at each collective on a symmetric object, so without a lock.
    pub(crate) area: Range<usize>,
    /// Which parts of that are free.
    pub(crate) room: Mutex<Room>,
}

pub(crate) struct Network {
    /// All endpoints of this PE.
    pub(crate) endpoints: Endpoints,
    /// Name of the way to PEs on other nodes, or of shared memory.
    pub(crate) transport: &'static str,
    /// What it was chosen to be, and what that has cost, in words.
    pub(crate) fabric: Option<String>,
    /// The way to PEs on other nodes, if there are any.
    pub(crate) far: Option<Arc<dyn Transport>>,
    /// A stream of operations of the runtime's own there. What it sends is no part of what the program has started, so
    /// no quiet of the program waits for it.
    pub(crate) own: Option<Far>,
    /// What messages cost there.
    pub(crate) model: Model,
    /// Another one, for words of meetings: that a word has come is seen by what its receiver sends, and nobody waits for it to
    /// be acknowledged.
    pub(crate) meetings: Option<Far>,
    /// Another one, on which nodes ask each other whether anybody can go on.
    pub(crate) asking: Option<Far>,
    /// The same, if what goes there is counted.
    pub(crate) counted: Option<Arc<CountedTransport>>,
}

/// What there is of symmetric memory, and in it.
pub(crate) struct Memory {
    pub(crate) partitions: RwLock<Partitions>,
    /// Extent and name of each static.
    pub(crate) statics: Arc<[(Extent, String)]>,
    /// What was allocated. Messages name it, from threads that wait.
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) released: Arc<Released>,
    /// Partitions that outlive the job.
    pub(crate) shelves: Mutex<Vec<Shelf>>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) later: Mutex<Later>,
    /// Keeps the memory mapped. The last field of the last one.
    pub(crate) arena: Arc<Arena>,
}

/// An object in words.
struct Named {
    whole: Extent,
    name: String,
    /// Whether that is what it is called, and not what it is.
    is_called: bool,
    /// Whether an extent is no part of it that could be named by its elements, but all or a chunk of it.
    is_array: bool,
}

impl Job {
    /// Ends the job on all PEs, with a message of this one.
    pub(crate) fn abort(&self, code: i32, message: &str) -> ! {
        if let Some(observers) = &self.observers {
            observers.save();
        }
        self.bootstrap.abort(code, message)
    }

    /// Completes what every endpoint of this PE has started, forgotten contexts included.
    #[inline]
    pub(crate) fn quiet_all(&self) {
        self.network.endpoints.quiet_all();
    }

    /// Completes what the runtime itself has sent to other nodes.
    pub(crate) fn quiet_own(&self) {
        let Network { own, meetings, asking, .. } = &self.network;
        for far in [own, meetings, asking].into_iter().flatten() {
            far.transport.quiet(far.channel);
        }
    }

    /// What lies at an extent: the name of a static, what a team has allocated and where, or as what something was allocated; of
    /// what is no object the size.
    pub(crate) fn name_of(&self, extent: Extent) -> String {
        self.name_of_part(extent, 0)
    }

    /// As [`name_of`](Self::name_of), of a part with its elements, of so many bytes each: `TABLE[4..8]`.
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

    /// The object that an extent is, or lies in.
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

    /// Notes as what allocations of one object have been made, by a call of a program in Rust.
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

    /// Whether nothing has been said about this call yet, or not about what is named here.
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
