//! Collectives of bytes, for callers that know types while they run only: a C library.
//!
//! What is given and taken lies in symmetric memory, at [places](Places) that are the same on all members. So large data
//! go [directly](super::direct), as those of symmetric objects do; and the rest as if it lay in memory of the program, by
//! the ways that typed collectives take. A [`Fold`] combines items, of which only the size is known. Its result is that of the
//! [tree](super::tree): the same bits as those of a typed reduction.
//!
//! What members have come for is compared as it is there: sizes, places, the root, and the name of what combines.

use std::panic::Location;

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::object::Extent as Place;
use shmem_core::observe::{Call, Family};
use shmem_core::partition::show_size;
use shmem_core::text::counted;

use super::argument::word_of;
use super::buffer::{RecvBuf, SendBuf};
pub use super::combine::Combined;
use super::reduction::{Reduction, require_same};
use super::tree::{self, Operands};
use crate::group::{Collective, Operation, Purpose, Team};

/// Where a collective reads, and where it writes: from the start of every member's slot.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// What is read.
    pub from: Place,
    /// What is written.
    pub to: Place,
}

/// How items of some bytes are combined.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// Combines so many items behind one another with as many others, which come behind them in the order of ranks. Neither
    /// need be aligned, and they lie apart.
    pub combine: unsafe fn(into: *mut u8, from: *const u8, items: usize),
    /// Bytes of an item: 1, 2, 4, 8 or 16.
    pub size: usize,
    /// Whether the result depends on the order: sums and products of numbers that round.
    pub rounds: bool,
    /// What it is called.
    pub name: &'static str,
}

/// Items of a strided exchange.
#[derive(Clone, Copy, Debug)]
pub struct Strides {
    /// Items for each member.
    pub items: usize,
    /// Bytes of an item.
    pub size: usize,
    /// From one item that is read to the next one, in items.
    pub from: usize,
    /// From one item that is written to the next one, in items.
    pub to: usize,
}

/// Gives every member what the one with a rank has at `from`, at `to`; itself only if it `keeps` it.
///
/// # Safety
///
/// Both places lie in segments, have as many bytes, and are the same or apart. On no member does anybody write what is read,
/// or use what is written, from the moment that it enters until all have left: what the caller's caller promises.
#[track_caller]
pub unsafe fn broadcast(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    Places { from, to }: Places,
    root: usize,
    keeps: bool,
) {
    let (pe, bytes, is_root) = (team.member(root), from.bytes, root == team.rank());
    let arguments = [pe.number() as u64, bytes as u64, from.offset as u64, to.offset as u64];
    let subject = || format!("{} from PE {pe}", show_size(bytes as u64));
    let call = Untyped::of(team, token.endpoint());
    if is_root {
        call.tell(Family::HereLoad, from);
    }
    let place = if is_root { from } else { to };
    call.run(Family::Broadcast, &arguments, &subject, bytes, |collective, purpose| {
        // SAFETY: a place in a segment, which nobody else uses before this returns, and nobody writes on the root (caller).
        let data = unsafe { call.target(place) };
        collective.broadcast(purpose, call.is_near().then_some(from), data, root);
    });
    if is_root && keeps && from.offset != to.offset {
        RecvBuf::own(call.endpoint, to).copy_from(0, SendBuf::own(call.endpoint, from));
    }
    if !is_root || keeps {
        call.tell(Family::HereStore, to);
    }
}

/// Writes what all members have at `from`, in the order of ranks, to `to`.
///
/// # Safety
///
/// As [`broadcast`], but that what is written has as many bytes for each member, and both lie apart.
#[track_caller]
pub unsafe fn fcollect(team: &Team, token: &(impl Initiator + ?Sized), Places { from, to }: Places) {
    let arguments = [from.bytes as u64, from.offset as u64, to.offset as u64];
    let call = Untyped::of(team, token.endpoint());
    call.tell(Family::HereLoad, from);
    call.run(
        Family::Fcollect,
        &arguments,
        &|| show_size(from.bytes as u64),
        from.bytes,
        |collective, purpose| {
            let (from, to) = (SendBuf::own(call.endpoint, from), RecvBuf::own(call.endpoint, to));
            collective.allgather(purpose, from, to);
        },
    );
    call.tell(Family::HereStore, to);
}

