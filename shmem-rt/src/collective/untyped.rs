//! Collectives of bytes, for callers that know types only at run time: a C library.
//!
//! Data are in symmetric memory at [places](Places) that are equal on all members. Thus long data go
//! directly, and other data take the ways of typed collectives. A [`Fold`] combines items of which only
//! the size is known, in the order of the [tree](super::reduction_order): its results have the same bits as those of a typed
//! reduction.

use shmem_core::context::Initiator;
use shmem_core::fixed_text::counted;
use shmem_core::object::Extent as Place;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;

use super::compared_argument::{Argument, word_of};
pub use super::reduce::Combined;
use super::reduce_op::{ReduceOp, require_same};
use super::reduction_order::{self, Operands};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{Collective, Purpose, Team};

/// The source and the destination of a collective, as offsets from the start of every member's slot.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Source.
    pub from: Place,
    /// Destination.
    pub to: Place,
}

/// An operation on items of a fixed number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// Combines `items` items at `into` with as many right operands at `from`. Both may be unaligned; they do not overlap.
    pub combine: unsafe fn(into: *mut u8, from: *const u8, items: usize),
    /// Bytes of an item: 1, 2, 4, 8 or 16.
    pub size: usize,
    /// Whether the result depends on the order: sums and products of numbers that round.
    pub rounds: bool,
    /// Its name.
    pub name: &'static str,
}

/// Copies `from` of rank `root` to `to` of every member; to the root's own `to` only if `keeps`.
///
/// # Safety
///
/// Both places are in segments, have equal length, and are equal or apart. From a member's entry until all have left, nobody writes
/// the member's source or uses its destination: what the caller's caller promises.
#[track_caller]
pub unsafe fn broadcast(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    Places { from, to }: Places,
    root: usize,
    keeps: bool,
) {
    let (pe, bytes, is_root) = (team.member(root), from.bytes, root == team.rank());
    let source = Argument::of_bytes(team, token, Some(from));
    let target = source.at(to);
    let words = [pe.number() as u64, bytes as u64, to.offset as u64];
    let subject = || format!("{} from PE {pe}", show_size(bytes as u64));
    if is_root {
        source.tell(Family::HereLoad, 0..bytes);
    }
    source.run(Family::Broadcast, words, &subject, bytes, |collective, purpose| {
        // SAFETY: a place in a segment, which nobody else uses before this returns, and nobody writes on the root (caller).
        let data = unsafe { memory(collective, if is_root { from } else { to }) };
        let is_near = team.node_count() == 1;
        collective.broadcast(purpose, is_near.then_some(from), data, root);
    });
    if is_root && keeps && from.offset != to.offset {
        RecvBuf::own(token.endpoint(), to).copy_from(0, SendBuf::own(token.endpoint(), from));
    }
    if !is_root || keeps {
        target.tell(Family::HereStore, 0..bytes);
    }
}

/// Writes `from` of all members, in the order of ranks, to `to`.
///
/// # Safety
///
/// As [`broadcast`], but `to` has that many bytes for each member, and both places are apart.
#[track_caller]
pub unsafe fn fcollect(team: &Team, token: &(impl Initiator + ?Sized), places: Places) {
    let (bytes, show) = (places.from.bytes, || show_size(places.from.bytes as u64));
    let form = (Family::Fcollect, [bytes as u64, places.to.offset as u64]);
    moved(team, token, form, (bytes, places), &show, |collective, purpose, from, to| {
        collective.allgather(purpose, from, to);
    });
}

/// Writes `from` of all members, items of `size` bytes and any number on each, in rank order. `place` is called with the number of
/// all bytes, and returns the destination, if there is room.
///
/// # Safety
///
/// As [`broadcast`], for the result of `place`; both are apart.
#[track_caller]
pub unsafe fn collect(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    from: Place,
    size: usize,
    place: impl FnOnce(usize) -> Option<Place>,
) {
    let items = from.bytes / size;
    let call = Argument::of_bytes(team, token, None);
    call.at(from).tell(Family::HereLoad, 0..from.bytes);
    let (mut written, subject) = (None, || format!("{} of {size} bytes", counted(items, "item")));
    call.run(Family::Collect, [size as u64], &subject, from.bytes, |collective, purpose| {
        let mine = if from.bytes == 0 { SendBuf::EMPTY } else { SendBuf::own(collective.endpoint, from) };
        collective.allgatherv(purpose, (items, size), mine, |items, _| {
            written = place(items * size);
            written.map(|to| RecvBuf::own(collective.endpoint, to))
        });
    });
    if let Some(to) = written {
        call.at(to).tell(Family::HereStore, 0..to.bytes);
    }
}

