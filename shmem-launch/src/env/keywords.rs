//! Types of environment variables whose values are keywords.

use std::fmt;
use std::str::FromStr;

use shmem_core::text::named;

named! {
    /// What happens when checked mode finds a mistake (`SHMEM_CHECK`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CheckChoice {
        /// No checks.
        Off = "0",
        /// All mistakes are reported, and the job ends with an error at its end.
        Report = "1",
        /// The first mistake ends the job.
        Abort = "abort",
    }

    /// The transport between PEs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TransportChoice {
        /// The best transport for each pair of PEs.
        Auto = "auto",
        /// Shared memory only.
        Shm = "shm",
        /// libfabric, even between PEs of the same host.
        Ofi = "ofi",
        /// Loopback: PEs are threads of one process, for tests.
        Loopback = "loopback",
    }

    /// The CPUs that PEs are bound to. The names are those of `shmrun --bind`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Bind {
        /// Disjoint shares of the CPUs that the launcher may use, as equal as NUMA nodes and cores permit. With one PE, or fewer
        /// CPUs than PEs: same as [`None`](Self::None).
        #[default]
        Share = "share",
        /// One CPU for each PE, of those that the launcher may use. PEs are spread evenly over NUMA nodes.
        Core = "core",
        /// The CPUs of one NUMA node for each PE. PEs are assigned to NUMA nodes in turn.
        Numa = "numa",
        /// No binding. PEs inherit the CPUs of the launcher.
        None = "none",
    }

    /// The algorithm of barriers within a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BarrierChoice {
        /// Chosen by the number of PEs and the number of cores.
        Auto = "auto",
        /// Each PE polls a cache line of each other PE. Used only if all PEs are on one node.
        Lines = "lines",
        /// Each PE increments a counter of the first PE.
        Counter = "counter",
    }

    /// Families of collectives whose algorithm can be chosen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectiveFamily {
        /// Data of one PE, to all PEs.
        Broadcast = "broadcast",
        /// Combined data of all PEs, to all PEs.
        Reduce = "reduce",
        /// Data of all PEs, to all PEs.
        Fcollect = "fcollect",
        /// A different part of each PE's data, to each PE.
        Alltoall = "alltoall",
    }

    /// Algorithms that move the data of a collective.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectiveWay {
        /// One piece of the data with each barrier.
        Barriers = "barriers",
        /// Through ring buffers, on one node.
        Rings = "rings",
        /// From one symmetric object to another without a buffer, on one node.
        Direct = "direct",
        /// In chunks through receive buffers, between nodes.
        Windows = "windows",
    }
}

/// Chosen algorithms for some families of collectives. As text: `auto`, or `broadcast:windows,reduce:barriers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectiveWays([Option<CollectiveWay>; CollectiveFamily::ALL.len()]);

/// The text that chooses no algorithm for any family.
const AUTO: &str = "auto";

impl CollectiveWays {
    /// Returns the algorithm for a family, if one is chosen.
    pub fn of(self, family: CollectiveFamily) -> Option<CollectiveWay> {
        self.0[family as usize]
    }

    fn given(self) -> impl Iterator<Item = (CollectiveFamily, CollectiveWay)> {
        CollectiveFamily::ALL.into_iter().filter_map(move |family| Some((family, self.of(family)?)))
    }
}

impl FromStr for CollectiveWays {
    /// The error text.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut ways = Self::default();
        if text.eq_ignore_ascii_case(AUTO) {
            return Ok(ways);
        }
        for item in text.split(',') {
            let (name, way) = item.split_once(':').ok_or_else(|| format!("`{item}` is no <family>:<way>"))?;
            let is = |known: &str, given: &str| known.eq_ignore_ascii_case(given.trim());
            let family = CollectiveFamily::ALL.into_iter().find(|family| is(family.name(), name));
            let family = family.ok_or_else(|| format!("`{name}` is no family"))?;
            let known = CollectiveWay::ALL.into_iter().find(|known| is(known.name(), way));
            let known = known.ok_or_else(|| format!("`{way}` is no way"))?;
            if ways.0[family as usize].replace(known).is_some() {
                return Err(format!("{} is given twice", family.name()));
            }
        }
        Ok(ways)
    }
}

impl fmt::Display for CollectiveWays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<_> =
            self.given().map(|(family, way)| format!("{}:{}", family.name(), way.name())).collect();
        f.write_str(if given.is_empty() { AUTO } else { "" })?;
        f.write_str(&given.join(","))
    }
}
