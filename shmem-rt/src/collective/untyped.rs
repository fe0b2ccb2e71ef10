//! Collectives of bytes, for callers that know types while they run only: a C library.
//!
//! What is given and taken lies in symmetric memory, at [places](Places) that are the same on all members. So large data
//! go [directly](super::direct), as those of symmetric objects do; and the rest as if it lay in memory of the program, by
//! the ways that typed collectives take. A [`Fold`] combines items, of which only the size is known. Its result is that of the
//! [tree](super::tree): the same bits as those of a typed reduction.
//!
//! What members have come for is compared as it is there: sizes, places, the root, and the name of what combines.

use std::panic::Location;

use bytemuck::Pod;
use shmem_core::context::{Endpoint, Initiator};
use shmem_core::object::Extent as Place;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;

use super::choice::Pattern;
use super::direct::{Direct, LINE, There, tell};
use super::extent::Extent;
use super::given::{Given, Taken};
use super::partials::Partials;
use super::reduce::Operator;
use super::subject::word_of;
use super::tree;
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

/// Whose items a member combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// Those of all members.
    All,
    /// Those of lower ranks, and its own.
    UpTo,
    /// Those of lower ranks: of none it is all zeroes.
    Before,
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
    let (endpoint, location) = (token.endpoint(), Location::caller());
    let (bytes, pe, is_root) = (from.bytes, team.member(root), root == team.rank());
    let purpose = Purpose {
        operation: Operation::of(Family::Broadcast),
        opens: false,
        arguments: &[pe.number() as u64, bytes as u64, from.offset as u64, to.offset as u64],
        subject: &|| format!("{} from PE {pe}", show_size(bytes as u64)),
        location: Some(location),
    };
    let collective = team.enter(endpoint, Some(location)).moving(bytes);
    if is_root {
        tell(endpoint, Family::HereLoad, location, from);
    }
    if team.node_count() == 1 && team.is_in_place(Pattern::Broadcast(bytes)) {
        let direct = Direct::meet(&collective, &purpose);
        if !is_root {
            direct.on(root, from).copy_to(direct.on(team.rank(), to));
        }
        direct.leave_source(root);
    } else if is_root {
        // SAFETY: a place in a segment, which nobody writes before this returns (caller).
        collective.spread_from(&purpose, unsafe { given(endpoint, from) });
    } else {
        // SAFETY: a place in a segment, which nobody else uses before this returns (caller).
        collective.spread_to(&purpose, unsafe { own(endpoint, to) }, root);
    }
    drop(collective);
    if is_root && keeps && from.offset != to.offset {
        There::own(endpoint, from).copy_to(There::own(endpoint, to));
    }
    if !is_root || keeps {
        tell(endpoint, Family::HereStore, location, to);
    }
}

/// Writes what all members have at `from`, in the order of ranks, to `to`.
///
/// # Safety
///
/// As [`broadcast`], but that what is written has as many bytes for each member, and both lie apart.
#[track_caller]
pub unsafe fn fcollect(team: &Team, token: &(impl Initiator + ?Sized), Places { from, to }: Places) {
    let (endpoint, location) = (token.endpoint(), Location::caller());
    let purpose = Purpose {
        operation: Operation::of(Family::Fcollect),
        opens: false,
        arguments: &[from.bytes as u64, from.offset as u64, to.offset as u64],
        subject: &|| show_size(from.bytes as u64),
        location: Some(location),
    };
    let collective = team.enter(endpoint, Some(location)).moving(from.bytes);
    if team.is_in_place(Pattern::Fcollect(from.bytes)) {
        collective.gather_directly(&purpose, from, to);
    } else {
        tell(endpoint, Family::HereLoad, location, from);
        // SAFETY: a place in a segment, which nobody writes before this returns (caller).
        let mine = unsafe { given(endpoint, from) };
        // SAFETY: a place in a segment, which nobody else uses before this returns, apart from the other one (caller).
        collective.gather_equal(&purpose, mine, unsafe { own(endpoint, to) });
    }
    drop(collective);
    tell(endpoint, Family::HereStore, location, to);
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
    let (endpoint, location) = (token.endpoint(), Location::caller());
    let items = from.bytes / size;
    let purpose = Purpose {
        operation: Operation::of(Family::Collect),
        opens: false,
        arguments: &[size as u64],
        subject: &|| format!("{items} items of {size} bytes"),
        location: Some(location),
    };
    let collective = team.enter(endpoint, Some(location)).moving(from.bytes);
    tell(endpoint, Family::HereLoad, location, from);
    let mut written = None;
    let mine = match from.bytes {
        0 => Given::NOTHING,
        _ => Given::There(There::own(endpoint, from)),
    };
    collective.bring(&purpose, (items, size), mine, true, |items| {
        written = place(items * size);
        written.map(|to| Taken::There(There::own(endpoint, to)))
    });
    drop(collective);
    if let Some(to) = written {
        tell(endpoint, Family::HereStore, location, to);
    }
}

