//! Collectives of teams, and those of all PEs.
//!
//! Each finds where its arguments lie, and hands over to the runtime, which moves bytes and combines items of a size
//! ([`combine`]). All give 0: what goes wrong ends the job with a message.

use std::ffi::c_int;

use shmem::Team;
use shmem::raw::collective::{self, Combined, Fold, Places, Strides};
use shmem_core::object::Extent;
use shmem_core::observe::Family;

use crate::combine::{self, Arithmetic, Bitwise, Operation, Ordered};
use crate::refusal::refuse;
use crate::symmetric;
use crate::table::routines;
use crate::types::{self, Item};
use crate::{team, world};

routines! {
    standard_rma {
        plain "" "_broadcast" (team: types::Team, dest: *mut T, source: *const T, nelems: usize, root: c_int) -> c_int
            [shmem_broadcast 1] = broadcast::<T>;
        plain "" "_collect" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int
            [shmem_collect 1] = collect::<T>;
        plain "" "_fcollect" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int
            [shmem_fcollect 1] = fcollect::<T>;
        plain "" "_alltoall" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int
            [shmem_alltoall 1] = alltoall::<T>;
        plain "" "_alltoalls" (
            team: types::Team, dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize
        ) -> c_int [shmem_alltoalls 1] = alltoalls::<T>;
    }
    mem {
        plain "broadcast" "" (team: types::Team, dest: *mut T, source: *const T, nelems: usize, root: c_int) -> c_int []
            = broadcast::<T>;
        plain "collect" "" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int [] = collect::<T>;
        plain "fcollect" "" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int []
            = fcollect::<T>;
        plain "alltoall" "" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int []
            = alltoall::<T>;
        plain "alltoalls" "" (
            team: types::Team, dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize
        ) -> c_int [] = alltoalls::<T>;
    }
    bitwise_reduced {
        plain "" "_and_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_and_reduce 1] = and_reduce::<T>;
        plain "" "_or_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_or_reduce 1] = or_reduce::<T>;
        plain "" "_xor_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_xor_reduce 1] = xor_reduce::<T>;
    }
    compared_reduced {
        plain "" "_max_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_max_reduce 1] = max_reduce::<T>;
        plain "" "_min_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_min_reduce 1] = min_reduce::<T>;
    }
    arithmetic_reduced {
        plain "" "_sum_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_sum_reduce 1] = sum_reduce::<T>;
        plain "" "_prod_reduce" (team: types::Team, dest: *mut T, source: *const T, nreduce: usize) -> c_int
            [shmem_prod_reduce 1] = prod_reduce::<T>;
        plain "" "_sum_inscan" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int
            [shmem_sum_inscan 1] = sum_inscan::<T>;
        plain "" "_sum_exscan" (team: types::Team, dest: *mut T, source: *const T, nelems: usize) -> c_int
            [shmem_sum_exscan 1] = sum_exscan::<T>;
    }
    once {
        plain "barrier_all" "" () [] = barrier_all;
        plain "sync_all" "" () [] = sync_all;
        plain "team_sync" "" (team: types::Team) -> c_int [] = team_sync;
    }
}

fn barrier_all(routine: &'static str) {
    world::current(routine).barrier_all();
}

fn sync_all(routine: &'static str) {
    world::current(routine).sync_all();
}

fn team_sync(routine: &'static str, team: types::Team) -> c_int {
    team::required(routine, "team", team).sync(world::current(routine));
    0
}

unsafe fn broadcast<T: Item>(
    routine: &'static str,
    team: types::Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
    root: c_int,
) -> c_int {
    let team = team::required(routine, "team", team);
    let root = required_rank(routine, "root", root, team.size());
    let places = places(routine, (dest, elements), (source, elements), May::BeOne);
    // SAFETY: C's caller keeps what is read and written to the collective.
    unsafe { collective::broadcast(team, world::current(routine), places, root, true) };
    0
}

unsafe fn collect<T: Item>(
    routine: &'static str,
    team: types::Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { collect_of(routine, team::required(routine, "team", team), dest, source, elements) };
    0
}

