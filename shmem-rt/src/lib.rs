#![doc = include_str!("../README.md")]

// A module imports only modules below it in this list. `ui-tests/tests/layers.rs` checks this; docs/design.md has the rules.
//
// ```text
// __private                                                              items that expansions name
// prelude, partition, mapping, strided, launch, bootstrap, env           re-exports
// macros                                                                 the attributes and macros
// testing                                                                `#[shmem::test]`
// entry                                                                  `#[shmem::main]`, `init`
// c_interface                                                            the interface of the C library
// loopback                                                               a job inside one process
// start                                                                  bringing a job up and down
// panics                                                                 texts of panics
// array, gather_plan, halo, dynamic_partitions, persistent               kinds of memory, repeated gathers
// channel, exchange, queue                                               messages, items and tasks that PEs send each other
// message_rings                                                          ring buffers for messages between all PEs
// termination_detection                                                  termination detection
// heap                                                                   symmetric heaps
// free                                                                   freeing memory
// dynamic_segments                                                       memory made after the start
// team                                                                   splits, objects and phases of teams
// phase, context                                                         references to symmetric memory, contexts
// lock, cartesian, ndarray                                               locks, grids of PEs, views
// cost_prediction                                                        what collectives cost, counted without a job
// collective                                                             collectives
// world                                                                  the token for operations
// group                                                                  teams, and what their members agree on
// job                                                                    one PE's part of a running job
// setup                                                                  the description of a job before it starts
// deadlock_report                                                        detection of deadlocks
// observe                                                                statistics, trace, checks
// state                                                                  the state of each feature in a running job
// single_world                                                           ensures one world per process
// error                                                                  errors
// warnings                                                               diagnostics of the runtime
// pes                                                                    lists of PEs
// members                                                                members of jobs and teams
// caller, initial_contents, cost_model, nearest_memory, thread, version  modules that all others may import
// ```

#[doc(hidden)]
pub mod __private;
pub mod array;
#[doc(hidden)]
pub mod c_interface;
mod caller;
mod cartesian;
mod channel;
mod collective;
mod context;
mod cost_model;
#[doc(hidden)]
pub mod cost_prediction;
mod deadlock_report;
mod dynamic_partitions;
mod dynamic_segments;
mod entry;
mod error;
mod exchange;
mod free;
mod gather_plan;
mod group;
mod halo;
mod heap;
mod initial_contents;
mod job;
mod lock;
mod loopback;
mod macros;
mod members;
mod message_rings;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod nearest_memory;
mod observe;
mod panics;
mod persistent;
mod pes;
mod phase;
mod queue;
mod setup;
mod single_world;
mod start;
mod state;
mod team;
mod termination_detection;
mod testing;
pub mod thread;
pub mod version;
mod warnings;
mod world;

pub use cartesian::PeGrid;
pub use channel::Channel;
pub use collective::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible, Started};
pub use context::{Context, Ctx, Domain, HintScope, Registration, Turn};
pub use dynamic_partitions::PartitionReport;
pub use entry::{Outcome, init, init_with, initialized};
pub use error::{ContextError, Error, ErrorKind, NameError, Result, TeamError};
pub use exchange::{Exchange, ExchangeOptions, ExchangeToken, Outbox};
pub use free::Free;
pub use gather_plan::Plan;
pub use group::Team;
pub use heap::Heap;
pub use initial_contents::{Filled, Initial, Value, Zeroed, filled, value, zeroed};
pub use lock::{LockGuard, LockPlace};
pub use pes::{Pes, PesIter};
pub use queue::WorkQueue;
pub use shmem_core::array::NumaArray;
pub use shmem_core::context::mapping::Hints as DomainHints;
pub use shmem_core::context::{
    Amo, Buffer, Collected, Condition, Contribution, Destination, Initiator, NonBlocking, Order, Pending,
    Place, PutSignal, Raw, Rma, Scope, Session, SessionOptions, Sessions, SignalOp, Source, Stores, Strided,
    WaitSet, Words, eq, ge, gt, le, lt, ne,
};
pub use shmem_core::halo::{Edge, Ghosts, Halo, HaloError, HaloExchange, HaloToken, OpenPhase};
pub use shmem_core::heap::Usage;
pub use shmem_core::indexed::{
    Batch, Block, BlockCyclic, BlockOf, Cyclic, Distribution, Indexed, ListIndex, Listed, Numbered,
    OneOrEach, Over, Ranked,
};
pub use shmem_core::object::{
    AmoValue, Atomic, BitValue, Here, Lock, Objects, On, PlaceIndex, Signal, SymAddr, SymBox,
    SymmetricObject, Waitable,
};
pub use shmem_core::observe::{Effect, Family, OperationCounts, Statistics};
pub use shmem_core::padded;
pub use shmem_core::pe::{OnPe, Pe};
pub use shmem_core::segment_table::Miss;
pub use shmem_core::symmetric_data::{Contents, MemoryHints, Movable, Plain, PlainData, SymmetricData};
pub use shmem_core::transport::Traffic;
pub use state::endpoint_reports::{Granted, Resources};
pub use state::names::Named;
pub use state::team_uses::TeamConfig;
pub use team::{TeamBox, TeamObjects};
pub use world::World;

