//! Collectives of bytes, for callers that know types only at run time: a C library.
//!
//! Data are in symmetric memory at [places](Places) that are equal on all members. So members on one node find each other's data,
//! and access long data in place. Other data travel as in typed collectives. A [`Fold`] combines items of which only the size is
//! known. It follows the [tree](super::reduction_order) of typed reductions, so its results have the same bits.

use shmem_core::context::Initiator;
use shmem_core::object::Extent as Place;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;
use shmem_core::text::counted;

use super::compared_argument::{Argument, word_of};
pub use super::reduce::Combined;
use super::reduce_op::{ReduceOp, require_same};
use super::reduction_order::{self, Operands};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Team};

/// The source and the destination of a collective, as offsets from the start of every member's symmetric memory.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Place that the collective reads.
    pub from: Place,
    /// Place that the collective writes.
    pub to: Place,
}

/// A reduction operation on items of a fixed number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// Combines `items` left operands at `into`, in place, with the right operands at `from`. Both may be unaligned; they do not
    /// overlap.
    pub combine: unsafe fn(into: *mut u8, from: *const u8, items: usize),
    /// Bytes of an item: 1, 2, 4, 8 or 16.
    pub size: usize,
    /// Whether the result depends on the order, as for floating-point sums and products.
    pub rounds: bool,
    /// Name of the operation, which members compare.
    pub name: &'static str,
}

/// Copies `from` of rank `root` to `to` of every member. Writes the root's own `to` only if `keeps`.
///
/// # Safety
///
/// Both places must be in segments, have equal length, and be equal or disjoint. While a member is in the call, nobody but the call
/// may write the member's source or use its destination. A C library passes this rule on to its program.
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
    source.run(Family::Broadcast, words, &subject, bytes, |collective, signature| {
        // SAFETY: the place is in a segment. Nobody else uses it before this call returns; on the root, nobody writes it (caller).
        let data = unsafe { memory(collective, if is_root { from } else { to }) };
        let is_near = team.node_count() == 1;
        collective.broadcast(signature, is_near.then_some(from), data, root);
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
/// As [`broadcast`], except that `to` must have the bytes of `from` once for each member, and both places must be disjoint.
#[track_caller]
pub unsafe fn fcollect(team: &Team, token: &(impl Initiator + ?Sized), places: Places) {
    let (bytes, show) = (places.from.bytes, || show_size(places.from.bytes as u64));
    let form = (Family::Fcollect, [bytes as u64, places.to.offset as u64]);
    moved(team, token, form, (bytes, places), &show, |collective, signature, from, to| {
        collective.allgather(signature, from, to);
    });
}

/// Writes the items in `from` of all members, in rank order, to a destination on each member. Members may have different numbers of
/// items of `size` bytes. `place` maps the total number of bytes to the destination, if there is space.
///
/// # Safety
///
/// As [`broadcast`], except that the result of `place` is the destination. It must be disjoint from `from`.
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
    call.run(Family::Collect, [size as u64], &subject, from.bytes, |collective, signature| {
        let mine = if from.bytes == 0 { SendBuf::EMPTY } else { SendBuf::own(collective.endpoint, from) };
        collective.allgatherv(signature, (items, size), mine, |items, _| {
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
/// As [`broadcast`]. The number of bytes must be a multiple of the number of members, and both places must be disjoint.
#[track_caller]
pub unsafe fn alltoall(team: &Team, token: &(impl Initiator + ?Sized), places: Places) {
    let part = places.from.bytes / team.size();
    let show = || show_size(part as u64);
    let form = (Family::Alltoall, [part as u64, places.to.offset as u64]);
    moved(team, token, form, (places.from.bytes, places), &show, |collective, signature, from, to| {
        collective.alltoall(signature, from, to);
    });
}

/// As [`alltoall`], for `items` items of `size` bytes per member. `from` and `to` are the strides of source and destination, in
/// items. Bytes between the items are neither read nor written.
///
/// # Safety
///
/// As [`broadcast`], for the items only. Both places must have space for all members' items, and both strides must be above 0.
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
        |collective, signature, source, into| {
            collective.alltoall_strided(signature, (items, size), (from, to), (source, into));
        },
    );
}

/// Combines `from` of the ranks in `combined`, and writes the result to `to`.
///
/// # Safety
///
/// As [`broadcast`]. The bytes must be whole items. `fold.combine` must be sound for that many items, of any bits, at any address.
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
    moved(team, token, form, (from.bytes, places), &show, |collective, signature, source, _| {
        let source = (from.offset != to.offset).then_some(source);
        // SAFETY: `to` is in a segment, and nobody else uses it before this call returns (caller).
        let data = unsafe { memory(collective, to) };
        collective.reduce(signature, combined, source, data, &fold);
    });
}

/// Combines the operands of `ranks` ranks in the order of reductions. `read(rank, offset, destination)` copies bytes of an operand.
///
/// # Safety
///
/// The bytes must be whole items. `fold.combine` must be sound for that many items, of any bits, at any address.
pub unsafe fn fold_ranks(ranks: usize, fold: Fold, into: &mut [u8], read: &dyn Fn(usize, usize, &mut [u8])) {
    reduction_order::fold(ranks, Operands::Read(read), into, &fold);
}

/// Runs a collective of `bytes` bytes that reads `from` and writes `to`. Members compare `words` and the offset of `from`.
#[track_caller]
fn moved<const N: usize>(
    team: &Team,
    token: &(impl Initiator + ?Sized),
    (family, words): (Family, [u64; N]),
    (bytes, Places { from, to }): (usize, Places),
    subject: &dyn Fn() -> String,
    work: impl FnOnce(&Collective<'_>, &CallSignature<'_>, SendBuf<'_>, RecvBuf<'_>),
) {
    let source = Argument::of_bytes(team, token, Some(from));
    source.tell(Family::HereLoad, 0..from.bytes);
    source.run(family, words, subject, bytes, |collective, signature| {
        let endpoint = collective.endpoint;
        work(collective, signature, SendBuf::own(endpoint, from), RecvBuf::own(endpoint, to));
    });
    source.at(to).tell(Family::HereStore, 0..to.bytes);
}

/// Returns the calling PE's bytes at a place: as a symmetric object if the team is on one node, otherwise as memory of the program.
///
/// # Safety
///
/// The place must be in a segment. While the result lives, all users of the place must only read it, or nobody else may use it.
unsafe fn memory<'c>(collective: &Collective<'c>, place: Place) -> RecvBuf<'c> {
    let Collective { team, endpoint, .. } = *collective;
    if team.node_count() == 1 || place.bytes == 0 {
        return RecvBuf::own(endpoint, place);
    }
    // SAFETY: a place in a segment is memory of this PE. Any bytes are valid values, and nobody else writes them (caller).
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
        // SAFETY: `into` and `right` have equally many whole items, and are disjoint, because both are borrowed. The code that made
        // the fold promised that `combine` is sound for them (`reduce`, `fold_ranks`).
        unsafe { (self.combine)(into.as_mut_ptr(), right.as_ptr(), into.len() / self.size) };
    }
}
