//! Errors of making and mapping symmetric memory, and how their texts show sizes and nodes.

use core::fmt;

use rustix::io::Errno;
use shmem_grammar::{round_size, show_size};

use super::numa;
use crate::topology;

/// The error that memory could not be reserved, mapped or populated. The text names memory, source of the request, limit and
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MemoryError {
    message: String,
    /// The error number, if a system call failed.
    errno: Option<Errno>,
}

impl MemoryError {
    pub(super) fn new(message: String) -> Self {
        Self { message, errno: None }
    }

    /// Returns a function that makes the error of system call `call`, which failed while the process did `what`.
    pub(super) fn of_call(call: &'static str, what: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self { message: format!("{call} failed while {what}: {errno}"), errno: Some(errno) }
    }

    pub(super) fn no_memfd(errno: Errno) -> Self {
        match errno {
            Errno::PERM | Errno::NOSYS | Errno::ACCESS => Self::new(format!(
                "memfd_create is not allowed here ({errno}): symmetric memory is made of memfds; allow the call, in a container in its seccomp profile, and have vm.memfd_noexec at most 1"
            )),
            _ => Self::of_call("memfd_create", "making symmetric memory")(errno),
        }
    }

    /// The error that pages of a segment cannot be made. `nodes` are the NUMA nodes to which the pages are bound, if any.
    pub(super) fn unpopulated(what: &str, bytes: usize, nodes: &[u32], errno: Errno) -> Self {
        let why = match errno {
            Errno::NOMEM | Errno::FAULT => format!("no memory is left{} ({errno})", node_list(" on", nodes)),
            Errno::INVAL => "the kernel does not know MADV_POPULATE_WRITE; Linux 5.14 is needed".into(),
            _ => errno.to_string(),
        };
        Self::new(format!("{what}: {} could not be populated: {why}", Size(bytes as u64)))
    }

    /// Whether this process cannot place memory on NUMA nodes, because the kernel has no NUMA support or a container forbids it.
    pub fn no_nodes(&self) -> bool {
        self.errno.is_some_and(numa::unknown)
    }
}

/// Returns `word` and the numbers of `nodes`, or an empty text if there are no nodes.
pub(super) fn node_list(word: &str, nodes: &[u32]) -> String {
    if nodes.is_empty() { String::new() } else { format!("{word} {}", topology::numbers(nodes)) }
}

/// A number of bytes in error texts: exact if that is short, otherwise as `about 1.4G`.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) struct Size(pub(in crate::memory) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHORT: usize = "16256G".len();
        match show_size(self.0) {
            exact if exact.len() > SHORT && self.0 >> 10 > 0 => write!(f, "about {}", round_size(self.0)),
            exact => f.write_str(&exact),
        }
    }
}
