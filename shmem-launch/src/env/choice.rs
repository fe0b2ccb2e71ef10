//! The words that variables choose by.

use std::fmt;
use std::str::FromStr;

use shmem_core::text::named;

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

    /// Collectives that have a choice of ways, by whose data go where.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectiveFamily {
        /// What one has, to all.
        Broadcast = "broadcast",
        /// What all have, combined, to all.
        Reduce = "reduce",
        /// What all have, to all.
        Fcollect = "fcollect",
        /// A part for each, from each.
        Alltoall = "alltoall",
    }

    /// How the data of a collective go.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectiveWay {
        /// With the words of meetings, a piece with each.
        Meetings = "meetings",
        /// In chunks by rings, on one node.
        Rings = "rings",
        /// From where symmetric objects lie to where they belong, on one node.
        Direct = "direct",
        /// In chunks through windows, between nodes.
        Windows = "windows",
    }
}

/// A way for some of the families, and none for the others. As text: `auto`, or `broadcast:windows,reduce:meetings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectiveWays([Option<CollectiveWay>; CollectiveFamily::ALL.len()]);

/// What says that no family is asked to take any way.
const AUTO: &str = "auto";

impl CollectiveWays {
    /// The way that a family is asked to take.
    pub fn of(self, family: CollectiveFamily) -> Option<CollectiveWay> {
        self.0[family as usize]
    }

    fn given(self) -> impl Iterator<Item = (CollectiveFamily, CollectiveWay)> {
        CollectiveFamily::ALL.into_iter().filter_map(move |family| Some((family, self.of(family)?)))
    }
}

impl FromStr for CollectiveWays {
    /// What is wrong, in words.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn way() -> impl Strategy<Value = Option<CollectiveWay>> {
        proptest::option::of(proptest::sample::select(&CollectiveWay::ALL[..]))
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(ways in proptest::array::uniform4(way())) {
            let ways = CollectiveWays(ways);
            prop_assert_eq!(ways.to_string().parse(), Ok(ways));
            prop_assert_eq!(ways.to_string().to_uppercase().parse(), Ok(ways));
            for family in CollectiveFamily::ALL {
                prop_assert_eq!(ways.of(family), ways.0[CollectiveFamily::ALL.iter().position(|one| *one == family).unwrap()]);
            }
        }
    }
}