unsafe fn fcollect<T: Item>(
    routine: &'static str,
    team: types::Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fcollect_of(routine, team::required(routine, "team", team), dest, source, elements) };
    0
}

unsafe fn alltoall<T: Item>(
    routine: &'static str,
    team: types::Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { alltoall_of(routine, team::required(routine, "team", team), dest, source, elements) };
    0
}

unsafe fn alltoalls<T: Item>(
    routine: &'static str,
    team: types::Team,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    elements: usize,
) -> c_int {
    let team = team::required(routine, "team", team);
    // SAFETY: the caller's promise.
    unsafe { alltoalls_of(routine, team, (dest, dst), (source, sst), elements) };
    0
}

macro_rules! reductions {
    ($($name:ident<$bound:ident> = $fold:ident $operation:ident;)*) => {$(
        unsafe fn $name<T: $bound>(
            routine: &'static str,
            team: types::Team,
            dest: *mut T,
            source: *const T,
            elements: usize,
        ) -> c_int {
            let (team, operation) = (team::required(routine, "team", team), Operation::$operation);
            let fold = combine::$fold::<T>(operation, routine);
            // SAFETY: the caller's promise.
            unsafe { reduce_of(routine, team, dest, source, elements, fold, operation) };
            0
        }
    )*};
}
reductions! {
    and_reduce<Bitwise> = bitwise And;
    or_reduce<Bitwise> = bitwise Or;
    xor_reduce<Bitwise> = bitwise Xor;
    max_reduce<Ordered> = ordered Max;
    min_reduce<Ordered> = ordered Min;
    sum_reduce<Arithmetic> = arithmetic Sum;
    prod_reduce<Arithmetic> = arithmetic Prod;
}

macro_rules! scans {
    ($($name:ident = $combined:ident $family:ident;)*) => {$(
        unsafe fn $name<T: Arithmetic>(
            routine: &'static str,
            team: types::Team,
            dest: *mut T,
            source: *const T,
            elements: usize,
        ) -> c_int {
            let team = team::required(routine, "team", team);
            let places = places(routine, (dest, elements), (source, elements), May::BeOne);
            let fold = combine::arithmetic::<T>(Operation::Sum, routine);
            let world = world::current(routine);
            // SAFETY: C's caller keeps what is read and written to the collective.
            unsafe { collective::reduce(team, world, Family::$family, places, Combined::$combined, fold) };
            0
        }
    )*};
}
scans! {
    sum_inscan = UpTo SumInscan;
    sum_exscan = Before SumExscan;
}

/// # Safety
///
/// What the specification asks of `shmem_collect`, with elements of this type.
pub(crate) unsafe fn collect_of<T>(
    routine: &'static str,
    team: &Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
) {
    let from = place(routine, "source", source, elements);
    let size = size_of::<T>();
    let into = |bytes: usize| {
        let to = place(routine, "dest", dest, bytes / size);
        refuse_overlap(routine, Places { from, to }, May::NotBeOne);
        Some(to)
    };
    // SAFETY: C's caller keeps what is read and written to the collective, and both are apart.
    unsafe { collective::collect(team, world::current(routine), from, size, into) };
}

/// # Safety
///
/// What the specification asks of `shmem_fcollect`, with elements of this type.
pub(crate) unsafe fn fcollect_of<T>(
    routine: &'static str,
    team: &Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
) {
    let all = elements.saturating_mul(team.size());
    let places = places(routine, (dest, all), (source, elements), May::NotBeOne);
    // SAFETY: C's caller keeps what is read and written to the collective, and both are apart (`places`).
    unsafe { collective::fcollect(team, world::current(routine), places) };
}

/// # Safety
///
/// What the specification asks of `shmem_alltoall`, with elements of this type.
pub(crate) unsafe fn alltoall_of<T>(
    routine: &'static str,
    team: &Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
) {
    let all = elements.saturating_mul(team.size());
    let places = places(routine, (dest, all), (source, all), May::NotBeOne);
    // SAFETY: C's caller keeps what is read and written to the collective, and both are apart (`places`).
    unsafe { collective::alltoall(team, world::current(routine), places) };
}

