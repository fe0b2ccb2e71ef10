//! Which ways collectives are asked to take.

use std::fmt;
use std::str::FromStr;

use shmem_core::text::named;

named! {
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
    type Err = WaysFault;

    fn from_str(text: &str) -> Result<Self, WaysFault> {
        let mut ways = Self::default();
        if text.eq_ignore_ascii_case(AUTO) {
            return Ok(ways);
        }
        for item in text.split(',') {
            let (name, way) = item.split_once(':').ok_or_else(|| WaysFault::NoPair(item.into()))?;
            let is = |known: &str, given: &str| known.eq_ignore_ascii_case(given.trim());
            let family = CollectiveFamily::ALL.into_iter().find(|family| is(family.name(), name));
            let family = family.ok_or_else(|| WaysFault::Family(name.into()))?;
            let known = CollectiveWay::ALL.into_iter().find(|known| is(known.name(), way));
            let known = known.ok_or_else(|| WaysFault::Way(way.into()))?;
            if ways.0[family as usize].replace(known).is_some() {
                return Err(WaysFault::Twice(family.name()));
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

/// What is wrong with a text that is to say which ways are taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaysFault {
    /// A part of it has no colon.
    #[error("`{0}` is no <family>:<way>")]
    NoPair(String),
    /// A word is no family.
    #[error("`{0}` is no family")]
    Family(String),
    /// A word is no way.
    #[error("`{0}` is no way")]
    Way(String),
    /// A family is asked to take two ways.
    #[error("{0} is given twice")]
    Twice(&'static str),
}

impl WaysFault {
    /// What is allowed.
    pub(super) fn allowed() -> String {
        let (families, ways) = (CollectiveFamily::NAMES, CollectiveWay::NAMES);
        format!("families are {}, and ways are {}", families.join(", "), ways.join(", "))
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
