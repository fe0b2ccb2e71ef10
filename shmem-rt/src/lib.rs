#![doc = include_str!("../../README.md")]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod agreement;
pub mod array;
pub mod bootstrap;
pub mod calibration;
mod claim;
mod collective;
mod context;
mod cpus;
mod entry;
pub mod env;
mod error;
mod fabric;
mod free;
mod grants;
mod halo;
mod heap;
pub mod info;
mod initial;
mod job;
pub mod launch;
mod lock;
mod loopback;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod observe;
mod partitions;
mod persistent;
mod phase;
#[cfg(feature = "rayon")]
mod rayon;
mod reach;
mod report;
mod scoped;
mod segments;
mod start;
mod team;
mod testing;
pub mod thread;
pub mod version;
mod world;

pub use collective::{BitNumber, Number, Reducible};
pub use context::{
    Context, ContextError, ContextTeam, Ctx, Domain, Granted, HintScope, Registration, Resources, Turn,
};
pub use entry::{Outcome, init, initialized};
pub use error::{Error, Result};
pub use free::Free;
pub use grants::PartitionReport;
pub use heap::Heap;
pub use initial::{Filled, Initial, Value, Zeroed, filled, value, zeroed};
pub use lock::{LockGuard, LockPlace};
pub use shmem_core::array::NumaArray;
pub use shmem_core::context::mapping::Hints as DomainHints;
pub use shmem_core::context::{
    Amo, Buffer, Condition, Initiator, NonBlocking, Order, Pending, Place, PutSignal, Raw, Rma, Scope,
    Session, Sessions, SignalOp, Stores, Strided, WaitSet, Words, eq, ge, gt, le, lt, ne,
};
pub use shmem_core::data::{Contents, MemoryHints, PlainData, SymmetricData};
pub use shmem_core::halo::{Edge, Flight, Ghosts, Halo, HaloError, HaloToken, OpenPhase};
pub use shmem_core::heap::{NameError, Named, Usage};
pub use shmem_core::object::{
    Atomic, Here, Lock, Objects, On, PlaceIndex, Signal, SymAddr, SymBox, Waitable,
};
pub use shmem_core::observe::{Effect, Family, Statistics, Tally};
pub use shmem_core::padded;
pub use shmem_core::padded::Padded;
pub use shmem_core::pe::Pe;
pub use shmem_core::segment::Miss;
pub use shmem_core::transport::{SessionOptions, Traffic};
pub use shmem_macros::{collective, main, partitions, strided, symmetric, test};
pub use team::{Team, TeamBox, TeamConfig, TeamError, TeamObjects};
pub use world::World;

/// `Symmetric`: the type of a symmetric static, and the derive for structs that may live in one.
pub use shmem_core::object::Symmetric;
pub use shmem_macros::Symmetric;

/// The built-in partitions, as types that `#[symmetric(partition = "..")]` can name.
pub mod partition {
    pub use shmem_core::partition::{
        FileGrant, Grant, Kind, MAX_PARTITION_ID, MAX_PARTITIONS, NewPartition, Pages, Partition, Policy,
        default, fast, normal,
    };
}

/// How contexts are mapped on units of a scarce resource.
pub mod mapping {
    pub use shmem_core::context::mapping::{Design, Sharing, Tracking};
}

/// Strided transfers: what regions are parts of, and plans, which say what is moved, and how.
pub mod strided {
    pub use shmem_core::context::strided::{Destination, Object, Remote, SameElements, Source};
    pub use shmem_core::strided::{
        Algorithm, Axis, Columns, Dim, Kernel, Layout, Level, Method, Part, Pattern, Plan, Shape, Shaped,
        Thresholds, lower, published,
    };
}

/// Everything that a program usually needs.
pub mod prelude {
    pub use crate::partition::{fast, normal};
    pub use crate::{
        Amo, Atomic, Edge, Halo, Initiator, NonBlocking, NumaArray, Order, Pe, PutSignal, Raw, Result, Rma,
        Sessions, Signal, SignalOp, Strided, SymBox, Symmetric, Words, World, padded, partitions, strided,
        symmetric,
    };
    pub use crate::{eq, ge, gt, le, lt, ne};
}

/// The code in the page on arrays.
#[cfg(doctest)]
#[doc = include_str!("../../docs/arrays.md")]
struct ArraysPage;

/// The program in the page for those who come from OpenSHMEM.
#[cfg(doctest)]
#[doc = include_str!("../../docs/from-openshmem.md")]
struct FromOpenshmemPage;
