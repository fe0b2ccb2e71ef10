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

/// An ordered set of PEs over which an object can be spread: a team.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no team",
    label = "not PEs in an order",
    note = "an object is spread over the members of a team: `world.team()`, or one of its splits"
)]
pub trait Ranked {
    /// The PEs, by rank.
    #[doc(hidden)]
    fn ranked(&self) -> Cow<'_, [Pe]>;
}

/// One object's elements on several PEs, with one numbering: from [`Symmetric::over`] and [`SymBox::over`].
///
/// This is a view: making it sends nothing, and other PEs may use another distribution for the object. [`at`](Self::at) lists elements for a
/// verb of [`Indexed`](super::Indexed); [`locate`](Self::locate) is the place of one element, for single operations.
pub struct Over<'a, T: SymmetricData, D: Distribution> {
    pes: Cow<'a, [Pe]>,
    segment: u32,
    pub(super) offset: usize,
    /// Number of elements of each PE.
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

    /// Total number of elements on all PEs.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The PEs that have the elements, by rank.
    pub fn pes(&self) -> &[Pe] {
        &self.pes
    }

    /// The place of an element.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[inline]
    #[track_caller]
    pub fn locate(&self, index: usize) -> On<'_, T> {
        let (pe, element) = self.owner(index);
        let offset = self.offset + element * size_of::<T>();
        // SAFETY: the object has `share` elements at `offset` on every PE, aligned and reserved for as long as this borrows
        // it, of which this is one: the map was made for that share, and the index is below its length.
        unsafe { On::new(pe, self.segment, offset, 1) }
    }

    /// The PE that has an element, and the number of the element there.
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

    /// All elements of the PE with a rank. The first have the indices [`owned`](Self::owned), in order; the others have none.
    ///
    /// # Panics
    ///
    /// If there is no such PE.
    #[track_caller]
    pub fn part(&self, rank: usize) -> On<'a, [T]> {
        let pe = self.pe(rank);
        // SAFETY: the object has `share` elements at `offset` on every one of the PEs, aligned and reserved for as long as it is
        // borrowed, which is `'a`.
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

    /// The indices of the elements of the PE with a rank, in the order of that PE's memory.
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

    /// The elements with these indices, in the list's order; an index may repeat.
    #[inline(always)]
    pub fn at<'i, X: ListIndex>(&self, indices: &'i [X]) -> Listed<'i, &Self, X> {
        Listed::new(self, indices)
    }
}

// SAFETY: each of the PEs has `share` elements at the offset (`Over::new`); the map was made for that share and that number of PEs,
// and locates every index below its length in them (`Map`).
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
    /// The array's elements on all members of a team, with one numbering.
    ///
    /// # Panics
    ///
    /// If the distribution needs more elements than exist, or whole blocks and a member's part has none.
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
    /// The object's elements on all members of a team, with one numbering.
    ///
    /// # Panics
    ///
    /// If the distribution needs more elements than exist, or whole blocks and a member's part has none.
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

    /// As [`over`](Self::over), for a list of PEs.
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

/// All elements of a place, or of an object over several PEs: an argument of [`batch`](super::Indexed::batch).
#[diagnostic::on_unimplemented(
    message = "the elements of `{Self}` have no numbers",
    label = "neither an array on a PE nor one over several",
    note = "elements are those of `OBJECT.on(pe)` on one PE, and of `OBJECT.over(team, Cyclic)` on those of a team"
)]
pub trait Numbered {
    /// Type of the elements.
    type Item: SymmetricData;

    /// The elements.
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
