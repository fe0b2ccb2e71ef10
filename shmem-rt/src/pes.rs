//! PEs in an order.

use std::fmt;
use std::iter::Copied;
use std::ops::Index;
use std::slice;

use shmem_core::pe::Pe;

/// PEs in an order: those of a job by their numbers, those of a team by their ranks.
///
/// It is a view, as a slice is, and lends the list that the job or the team keeps anyway (8 bytes for each PE): taking one
/// costs nothing, whatever the number of PEs.
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pes<'a>(&'a [Pe]);

impl<'a> Pes<'a> {
    /// Some PEs, in the order of the slice.
    pub const fn new(pes: &'a [Pe]) -> Self {
        Self(pes)
    }

    /// How many there are.
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none. A job and a team have at least one.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(self) -> Copied<slice::Iter<'a, Pe>> {
        self.0.iter().copied()
    }

    /// The same as a slice.
    pub const fn as_slice(self) -> &'a [Pe] {
        self.0
    }
}

/// The PE with an index.
///
/// # Panics
///
/// If there are no more PEs than that. `World::pe` and `Team::pe` say so by an error and by `None`.
impl Index<usize> for Pes<'_> {
    type Output = Pe;

    #[inline]
    fn index(&self, index: usize) -> &Pe {
        match self.0.get(index) {
            Some(pe) => pe,
            None => refuse(index, self.0.len()),
        }
    }
}

#[cold]
#[track_caller]
fn refuse(index: usize, count: usize) -> ! {
    match count {
        0 => panic!("no PE has the index {index}: there are none"),
        1 => panic!("no PE has the index {index}: there is one PE, whose index is 0"),
        _ => panic!(
            "no PE has the index {index}: there are {count}, whose indices run from 0 to {}",
            count - 1
        ),
    }
}

impl<'a> IntoIterator for Pes<'a> {
    type Item = Pe;
    type IntoIter = Copied<slice::Iter<'a, Pe>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &Pes<'a> {
    type Item = Pe;
    type IntoIter = Copied<slice::Iter<'a, Pe>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Pes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
