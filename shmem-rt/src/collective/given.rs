//! What the calling PE gives to a collective, and where it takes what comes, wherever that lies: in memory of the program, or in
//! its own copy of a symmetric object, which is read and written piece by piece, without room for all of it.

use core::ops::Range;

use shmem_core::context::{Collected, Contribution, Destination, Initiator, Source};
use shmem_core::data::{PlainData, zeroed_items};
use shmem_core::object::Extent;
use shmem_core::observe::Family;

use super::direct::{There, tell};
use super::subject::Subject;

/// Bytes that are read.
#[derive(Clone, Copy)]
pub(super) enum Given<'g> {
    /// Of the program.
    Private(&'g [u8]),
    /// Of an object, mostly the calling PE's copy.
    There(There),
}

/// Bytes that are written.
pub(super) enum Taken<'t> {
    /// Of the program.
    Private(&'t mut [u8]),
    /// Of an object, mostly the calling PE's copy.
    There(There),
}

impl<'g> Given<'g> {
    /// Nothing.
    pub(super) const NOTHING: Self = Given::Private(&[]);

    /// How many there are.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Private(bytes) => bytes.len(),
            Self::There(there) => there.len(),
        }
    }

    /// All of them, where they lie or in `room`.
    pub(super) fn all<'b>(self, room: &'b mut Vec<u8>) -> &'b [u8]
    where
        'g: 'b,
    {
        match self {
            Self::Private(bytes) => bytes,
            Self::There(there) => {
                room.resize(there.len(), 0);
                there.read(room);
                room
            }
        }
    }

    /// A part of them.
    pub(super) fn part(self, part: Range<usize>) -> Self {
        match self {
            Self::Private(bytes) => Self::Private(&bytes[part]),
            Self::There(there) => Self::There(there.part(part.start, part.len())),
        }
    }

    /// Copies some of them.
    pub(super) fn read(self, at: usize, into: &mut [u8]) {
        match self {
            Self::Private(bytes) => into.copy_from_slice(&bytes[at..at + into.len()]),
            Self::There(there) => there.part(at, into.len()).read(into),
        }
    }
}

impl<'t> Taken<'t> {
    /// A new list of so many items, in `list`.
    pub(super) fn list<I: PlainData>(list: &'t mut Vec<I>, items: usize) -> Self {
        *list = zeroed_items(items);
        Self::Private(bytemuck::cast_slice_mut(list))
    }

    /// What is there.
    pub(super) fn given(&self) -> Given<'_> {
        match self {
            Self::Private(bytes) => Given::Private(bytes),
            Self::There(there) => Given::There(*there),
        }
    }

    /// Writes some of them.
    pub(super) fn write(&mut self, at: usize, from: &[u8]) {
        match self {
            Self::Private(bytes) => bytes[at..at + from.len()].copy_from_slice(from),
            Self::There(there) => there.part(at, from.len()).write(from),
        }
    }

    /// Writes some of them, as many as are given, which lie elsewhere.
    pub(super) fn take(&mut self, at: usize, given: Given<'_>) {
        match (self, given) {
            (taken, Given::Private(bytes)) => taken.write(at, bytes),
            (Self::Private(bytes), Given::There(from)) => from.read(&mut bytes[at..at + from.len()]),
            (Self::There(there), Given::There(from)) => from.copy_to(there.part(at, from.len())),
        }
    }

    /// Writes some of them as `read` gives them, which is asked for those from one of these on: of an object a few at a time.
    pub(super) fn fill(&mut self, place: Range<usize>, read: &dyn Fn(usize, &mut [u8])) {
        let there = match self {
            Self::Private(bytes) => return read(0, &mut bytes[place]),
            Self::There(there) => there.part(place.start, place.len()),
        };
        let mut room = [0; 1 << 10];
        for at in (0..place.len()).step_by(room.len()) {
            let bytes = room.len().min(place.len() - at);
            read(at, &mut room[..bytes]);
            there.part(at, bytes).write(&room[..bytes]);
        }
    }
}

/// An argument of a collective: what it is about, and the token of the call.
pub(super) struct Argument<'a, 't, K: Initiator + ?Sized> {
    pub(super) subject: &'a Subject<'t>,
    pub(super) token: &'a K,
}

