//! Errors. All PEs get the same error from a collective call, so after `?` no PE waits for one that has returned.

use std::fmt::{self, Display};
use std::panic::Location;

use shmem_core::text::counted;

/// A result whose error type is [`struct@Error`] unless another is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this library: its kind, and the call of the program that failed.
///
/// `{}` and `{:?}` print the same sentence, so that `unwrap` shows it. If `main` returns it, the call is printed, too.
pub struct Error {
    // Boxed, so that `Result` is small.
    kind: Box<ErrorKind>,
    call: Option<&'static Location<'static>>,
}

impl Error {
    pub(crate) fn launcher(why: impl Display) -> Self {
        ErrorKind::Launcher(why.to_string()).into()
    }

    pub(crate) fn at(self, call: &'static Location<'static>) -> Self {
        Self { call: Some(call), ..self }
    }

    /// The kind of the error, with its details.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The call of the program that failed. `None` if the failure was before the program began, or in the launcher.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.call
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    /// Makes an error whose failed call is the caller, unless the caller is in this library.
    #[track_caller]
    fn from(kind: K) -> Self {
        let library = file!().strip_suffix("error.rs").unwrap_or_default();
        let call = Some(Location::caller()).filter(|call| !call.file().starts_with(library));
        Self { kind: Box::new(kind.into()), call }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.kind, f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.kind)
    }
}

/// The kinds of errors.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The job has no PE with this number.
    #[error(
        "there is no PE {number}: the job has {}, whose numbers run from 0 to {}; ask for one of these, or start more \
         with `shmrun -n`", counted(*.count, "PE"), .count.saturating_sub(1)
    )]
    NoSuchPe { number: usize, count: usize },
    /// This process has, or had, a world. A process can have one world in its lifetime.
    #[error(
        "this process has joined its job already; there is one world per process, ever, so `main`, `init` \
         and a test body run once"
    )]
    SecondWorld,
    /// The job cannot start, because the set-ups of its PEs differ, a resource is missing, or settings conflict.
    #[error("{0}")]
    Start(String),
    /// A request of the program cannot be met, or not on all PEs.
    #[error("{0}")]
    Refused(String),
    /// An exchange through the launcher failed, because the launcher ended or does not answer, or a limit is too low.
    #[error("the PEs cannot come together: {0}")]
    Launcher(String),
    /// The fabric that leads to PEs on other hosts cannot be opened.
    #[error(transparent)]
    Fabric(#[from] shmem_core::transport::ofi::OfiError),
    /// The program was linked from several versions or copies of this crate.
    #[error(transparent)]
    Section(#[from] shmem_core::linker_section::SectionError),
    /// Symmetric statics do not fit their partition, name a missing partition, or have an invalid alignment.
    #[error(transparent)]
    Statics(#[from] shmem_core::heap::statics::LayoutError),
    /// A variable of the environment is malformed.
    #[error(transparent)]
    Environment(#[from] shmem_launch::env::EnvError),
    /// A partition, or the environment that describes it, is not usable.
    #[error(transparent)]
    Partition(#[from] shmem_core::partition::PartitionError),
    /// Memory is short, or could not be reserved, mapped, placed or populated.
    #[error(transparent)]
    Memory(#[from] shmem_core::memory::MemoryError),
    /// A partition was not persisted. The file keeps the previous persist, and this job cannot persist the partition again.
    #[error(
        "partition {partition} was not persisted: flushing the file of PE {pe} failed ({reason}); the file has persist \
         {last}, the job can go on, and nothing it does from now on is kept"
    )]
    NotPersisted { partition: String, pe: usize, reason: String, last: u64 },
    /// A name of an object cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A heap has too little free memory, an alignment is not possible, or no block that may be freed starts at an address.
    #[error(transparent)]
    Heap(#[from] shmem_core::heap::HeapError),
    /// An array cannot be made as requested.
    #[error(transparent)]
    Array(#[from] shmem_core::array::ArrayError),
    /// The edges of a halo do not fit together.
    #[error(transparent)]
    Halo(#[from] shmem_core::halo::HaloError),
    /// A team cannot be made or destroyed as requested, or has as many contexts as it was made for.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// A context or domain cannot be made, or the hints of domains cannot change.
    #[error(transparent)]
    Context(#[from] ContextError),
}

/// An error of contexts, domains and registered threads. The program can go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum ContextError {
    /// No endpoint is free for a context or domain.
    #[error("{what} cannot be created: {used} of {limit} endpoints of this PE are in use{kept}; {remedy}")]
    Exhausted { what: String, used: usize, limit: usize, kept: String, remedy: &'static str },
    /// The hints of domains cannot change, because contexts or domains that were made under the earlier hints are alive.
    #[error("the hints of domains cannot change while the program has {live}; destroy them first")]
    Live { live: String },
    /// The limit of registered threads is reached.
    #[error(
        "{thread} cannot be registered: {registered} of {limit} threads are (SHMEM_MAX_NUM_THREADS); drop a \
         registration, or raise the limit"
    )]
    Threads { thread: String, registered: usize, limit: usize },
    /// A thread was registered twice.
    #[error(
        "{thread} is registered already, as number {number}, at {file}:{line}; use that registration",
        file = at.file(), line = at.line()
    )]
    Registered { thread: String, number: usize, at: &'static Location<'static> },
}

/// Upper limit on the bytes of an object's name.
pub(crate) const MAX_NAME: usize = 64;

/// An error of names: a name cannot be used, or another object has the name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum NameError {
    /// The name is malformed.
    #[error(
        "`{name}` cannot name an object: {fault}; a name has 1 to {MAX_NAME} bytes, and none that do not print"
    )]
    Name { name: String, fault: &'static str },
    /// An object of another length or type has the name.
    #[error(
        "`{name}` is {found} in the file of partition `{partition}`, and {asked} is asked for; ask for the same, or remove the name first"
    )]
    Other { name: String, partition: String, found: String, asked: String },
    /// No object has the name.
    #[error("partition `{partition}` has no object `{name}`{hint}")]
    Missing { name: String, partition: String, hint: String },
    /// The list of names is full.
    #[error(
        "no room for another name in partition `{partition}`, whose list of names has {room} bytes; remove some, or make the partition larger"
    )]
    Full { partition: String, room: usize },
    /// The partition does not survive the job, so its objects cannot have names.
    #[error(
        "partition `{partition}` does not outlive the job, so its objects have no names; give it KIND=PMEM and PMEM=<path>"
    )]
    NotInFile { partition: String },
}

/// An error of teams. Collective calls fail with the same value on all members; [`Contexts`](Self::Contexts) concerns one PE alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum TeamError {
    /// The team has as many contexts as it was made for.
    #[error(
        "no further context of this team: it was made for {limit}; drop one, or make the team with \
         `TeamConfig::with_contexts`"
    )]
    Contexts { limit: usize },
    /// A team cannot be made or destroyed, or memory for it is short.
    #[error("{0}")]
    Refused(String),
}
