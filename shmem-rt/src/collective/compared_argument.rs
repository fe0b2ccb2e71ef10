//! An argument of a collective call: its memory, the words that members compare, and its text in diagnostics.

use core::ops::Range;
use std::panic::Location;

use shmem_core::context::{Collected, Contribution, Destination, Initiator, Source};
use shmem_core::hash::fingerprint_of_words;
use shmem_core::object::Extent;
use shmem_core::observe::{Call, Family};
use shmem_core::pe::Pe;
use shmem_core::planted_fault::mutant;
use shmem_core::symmetric_data::{PlainData, zeroed_items};

use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Operation, Team, words_of};

/// The items that a call passes to a collective: memory of the program, or a symmetric object.
pub(super) struct Argument<'a, K: ?Sized> {
    pub(super) team: &'a Team,
    pub(super) token: &'a K,
    kind: &'static str,
    /// Size of one item in bytes.
    pub(super) size: usize,
    pub(super) location: &'static Location<'static>,
    pub(super) place: Option<Extent>,
}

impl<'a, K: Initiator + ?Sized> Argument<'a, K> {
    /// Describes items of type `I`: the object at `place`, or memory of the program if `place` is None.
    ///
    /// # Panics
    ///
    /// If the object is of a team that lacks a member of `team`, because that member has no copy of the object.
    #[inline]
    #[track_caller]
    pub(super) fn of<I>(team: &'a Team, token: &'a K, place: Option<Extent>) -> Self {
        let kind = core::any::type_name::<I>();
        let argument = Self { team, token, kind, size: size_of::<I>(), location: Location::caller(), place };
        if let Some(place) = place
            // An object of 0 bytes belongs to no team.
            && place.bytes > 0
            && team.job.teams.area.contains(&place.offset)
            && !team.uses.has_object_at(place)
            && !is_of_larger_team(team, place)
        {
            refuse_stranger(team, place);
        }
        argument
    }

    /// Describes bytes at the same offset on every member.
    #[track_caller]
    pub(super) fn of_bytes(team: &'a Team, token: &'a K, place: Option<Extent>) -> Self {
        Self { team, token, kind: "u8", size: 1, location: Location::caller(), place }
    }

    pub(super) fn at(&self, place: Extent) -> Self {
        Self { place: Some(place), ..*self }
    }

    /// Runs `work` in a collective to which this PE contributes `bytes` bytes. Members compare `words`; error texts contain
    /// `subject`.
    #[inline]
    pub(super) fn run<const N: usize, R>(
        &self,
        operation: impl Into<Operation>,
        words: [u64; N],
        subject: &dyn Fn() -> String,
        bytes: usize,
        work: impl FnOnce(&Collective<'_>, &CallSignature<'_>) -> R,
    ) -> R {
        let collective = self.team.enter(self.token.endpoint(), Some(self.location)).moving(bytes);
        let (words, compared) = self.compared(words);
        work(&collective, &self.signature(operation.into(), &words[..compared], subject))
    }

