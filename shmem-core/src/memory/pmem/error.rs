//! What can be wrong with the file of a partition.

use rustix::io::Errno;

use super::format::VERSION;
use crate::memory::size::Size;

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
            _ => None,
        }
    }
}

/// What is wrong with a file. Sizes are in bytes; `doing` is `made` or `opened`, `me` and `count` are the number of this PE and how
/// many this job has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum Fault {
    /// The directory is not there.
    #[error("cannot be made: there is no directory {directory}; make it, or name another one")]
    NoDirectory { directory: String },
    /// The directory is one of `/proc` and its like.
    #[error(
        "cannot be made: the file system of {directory} takes no new files; name a file on ext4, xfs or tmpfs"
    )]
    NoFiles { directory: String },
    /// Not allowed.
    #[error(
        "cannot be {doing}: permission denied; it must be readable and writable for the user of the job, and so must its directory"
    )]
    Permission { doing: &'static str },
    /// A read-only file system.
    #[error(
        "cannot be {doing}: the file system is mounted read-only; mount it read-write, or name a file elsewhere"
    )]
    ReadOnly { doing: &'static str },
    /// A full file system, or a quota.
    #[error(
        "cannot be made: it takes {asked} (the partition twice, so that a persist that is interrupted loses nothing), and {available}; free some, lower SIZE, or name a file elsewhere",
        asked = Size(*asked)
    )]
    Full { asked: u64, available: String },
    /// A file larger than the process may write.
    #[error(
        "cannot be made: it takes {asked} (the partition twice), and files may have at most {limit} (ulimit -f, RLIMIT_FSIZE); raise the limit, or lower SIZE",
        asked = Size(*asked), limit = Size(*limit)
    )]
    FileSize { asked: u64, limit: u64 },
    /// A file system on which a write through a mapping can fail.
    #[error(
        "lies on {name}, where room for a page that is written again cannot be reserved, and a full file system would kill the job; name a file on ext4, xfs or tmpfs, or on one of these on persistent memory (mount -o dax)"
    )]
    FileSystem { name: &'static str },
    /// A character device.
    #[error(
        "is a device; put a file system on the memory and name a file there: ndctl create-namespace -m fsdax, mkfs.ext4, mount -o dax"
    )]
    Device,
    /// A directory, a pipe and so on.
    #[error("is no file but {is}; name a file that does not exist yet, or one that an earlier job has made")]
    NotAFile { is: &'static str },
    /// Somebody else's.
    #[error(
        "belongs to user {owner}, and this job runs as user {user}; run it as the owner, or name another file"
    )]
    Owner { owner: u32, user: u32 },
    /// Another job has it.
    #[error("is in use by another job; wait for its end, or name another file")]
    InUse,
    /// Not one of ours.
    #[error(
        "holds something else than a partition, or its making was cut short by a crash; name another file, or delete it if nobody needs it"
    )]
    Foreign,
    /// Of another version.
    #[error(
        "holds a partition in version {found} of the format, and this build reads {VERSION}; open it with the build that made it"
    )]
    Version { found: u64 },
    /// Damaged.
    #[error("is damaged: {how}; put it back from a copy, or delete the files of all PEs to begin anew")]
    Damaged { how: String },
    /// A header that cannot be read, and that no crash leaves.
    #[error(
        "is damaged: one of its two headers cannot be read, and is not what a crash leaves of one; the other one says persist {last}, but the newest may have been lost; put the file back from a copy, or delete the files of all PEs to begin anew"
    )]
    Header { last: u64 },
    /// Of another number of PEs, or another PE's.
    #[error(
        "is that of PE {pe} of {pes}, and this is PE {me} of {count}; start as many PEs as it was made by, and keep the files under their names"
    )]
    Pes { pe: u32, pes: u32, me: u32, count: u32 },
    /// A partition of another size.
    #[error("holds a partition of {found}, and {asked} are asked for; give SIZE={found}, or name another file", found = Size(*found), asked = Size(*asked))]
    Size { found: u64, asked: u64 },
    /// Other statics.
    #[error(
        "was made by a program with another layout: it has `{found}` where this program has `{asked}`; run the program that made it, or name another file"
    )]
    Layout { found: String, asked: String },
    /// The system says no.
    #[error("{call} failed: {errno}")]
    System { call: &'static str, errno: Errno },
}