/// Sends the k-th part of `from` to the member with rank k, and writes that member's part for this PE to the k-th part of `to`.
///
/// # Safety
///
/// As [`broadcast`]; the bytes can be divided by the number of members, and both places lie apart.
#[track_caller]
pub unsafe fn alltoall(team: &Team, token: &(impl Initiator + ?Sized), places: Places) {
    let part = places.from.bytes / team.size();
    let show = || show_size(part as u64);
    let form = (Family::Alltoall, [part as u64, places.to.offset as u64]);
    moved(team, token, form, (places.from.bytes, places), &show, |collective, purpose, from, to| {
        collective.alltoall(purpose, from, to);
    });
}

/// As [`alltoall`], of `items` items of `size` bytes for each member, at a stride of the source and one of the destination, in items. Bytes
/// in between are neither read nor written.
///
/// # Safety
///
/// As [`broadcast`], for the items; both places have room for all members' items, at strides that are not 0.
#[track_caller]
pub unsafe fn alltoalls(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    places: Places,
    (items, size): (usize, usize),
    (from, to): (usize, usize),
) {
    let words = [items, size, from, to, places.to.offset].map(|number| number as u64);
    let show = || format!("{} of {size} bytes", counted(items, "item"));
    let bytes = items * size * team.size();
    moved(
        team,
        token,
        (Family::Alltoalls, words),
        (bytes, places),
        &show,
        |collective, purpose, source, into| {
            collective.alltoall_strided(purpose, (items, size), (from, to), (source, into));
        },
    );
}

/// Combines `from` of the ranks in `combined` to `to`.
///
/// # Safety
///
/// As [`broadcast`]; the bytes are whole items. `fold` combines that many items, of any bits, at any address.
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
    let show = || format!("{}, by `{}`", counted(from.bytes / fold.size, "item"), fold.name);
    let form = (family, [from.bytes as u64, word_of(fold.name), to.offset as u64]);
    moved(team, token, form, (from.bytes, places), &show, |collective, purpose, source, _| {
        let source = (from.offset != to.offset).then_some(source);
        // SAFETY: a place in a segment, which nobody else uses before this returns (caller).
        let data = unsafe { memory(collective, to) };
        collective.reduce(purpose, combined, source, data, &fold);
    });
}

/// Combines the operands of `ranks` ranks in the order of reductions; `read` copies from an operand: (rank, offset, destination).
///
/// # Safety
///
/// The bytes are whole items. `fold` combines that many items, of any bits, at any address.
pub unsafe fn fold_ranks(ranks: usize, fold: Fold, into: &mut [u8], read: &dyn Fn(usize, usize, &mut [u8])) {
    reduction_order::fold(ranks, Operands::Read(read), into, &fold);
}

/// Runs a collective of `bytes` bytes that reads one place and writes another. Members compare `words` and the source.
#[track_caller]
fn moved<const N: usize>(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    (family, words): (Family, [u64; N]),
    (bytes, Places { from, to }): (usize, Places),
    subject: &dyn Fn() -> String,
    work: impl FnOnce(&Collective<'_>, &Purpose<'_>, SendBuf<'_>, RecvBuf<'_>),
) {
    let source = Argument::of_bytes(team, token, Some(from));
    source.tell(Family::HereLoad, 0..from.bytes);
    source.run(family, words, subject, bytes, |collective, purpose| {
        let endpoint = collective.endpoint;
        work(collective, purpose, SendBuf::own(endpoint, from), RecvBuf::own(endpoint, to));
    });
    source.at(to).tell(Family::HereStore, 0..to.bytes);
}

/// The calling PE's bytes at a place: on one node as a symmetric object, otherwise as memory of the program.
///
/// # Safety
///
/// The place is in a segment. While the result lives, nobody else uses the place, or all only read it.
unsafe fn memory<'c>(collective: &Collective<'c>, place: Place) -> RecvBuf<'c> {
    let Collective { team, endpoint, .. } = *collective;
    if team.node_count() == 1 || place.bytes == 0 {
        return RecvBuf::own(endpoint, place);
    }
    // SAFETY: a place in a segment is memory of this PE, of which any bytes are a value, and nobody else writes it (caller).
    RecvBuf::of(unsafe { core::slice::from_raw_parts_mut(endpoint.mine(place.offset), place.bytes) })
}

impl ReduceOp for Fold {
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
        // SAFETY: both have equally many whole items, and are apart, as they are borrowed. The maker of the fold promises the rest
        // (`reduce`, `fold_ranks`).
        unsafe { (self.combine)(into.as_mut_ptr(), right.as_ptr(), into.len() / self.size) };
    }
}
