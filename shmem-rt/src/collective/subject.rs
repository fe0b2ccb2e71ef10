//! What a collective is about: private data of a kind, or a symmetric object.

use std::panic::Location;

use shmem_core::fingerprint::fingerprint_of_words;
use shmem_core::object::Extent;

use crate::group::{Team, words_of};

/// What a collective is about, for its arguments and for messages, and the call that says so.
pub(super) struct Subject<'t> {
    team: &'t Team,
    kind: &'static str,
    /// Bytes of an item.
    item: usize,
    location: &'static Location<'static>,
    place: Option<Extent>,
}

/// Arguments of a collective: with a symmetric object where that lies, so that all members come for the same.
pub(super) struct Arguments {
    words: [u64; 5],
    len: usize,
}

impl<'t> Subject<'t> {
    /// `I`s of the program, or of a symmetric object that lies at `place`.
    ///
    /// # Panics
    ///
    /// If the object is of a team that lacks a member: who has none of it would be written to.
    #[inline]
    #[track_caller]
    pub(super) fn of<I>(team: &'t Team, place: Option<Extent>) -> Self {
        let subject = Self {
            team,
            kind: core::any::type_name::<I>(),
            item: size_of::<I>(),
            location: Location::caller(),
            place,
        };
        if let Some(place) = place
            // What has no bytes belongs to nobody.
            && place.bytes > 0
            && team.job.teams.area.contains(&place.offset)
            && !team.uses().has_object_at(place)
            && !is_of_larger_team(team, place)
        {
            refuse_stranger(team, place);
        }
        subject
    }

    /// The call of the program.
    #[inline]
    pub(super) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Where the object lies, if it is one.
    #[inline]
    pub(super) fn place(&self) -> Option<Extent> {
        self.place
    }

    /// The arguments of a collective about it, besides others.
    #[inline]
    pub(super) fn arguments<const N: usize>(&self, others: [u64; N]) -> Arguments {
        let mut words = [0; 5];
        words[..N].copy_from_slice(&others);
        let mut len = N;
        if let Some(place) = self.place {
            words[len] = place.offset as u64;
            len += 1;
        }
        Arguments { words, len }
    }

    /// Where the object lies, as an argument of a collective about two.
    pub(super) fn offset(&self) -> u64 {
        self.place.map_or(u64::MAX, |place| place.offset as u64)
    }

    /// So many items, in words.
    pub(super) fn show(&self, items: usize) -> String {
        self.name_or(|| format!("{items} x {}", self.kind))
    }

    /// So many items, in words, and the object that they are written to, if it is one.
    pub(super) fn show_to(&self, items: usize, to: Option<Extent>) -> String {
        let to = to.map(|place| format!(" to {}", self.team.job.name_of_part(place, self.item)));
        self.show(items) + &to.unwrap_or_default()
    }

    /// The name of the object, with the part that is given of it, or else what `private` says.
    pub(super) fn name_or(&self, private: impl FnOnce() -> String) -> String {
        self.place.map_or_else(private, |place| self.team.job.name_of_part(place, self.item))
    }
}

/// The name of a type as an argument: other names are almost always other words.
pub(super) fn word_of(name: &str) -> u64 {
    fingerprint_of_words(words_of(name))
}

/// Where a collective writes, as an argument: private memory may be anywhere.
pub(super) fn word_of_place(place: Option<Extent>) -> u64 {
    place.map_or(0, |place| place.offset as u64 + 1)
}

/// Whether an object is one of a team that all members of this one are in.
#[cold]
fn is_of_larger_team(team: &Team, place: Extent) -> bool {
    let owner = team.job.teams.indexes.lock().owner(place).cloned();
    owner.is_some_and(|owner| owner.contain(team.uses()))
}

#[cold]
#[track_caller]
fn refuse_stranger(team: &Team, place: Extent) -> ! {
    panic!(
        "{} is an object of another team, in which not all members of this one are: collectives of a team take objects that \
         this team has allocated, or one that contains it, and symmetric objects of all PEs; call the collective of the team \
         whose `alloc` gave the object",
        team.job.name_of(place)
    )
}

impl core::ops::Deref for Arguments {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.words[..self.len]
    }
}