impl<K: Initiator + ?Sized> Argument<'_, '_, K> {
    /// The place of the object that it is, unless items without bytes have none, and how many items that is.
    fn place<I>(&self) -> Option<(Extent, usize)> {
        let place = self.subject.place()?;
        Some((place, place.bytes.checked_div(size_of::<I>())?))
    }

    /// Likewise, unless the collective writes there: then all of it is read before.
    fn place_apart<I>(&self, written: Option<Extent>) -> Option<(Extent, usize)> {
        self.place::<I>().filter(|(place, _)| !written.is_some_and(|written| written.overlaps(*place)))
    }

    fn own(&self, place: Extent) -> There {
        There::own(self.token.endpoint(), place)
    }

    /// Gives what it consists of, so many items, to a collective that reads all of them, and writes to a place.
    pub(super) fn given<T, I, R>(
        &self,
        of: &T,
        written: Option<Extent>,
        read: impl FnOnce(usize, Given<'_>) -> R,
    ) -> R
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
    {
        let Some((place, items)) = self.place_apart::<I>(written) else {
            return of.read(self.token, |all| read(all.len(), Given::Private(bytemuck::cast_slice(all))));
        };
        self.tell(Family::HereLoad, 0..place.bytes);
        read(items, Given::There(self.own(place)))
    }

    /// Gives a list to a collective, which tells what it reads of an object, and writes to a place.
    pub(super) fn source<S, I, R>(
        &self,
        of: &S,
        written: Option<Extent>,
        read: impl FnOnce(Given<'_>) -> R,
    ) -> R
    where
        S: Source<I> + ?Sized,
        I: PlainData,
    {
        match self.place_apart::<I>(written) {
            Some((place, _)) => read(Given::There(self.own(place))),
            None => of.read(self.token, |all| read(Given::Private(bytemuck::cast_slice(all)))),
        }
    }

    /// Has a collective write a list; it tells what it has written of an object.
    pub(super) fn destination<D, I, R>(&self, of: D, write: impl FnOnce(Taken<'_>) -> R) -> R
    where
        D: Destination<I>,
        I: PlainData,
    {
        match self.place::<I>() {
            Some((place, _)) => write(Taken::There(self.own(place))),
            None => of.write(self.token, |all| write(Taken::Private(bytemuck::cast_slice_mut(all)))),
        }
    }

    /// Has a collective change what it is given, so many items, and tells it: whoever has no result changes nothing.
    pub(super) fn changed<X, R>(&self, of: X, has_result: bool, change: impl FnOnce(usize, Taken<'_>)) -> R
    where
        X: Contribution<R>,
    {
        let Some((place, items)) = self.place::<X::Item>() else {
            let of_private =
                |all: &mut [X::Item]| change(all.len(), Taken::Private(bytemuck::cast_slice_mut(all)));
            return of.change(self.token, of_private);
        };
        self.tell(Family::HereLoad, 0..place.bytes);
        change(items, Taken::There(self.own(place)));
        if has_result {
            self.tell(Family::HereStore, 0..place.bytes);
        }
        of.changed()
    }

    /// Has a collective fill what it is given, so many items, and tells it: what is there before is not read.
    pub(super) fn filled<X, R>(&self, of: X, write: impl FnOnce(usize, Taken<'_>)) -> R
    where
        X: Contribution<R>,
    {
        let Some((place, items)) = self.place::<X::Item>() else {
            return of
                .change(self.token, |all| write(all.len(), Taken::Private(bytemuck::cast_slice_mut(all))));
        };
        write(items, Taken::There(self.own(place)));
        self.tell(Family::HereStore, 0..place.bytes);
        of.changed()
    }

    /// Tells the observer that some bytes of an object are read or written, outside the collective.
    pub(super) fn tell(&self, family: Family, bytes: Range<usize>) {
        if let Some(place) = self.subject.place() {
            let part = Extent { offset: place.offset + bytes.start, bytes: bytes.len() };
            tell(self.token.endpoint(), family, self.subject.location(), part);
        }
    }
}
