//! What can go wrong in the control plane. The same value on every PE, so that `?` strands nobody.

mod context;
mod name;
mod team;

use std::fmt::{self, Display};
use std::panic::Location;

pub use context::ContextError;
pub use name::NameError;
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
    /// This process has, or had, a world: there is one per process, ever.
    #[error(
        "this process has joined its job already; there is one world per process, ever, so `main`, `init` \
         and a test body run once"
    )]
    SecondWorld,
    /// The job cannot start: its PEs do not agree, or lack something, or settings do not go together.
    #[error("{0}")]
    Start(String),
    /// Something that a program asks for cannot be had, or not on all PEs.
    #[error("{0}")]
    Refused(String),
    /// What PEs do through their launcher failed: it is gone, or does not do its part, or a limit is too low for it.
    #[error("the PEs cannot come together: {0}")]
    Launcher(String),
    /// The way to PEs on other hosts cannot be opened.
    #[error(transparent)]
    Fabric(#[from] shmem_core::transport::ofi::OfiError),
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
    Name(#[from] NameError),
    /// A heap has no room, or an address is not one of its blocks.
    #[error(transparent)]
    Heap(#[from] shmem_core::heap::HeapError),
    /// An array cannot be as it was asked for.
    #[error(transparent)]
    Array(#[from] shmem_core::array::ArrayError),
    /// The edges of a halo do not fit together.
    #[error(transparent)]
    Halo(#[from] shmem_core::halo::HaloError),
    /// A team cannot be as it was asked for.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// There is no context, no domain, or no change of hints.
    #[error(transparent)]
    Context(#[from] ContextError),
}

/// The PEs of a job, in words.
fn all_of(count: usize) -> String {
    match count {
        1 => "the job has one, whose number is 0".to_owned(),
        _ => format!("the job has {count}, whose numbers run from 0 to {}", count.saturating_sub(1)),
    }
}
