//! One PE's part of a running job, shared by the world, its teams and its contexts.

use std::collections::HashSet;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use shmem_core::context::{Endpoints, RemotePath};
use shmem_core::exclusion::{Mutex, RwLock};
use shmem_core::heap::{Ledger, Made, Released};
use shmem_core::memory::{Arena, Machine};
use shmem_core::pe::Pe;
use shmem_core::run_length::EqualRun;
use shmem_core::segment_table::Segments;
use shmem_core::topology::Topology;
use shmem_core::transport::{CountedTransport, Transport};
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::Settings;

use crate::caller;
use crate::cost_model::Model;
use crate::members::Members;
use crate::observe::Observers;
use crate::state::contexts_domains::ContextTable;
use crate::state::dynamic_memory::DynamicMemory;
use crate::state::object_names::ObjectNames;
use crate::state::partitions::Partitions;
use crate::state::persistent_partition::PersistentPartition;
use crate::state::team_indexes::TeamTable;
use crate::state::team_memory::TeamAllocator;
use crate::state::threads::Threads;

pub(crate) struct Job {
    pub(crate) bootstrap: Arc<dyn Bootstrap>,
    pub(crate) settings: Settings,
    pub(crate) observers: Option<Arc<Observers>>,
    /// File, line and subject of the warnings that were printed.
    pub(crate) warned: Mutex<HashSet<(&'static str, u32, String)>>,
    pub(crate) site: Site,
    pub(crate) contexts: Contexts,
    pub(crate) teams: Teams,
    pub(crate) network: Network,
    /// The last field, because fields are dropped in order: memory is unmapped after everything that could use it.
    pub(crate) memory: Memory,
}

/// The PEs, and where the calling PE runs.
pub(crate) struct Site {
    /// All PEs of the job. The world's team and PE grids share this list.
    pub(crate) everyone: Arc<Members>,
    pub(crate) slot: usize,
    pub(crate) cpus_per_pe: usize,
    /// Whether the node has a core for each of its PEs. Equal on all PEs of the node. If false, a waiting PE yields its CPU.
    pub(crate) has_cores: bool,
    /// The CPUs of each PE on this host. Empty if they are unknown.
    pub(crate) cpus: EqualRun<Vec<usize>>,
    /// The topology of the machine. Read at its first use, not at the start, because a program may bind itself to CPUs in between.
    pub(crate) topology: OnceLock<Topology>,
    /// The largest number of NUMA nodes on which any PE has CPUs. Set when the first array is made.
    pub(crate) most_homes: OnceLock<usize>,
}

pub(crate) struct Contexts {
    pub(crate) holdings: Mutex<ContextTable>,
    pub(crate) threads: Mutex<Threads>,
}

pub(crate) struct Teams {
    pub(crate) indexes: Mutex<TeamTable>,
    /// The memory of teams, as a range of this PE's slot. Outside of `room`'s lock, because collectives read it.
    pub(crate) area: Range<usize>,
    pub(crate) room: Arc<Mutex<TeamAllocator>>,
}

pub(crate) struct Network {
    pub(crate) endpoints: Endpoints,
    pub(crate) transport: &'static str,
    pub(crate) fabric: Option<String>,
    pub(crate) far: Option<Arc<dyn Transport>>,
    /// Channel for the runtime's own operations, which a quiet of the program does not wait for.
    pub(crate) own: Option<RemotePath>,
    pub(crate) model: Model,
    /// Channel for barrier words. A barrier does not wait for their completion: the next one cannot end before they have arrived.
    pub(crate) barriers: Option<RemotePath>,
    /// Channel for the operations of deadlock detection.
    pub(crate) asking: Option<RemotePath>,
    /// The transport `far` by its own type, if it counts its traffic.
    pub(crate) counted: Option<Arc<CountedTransport>>,
}

pub(crate) struct Memory {
    pub(crate) partitions: RwLock<Partitions>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) released: Arc<Released>,
    pub(crate) persistent_partitions: Arc<Mutex<Vec<PersistentPartition>>>,
    pub(crate) names: ObjectNames,
    pub(crate) segments: Arc<Segments>,
    pub(crate) dynamic: Mutex<DynamicMemory>,
    pub(crate) arena: Arc<Arena>,
}

impl Job {
    pub(crate) fn abort(&self, code: i32, message: &str) -> ! {
        if let Some(observers) = &self.observers {
            observers.save();
        }
        self.bootstrap.abort(code, message)
    }

    /// Completes the operations of all endpoints of this PE, including those of contexts whose handles were leaked.
    #[inline]
    pub(crate) fn quiet_all(&self) {
        self.network.endpoints.quiet_all();
    }

    pub(crate) fn quiet_own(&self) {
        let Network { own, barriers, asking, .. } = &self.network;
        for far in [own, barriers, asking].into_iter().flatten() {
            far.transport.quiet(far.channel);
        }
    }

    /// Records who made the allocations of one object, for diagnostics. Only for programs in Rust.
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

    /// Records a warning about `what` at a source line. Returns whether it is the first such warning.
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
