//! An object over several PEs as one array.

use core::marker::PhantomData;
use core::ops::RangeFull;
use std::borrow::Cow;

use super::dispatch::check_index;
use super::distribution::Distribution;
use super::distribution::sealed::Map;
use super::listed::sealed::{Span, Spread};
use super::listed::{ListIndex, Listed};
use crate::object::{On, PlaceIndex, SymBox, Symmetric};
use crate::pe::Pe;
use crate::symmetric_data::{Contents, SymmetricData};

/// A team: an ordered set of PEs over which an object can be spread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no team",
    label = "not PEs in an order",
    note = "an object is spread over the members of a team: `world.team()`, or one of its splits"
)]
pub trait Ranked {
    /// Returns the PEs, in order of their ranks.
    #[doc(hidden)]
    fn ranked(&self) -> Cow<'_, [Pe]>;
}

/// The elements of one object on several PEs, under one numbering. [`Symmetric::over`] and [`SymBox::over`] make it.
///
/// Making this view sends nothing, and other PEs may number the object's elements by another distribution. [`at`](Self::at) lists
/// elements for a method of [`Indexed`](super::Indexed), and [`locate`](Self::locate) returns the place of one element.
pub struct Over<'a, T: SymmetricData, D: Distribution> {
    pes: Cow<'a, [Pe]>,
    segment: u32,
    pub(super) offset: usize,
    /// Number of elements on each PE.
    share: usize,
    map: D::Map,
    _object: PhantomData<On<'a, [T]>>,
}

impl<'a, T: SymmetricData, D: Distribution> Over<'a, T, D> {
    #[track_caller]
    fn new(pes: Cow<'a, [Pe]>, object: impl FnOnce(Pe) -> On<'a, [T]>, distribution: D) -> Self {
        let Some(first) = pes.first() else { panic!("an object cannot be spread over no PEs") };
        let object = object(*first);
        let map = distribution.map(object.len(), pes.len());
        Self {
            segment: object.segment(),
            offset: object.offset(),
            share: object.len(),
            map,
            pes,
            _object: PhantomData,
        }
    }

    /// Returns the number of elements that the distribution numbers, on all PEs together. Others have no index.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether no element has an index.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the PEs that have the elements, in order of their ranks.
    pub fn pes(&self) -> &[Pe] {
        &self.pes
    }

    /// Returns the place of the element with an index.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn locate(&self, index: usize) -> On<'_, T> {
        let (pe, element) = self.owner(index);
        let offset = self.offset + element * size_of::<T>();
        // SAFETY: the object has `share` elements at `self.offset` on every PE, aligned and reserved while `self` borrows the
        // object. `element` is one of them, because the map was made for that share, and the index is below the map's length.
        unsafe { On::new(pe, self.segment, offset, 1) }
    }

    /// Returns the PE that has the element with an index, and the element's number on that PE.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn owner(&self, index: usize) -> (Pe, usize) {
        check_index(index, self.len(), self.offset);
        let (rank, element) = self.map.locate(index);
        (self.pes[rank], element)
    }

    /// Returns the place of all elements on the PE with a rank. The first of them have the indices that [`owned`](Self::owned)
    /// returns, in order; the distribution does not number the others.
    ///
    /// # Panics
    ///
    /// If there is no such PE.
    #[track_caller]
    pub fn part(&self, rank: usize) -> On<'a, [T]> {
        let pe = self.pe(rank);
        // SAFETY: the object has `share` elements at `self.offset` on every PE, aligned and reserved for its borrow, `'a`.
        unsafe { On::new(pe, self.segment, self.offset, self.share) }
    }

    pub(super) fn map(&self) -> &D::Map {
        &self.map
    }

    #[track_caller]
    fn pe(&self, rank: usize) -> Pe {
        let members = self.pes.len();
        assert!(rank < members, "no PE has the rank {rank}: there are {members}, whose ranks run from 0");
        self.pes[rank]
    }

    /// Returns the indices of the elements on the PE with a rank, in the order of that PE's memory.
    ///
    /// # Panics
    ///
    /// If there is no such PE.
    #[track_caller]
    pub fn owned(&self, rank: usize) -> impl Iterator<Item = usize> + use<T, D> {
        let map = self.map;
        _ = self.pe(rank);
        (0..map.depth())
            .map(move |element| map.index_of(rank, element))
            .take_while(move |index| *index < map.len())
    }

    /// Lists the elements with these indices, in this order. An index may repeat.
    #[inline(always)]
    pub fn at<'i, X: ListIndex>(&self, indices: &'i [X]) -> Listed<'i, &Self, X> {
        Listed::new(self, indices)
    }
}

