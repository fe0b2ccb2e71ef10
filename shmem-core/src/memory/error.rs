//! Errors of making and mapping symmetric memory.

use rustix::io::Errno;

use super::numa;
use crate::topology;

/// Memory could not be reserved, mapped or populated. Messages name the memory, the source of its request, the limit, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum MemoryError {
    /// More addresses, memory or files are requested than the machine or a limit allows.
    #[error("{0}")]
    Limit(String),
    /// A mandatory page size or kind of memory is not available.
    #[error("{0}")]
    Mandatory(String),
    #[error(
        "memfd_create is not allowed here ({errno}): symmetric memory is made of memfds; allow the call, in a container in its seccomp profile, and have vm.memfd_noexec at most 1"
    )]
    NoMemfd { errno: Errno },
    /// A system call failed, for another reason.
    #[error("{call} failed while {what}: {errno}")]
    System { call: &'static str, what: &'static str, errno: Errno },
    /// A peer's memory does not fit the layout.
    #[error(
        "the memory that the PE in slot {slot} of this node handed over is refused: {reason}; all PEs must run the same program with the same partitions"
    )]
    Peer { slot: usize, reason: String },
}

impl MemoryError {
    /// Whether this process cannot place memory on nodes: no NUMA kernel, or a container forbids it.
    pub fn no_nodes(&self) -> bool {
        matches!(self, Self::System { errno, .. } if numa::unknown(*errno))
    }
}

/// `word` and the nodes; empty if there are no nodes.
pub(super) fn node_list(word: &str, nodes: &[u32]) -> String {
    if nodes.is_empty() { String::new() } else { format!("{word} {}", topology::numbers(nodes)) }
}
