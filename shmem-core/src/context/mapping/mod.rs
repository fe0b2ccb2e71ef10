//! Decides which contexts get which units of the node's network interface.
//!
//! A **unit** is a hardware queue that issues operations and reports their completion (endpoint, completion queue, counter);
//! a node has few. A program makes **domains**, groups of contexts of one thread level, and contexts in domains. A [`Mapping`] is
//! called for each domain and context that is created or destroyed, and returns unit numbers. It does no I/O.
//!
//! A unit is **locked** or not for as long as it is in use. A unit without a lock serves one domain, whose contexts are never used
//! concurrently. No other domain ever joins that unit.
//!
//! Source: contexts and domains in Cray SHMEM (2016): Design-0, its hybrid, Design-1 and Design-2 are [`Design`]s.

mod assign_units;
mod units;

pub use crate::transport::Tracking;
pub use assign_units::{Assignment, DomainId, Mapping, Shortage};
pub use units::{by_need, evenly};

use crate::fixed_text::named;

#[cfg(test)]
mod tests;

named! {
    /// How many threads use the contexts of a domain, and when.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// One thread (`SHMEM_THREAD_SINGLE`).
        Private = "Private",
        /// Several threads, one at a time.
        Serialized = "Serialized",
        /// Any thread, any time (`SHMEM_THREAD_MULTIPLE`).
        Multiple = "Multiple",
    }
}

impl Level {
    /// Whether contexts are used concurrently, so that their unit has a lock.
    pub const fn is_concurrent(self) -> bool {
        matches!(self, Self::Multiple)
    }
}

named! {
    /// Whether domains or contexts get units, and how operations are tracked. The name is the environment variable's value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Design {
        /// A unit per domain, and per further context while units suffice.
        Auto = "auto",
        /// A unit per domain; every operation is an event of its context (Design-0).
        Events = "events",
        /// A unit per domain; small operations are counted together, large ones are events (the hybrid).
        Hybrid = "hybrid",
        /// A unit per domain, whose operations are counted together (Design-1).
        Domain = "domain",
        /// A unit per context, whose operations are counted (Design-2).
        Context = "context",
    }
}

impl Design {
    /// How operations are tracked.
    pub const fn tracking(self) -> Tracking {
        match self {
            Self::Events => Tracking::Events,
            Self::Hybrid => Tracking::Hybrid,
            Self::Domain | Self::Context | Self::Auto => Tracking::Counter,
        }
    }
}

named! {
    /// How units are shared without hints of the program. If units are unlimited, each domain gets a unit. The
    /// name is the environment variable's value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sharing {
        /// Saves units for domains without a lock: domains of level Multiple share a unit from the start. Other levels get a
        /// unit without a lock, or are refused.
        Conservative = "conservative",
        /// Uses all units: domains of level Multiple take free units first. Other levels share a unit with a lock if no unit is
        /// free, and are refused only if no unit with a lock exists.
        Efficient = "efficient",
    }
}

/// The number of domains that a program expects to have at a time, by level; with [`Design::Context`],
/// of contexts. More or fewer can be created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    /// Of level Private.
    pub private: usize,
    /// Of level Serialized.
    pub serialized: usize,
    /// Of level Multiple.
    pub multiple: usize,
}

impl Hints {
    /// Domains of a level.
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

    /// Domains without a lock.
    pub const fn unlocked(self) -> usize {
        self.private.saturating_add(self.serialized)
    }

    /// Domains of all levels.
    pub const fn total(self) -> usize {
        self.unlocked().saturating_add(self.multiple)
    }
}
