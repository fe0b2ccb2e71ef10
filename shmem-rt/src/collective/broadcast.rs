//! broadcast.

use std::panic::Location;

use shmem_core::context::{Contribution, Initiator};
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_launch::env::CollectiveWay as Way;

use super::blocks::{Shares, room_of_one};
use super::buffer::Buffer;
use super::choice::Pattern;
use super::direct::{Direct, tell};
use super::ring::Ring;
use super::step::Step;
use super::subject::Subject;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Gives every member what `root` has. [`Contribution`] says what `data` can be: `&mut x` is changed in place, a value `x`
    /// comes back as what the root's is, and of a symmetric object `&OBJECT` the own copy is changed. It has the same
    /// length on all members.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let first = world.pe(0)?;
    /// let seed = world.broadcast(u64::from(std::process::id()), first);
    /// let mut table = vec![0.0; 1000];
    /// world.broadcast(&mut table, first);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or an object is of a team that lacks a member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_broadcast`.
    #[track_caller]
    pub fn broadcast<X, R>(&self, token: &(impl Initiator + ?Sized), data: X, root: Pe) -> R
    where
        X: Contribution<R>,
    {
        let (endpoint, location) = (token.endpoint(), Location::caller());
        let rank = self
            .rank_of(root)
            .unwrap_or_else(|| panic!("the root of a broadcast, PE {root}, is not a member of the team"));
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let collective = self.enter(endpoint, Some(location));
        if let Some(place) = subject.place()
            && self.is_in_place(Pattern::Broadcast(place.bytes))
        {
            let collective = collective.moving(place.bytes);
            with_purpose(&subject, root, place.bytes, |purpose| {
                collective.spread_directly(purpose, place, rank);
            });
            drop(collective);
            if rank != self.rank() {
                tell(endpoint, Family::HereStore, location, place);
            }
            return data.changed();
        }
        data.change(token, |data| {
            let (bytes, data) = (size_of_val(data), bytemuck::cast_slice_mut(data));
            let collective = collective.moving(bytes);
            with_purpose(&subject, root, bytes, |purpose| collective.spread(purpose, data, rank));
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Gives every PE what `root` has; see [`Team::broadcast`].
    #[track_caller]
    pub fn broadcast<X: Contribution<R>, R>(&self, data: X, root: Pe) -> R {
        self.team().broadcast(self, data, root)
    }
}

/// What members come for who broadcast so many bytes.
#[inline]
fn with_purpose(subject: &Subject<'_>, root: Pe, bytes: usize, broadcast: impl FnOnce(&Purpose<'_>)) {
    broadcast(&Purpose {
        operation: Operation::of(Family::Broadcast),
        opens: false,
        arguments: &subject.arguments([root.number() as u64, bytes as u64]),
        subject: &|| format!("{} from PE {root}", subject.name_or(|| show_size(bytes as u64))),
        location: Some(subject.location()),
    });
}

impl Collective<'_> {
    /// Gives every member what the one with a rank has in `data`, as many bytes on all.
    pub(super) fn spread(&self, purpose: &Purpose<'_>, data: &mut [u8], rank: usize) {
        if rank == self.team.rank() {
            self.spread_from(purpose, data);
        } else {
            self.spread_to(purpose, data, rank);
        }
    }

    /// The root's part of `spread`, who only reads.
    pub(super) fn spread_from(&self, purpose: &Purpose<'_>, data: &[u8]) {
        let Self { team, endpoint, .. } = *self;
        let rank = team.rank();
        match self.way(purpose, Pattern::Broadcast(data.len())) {
            Way::Windows => return self.stream_broadcast(purpose, Buffer::read(data), rank),
            Way::Rings => return self.spread_by_ring(purpose, data),
            Way::Direct | Way::Meetings => {}
        }
        // At least one piece, so that empty data meets as well. The root writes the next one while the others read this one.
        let empty: Option<&[u8]> = data.is_empty().then_some(&[]);
        for piece in data.chunks(room_of_one(team)).chain(empty) {
            let mut step = Step::next(self, piece.len());
            step.contribute(endpoint, 0, piece);
            step.meet(self, purpose, || Shares::Of { rank, bytes: piece.len() });
        }
    }

    /// The others' part of `spread`, of what the one with a rank has.
    pub(super) fn spread_to(&self, purpose: &Purpose<'_>, data: &mut [u8], rank: usize) {
        match self.way(purpose, Pattern::Broadcast(data.len())) {
            Way::Windows => return self.stream_broadcast(purpose, Buffer::changed(data), rank),
            Way::Rings => return self.take_by_ring(purpose, data, rank),
            Way::Direct | Way::Meetings => {}
        }
        let empty = data.is_empty().then(Default::default);
        for piece in data.chunks_mut(room_of_one(self.team)).chain(empty) {
            let mut step = Step::next(self, piece.len());
            step.meet(self, purpose, || Shares::Of { rank, bytes: piece.len() });
            step.read(self, rank, 0, piece);
        }
    }

    /// As `spread_from`, in chunks: the root writes some while the others read those before.
    fn spread_by_ring(&self, purpose: &Purpose<'_>, data: &[u8]) {
        let (mut ring, most) = (Ring::new(self, purpose), most_of_chunk(data.len()));
        for (k, chunk) in data.chunks(most).enumerate() {
            let mut slot = ring.slot(k);
            slot.write(0, chunk);
            slot.show();
            if k == 0 {
                self.meet(purpose);
            }
        }
        ring.take(data.len().div_ceil(most) - 1);
    }

    /// As `spread_to`, in chunks.
    fn take_by_ring(&self, purpose: &Purpose<'_>, data: &mut [u8], rank: usize) {
        let (mut ring, most) = (Ring::new(self, purpose), most_of_chunk(data.len()));
        self.meet(purpose);
        for (k, chunk) in data.chunks_mut(most).enumerate() {
            ring.read_to(k, rank, 0, chunk);
            ring.take(k);
        }
    }

    /// As `spread`, of what lies at one place of all members.
    fn spread_directly(&self, purpose: &Purpose<'_>, place: Extent, rank: usize) {
        let is_root = rank == self.team.rank();
        let location = purpose.location.unwrap_or_else(|| unreachable!("a call of the program"));
        if is_root {
            tell(self.endpoint, Family::HereLoad, location, place);
        }
        if self.team.node_count() > 1 {
            return self.stream_broadcast(purpose, Buffer::object(self.endpoint, place), rank);
        }
        let direct = Direct::meet(self, purpose);
        if !is_root {
            direct.on(rank, place).copy_to(direct.on(self.team.rank(), place));
        }
        direct.leave_source(rank);
    }

    /// What the first member says, of any length.
    pub(super) fn said_by_first(&self, purpose: &Purpose<'_>, said: &[u8]) -> Vec<u8> {
        let mut length = (said.len() as u64).to_le_bytes();
        self.spread(purpose, &mut length, 0);
        let mut all = vec![0; u64::from_le_bytes(length) as usize];
        if self.team.rank() == 0 {
            all.copy_from_slice(said);
        }
        self.spread(purpose, &mut all, 0);
        all
    }
}

/// How long chunks of a ring are of so many bytes: the others begin when the first one is there.
fn most_of_chunk(bytes: usize) -> usize {
    (bytes / 8).next_multiple_of(4 << 10).clamp(8 << 10, Ring::CHUNK)
}
