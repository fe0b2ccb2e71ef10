//! What the environment cannot set.

use shmem_core::array::ArrayError;
use shmem_core::partition::SizeError;

use super::collective::WaysFault;

/// A variable has a value that it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// Not a number of things.
    #[error("{variable}={value}: not a whole number from 1 up; write for example {variable}=4, or unset it")]
    Count {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// Not a time.
    #[error(
        "{variable}={value}: not a number of seconds; write a number from 0 up without a unit, for example {variable}=2.5, or unset it"
    )]
    Seconds {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// Not a size.
    #[error("{variable}={value}: {fault}")]
    Size {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is wrong.
        fault: SizeError,
    },
    /// Not a storage of arrays.
    #[error("{variable}={value}: {fault}; write for example {variable}=separate, or unset it")]
    Storage {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is wrong.
        fault: ArrayError,
    },
    /// Not ways of collectives.
    #[error(
        "{variable}={value}: {fault}; {}; write for example {variable}=broadcast:windows,reduce:meetings, or unset it",
        WaysFault::allowed()
    )]
    Ways {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// What is wrong.
        fault: WaysFault,
    },
    /// PEs that are threads of one process, and several processes.
    #[error(
        "{variable}=loopback: the PEs are threads of one process, and {launcher} has started {count} ({counted}={count}); start the program by itself with SHMEM_NPES={count}, or unset {variable}; for a program that one of these processes starts, unset {counted}"
    )]
    Processes {
        /// The variable.
        variable: String,
        /// Who has started the processes.
        launcher: &'static str,
        /// The variable that says how many.
        counted: &'static str,
        /// How many.
        count: usize,
    },
    /// Not one of the words allowed.
    #[error("{variable}={value}: not one of {allowed}; write one of them, or unset it")]
    Choice {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The words allowed.
        allowed: String,
    },
}
