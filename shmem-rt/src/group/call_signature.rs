//! The signature of a collective: its operation and arguments, which members compare.

use std::cell::Cell;
use std::panic::Location;

use shmem_core::hash::fingerprint_of_words;
use shmem_core::observe::Family;
use shmem_core::sync::SIGNATURE_WORDS;
use shmem_core::system_area::Activity;
use shmem_core::text::Text;

use crate::caller::finds;

/// Maximum bytes of an operation's name.
const NAME: usize = 24;

/// Words before the arguments in each part of a signature (members compare one part in each barrier): numbers of the barrier and of
/// the collective's first barrier, number of arguments, name.
const HEAD: usize = 3 + NAME / 8;

/// Number of arguments in one part.
const ARGUMENTS_IN_PART: usize = SIGNATURE_WORDS - HEAD;

/// Name of the operation of a PE whose program has returned.
pub(crate) const END: &str = "the end of the program";

#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// The family of the operation: its row in the operation table of observers.
    pub(crate) family: Family,
}

impl Operation {
    /// Returns the operation of a family that has only one, with the name of the family.
    pub(crate) const fn of(family: Family) -> Self {
        Self::named(family, family.name())
    }

    /// Returns one of several operations of a family.
    pub(crate) const fn named(family: Family, name: &'static str) -> Self {
        assert!(name.len() <= NAME, "a name is stated as a whole");
        Self { name, family }
    }
}

impl From<Family> for Operation {
    fn from(family: Family) -> Self {
        Self::of(family)
    }
}

/// Operation and arguments of a collective call. The job ends unless they are equal on all members.
pub(crate) struct CallSignature<'a> {
    pub operation: Operation,
    /// Whether the collective opens a [phase](crate::phase). The hash excludes this flag, because a collision would make a phase
    /// unsound.
    pub opens: bool,
    /// Arguments that must be equal on all members: sizes, offsets, ranks, [texts](words_of).
    pub arguments: &'a [u64],
    /// The arguments as text, for diagnostics.
    pub subject: &'a dyn Fn() -> String,
    /// Source location of the call; None for a call of the runtime.
    pub location: Option<&'static Location<'static>>,
}

impl<'a> CallSignature<'a> {
    /// Returns the signature of a call of the program that allocates, frees, names or persists symmetric memory.
    #[track_caller]
    pub(crate) fn of_memory(
        name: &'static str,
        arguments: &'a [u64],
        subject: &'a dyn Fn() -> String,
    ) -> Self {
        Self::of_call(Family::Memory, name, arguments, subject)
    }

    /// Returns the signature of a call of the program to one of several operations of a family.
    #[track_caller]
    pub(crate) fn of_call(
        family: Family,
        name: &'static str,
        arguments: &'a [u64],
        subject: &'a dyn Fn() -> String,
    ) -> Self {
        let (operation, location) = (Operation::named(family, name), Some(Location::caller()));
        Self { operation, opens: false, arguments, subject, location }
    }
}

impl CallSignature<'_> {
    /// Returns a 32-bit hash above 16 bits that contain `opens`, as [`NodeBarrier`](shmem_core::sync::NodeBarrier) needs it.
    #[inline]
    pub(crate) fn fingerprint(&self) -> u64 {
        let name = self.operation.name.as_bytes().chunks(8).map(word_of);
        let hash = fingerprint_of_words(name.chain(self.arguments.iter().copied()));
        (hash >> 32) << 16 | u64::from(self.opens)
    }

    pub(crate) fn parts(&self) -> usize {
        self.arguments.len().div_ceil(ARGUMENTS_IN_PART).max(1)
    }

    /// Returns the words of part `part` of the signature, at barrier number `count` of a collective whose first barrier was
    /// `began`. No word is a hash, so the words are equal if and only if signature, part and both barrier numbers are.
    pub(crate) fn words(&self, part: usize, count: u64, began: u64) -> [u64; SIGNATURE_WORDS] {
        let mut words = [0; SIGNATURE_WORDS];
        (words[0], words[1], words[2]) = (count, began, self.arguments.len() as u64);
        let name = self.operation.name.as_bytes().chunks(8).map(word_of);
        words[3..HEAD].iter_mut().zip(name).for_each(|(into, word)| *into = word);
        let arguments = self.arguments.iter().skip(part * ARGUMENTS_IN_PART);
        words[HEAD..].iter_mut().zip(arguments).for_each(|(into, word)| *into = *word);
        words
    }

    /// Returns the description of a member's call at a barrier, for diagnostics.
    pub(crate) fn activity(&self, team: usize, count: u64) -> Activity {
        let (file, line) = match (self.location, place(team, count)) {
            (None, _) | (_, Some(None)) => (Text::EMPTY, 0),
            (Some(location), None) => (Text::tail(location.file()), location.line()),
            (Some(_), Some(Some((file, line)))) => (Text::tail(file), line),
        };
        Activity {
            operation: Text::head(self.operation.name),
            subject: Text::head(&(self.subject)()),
            file,
            line,
            fingerprint: self.fingerprint(),
            team: team as u32,
            count,
        }
    }
}

thread_local! {
    /// (team index, barrier number) of the last call of `place`.
    static ASKED: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

/// Returns the source line of a call that is not in Rust, `Some(None)` if it is not known, and `None` if calls are in Rust. Only a
/// repeated lookup for the same barrier searches, because a search of debug information is slow.
fn place(team: usize, count: u64) -> Option<Option<(&'static str, u32)>> {
    let finds = finds()?;
    let is_known = ASKED.replace((team, count)) == (team, count);
    Some(is_known.then(finds).flatten())
}

/// Returns a text as words that members compare: its length, then its bytes.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = u64> + '_ {
    core::iter::once(text.len() as u64).chain(text.as_bytes().chunks(8).map(word_of))
}

#[inline]
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn signatures_are_equal_where_calls_are(
            a in proptest::collection::vec(0_u64..3, 0..25), b in proptest::collection::vec(0_u64..3, 0..25),
            names in 0_usize..4, began in (5_u64..7, 5_u64..7), text in (".{0,40}", ".{0,40}"),
        ) {
            const NAMES: [&str; 2] = ["alloc", "allo"];
            let states = |name: usize, arguments: &[u64], began: u64| {
                let operation = Operation::named(Family::Memory, NAMES[name]);
                let signature =
                    CallSignature { operation, opens: false, arguments, subject: &String::new, location: None };
                // The first difference ends the job, so all parts are compared that both signatures have.
                (0..signature.parts()).map(|part| signature.words(part, 7, began)).collect::<Vec<_>>()
            };
            let (one, other) = (states(names & 1, &a, began.0), states(names >> 1, &b, began.1));
            let alike = names & 1 == names >> 1 && a == b && began.0 == began.1;
            prop_assert_eq!(one.iter().zip(&other).all(|(a, b)| a == b), alike);
            let words = |text| words_of(text).collect::<Vec<_>>();
            prop_assert_eq!(words(&text.0) == words(&text.1), text.0 == text.1);
        }
    }

    #[test]
    fn no_argument_makes_a_collective_look_like_the_opening_of_a_phase() {
        const LOCAL: Operation = Operation::of(Family::Local);
        const MALLOC: Operation = Operation::named(Family::Memory, "malloc");
        let location = None;
        let fingerprint = |operation, opens, arguments: &[u64]| {
            CallSignature { operation, opens, arguments, subject: &String::new, location }.fingerprint()
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