pub use macros::{Symmetric, collective, main, partitions, strided, symmetric, test};
/// The type of a symmetric static, and the derive macro for structs that may live in one.
pub use shmem_core::object::Symmetric;

/// The built-in partitions, as types that `#[symmetric(partition = "..")]` can name.
pub mod partition {
    pub use shmem_core::partition::{
        Grant, Kind, MAX_PARTITION_ID, MAX_PARTITIONS, NewPartition, Pages, Partition, Policy, default, fast,
        normal,
    };
}

/// Starts the PEs of a job. For `shmrun`, programs that launch themselves, and tests with several PEs.
pub mod launch {
    #[doc(inline)]
    pub use shmem_launch::launch::{
        Bind, Failure, HostList, HostsAs, Launch, LaunchError, Outcome, Printed, itself,
    };
}

/// Joins a job: gives the PE its number, the number of PEs, the PEs of its host, and exchanges without symmetric memory.
pub mod bootstrap {
    #[doc(inline)]
    pub use shmem_launch::bootstrap::{
        Bootstrap, Connection, Exchanged, Local, Managed, ProcessManager, Singleton, attach_wait, connect,
    };
}

/// The environment variables of the library, in one table.
pub mod env {
    #[doc(inline)]
    pub use shmem_launch::env::{
        BarrierChoice, CheckChoice, CollectiveFamily, CollectiveWay, CollectiveWays, EnvError, Row, Settings,
        TransportChoice, VARIABLES, Variable, process, rows, unknown,
    };
}

/// Assigns contexts to endpoints, of which the hardware has a limited number.
pub mod mapping {
    pub use shmem_core::context::mapping::{Design, Sharing, Tracking};
}

/// Strided transfers: the types of objects whose regions are transferred, their shapes, and the algorithms.
pub mod strided {
    pub use shmem_core::context::strided::{Object, Readable, Remote, SameElements, Writable};
    pub use shmem_core::strided::{Algorithm, Axis, Dim, Shape, Shaped};
}

/// The names that programs usually need, and all names that error texts of this library suggest. Traits that add
/// methods to every number, such as [`Number`], are left out.
pub mod prelude {
    pub use crate::partition::{fast, normal};
    pub use crate::thread::{Multiple, Private, Serialized, ThreadLevel};
    pub use crate::{
        Amo, Atomic, Block, BlockCyclic, Cyclic, Edge, Exchange, ExchangeOptions, Ghosts, Halo, Here,
        Indexed, Initiator, Lock, NonBlocking, NumaArray, On, OpenPhase, Order, Over, Pe, PeGrid, PlainData,
        PutSignal, Raw, Result, Rma, Sessions, Signal, SignalOp, Stores, Strided, SymBox, Symmetric, Team,
        TeamBox, TeamConfig, Words, World, padded, partitions, strided, symmetric,
    };
    pub use crate::{eq, filled, ge, gt, le, lt, ne, value, zeroed};
    #[doc(hidden)]
    pub use shmem_core::object::Placeless as _;
}