/// Sends the k-th part of `from` to the member with rank k, and writes what that has sent to the k-th part of `to`.
///
/// # Safety
///
/// As [`broadcast`]; the bytes can be divided by the number of members, and both places lie apart.
#[track_caller]
pub unsafe fn alltoall(team: &Team, token: &(impl Initiator + ?Sized), Places { from, to }: Places) {
    let (endpoint, location) = (token.endpoint(), Location::caller());
    let part = from.bytes / team.size();
    let purpose = Purpose {
        operation: Operation::of(Family::Alltoall),
        opens: false,
        arguments: &[part as u64, from.offset as u64, to.offset as u64],
        subject: &|| show_size(part as u64),
        location: Some(location),
    };
    let collective = team.enter(endpoint, Some(location)).moving(from.bytes);
    if team.is_in_place(Pattern::Alltoall(part)) {
        collective.exchange_directly(&purpose, from, to);
    } else {
        tell(endpoint, Family::HereLoad, location, from);
        // SAFETY: a place in a segment, which nobody writes before this returns (caller).
        let source = unsafe { given(endpoint, from) };
        // SAFETY: a place in a segment, which nobody else uses before this returns, apart from the other one (caller).
        collective.exchange(&purpose, source, unsafe { own(endpoint, to) });
    }
    drop(collective);
    tell(endpoint, Family::HereStore, location, to);
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
    let (endpoint, location) = (token.endpoint(), Location::caller());
    let Strides { items, size, .. } = strides;
    let purpose = Purpose {
        operation: Operation::of(Family::Alltoalls),
        opens: false,
        arguments: &[
            items as u64,
            size as u64,
            from.offset as u64,
            to.offset as u64,
            strides.from as u64,
            strides.to as u64,
        ],
        subject: &|| format!("{items} items of {size} bytes"),
        location: Some(location),
    };
    let collective = team.enter(endpoint, Some(location)).moving(items * size * team.size());
    if items == 0 {
        return collective.meet(&purpose);
    }
    tell(endpoint, Family::HereLoad, location, from);
    let source = (Given::There(There::own(endpoint, from)), strides.from);
    let mut taken = Taken::There(There::own(endpoint, to));
    collective.exchange_strided(&purpose, (items, size), source, (&mut taken, strides.to), true);
    drop(collective);
    tell(endpoint, Family::HereStore, location, to);
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
    let (endpoint, location) = (token.endpoint(), Location::caller());
    let Places { from, to } = places;
    let purpose = Purpose {
        operation: Operation::of(family),
        opens: false,
        arguments: &[from.bytes as u64, word_of(fold.name), from.offset as u64, to.offset as u64],
        subject: &|| format!("{} items, by `{}`", from.bytes / fold.size, fold.name),
        location: Some(location),
    };
    let collective = team.enter(endpoint, Some(location)).moving(from.bytes);
    tell(endpoint, Family::HereLoad, location, from);
    if team.node_count() == 1 && team.is_in_place(Pattern::ExactReduction(from.bytes)) {
        collective.fold_directly(&purpose, combined.into(), places, fold);
    } else {
        if from.offset != to.offset && from.bytes > 0 {
            There::own(endpoint, from).copy_to(There::own(endpoint, to));
        }
        // SAFETY: a place in a segment, which nobody else uses before this returns (caller).
        let data = unsafe { own(endpoint, to) };
        let extent = combined.into();
        match fold.size {
            1 => collective.combine_items::<1>(&purpose, extent, data, fold),
            2 => collective.combine_items::<2>(&purpose, extent, data, fold),
            4 => collective.combine_items::<4>(&purpose, extent, data, fold),
            8 => collective.combine_items::<8>(&purpose, extent, data, fold),
            16 => collective.combine_items::<16>(&purpose, extent, data, fold),
            size => unreachable!("items of {size} bytes"),
        }
    }
    drop(collective);
    tell(endpoint, Family::HereStore, location, to);
}

