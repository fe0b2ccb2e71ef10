//! The words that variables choose by.

use shmem_core::context::mapping::{Design, Sharing};
use shmem_core::strided::Algorithm;
use shmem_core::text::named;

/// What a variable chooses by its name.
pub(super) trait Choice: Copy + 'static {
    const CHOICES: &'static [Self];

    fn word(self) -> &'static str;
}

/// Types with a list of their values, each of which has a name.
macro_rules! choices {
    ($($type:ty),*) => {$(
        impl Choice for $type {
            const CHOICES: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    )*};
}
choices! { Design, Sharing, Algorithm, CheckChoice, TransportChoice, Bind, BarrierChoice }

named! {
    /// What becomes of mistakes that are looked for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CheckChoice {
        /// None are looked for.
        Off = "0",
        /// All are reported, and the job ends with an error at its end.
        Report = "1",
        /// The first ends the job.
        Abort = "abort",
    }

    /// How bytes reach other PEs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TransportChoice {
        /// What fits each pair of PEs best.
        Auto = "auto",
        /// Shared memory.
        Shm = "shm",
        /// libfabric, for all other PEs, those on the same host included.
        Ofi = "ofi",
        /// The transport of the tests.
        Loopback = "loopback",
    }

    /// How PEs are bound to CPUs. The names are those of `shmrun --bind`, too.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Bind {
        /// Each PE on its share of the CPUs that the launcher may use: as many as any other PE of the host, and none of theirs.
        /// Where a host has fewer CPUs than PEs, as [`None`](Self::None).
        #[default]
        Share = "share",
        /// Each PE on one of the CPUs that the launcher may use. Successive PEs are next to the same memory,
        /// and every NUMA node gets as many PEs as any other, as far as it has CPUs.
        Core = "core",
        /// Each PE on the CPUs next to the memory of one NUMA node, in turn.
        Numa = "numa",
        /// As the operating system likes. PEs that are bound already stay so.
        None = "none",
    }

    /// How the PEs of a node meet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BarrierChoice {
        /// By the number of PEs and of cores.
        Auto = "auto",
        /// Each looks at a line of each other, where they are on one node.
        Lines = "lines",
        /// Each counts itself at the first one.
        Counter = "counter",
    }
}
