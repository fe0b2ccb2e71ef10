//! What can go wrong in the control plane. The same value on every PE, so that `?` strands nobody.

mod context;
mod team;

use std::fmt::{self, Display};
use std::panic::Location;

pub use context::ContextError;
pub use team::TeamError;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the control plane: what went wrong, and the call of the program that failed.
///
/// `{}` and `{:?}` give the same sentence, so that it is what `unwrap` shows. An error that `main` returns is told with the
/// place of the call.
pub struct Error {
    // Boxed: it travels through every `?` of a program.
    kind: Box<ErrorKind>,
    call: Option<&'static Location<'static>>,
}

impl Error {
    pub(crate) fn launcher(why: impl Display) -> Self {
        ErrorKind::Launcher(why.to_string()).into()
    }

    /// The same error, of this call.
    pub(crate) fn at(self, call: &'static Location<'static>) -> Self {
        Self { call: Some(call), ..self }
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The call of the program that failed; `None`: it failed before the program began, or in the launcher.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.call
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    /// Of the call of the program, where all of the library between has `#[track_caller]`.
    #[track_caller]
    fn from(kind: K) -> Self {
        let library = file!().strip_suffix("error/mod.rs").unwrap_or_default();
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

/// What can go wrong in the control plane.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such PE.
    #[error("there is no PE {number}: {}; ask for one of these, or start more with `shmrun -n`", all_of(*.count))]
    NoSuchPe {
        /// The number asked for.
        number: usize,
        /// Number of PEs.
        count: usize,
    },
    /// A grid of PEs has more or fewer places than there are PEs.
    #[error(
        "a grid of {shape} PEs cannot be made of {count}: the product of its lengths is to be {count}; choose lengths by \
         the number of PEs, or let `cubic_grid` choose them"
    )]
    GridShape {
        /// The lengths asked for, as in `3 x 2`.
        shape: String,
        /// Number of PEs.
        count: usize,
    },
    /// This process has, or had, a world: there is one per process, ever.
    #[error(
        "this process has joined its job already; there is one world per process, ever, so `main`, `init` \
         and a test body run once"
    )]
    SecondWorld,
    /// Another copy of this library has, or had, a world in this process.
    #[error(
        "another copy of this library has joined the job in this process already: the program and its plugins \
         hold shmem-rt twice, in two versions or built in two ways, and only one of them can have a world"
    )]
    SecondCopy,
    /// What PEs do through their launcher failed: it is gone, or does not do its part, or a limit is too low for it.
    #[error("the PEs cannot come together: {0}")]
    Launcher(String),
    /// The file of the trace cannot be written.
    #[error("SHMEM_TRACE={path}: {error}; name a file that can be written, or unset it")]
    Trace {
        /// The file.
        path: String,
        /// What the system said.
        error: String,
    },
    /// The PEs run different programs, or in different environments.
    #[error(
        "the PEs do not agree on the layout of symmetric memory: PE {me} has `{here}` where PE {pe} has \
         `{there}`; run the same binary with the same SHMEM_ variables on all PEs"
    )]
    SetupsDiffer {
        /// The PE that found it.
        me: usize,
        /// The other PE.
        pe: usize,
        /// First line that differs, here.
        here: String,
        /// The same line there.
        there: String,
    },
    /// The PEs are on several hosts, and shared memory is to be all there is.
    #[error(
        "SHMEM_TRANSPORT=shm, and the PEs are on several hosts; set it to auto, or start all on one host"
    )]
    SeveralHosts,
    /// The way to PEs on other hosts cannot be opened.
    #[error(transparent)]
    Fabric(#[from] shmem_core::transport::ofi::OfiError),
    /// Symmetric memory cannot be made known to the fabric.
    #[error("segment `{segment}` of symmetric memory cannot be registered: {why}")]
    Registration {
        /// The segment.
        segment: String,
        /// What the provider says.
        why: String,
    },
    /// The program was linked from several versions of this crate.
    #[error(transparent)]
    Section(#[from] shmem_core::section::SectionError),
    /// Symmetric statics do not fit their partition.
    #[error(transparent)]
    Statics(#[from] shmem_core::heap::statics::LayoutError),
    /// A variable of the environment is malformed.
    #[error(transparent)]
    Environment(#[from] shmem_launch::env::EnvError),
    /// A partition, or the environment that describes it, is not usable.
    #[error(transparent)]
    Partition(#[from] shmem_core::partition::PartitionError),
    /// Memory could not be reserved, mapped or populated.
    #[error(transparent)]
    Memory(#[from] shmem_core::memory::MemoryError),
    /// The file of a partition cannot be used on a PE.
    #[error("PE {pe}: {reason}")]
    File {
        /// The PE.
        pe: usize,
        /// What is wrong with the file, in words.
        reason: String,
    },
    /// What the program holds was not persisted. The file has the last persist before, and no later one of this
    /// job is possible: nobody knows what a failed flush has kept.
    #[error(
        "partition {partition} was not persisted: flushing the file of PE {pe} failed ({reason}); the file has persist \
         {last}, the job can go on, and nothing it does from now on is kept"
    )]
    NotPersisted {
        /// The partition: ID and name.
        partition: String,
        /// The PE whose file it was.
        pe: usize,
        /// What the system said.
        reason: String,
        /// The number of the last persist; 0: none.
        last: u64,
    },
    /// A name of an object cannot be used.
    #[error(transparent)]
    Name(#[from] shmem_core::heap::NameError),
    /// A heap has no room, or an address is not one of its blocks.
    #[error(transparent)]
    Heap(#[from] shmem_core::heap::HeapError),
    /// An array cannot be as it was asked for.
    #[error(transparent)]
    Array(#[from] shmem_core::array::ArrayError),
    /// The edges of a halo do not fit together.
    #[error(transparent)]
    Halo(#[from] shmem_core::halo::HaloError),
    /// The memory of an array cannot be placed.
    #[error("{what}: {reason}")]
    Placed {
        /// The array.
        what: String,
        /// Why not, and what is possible.
        reason: String,
    },
    /// The transport cannot reach memory.
    #[error("{what}: the transport `{transport}` cannot register it: {reason}")]
    Register {
        /// The partition and who asked for it, or what else it is.
        what: String,
        /// The transport.
        transport: &'static str,
        /// Why not.
        reason: String,
    },
    /// Something that all PEs do together failed on one of them, and so on all.
    #[error("on PE {pe}: {reason}")]
    OnPe {
        /// The first PE on which it failed.
        pe: usize,
        /// Its error, in words.
        reason: String,
    },
    /// Threads cannot be had, or not where they are to run.
    #[error("{threads} threads on {place}: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Where.
        place: String,
        /// Why not.
        reason: String,
    },
    /// A team cannot be as it was asked for.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// There is no context, no domain, or no change of hints.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A node has fewer units of the resource than PEs.
    #[error(
        "{pes} PEs on a node need {pes} {resource}, one each, and may have {limit}; raise SHMEM_MAX_RESOURCES, or \
         unset it"
    )]
    TooFewResources {
        /// What they are called.
        resource: &'static str,
        /// How many PEs the node has.
        pes: usize,
        /// How many units they may have.
        limit: usize,
    },
}

/// The PEs of a job, in words.
fn all_of(count: usize) -> String {
    match count {
        1 => "the job has one, whose number is 0".to_owned(),
        _ => format!("the job has {count}, whose numbers run from 0 to {}", count.saturating_sub(1)),
    }
}
