//! Reports of the endpoints that contexts were granted. A unit is an endpoint with its completion queue.

use std::fmt;

use shmem_core::context::mapping::{Design, Hints, Sharing, Tracking};
use shmem_core::text::counted;

/// The unit (endpoint with its completion queue) that a context was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Number by which this PE knows the unit.
    pub unit: u32,
    /// Whether operations lock the unit. (Only transports over a network have such a lock, not shared memory.)
    pub locked: bool,
    /// Number of other contexts that use the unit now.
    pub shared_with: usize,
    /// The method by which completion of operations is tracked. (Stores to shared memory are not tracked.)
    pub tracking: Tracking,
}

impl fmt::Display for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unit, locked, shared_with, tracking } = self;
        let company = match shared_with {
            0 => "alone".to_owned(),
            others => format!("with {}", counted(*others, "other context")),
        };
        let lock = if *locked { "a lock" } else { "no lock" };
        write!(f, "number {unit} of the endpoints, {company}, {lock}, {}", tracking.name())
    }
}

/// The units (endpoints with completion queues) of a PE, and the contexts that use them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resources {
    /// Maximum number of units that the PEs of the node may use; None without a limit.
    pub node: Option<usize>,
    /// Maximum number of units that this PE may use; None without a limit.
    pub limit: Option<usize>,
    /// Number of units in use.
    pub used: usize,
    /// The policy that assigns contexts to units.
    pub mapping: Design,
    /// The policy for sharing units, which applies if the program gives no hints.
    pub sharing: Sharing,
    /// The program's hints on its number of domains that are in effect.
    pub hints: Option<Hints>,
    /// The grants of the world and of each context, in order of creation.
    pub grants: Vec<Granted>,
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, limit, used, mapping, sharing, hints, .. } = self;
        write!(f, "endpoints: {used} in use of ")?;
        match (limit, node) {
            (Some(limit), Some(node)) => write!(f, "{limit} for this PE, {node} for its node")?,
            _ => write!(f, "as many as are asked for")?,
        }
        write!(f, "; contexts by {}, {}", mapping.name(), sharing.name())?;
        match hints {
            Some(Hints { private, serialized, multiple }) => {
                write!(f, "; hints: {private} Private, {serialized} Serialized, {multiple} Multiple")
            }
            None => Ok(()),
        }
    }
}
