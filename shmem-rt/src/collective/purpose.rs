//! What members of a team come together for.

use std::panic::Location;

use shmem_core::fingerprint::fingerprint_of_words;
use shmem_core::observe::Family;
use shmem_core::system::Activity;
use shmem_core::text::Text;

use crate::team::Team;

/// An operation that members of a team come together for.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    name: &'static str,
    family: Family,
}

impl Operation {
    /// The only one of its row in the table of operations, and called as that.
    pub(crate) const fn of(family: Family) -> Self {
        Self { name: family.name(), family }
    }

    /// One of several of a row.
    pub(crate) const fn named(family: Family, name: &'static str) -> Self {
        Self { name, family }
    }

    pub(crate) fn name(self) -> &'static str {
        self.name
    }

    /// The row of the table of operations.
    pub(crate) fn family(self) -> Family {
        self.family
    }
}

/// What a PE enters a collective for: what all members must agree on.
pub(crate) struct Purpose<'a> {
    /// The operation.
    pub operation: Operation,
    /// Whether references are given out behind the meeting: then all must come for that, for certain.
    pub opens: bool,
    /// What else must agree: sizes, offsets, ranks.
    pub arguments: &'a [u64],
    /// The arguments in words, for messages.
    pub subject: &'a dyn Fn() -> String,
    /// The call, if the program made one.
    pub location: Option<&'static Location<'static>>,
}

impl Purpose<'_> {
    /// 32 bits of a hash above 16 bits that are 1 or 0; see
    /// [`NodeBarrier`](shmem_core::sync::NodeBarrier).
    #[inline]
    pub(super) fn fingerprint(&self) -> u64 {
        let name = self.operation.name.as_bytes().chunks(8).map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_le_bytes(word)
        });
        let hash = fingerprint_of_words(name.chain(self.arguments.iter().copied()));
        (hash >> 32) << 16 | u64::from(self.opens)
    }

    pub(super) fn activity(&self, team: &Team, count: u64) -> Activity {
        Activity {
            operation: Text::head(self.operation.name),
            subject: Text::head(&(self.subject)()),
            file: self.location.map_or(Text::EMPTY, |location| Text::tail(location.file())),
            line: self.location.map_or(0, |location| location.line()),
            fingerprint: self.fingerprint(),
            team: team.index() as u32,
            count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_argument_makes_a_collective_look_like_the_opening_of_a_phase() {
        const LOCAL: Operation = Operation::of(Family::Local);
        const MALLOC: Operation = Operation::named(Family::Memory, "malloc");
        let location = None;
        let fingerprint = |operation, opens, arguments: &[u64]| {
            Purpose { operation, opens, arguments, subject: &String::new, location }.fingerprint()
        };
        for bytes in 0..10_000 {
            let (phase, other) =
                (fingerprint(LOCAL, true, &[0, bytes]), fingerprint(MALLOC, false, &[1, bytes]));
            assert_eq!((phase & 0xFFFF, other & 0xFFFF), (1, 0));
            assert!(phase < 1 << 48 && other < 1 << 48, "the barrier's word has room for no more");
        }
        // What is not certain is at least likely: hashes of neighbours differ.
        let hashes: std::collections::HashSet<_> =
            (0..10_000).map(|bytes| fingerprint(MALLOC, false, &[1, bytes])).collect();
        assert_eq!(hashes.len(), 10_000);
    }
}
