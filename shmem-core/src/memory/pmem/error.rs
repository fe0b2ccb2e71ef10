//! What can be wrong with the file of a partition.

use rustix::io::Errno;

/// The file of a partition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: PMEM: {path} {fault}")]
pub struct PmemError {
    /// The partition and who asked for it.
    pub what: String,
    /// The file.
    pub path: String,
    /// What is wrong.
    pub fault: Fault,
    /// Whether there is no file, and none can be made: under POLICY=PREFERRED the partition can lie elsewhere. Otherwise contents
    /// may be at stake.
    pub is_without_file: bool,
}

impl PmemError {
    /// What the kernel said, if it was the system that failed.
    pub fn errno(&self) -> Option<i32> {
        match self.fault {
            Fault::System { errno, .. } => Some(errno.raw_os_error()),
            Fault::Refused(_) | Fault::InUse => None,
        }
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
pub enum Fault {
    /// It is not what it has to be: why, and what to do.
    #[error("{0}")]
    Refused(String),
    /// Another job has it.
    #[error("is in use by another job; wait for its end, or name another file")]
    InUse,
    /// A call failed for no reason of its own.
    #[error("{call} failed: {errno}")]
    System { call: &'static str, errno: Errno },
}

impl From<&str> for Fault {
    fn from(why: &str) -> Self {
        Self::Refused(why.to_owned())
    }
}

/// The error of a system call.
pub(super) fn system(call: &'static str) -> impl Fn(Errno) -> Fault {
    move |errno| Fault::System { call, errno }
}

pub(super) const FOREIGN: &str = "holds something else than a partition in the format of this build, or its making was cut short by a crash; \
     name another file, or delete it if nobody needs it";

/// Damage that no crash leaves behind.
pub(super) fn damaged(how: impl core::fmt::Display) -> Fault {
    let remedy = "put it back from a copy, or delete the files of all PEs to begin anew";
    Fault::Refused(format!("is damaged: {how}; {remedy}"))
}