/// # Safety
///
/// What the specification asks of `shmem_alltoalls`, with elements of this type.
pub(crate) unsafe fn alltoalls_of<T>(
    routine: &'static str,
    team: &Team,
    (dest, to): (*mut T, isize),
    (source, from): (*const T, isize),
    elements: usize,
) {
    let [to, from] =
        [("dst", to), ("sst", from)].map(|(argument, stride)| required_stride(routine, argument, stride));
    let all = elements.saturating_mul(team.size());
    let places = places(routine, (dest, spread(all, to)), (source, spread(all, from)), May::Interleave);
    let strides = Strides { items: elements, size: size_of::<T>(), from, to };
    // SAFETY: C's caller keeps what is read and written to the collective; the places have room for all elements.
    unsafe { collective::alltoalls(team, world::current(routine), places, strides) };
}

/// # Safety
///
/// What the specification asks of reductions, with elements that the fold combines.
pub(crate) unsafe fn reduce_of<T>(
    routine: &'static str,
    team: &Team,
    dest: *mut T,
    source: *const T,
    elements: usize,
    fold: Fold,
    operation: Operation,
) {
    let places = places(routine, (dest, elements), (source, elements), May::BeOne);
    let world = world::current(routine);
    // SAFETY: C's caller keeps what is read and written to the collective.
    unsafe { collective::reduce(team, world, operation.family(), places, Combined::All, fold) };
}

/// The rank of a root among so many members; refused if it is none.
pub(crate) fn required_rank(routine: &str, argument: &str, rank: c_int, members: usize) -> usize {
    let number = usize::try_from(rank).ok().filter(|number| *number < members);
    let last = members - 1;
    number.unwrap_or_else(|| refuse(routine, argument, format_args!("is {rank}: members are 0 to {last}")))
}

/// A stride; refused if elements would lie on each other.
pub(crate) fn required_stride(routine: &str, argument: &str, stride: isize) -> usize {
    let distance = usize::try_from(stride).ok().filter(|distance| *distance > 0);
    distance.unwrap_or_else(|| refuse(routine, argument, format_args!("is {stride}: strides are at least 1")))
}

/// How many elements so many at a stride are spread over.
pub(crate) fn spread(elements: usize, stride: usize) -> usize {
    elements.checked_sub(1).map_or(0, |steps| steps.saturating_mul(stride).saturating_add(1))
}

/// Whether both places of a collective may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum May {
    /// They may be the same, and otherwise lie apart.
    BeOne,
    /// They lie apart.
    NotBeOne,
    /// Elements lie apart, and may lie between each other.
    Interleave,
}

/// Where elements are written and read; refused if that is not symmetric.
pub(crate) fn places<T>(
    routine: &'static str,
    (dest, written): (*mut T, usize),
    (source, read): (*const T, usize),
    may: May,
) -> Places {
    let to = place(routine, "dest", dest, written);
    let places = Places { from: place(routine, "source", source, read), to };
    refuse_overlap(routine, places, may);
    places
}

/// Where so many elements lie; refused if that is not symmetric. What has no elements may be anywhere.
pub(crate) fn place<T>(
    routine: &'static str,
    argument: &'static str,
    pointer: *const T,
    elements: usize,
) -> Extent {
    let Some(bytes) = elements.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize)
    else {
        refuse(routine, argument, format_args!("has more elements than there is memory"))
    };
    if bytes == 0 {
        return Extent { offset: 0, bytes };
    }
    let offset = symmetric::range(pointer, bytes);
    let offset = offset.unwrap_or_else(|| symmetric::locate(pointer, bytes, routine, argument).offset);
    Extent { offset, bytes }
}

fn refuse_overlap(routine: &str, Places { from, to }: Places, may: May) {
    let is_one = from.offset == to.offset && from.bytes == to.bytes;
    if may != May::Interleave && from.bytes > 0 && from.overlaps(to) && !(is_one && may == May::BeOne) {
        refuse(routine, "dest", format_args!("overlaps source: they must lie apart"));
    }
}
