//! Types of variables with keyword values.

use std::fmt;
use std::str::FromStr;

use shmem_core::fixed_text::named;

named! {
    /// Checks for mistakes (`SHMEM_CHECK`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CheckChoice {
        /// No checks.
        Off = "0",
        /// Reports all mistakes, and the job ends with an error.
        Report = "1",
        /// The first mistake ends the job.
        Abort = "abort",
    }

    /// Transports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TransportChoice {
        /// The best one for each pair of PEs.
        Auto = "auto",
        /// Shared memory.
        Shm = "shm",
        /// libfabric, also for PEs of the same host.
        Ofi = "ofi",
        /// The transport of the tests.
        Loopback = "loopback",
    }

    /// Binding of PEs to CPUs. The names are those of `shmrun --bind`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Bind {
        /// Each PE on an equal share of the CPUs that the launcher may use, disjoint from others. On a host with fewer CPUs than PEs,
        /// as [`None`](Self::None).
        #[default]
        Share = "share",
        /// Each PE on one CPU that the launcher may use, PEs spread evenly over NUMA nodes.
        Core = "core",
        /// Each PE on the CPUs of one NUMA node, nodes in turn.
        Numa = "numa",
        /// No binding. PEs inherit the launcher's CPUs.
        None = "none",
    }

    /// Barriers of the PEs of a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BarrierChoice {
        /// Chosen by the numbers of PEs and cores.
        Auto = "auto",
        /// Each PE polls a cache line of each other PE, on one node.
        Lines = "lines",
        /// PEs increment a counter of the first PE.
        Counter = "counter",
    }

    /// Families of collectives with a choice of algorithms.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectiveFamily {
        /// From one PE to all.
        Broadcast = "broadcast",
        /// Combined data of all, to all.
        Reduce = "reduce",
        /// Data of all, to all.
        Fcollect = "fcollect",
        /// A part from each, to each.
        Alltoall = "alltoall",
    }

    /// Algorithms for the data of a collective.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectiveWay {
        /// A piece of data per barrier.
        Meetings = "meetings",
        /// In ring buffers, on one node.
        Rings = "rings",
        /// From and to symmetric objects in place, on one node.
        Direct = "direct",
        /// In chunks through receive buffers, between nodes.
        Windows = "windows",
    }
}

/// Algorithms for some of the families. As text: `auto`, or `broadcast:windows,reduce:meetings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectiveWays([Option<CollectiveWay>; CollectiveFamily::ALL.len()]);

/// No algorithm for any family.
const AUTO: &str = "auto";

impl CollectiveWays {
    /// The algorithm for a family, if one is set.
    pub fn of(self, family: CollectiveFamily) -> Option<CollectiveWay> {
        self.0[family as usize]
    }

    fn given(self) -> impl Iterator<Item = (CollectiveFamily, CollectiveWay)> {
        CollectiveFamily::ALL.into_iter().filter_map(move |family| Some((family, self.of(family)?)))
    }
}

impl FromStr for CollectiveWays {
    /// The mistake, in words.
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
