//! Lists of the PEs of a job or a team, computed where possible.

use std::borrow::Cow;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Index, Range};

use shmem_core::indexed::Ranked;
use shmem_core::pe::Pe;
use shmem_core::text::counted;

use crate::members::Members;

/// The PEs of a job in the order of their numbers, or of a team in the order of their ranks. The type behaves like a
/// slice. It is no slice, because the members of a strided team are computed, not stored.
///
/// ```
/// use shmem::prelude::*;
///
/// #[symmetric]
/// static GREETINGS: Atomic<u64>;
///
/// #[shmem::main]
/// fn main(world: &mut World) {
///     for pe in world.pes() {
///         world.add(GREETINGS.on(pe), 1);
///     }
///     let last = world.pes()[world.n_pes() - 1];
///     world.barrier_all();
///     assert_eq!(world.fetch(GREETINGS.on(last)), world.pes().len() as u64);
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Pes<'a>(&'a Members);

impl<'a> Pes<'a> {
    pub(crate) const fn new(members: &'a Members) -> Self {
        Self(members)
    }

    /// Number of PEs.
    pub fn len(self) -> usize {
        self.0.size()
    }

    /// Always `false`: a job and a team have at least one PE.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the PE at position `index`, or `None` if `index` is not below the number of PEs.
    pub fn get(self, index: usize) -> Option<Pe> {
        self.0.get(index).copied()
    }

    /// Iterates over the PEs in order.
    pub fn iter(self) -> PesIter<'a> {
        PesIter { pes: self.0, left: 0..self.len() }
    }
}

/// Returns the PE at position `index`.
///
/// # Panics
///
/// If `index` is not below the number of PEs. Instead of a panic, `World::pe` returns an error, and `Team::pe` returns `None`.
impl Index<usize> for Pes<'_> {
    type Output = Pe;

    #[inline]
    fn index(&self, index: usize) -> &Pe {
        match self.0.get(index) {
            Some(pe) => pe,
            None => refuse(index, self.len()),
        }
    }
}

#[cold]
#[track_caller]
fn refuse(index: usize, count: usize) -> ! {
    panic!(
        "no PE has the index {index}: the indices of {} run from 0 to {}",
        counted(count, "PE"),
        count.saturating_sub(1)
    )
}

impl<'a> IntoIterator for Pes<'a> {
    type Item = Pe;
    type IntoIter = PesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Ranked for Pes<'_> {
    #[doc(hidden)]
    fn ranked(&self) -> Cow<'_, [Pe]> {
        self.0.list()
    }
}

impl PartialEq for Pes<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Pes<'_> {}

impl fmt::Debug for Pes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The iterator of [`Pes::iter`].
#[derive(Clone, Debug)]
pub struct PesIter<'a> {
    pes: &'a Members,
    left: Range<usize>,
}

impl Iterator for PesIter<'_> {
    type Item = Pe;

    #[inline]
    fn next(&mut self) -> Option<Pe> {
        self.left.next().map(|index| self.pes.member(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for PesIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Pe> {
        self.left.next_back().map(|index| self.pes.member(index))
    }
}

impl ExactSizeIterator for PesIter<'_> {}

impl FusedIterator for PesIter<'_> {}
