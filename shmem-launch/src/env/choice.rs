//! The words that variables choose by.

/// What becomes of mistakes that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckChoice {
    /// None are looked for.
    Off,
    /// All are reported, and the job ends with an error at its end.
    Report,
    /// The first ends the job.
    Abort,
}

impl CheckChoice {
    pub(super) const ALL: [Self; 3] = [Self::Off, Self::Report, Self::Abort];
    pub(super) const NAMES: [&'static str; 3] = [Self::Off.name(), Self::Report.name(), Self::Abort.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "0",
            Self::Report => "1",
            Self::Abort => "abort",
        }
    }
}

/// How bytes reach other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportChoice {
    /// What fits each pair of PEs best.
    Auto,
    /// Shared memory.
    Shm,
    /// libfabric, for all other PEs, those on the same host included.
    Ofi,
    /// The transport of the tests.
    Loopback,
}

impl TransportChoice {
    pub(super) const ALL: [Self; 4] = [Self::Auto, Self::Shm, Self::Ofi, Self::Loopback];
    pub(super) const NAMES: [&'static str; 4] =
        [Self::Auto.name(), Self::Shm.name(), Self::Ofi.name(), Self::Loopback.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Shm => "shm",
            Self::Ofi => "ofi",
            Self::Loopback => "loopback",
        }
    }
}

/// How PEs are bound to CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// Each PE on one of the CPUs that the launcher may use. Successive PEs are next to the same memory,
    /// and every NUMA node gets as many PEs as any other, as far as it has CPUs.
    Core,
    /// Each PE on the CPUs next to the memory of one NUMA node, in turn.
    Numa,
    /// As the operating system likes. PEs that are bound already stay so.
    None,
    /// Each PE on its share of the CPUs that the launcher may use: as many as any other PE of the host, and none of theirs.
    /// Where a host has fewer CPUs than PEs, as [`None`](Self::None).
    #[default]
    Share,
}

impl Bind {
    pub(super) const ALL: [Self; 4] = [Self::Share, Self::Core, Self::Numa, Self::None];
    /// Their names in the environment, and of `shmrun --bind`.
    pub const NAMES: [&'static str; 4] =
        [Self::Share.name(), Self::Core.name(), Self::Numa.name(), Self::None.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Numa => "numa",
            Self::None => "none",
            Self::Share => "share",
        }
    }
}

/// How the PEs of a node meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierChoice {
    /// By the number of PEs and of cores.
    Auto,
    /// Each looks at a line of each other, where they are on one node.
    Lines,
    /// Each counts itself at the first one.
    Counter,
}

impl BarrierChoice {
    pub(super) const ALL: [Self; 3] = [Self::Auto, Self::Lines, Self::Counter];
    pub(super) const NAMES: [&'static str; 3] = [Self::Auto.name(), Self::Lines.name(), Self::Counter.name()];

    /// Its name in the environment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lines => "lines",
            Self::Counter => "counter",
        }
    }
}
