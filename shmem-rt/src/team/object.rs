//! Objects that the members of a team have allocated together.

use std::fmt;
use std::ops::RangeFull;
use std::sync::Arc;

use shmem_core::context::{Collected, Contribution, Destination, Endpoint, Initiator, Source};
use shmem_core::indexed::{Distribution, Over, Ranked};
use shmem_core::object::{Extent, Here, On, PlaceIndex, SymBox, SymmetricObject};
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::{Contents, PlainData, SymmetricData};

use crate::state::team_uses::Uses;

/// An object of a team, at the same offset on every member, and not on other PEs.
///
/// A `TeamBox` owns its allocation and is used like a [`SymBox`], but only members have a handle, and references into it come from
/// [`Team::local`](crate::Team::local) and [`Team::frozen`](crate::Team::frozen). Dropping a handle is local. The team's next
/// allocation may reuse the memory if every member has dropped its handle.
pub struct TeamBox<T: ?Sized> {
    object: SymBox<T>,
    uses: Arc<Uses>,
    /// The member that has this handle.
    me: Pe,
}

impl<T: Contents + ?Sized> TeamBox<T> {
    pub(super) fn new(object: SymBox<T>, uses: Arc<Uses>, me: Pe) -> Self {
        Self { object, uses, me }
    }

    /// Returns the object on a member.
    ///
    /// # Panics
    ///
    /// If `pe` is not a member of the team, or, where PEs are threads of one process, is a [`Pe`] that another PE has made.
    #[inline]
    #[track_caller]
    pub fn on(&self, pe: Pe) -> On<'_, T> {
        self.require(pe);
        self.object.on(pe)
    }

    /// Returns the calling PE's own copy.
    ///
    /// # Panics
    ///
    /// If the handle is another PE's, which is possible only where PEs are threads of one process.
    #[inline]
    #[track_caller]
    pub fn here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> Here<'a, T> {
        self.of_the_caller(token.endpoint()).here(token)
    }

    #[inline]
    #[track_caller]
    fn require(&self, pe: Pe) {
        assert!(
            self.uses.has_member(pe.number()) && pe.is_seen_with(self.me),
            "PE {pe} is not a member of the team that has allocated this object, and has none"
        );
    }

    #[inline]
    #[track_caller]
    fn of_the_caller(&self, endpoint: &Endpoint) -> &SymBox<T> {
        assert!(endpoint.me().is_seen_with(self.me), "this object of a team is another PE's handle");
        &self.object
    }

    /// Returns the elements on all members of `team` as one distributed list ([`SymBox::over`]). All members of `team` must be
    /// members of the team that allocated the object.
    ///
    /// # Panics
    ///
    /// If a PE is no member of the team that allocated the object, or its copy has too few elements for the distribution or no
    /// whole number of the distribution's blocks.
    #[track_caller]
    pub fn over<'a, E: SymmetricData, D: Distribution>(
        &'a self,
        team: &'a (impl Ranked + ?Sized),
        distribution: D,
    ) -> Over<'a, E, D>
    where
        RangeFull: PlaceIndex<T, Output = [E]>,
    {
        // Called once, because a second call may return PEs that were not checked.
        let pes = team.ranked();
        for pe in &*pes {
            self.require(*pe);
        }
        self.object.__over(pes, distribution)
    }
}

impl<T: SymmetricData> TeamBox<[T]> {
    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.object.len()
    }

    /// Whether the object has no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.object.is_empty()
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns the extent of the object itself, which is reserved for as long as the handle lives.
unsafe impl<T: Contents<Item: PlainData> + ?Sized> Contribution<()> for &TeamBox<T> {
    type Item = T::Item;

    #[track_caller]
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Contribution::place(&self.of_the_caller(token.endpoint()), token)
    }

    #[track_caller]
    fn read<O>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T::Item]) -> O) -> O {
        Contribution::read(&self.of_the_caller(token.endpoint()), token, collective)
    }

    fn changed(self) {}

    #[track_caller]
    fn change(self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [T::Item])) {
        self.of_the_caller(token.endpoint()).change(token, collective);
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns the extent of the object itself, which is reserved for as long as the handle lives.
unsafe impl<T: Contents<Item: PlainData> + ?Sized> Collected<T::Item> for TeamBox<T> {
    #[track_caller]
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Collected::place(self.of_the_caller(token.endpoint()), token)
    }

    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T::Item]) -> R) -> R {
        self.of_the_caller(token.endpoint()).read(token, collective)
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns the extent of the object itself, which is reserved for as long as the handle lives.
unsafe impl<I, T: Contents + ?Sized> Source<I> for TeamBox<T>
where
    SymBox<T>: Source<I>,
{
    #[track_caller]
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Source::place(self.of_the_caller(token.endpoint()), token)
    }

    #[track_caller]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize {
        Source::items(self.of_the_caller(token.endpoint()), token)
    }

    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[I]) -> R) -> R {
        Source::read(self.of_the_caller(token.endpoint()), token, collective)
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns the extent of the object itself, which is reserved for as long as the handle lives.
unsafe impl<'t, I, T: Contents + ?Sized> Destination<I> for &'t TeamBox<T>
where
    &'t SymBox<T>: Destination<I>,
{
    #[track_caller]
    fn place(&self, token: &(impl Initiator + ?Sized)) -> Option<Extent> {
        Destination::place(&self.of_the_caller(token.endpoint()), token)
    }

    #[track_caller]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize {
        Destination::items(&self.of_the_caller(token.endpoint()), token)
    }

    #[track_caller]
    fn write<R>(self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [I]) -> R) -> R {
        self.of_the_caller(token.endpoint()).write(token, collective)
    }
}

// SAFETY: the extents are those of the inner box. Only the PE that allocated the box opens it: a phase first calls `extents`, which
// checks the PE.
unsafe impl<T: Contents + ?Sized + 'static> SymmetricObject for TeamBox<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    #[track_caller]
    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>) {
        self.of_the_caller(token).extents(token, list);
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        // SAFETY: the caller fulfils the conditions of `open` for the inner box.
        unsafe { self.object.open(mine) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        // SAFETY: the caller fulfils the conditions of `freeze` for the inner box.
        unsafe { self.object.freeze(mine) }
    }
}

impl<T: Contents + ?Sized> fmt::Debug for TeamBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TeamBox #{} (offset {:#x})", self.object.id(), self.object.offset())
    }
}
