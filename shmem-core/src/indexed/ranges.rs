//! Consecutive elements of an object over several PEs, for any distribution.

use core::ops::Range;

use super::Indexed;
use super::distributed_object::Over;
use super::distribution::Distribution;
use super::distribution::sealed::Map;
use crate::context::{NonBlocking, Rma};
use crate::endpoint::{Initiator, Stores};
use crate::object::{On, object_at};
use crate::symmetric_data::{PlainData, SymmetricData};
use crate::text::counted;

/// Minimum size of a contiguous run, in bytes, that is transferred by itself. Shorter runs are transferred as a list of elements.
const TOGETHER: usize = 256;

/// Upper limit on the elements of one list, so that its indices take at most 512 KiB.
const LISTED: usize = 64 << 10;

impl<T: SymmetricData, D: Distribution> Over<'_, T, D> {
    /// Returns the places of a range of elements, in order: one place for each contiguous run.
    ///
    /// # Panics
    ///
    /// If the range is not in the object.
    #[track_caller]
    pub fn runs(&self, range: Range<usize>) -> impl Iterator<Item = On<'_, [T]>> {
        let Range { start: mut next, end } = self.inside(range);
        core::iter::from_fn(move || {
            let (first, left) = (next, end.checked_sub(next).filter(|left| *left > 0)?);
            let count = self.map().run(first).min(left);
            next += count;
            let (rank, element) = self.map().locate(first);
            Some(self.part(rank).index(element..element + count))
        })
    }

    /// Returns `range`. Panics if the range is not in the object.
    #[track_caller]
    fn inside(&self, range: Range<usize>) -> Range<usize> {
        let (len, Range { start, end }) = (self.len(), &range);
        assert!(
            start <= end && *end <= len,
            "range {start}..{end} does not fit: {} has {} (0..{len})",
            object_at(self.offset),
            counted(len, "element")
        );
        range
    }
}

impl<T: PlainData, D: Distribution> Over<'_, T, D> {
    /// Reads consecutive elements: `into[k]` becomes element `first + k`. Complete on return.
    ///
    /// ```
    /// # mod shmem { pub use shmem_core::{endpoint::*, indexed::*, object::*}; }
    /// use shmem::{BlockCyclic, Ranked, Stores, SymBox};
    ///
    /// /// Doubles a hundred elements of a table that lies with all members of a team.
    /// fn double(world: &impl Stores, team: &impl Ranked, table: &SymBox<[f64]>, first: usize) {
    ///     let (table, mut some) = (table.over(team, BlockCyclic::<64>), [0.0; 100]);
    ///     table.read(world, first, &mut some);
    ///     table.write(world, first, &some.map(|x| 2.0 * x));
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the range is not in the object.
    #[track_caller]
    pub fn read(&self, token: &(impl Initiator + ?Sized), first: usize, into: &mut [T]) {
        let range = self.inside(first..first.saturating_add(into.len()));
        if self.is_listed() {
            return range.clone().step_by(LISTED).zip(into.chunks_mut(LISTED)).for_each(|(first, into)| {
                let list: Vec<usize> = (first..first + into.len()).collect();
                token.gather(into, self.at(&list));
            });
        }
        token.scope(|s| {
            let mut rest = into;
            for place in self.runs(range) {
                let (part, behind) = rest.split_at_mut(place.len());
                s.get(part, place);
                rest = behind;
            }
        });
    }

    /// Writes consecutive elements: element `first + k` becomes `values[k]`. The values become visible as after a
    /// [`put`](crate::context::Rma::put).
    ///
    /// # Panics
    ///
    /// If the range is not in the object.
    #[track_caller]
    pub fn write(&self, token: &(impl Stores + ?Sized), first: usize, values: &[T]) {
        let range = self.inside(first..first.saturating_add(values.len()));
        if self.is_listed() {
            return range.clone().step_by(LISTED).zip(values.chunks(LISTED)).for_each(|(first, values)| {
                let list: Vec<usize> = (first..first + values.len()).collect();
                token.scatter(self.at(&list), values);
            });
        }
        let mut rest = values;
        for place in self.runs(range) {
            let (part, behind) = rest.split_at(place.len());
            token.put(place, part);
            rest = behind;
        }
    }

    /// Whether runs are so short that their elements are transferred as a list.
    fn is_listed(&self) -> bool {
        !self.is_empty()
            && self.map().run(0).saturating_mul(size_of::<T>()) < TOGETHER.min(self.len() * size_of::<T>())
    }
}