    #[inline]
    pub(super) fn signature<'p>(
        &self,
        operation: Operation,
        arguments: &'p [u64],
        subject: &'p dyn Fn() -> String,
    ) -> CallSignature<'p> {
        CallSignature { operation, opens: false, arguments, subject, location: Some(self.location) }
    }

    /// Returns the words that members compare, and their number, at most six: `words`, then the object's offset, if there is an
    /// object.
    #[inline]
    pub(super) fn compared<const N: usize>(&self, words: [u64; N]) -> ([u64; 6], usize) {
        let mut all = [0; 6];
        all[..N].copy_from_slice(&words);
        let Some(place) = self.place else { return (all, N) };
        all[N] = place.offset as u64;
        (all, N + 1)
    }

    /// Returns the word that members compare for a second argument: 0 for private memory, the object's offset + 1 for an object.
    pub(super) fn offset(&self) -> u64 {
        self.place.map_or(0, |place| place.offset as u64 + 1)
    }

    pub(super) fn show(&self, items: usize) -> String {
        self.name_or(|| format!("{items} x {}", self.kind))
    }

    pub(super) fn show_to(&self, items: usize, to: Option<Extent>) -> String {
        let to = to.map(|place| format!(" to {}", self.team.job.memory.names.of_part(place, self.size)));
        self.show(items) + &to.unwrap_or_default()
    }

    /// Returns the object's name with the used range, or `private()` for private memory.
    pub(super) fn name_or(&self, private: impl FnOnce() -> String) -> String {
        self.place.map_or_else(private, |place| self.team.job.memory.names.of_part(place, self.size))
    }

    /// Returns the object and its number of items; None for private memory and for zero-sized items.
    #[inline]
    fn object(&self) -> Option<(Extent, usize)> {
        let place = self.place?;
        Some((place, place.bytes.checked_div(self.size)?))
    }

    /// Returns [`object`](Self::object), or None if `written` overlaps the object: the items must then be copied first.
    #[inline]
    fn object_apart(&self, written: Option<Extent>) -> Option<(Extent, usize)> {
        self.object().filter(|(place, _)| !written.is_some_and(|written| written.overlaps(*place)))
    }

    /// Calls `read` with the items and their number, for a collective that reads all items and writes to `written`. Notifies the
    /// observer.
    #[inline]
    pub(super) fn given<T, I, R>(
        &self,
        of: &T,
        written: Option<Extent>,
        read: impl FnOnce(usize, SendBuf<'_>) -> R,
    ) -> R
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
    {
        let Some((place, items)) = self.object_apart(written) else {
            return of.read(self.token, |all| read(all.len(), SendBuf::of(bytemuck::cast_slice(all))));
        };
        self.tell(Family::HereLoad, 0..place.bytes);
        read(items, SendBuf::own(self.token.endpoint(), place))
    }

    /// Calls `read` with a list, for a collective that writes to `written`. The caller notifies the observer of the reads.
    #[inline]
    pub(super) fn source<S, I, R>(
        &self,
        of: &S,
        written: Option<Extent>,
        read: impl FnOnce(SendBuf<'_>) -> R,
    ) -> R
    where
        S: Source<I> + ?Sized,
        I: PlainData,
    {
        match self.object_apart(written) {
            Some((place, _)) => read(SendBuf::own(self.token.endpoint(), place)),
            None => of.read(self.token, |all| read(SendBuf::of(bytemuck::cast_slice(all)))),
        }
    }

    /// Calls `write` with a list, for a collective that writes to the list. The caller notifies the observer.
    #[inline]
    pub(super) fn destination<D, I, R>(&self, of: D, write: impl FnOnce(RecvBuf<'_>) -> R) -> R
    where
        D: Destination<I>,
        I: PlainData,
    {
        match self.object() {
            Some((place, _)) => write(RecvBuf::own(self.token.endpoint(), place)),
            None => of.write(self.token, |all| write(RecvBuf::of(bytemuck::cast_slice_mut(all)))),
        }
    }

    /// Calls `change` with the items and their number. Notifies the observer of a read if `reads`, and of a write if `writes`.
    #[inline]
    pub(super) fn changed<X, R>(
        &self,
        of: X,
        (reads, writes): (bool, bool),
        change: impl FnOnce(usize, RecvBuf<'_>),
    ) -> R
    where
        X: Contribution<R>,
    {
        let Some((place, items)) = self.object() else {
            return of
                .change(self.token, |all| change(all.len(), RecvBuf::of(bytemuck::cast_slice_mut(all))));
        };
        if reads {
            self.tell(Family::HereLoad, 0..place.bytes);
        }
        change(items, RecvBuf::own(self.token.endpoint(), place));
        if writes {
            self.tell(Family::HereStore, 0..place.bytes);
        }
        of.changed()
    }

    /// Notifies the observer, if there is one, of an access to the calling PE's own copy. Other members access that copy only
    /// between the first barrier and the end of the collective, so a race detector may count their accesses as the owner's.
    pub(super) fn tell(&self, family: Family, bytes: Range<usize>) {
        if let (Some(place), endpoint) = (self.place, self.token.endpoint())
            && endpoint.observer().is_some()
        {
            let call = Call::new(family, self.location);
            endpoint.tell(call.at(endpoint.me(), 0, place.offset + bytes.start, bytes.len()), || ());
        }
    }

    pub(super) fn is_observed(&self) -> bool {
        self.token.endpoint().observer().is_some()
    }
}

/// The root: the member that sends the data, or receives the result.
pub(super) struct Root {
    pub(super) pe: Pe,
    pub(super) rank: usize,
}

impl Root {
    /// Returns the root of a collective.
    ///
    /// # Panics
    ///
    /// If the PE is not a member.
    #[track_caller]
    pub(super) fn of(team: &Team, pe: Pe, operation: &str) -> Self {
        let Some(rank) = team.rank_of(pe) else {
            panic!("the root of `{operation}`, PE {pe}, is not a member of the team");
        };
        Self { pe, rank: if mutant("next-root") { (rank + 1) % team.size() } else { rank } }
    }

    pub(super) fn is_here(&self, team: &Team) -> bool {
        self.rank == team.rank()
    }

    pub(super) fn word(&self) -> u64 {
        self.pe.number() as u64
    }
}

pub(super) fn word_of(name: &str) -> u64 {
    fingerprint_of_words(words_of(name))
}

pub(super) fn new_list<I: PlainData>(list: &mut Vec<I>, items: usize) -> RecvBuf<'_> {
    *list = zeroed_items(items);
    RecvBuf::of(bytemuck::cast_slice_mut(list))
}

/// Whether the object belongs to a team that contains all members of `team`.
#[cold]
fn is_of_larger_team(team: &Team, place: Extent) -> bool {
    let owner = team.job.teams.indexes.lock().owner(place).cloned();
    owner.is_some_and(|owner| owner.contain(&team.uses))
}

#[cold]
#[track_caller]
fn refuse_stranger(team: &Team, place: Extent) -> ! {
    panic!(
        "{} is an object of another team, in which not all members of this one are: collectives of a team take objects that \
         this team has allocated, or one that contains it, and symmetric objects of all PEs; call the collective of the team \
         whose `alloc` gave the object",
        team.job.memory.names.of(place)
    )
}
