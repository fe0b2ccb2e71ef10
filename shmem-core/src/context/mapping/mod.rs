//! Decides which contexts get which units of the node's network interface.
//!
//! A **unit** is a hardware queue that issues operations and reports their completion (endpoint, completion queue, counter). A node
//! has few units. A program makes **domains**, which are groups of contexts with one thread level, and contexts in domains. A
//! [`Mapping`] is called whenever a domain or context is created or destroyed. It only says which unit, by a number, and does no
//! I/O.
//!
//! Whether a unit has a lock does not change while the unit is in use. A unit without a lock belongs to one domain, whose contexts
//! are never used concurrently. No other domain ever joins that unit.
//!
//! Source: contexts and domains in Cray SHMEM (2016). Its Design-0, hybrid, Design-1 and Design-2 are values of [`Design`].

mod assign_units;
mod units;

pub use crate::transport::Tracking;
pub use assign_units::{Assignment, DomainId, Mapping, Shortage};
pub use units::{by_need, evenly};

use crate::text::named;

#[cfg(test)]
mod tests;

named! {
    /// Which threads may use the contexts of a domain, and whether concurrently.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// One thread uses the contexts (`SHMEM_THREAD_SINGLE`).
        Private = "Private",
        /// Several threads use the contexts, one thread at a time.
        Serialized = "Serialized",
        /// Any thread uses the contexts, at any time (`SHMEM_THREAD_MULTIPLE`).
        Multiple = "Multiple",
    }
}

impl Level {
    /// Whether contexts of the level may be used concurrently, so that their unit has a lock.
    pub const fn is_concurrent(self) -> bool {
        matches!(self, Self::Multiple)
    }
}

named! {
    /// Whether units are assigned to domains or to contexts, and how operations are tracked. `auto` etc. are values of
    /// `SHMEM_CONTEXT_MAPPING`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Design {
        /// A unit per domain. Further contexts of a domain get their own units while there are enough. Completions are counted.
        Auto = "auto",
        /// A unit per domain. The completion of each operation is an event of its context (Design-0).
        Events = "events",
        /// A unit per domain. The completions of small operations are counted, those of large operations are events (the hybrid).
        Hybrid = "hybrid",
        /// A unit per domain. The completions of all operations of the domain are counted together (Design-1).
        Domain = "domain",
        /// A unit per context. The completions of its operations are counted (Design-2).
        Context = "context",
    }
}

impl Design {
    /// How this design tracks operations until completion.
    pub const fn tracking(self) -> Tracking {
        match self {
            Self::Events => Tracking::Events,
            Self::Hybrid => Tracking::Hybrid,
            Self::Domain | Self::Context | Self::Auto => Tracking::Counter,
        }
    }
}

named! {
    /// How units are shared if the program gives no hints. If the number of units is not limited, each domain gets a unit.
    /// `efficient` etc. are values of `SHMEM_CONTEXT_SHARING`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sharing {
        /// Saves units for domains that need no lock. Domains of level Multiple share a unit from the start. Domains of other
        /// levels get a unit without a lock, or fail with [`Shortage`].
        Conservative = "conservative",
        /// Uses all units. Domains of level Multiple share only when no unit is free. Domains of other levels then share a unit
        /// with a lock, and fail with [`Shortage`] only if no unit has a lock.
        Efficient = "efficient",
    }
}

/// The numbers of domains that a program expects to have at the same time, by level. With [`Design::Context`], the numbers of
/// contexts. A program may create more or fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    /// Number of domains of level Private.
    pub private: usize,
    /// Number of domains of level Serialized.
    pub serialized: usize,
    /// Number of domains of level Multiple.
    pub multiple: usize,
}

impl Hints {
    /// Number of domains of a level.
    pub const fn of(mut self, level: Level) -> usize {
        *self.of_mut(level)
    }

    const fn of_mut(&mut self, level: Level) -> &mut usize {
        match level {
            Level::Private => &mut self.private,
            Level::Serialized => &mut self.serialized,
            Level::Multiple => &mut self.multiple,
        }
    }

    /// Number of domains whose units need no lock.
    pub const fn unlocked(self) -> usize {
        self.private.saturating_add(self.serialized)
    }

    /// Number of domains, summed over the three thread levels.
    pub const fn total(self) -> usize {
        self.unlocked().saturating_add(self.multiple)
    }
}