/// Writes what all members have at `from`, items of so many bytes and as many of them as each likes, in the order of ranks.
/// `place` is told how many bytes these are, and says where they go, if there is room.
///
/// # Safety
///
/// As [`broadcast`], for what `place` says; and both lie apart.
#[track_caller]
pub unsafe fn collect(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    from: Place,
    size: usize,
    place: impl FnOnce(usize) -> Option<Place>,
) {
    let items = from.bytes / size;
    let call = Untyped::of(team, token.endpoint());
    call.tell(Family::HereLoad, from);
    let mut written = None;
    let subject = || format!("{} of {size} bytes", counted(items, "item"));
    call.run(Family::Collect, &[size as u64], &subject, from.bytes, |collective, purpose| {
        let mine = if from.bytes == 0 { SendBuf::EMPTY } else { SendBuf::own(call.endpoint, from) };
        collective.allgatherv(purpose, (items, size), mine, true, |items| {
            written = place(items * size);
            written.map(|to| RecvBuf::own(call.endpoint, to))
        });
    });
    if let Some(to) = written {
        call.tell(Family::HereStore, to);
    }
}

/// Sends the k-th part of `from` to the member with rank k, and writes what that has sent to the k-th part of `to`.
///
/// # Safety
///
/// As [`broadcast`]; the bytes can be divided by the number of members, and both places lie apart.
#[track_caller]
pub unsafe fn alltoall(team: &Team, token: &(impl Initiator + ?Sized), Places { from, to }: Places) {
    let part = from.bytes / team.size();
    let arguments = [part as u64, from.offset as u64, to.offset as u64];
    let call = Untyped::of(team, token.endpoint());
    call.tell(Family::HereLoad, from);
    call.run(Family::Alltoall, &arguments, &|| show_size(part as u64), from.bytes, |collective, purpose| {
        let (from, to) = (SendBuf::own(call.endpoint, from), RecvBuf::own(call.endpoint, to));
        collective.alltoall(purpose, from, to);
    });
    call.tell(Family::HereStore, to);
}

/// As [`alltoall`], of items that lie apart. What lies between them is neither read nor written.
///
/// # Safety
///
/// As [`broadcast`], of the items; both places have room for those of all members, at strides that are not 0.
#[track_caller]
pub unsafe fn alltoalls(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    Places { from, to }: Places,
    strides: Strides,
) {
    let Strides { items, size, .. } = strides;
    let [from_stride, to_stride] = [strides.from, strides.to];
    let numbers = [items, size, from.offset, to.offset, from_stride, to_stride];
    let subject = || format!("{} of {size} bytes", counted(items, "item"));
    let (call, bytes) = (Untyped::of(team, token.endpoint()), items * size * team.size());
    if items > 0 {
        call.tell(Family::HereLoad, from);
    }
    call.run(
        Family::Alltoalls,
        &numbers.map(|number| number as u64),
        &subject,
        bytes,
        |collective, purpose| {
            if items == 0 {
                return collective.meet(purpose);
            }
            let given = (SendBuf::own(call.endpoint, from), RecvBuf::own(call.endpoint, to));
            collective.alltoall_strided(purpose, (items, size), (from_stride, to_stride), given, true);
        },
    );
    if items > 0 {
        call.tell(Family::HereStore, to);
    }
}

