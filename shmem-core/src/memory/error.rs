//! Errors of making and mapping symmetric memory.

use rustix::io::Errno;

use super::numa;
use super::pmem::PmemError;
use crate::topology;

/// Memory could not be reserved, mapped or populated. Messages name the memory and who asked for it, what there is, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum MemoryError {
    /// More is asked for than the machine has, or this process may have: addresses, memory, files.
    #[error("{0}")]
    Limit(String),
    /// Pages of a size, or of a kind of memory, cannot be had that must be.
    #[error("{0}")]
    Mandatory(String),
    #[error(
        "memfd_create is not allowed here ({errno}): symmetric memory is made of memfds; allow the call, in a container in its seccomp profile, and have vm.memfd_noexec at most 1"
    )]
    NoMemfd { errno: Errno },
    #[error(transparent)]
    Pmem(#[from] Box<PmemError>),
    /// A system call failed for no reason of its own.
    #[error("{call} failed while {what}: {errno}")]
    System { call: &'static str, what: &'static str, errno: Errno },
    /// A peer's memory is not what it has to be.
    #[error(
        "the memory that the PE in slot {slot} of this node handed over is refused: {reason}; all PEs must run the same program with the same partitions"
    )]
    Peer { slot: usize, reason: String },
}

impl MemoryError {
    /// Whether a kernel without NUMA, or a container, does not let this process place memory on nodes.
    pub fn no_nodes(&self) -> bool {
        matches!(self, Self::System { errno, .. } if numa::unknown(*errno))
    }
}

/// Nodes with a word in front; nothing if there are none.
pub(super) fn node_list(word: &str, nodes: &[u32]) -> String {
    if nodes.is_empty() { String::new() } else { format!("{word} {}", topology::numbers(nodes)) }
}