/// Combines what so many ranks have, in the order that reductions have; `read` writes what a rank has, from a byte on.
///
/// # Safety
///
/// The bytes are whole items. The fold combines so many items, of any bits, at whatever address.
pub unsafe fn fold_ranks(ranks: usize, fold: Fold, into: &mut [u8], read: &dyn Fn(usize, usize, &mut [u8])) {
    let mut partials = Partials::new();
    let partials: &mut [u8] = partials.of();
    let most = tile(ranks, partials);
    for (k, tile) in into.chunks_mut(most).enumerate() {
        let read = |rank: usize, into: &mut [u8]| read(rank, k * most, into);
        tree::fold_slices(ranks, &read, tile, partials, &|into, from| fold.apply(into, from));
    }
}

/// Bytes of a result that are made at once, with room for what lies half made.
fn tile(ranks: usize, partials: &[u8]) -> usize {
    let most = partials.len() / tree::Vertex::all(ranks).depth().max(1) / LINE * LINE;
    assert!(most > 0, "{ranks} ranks");
    most
}

/// The calling PE's bytes at a place, to be read: by others as well.
///
/// # Safety
///
/// The place lies in a segment, and while the result lives nobody writes there.
unsafe fn given(endpoint: &Endpoint, place: Place) -> &[u8] {
    if place.bytes == 0 {
        return &[];
    }
    // SAFETY: a place in a segment is memory of this PE, of which any bytes are a value, and nobody writes it (caller).
    unsafe { core::slice::from_raw_parts(endpoint.mine(place.offset), place.bytes) }
}

/// The calling PE's bytes at a place, to be written.
///
/// # Safety
///
/// The place lies in a segment, and while the result lives nobody else uses it.
#[expect(clippy::mut_from_ref, reason = "what it refers to is no part of the endpoint")]
unsafe fn own(endpoint: &Endpoint, place: Place) -> &mut [u8] {
    if place.bytes == 0 {
        return &mut [];
    }
    // SAFETY: a place in a segment is memory of this PE, of which any bytes are a value, and nobody else uses it (caller).
    unsafe { core::slice::from_raw_parts_mut(endpoint.mine(place.offset), place.bytes) }
}

impl From<Combined> for Extent {
    fn from(combined: Combined) -> Self {
        match combined {
            Combined::All => Self::All,
            Combined::UpTo => Self::UpTo,
            Combined::Before => Self::Before,
        }
    }
}

impl Fold {
    /// Combines items with those behind them.
    fn apply(self, into: &mut [u8], from: &[u8]) {
        assert!(into.len() == from.len(), "a tile of {} bytes, and one of {}", into.len(), from.len());
        // SAFETY: both have so many whole items, and lie apart, as they are borrowed. What else it asks for is promised by
        // who gave it (`reduce`).
        unsafe { (self.combine)(into.as_mut_ptr(), from.as_ptr(), into.len() / self.size) };
    }
}

impl Collective<'_> {
    /// Combines items of `N` bytes one by one, by the ways of private data.
    fn combine_items<const N: usize>(
        &self,
        purpose: &Purpose<'_>,
        extent: Extent,
        data: &mut [u8],
        fold: Fold,
    ) where
        [u8; N]: Pod + shmem_core::data::PlainData,
    {
        let op = |mut left: [u8; N], right: [u8; N]| {
            fold.apply(&mut left, &right);
            left
        };
        let op = Operator { op, settled: |item| item, exact: !fold.rounds };
        let items: &mut [[u8; N]] = bytemuck::cast_slice_mut(data);
        self.reduce(purpose, extent, items, &op);
    }

    /// Combines what lies at one place of all members, to another one or there, on one node.
    fn fold_directly(&self, purpose: &Purpose<'_>, extent: Extent, Places { from, to }: Places, fold: Fold) {
        // A result, and what lies half made beside it, stay in the first cache.
        let (mut made, mut partials) = (Partials::new(), Partials::new());
        let (made, partials): (&mut [u8], &mut [u8]) = (made.of(), partials.of());
        let tile = &mut made[..tile(self.team.size(), partials)];
        let results = 0..self.team.size();
        self.make_directly(purpose, (extent, results), (from, to), fold.size, tile, |ranks, tile, read| {
            match ranks {
                0 => tile.fill(0),
                ranks => {
                    tree::fold_slices(ranks, &read, tile, partials, &|into, from| fold.apply(into, from));
                }
            }
        });
    }
}