/// Combines what members have at `from` to what each has at `to`.
///
/// # Safety
///
/// As [`broadcast`]; the bytes are whole items. The fold combines so many items, of any bits, at whatever address.
#[track_caller]
pub unsafe fn reduce(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    family: Family,
    places: Places,
    combined: Combined,
    fold: Fold,
) {
    let Places { from, to } = places;
    let arguments = [from.bytes as u64, word_of(fold.name), from.offset as u64, to.offset as u64];
    let subject = || format!("{}, by `{}`", counted(from.bytes / fold.size, "item"), fold.name);
    let call = Untyped::of(team, token.endpoint());
    call.tell(Family::HereLoad, from);
    call.run(family, &arguments, &subject, from.bytes, |collective, purpose| {
        let source = (from.offset != to.offset).then(|| SendBuf::own(call.endpoint, from));
        // SAFETY: a place in a segment, which nobody else uses before this returns (caller).
        let data = unsafe { call.target(to) };
        collective.reduce(purpose, (combined, 0..team.size()), source, data, &fold);
    });
    call.tell(Family::HereStore, to);
}

/// Combines what so many ranks have, in the order that reductions have; `read` writes what a rank has, from a byte on.
///
/// # Safety
///
/// The bytes are whole items. The fold combines so many items, of any bits, at whatever address.
pub unsafe fn fold_ranks(ranks: usize, fold: Fold, into: &mut [u8], read: &dyn Fn(usize, usize, &mut [u8])) {
    tree::fold(ranks, Operands::Read(read), into, &fold);
}

/// A call of a library in C.
struct Untyped<'c> {
    team: &'c Team,
    endpoint: &'c Endpoint,
    location: &'static Location<'static>,
}

impl<'c> Untyped<'c> {
    #[track_caller]
    fn of(team: &'c Team, endpoint: &'c Endpoint) -> Self {
        Self { team, endpoint, location: Location::caller() }
    }

    /// Enters the collective that members have come for, and leaves it.
    fn run(
        &self,
        family: Family,
        arguments: &[u64],
        subject: &dyn Fn() -> String,
        bytes: usize,
        work: impl FnOnce(&Collective<'_>, &Purpose<'_>),
    ) {
        let (operation, location) = (Operation::of(family), Some(self.location));
        let purpose = Purpose { operation, opens: false, arguments, subject, location };
        work(&self.team.enter(self.endpoint, location).moving(bytes), &purpose);
    }

    /// Whether all members are on one node.
    fn is_near(&self) -> bool {
        self.team.node_count() == 1
    }

    /// The calling PE's bytes at a place: as a symmetric object on one node, where the other members have it at this place, or as memory
    /// of the program.
    ///
    /// # Safety
    ///
    /// The place lies in a segment, and while the result lives nobody else uses it, or others read it as well.
    unsafe fn target(&self, place: Place) -> RecvBuf<'c> {
        if self.is_near() || place.bytes == 0 {
            return RecvBuf::own(self.endpoint, place);
        }
        // SAFETY: a place in a segment is memory of this PE, of which any bytes are a value, and nobody else writes it (caller).
        RecvBuf::of(unsafe { core::slice::from_raw_parts_mut(self.endpoint.mine(place.offset), place.bytes) })
    }

    /// Tells the observer, if there is one, what a collective does to the calling PE's memory.
    fn tell(&self, family: Family, place: Place) {
        if self.endpoint.observer().is_some() {
            let call = Call::new(family, self.location);
            self.endpoint.tell(call.at(self.endpoint.me(), 0, place.offset, place.bytes), || ());
        }
    }
}

impl Reduction for Fold {
    fn size(&self) -> usize {
        self.size
    }

    fn is_exact(&self) -> bool {
        !self.rounds
    }

    fn combine(&self, into: &mut [u8], left: Option<&[u8]>, right: &[u8]) {
        require_same(into, right);
        if let Some(left) = left {
            into.copy_from_slice(left);
        }
        // SAFETY: both have as many whole items, and lie apart, as they are borrowed. What else it asks for is promised by who gave it
        // (`reduce`, `fold_ranks`).
        unsafe { (self.combine)(into.as_mut_ptr(), right.as_ptr(), into.len() / self.size) };
    }
}