// SAFETY: the object has `share` elements at `offset` on each of the PEs (`Over::new`). The map was made for that share and that
// number of PEs, so it locates every index below its length in these elements (`Map`).
unsafe impl<E: SymmetricData, D: Distribution> Spread for &Over<'_, E, D> {
    type Item = E;

    const IS_ONE: bool = false;

    #[inline(always)]
    fn span(self) -> Span {
        let Over { segment, offset, share, .. } = *self;
        Span { len: self.map.len(), segment, offset, share, is_named: false }
    }

    #[inline(always)]
    fn pes(&self) -> &[Pe] {
        Over::pes(self)
    }

    #[inline(always)]
    fn locator(self) -> impl Fn(usize) -> (usize, usize) + Copy {
        let map = self.map;
        move |index| map.locate(index)
    }
}

impl<T: SymmetricData> Symmetric<T> {
    /// Returns the array's elements on all members of a team, under one numbering.
    ///
    /// # Panics
    ///
    /// If a member has too few elements for the distribution, or no whole number of the distribution's blocks.
    #[track_caller]
    pub fn over<'a, E: SymmetricData, D: Distribution>(
        &'a self,
        team: &'a (impl Ranked + ?Sized),
        distribution: D,
    ) -> Over<'a, E, D>
    where
        RangeFull: PlaceIndex<T, Output = [E]>,
    {
        Over::new(team.ranked(), |pe| self.on(pe).index(..), distribution)
    }
}

impl<T: Contents + ?Sized> SymBox<T> {
    /// Returns the object's elements on all members of a team, under one numbering.
    ///
    /// # Panics
    ///
    /// If a member has too few elements for the distribution, or no whole number of the distribution's blocks.
    #[track_caller]
    pub fn over<'a, E: SymmetricData, D: Distribution>(
        &'a self,
        team: &'a (impl Ranked + ?Sized),
        distribution: D,
    ) -> Over<'a, E, D>
    where
        RangeFull: PlaceIndex<T, Output = [E]>,
    {
        self.__over(team.ranked(), distribution)
    }

    /// As [`over`](Self::over), for a list of PEs instead of a team.
    #[doc(hidden)]
    #[track_caller]
    pub fn __over<'a, E: SymmetricData, D: Distribution>(
        &'a self,
        pes: Cow<'a, [Pe]>,
        distribution: D,
    ) -> Over<'a, E, D>
    where
        RangeFull: PlaceIndex<T, Output = [E]>,
    {
        Over::new(pes, |pe| self.on(pe).index(..), distribution)
    }
}

/// A place, or an object over several PEs, with all its elements: an argument of [`batch`](super::Indexed::batch).
#[diagnostic::on_unimplemented(
    message = "the elements of `{Self}` have no numbers",
    label = "neither an array on a PE nor one over several",
    note = "elements are those of `OBJECT.on(pe)` on one PE, and of `OBJECT.over(team, Cyclic)` on those of a team"
)]
pub trait Numbered {
    /// Type of the elements.
    type Item: SymmetricData;

    /// Returns the location of the elements.
    #[doc(hidden)]
    fn __spread(&self) -> impl Spread<Item = Self::Item> + '_;
}

impl<E: SymmetricData, D: Distribution> Numbered for Over<'_, E, D> {
    type Item = E;

    fn __spread(&self) -> impl Spread<Item = E> + '_ {
        self
    }
}

impl<P: Numbered> Numbered for &P {
    type Item = P::Item;

    fn __spread(&self) -> impl Spread<Item = P::Item> + '_ {
        (**self).__spread()
    }
}

impl<T: Contents + ?Sized, E: SymmetricData> Numbered for On<'_, T>
where
    RangeFull: PlaceIndex<T, Output = [E]>,
{
    type Item = E;

    fn __spread(&self) -> impl Spread<Item = E> + '_ {
        self.index(..)
    }
}
