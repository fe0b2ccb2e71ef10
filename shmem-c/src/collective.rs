//! Collectives of teams, of all PEs, and of active sets.
//!
//! Each routine checks its arguments. On a team, the runtime's collectives move the bytes, and [`combine`] reduces elements. An
//! [active set](crate::active_set) that is not a team uses gets. Routines of teams return 0, because a mistake ends the job.

use std::ffi::c_int;

use shmem::c_interface::collective::{self, Combined, Places};
use shmem_core::object::Extent;
use shmem_core::observe::Family;

use crate::active_set::Members;
use crate::combine::{self, Reduction};
use crate::errors::refuse;
use crate::symmetric;
use crate::table::routines;
use crate::types::Item;
use crate::world;

routines! {
    standard_rma {
        team "" "_broadcast" (dest: *mut T, source: *const T, nelems: usize, root: c_int) [shmem_broadcast 1] = broadcast::<T>;
        team "" "_collect" (dest: *mut T, source: *const T, nelems: usize) [shmem_collect 1] = collect::<T>;
        team "" "_fcollect" (dest: *mut T, source: *const T, nelems: usize) [shmem_fcollect 1] = fcollect::<T>;
        team "" "_alltoall" (dest: *mut T, source: *const T, nelems: usize) [shmem_alltoall 1] = alltoall::<T>;
        team "" "_alltoalls" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) [shmem_alltoalls 1]
            = alltoalls::<T>;
    }
    mem {
        team "broadcast" "" (dest: *mut T, source: *const T, nelems: usize, root: c_int) [] = broadcast::<T>;
        team "collect" "" (dest: *mut T, source: *const T, nelems: usize) [] = collect::<T>;
        team "fcollect" "" (dest: *mut T, source: *const T, nelems: usize) [] = fcollect::<T>;
        team "alltoall" "" (dest: *mut T, source: *const T, nelems: usize) [] = alltoall::<T>;
        team "alltoalls" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) [] = alltoalls::<T>;
    }
    bitwise_reduced {
        team "" "_and_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_and_reduce 1] = reduce::<T>, combine::and::<T>();
        team "" "_or_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_or_reduce 1] = reduce::<T>, combine::or::<T>();
        team "" "_xor_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_xor_reduce 1] = reduce::<T>, combine::xor::<T>();
    }
    compared_reduced {
        team "" "_max_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_max_reduce 1] = reduce::<T>, combine::max::<T>();
        team "" "_min_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_min_reduce 1] = reduce::<T>, combine::min::<T>();
    }
    arithmetic_reduced {
        team "" "_sum_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_sum_reduce 1] = reduce::<T>, combine::sum::<T>();
        team "" "_prod_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_prod_reduce 1] = reduce::<T>, combine::prod::<T>();
        team "" "_sum_inscan" (dest: *mut T, source: *const T, nelems: usize) [shmem_sum_inscan 1]
            = combined::<T>, combine::sum::<T>(), Combined::UpTo, Family::SumInscan;
        team "" "_sum_exscan" (dest: *mut T, source: *const T, nelems: usize) [shmem_sum_exscan 1]
            = combined::<T>, combine::sum::<T>(), Combined::Before, Family::SumExscan;
    }
    once {
        plain "barrier_all" "" () [] = |routine| world::current(routine).barrier_all();
        plain "sync_all" "" () [] = |routine| world::current(routine).sync_all();
        team "team_sync" "" () [] = sync;
    }
}

/// Routines on active sets, which are older than teams.
pub(crate) mod over_sets {
    use super::*;

    routines! {
        once {
            set "barrier" "" () [] = barrier;
            set "sync" "" () [] = sync;
        }
        sizes_of_sets {
            set "broadcast" "" (dest: *mut T, source: *const T, nelems: usize, root: c_int) [] = broadcast::<T>;
            set "collect" "" (dest: *mut T, source: *const T, nelems: usize) [] = collect::<T>;
            set "fcollect" "" (dest: *mut T, source: *const T, nelems: usize) [] = fcollect::<T>;
            set "alltoall" "" (dest: *mut T, source: *const T, nelems: usize) [] = alltoall::<T>;
            set "alltoalls" "" (dest: *mut T, source: *const T, dst: isize, sst: isize, nelems: usize) [] = alltoalls::<T>;
        }
        bitwise_to_all {
            work "" "_and_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::and::<T>();
            work "" "_or_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::or::<T>();
            work "" "_xor_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::xor::<T>();
        }
        compared_to_all {
            work "" "_max_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::max::<T>();
            work "" "_min_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::min::<T>();
        }
        arithmetic_to_all {
            work "" "_sum_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::sum::<T>();
            work "" "_prod_to_all" (dest: *mut T, source: *const T, nreduce: c_int) [] = to_all::<T>, combine::prod::<T>();
        }
    }
}

fn barrier(members: Members) {
    match members.by_team() {
        Ok(team) => team.barrier(members.world()),
        Err(set) => set.barrier(),
    }
}

fn sync(members: Members) {
    match members.by_team() {
        Ok(team) => team.sync(members.world()),
        Err(set) => set.meet(),
    }
}

unsafe fn broadcast<T: Item>(members: Members, dest: *mut T, source: *const T, elements: usize, root: c_int) {
    let argument = if members.is_set() { "PE_root" } else { "root" };
    let root = required_rank(members.routine(), argument, root, members.size());
    let places = places(members.routine(), (dest, elements), (source, elements), May::BeOne);
    match members.by_team() {
        // SAFETY: the C program does not use the buffers during the collective.
        Ok(team) => unsafe {
            collective::broadcast(team, members.world(), places, root, !members.is_set());
        },
        Err(set) => {
            // With an active set, the root's own destination stays unchanged.
            let bytes = |rank| if rank == root && root != set.rank() { places.from.bytes } else { 0 };
            // SAFETY: the C program does not use the buffers during the collective.
            unsafe { set.exchange(|rank| (places.from.offset, dest.cast(), bytes(rank))) };
        }
    }
}

unsafe fn collect<T: Item>(members: Members, dest: *mut T, source: *const T, elements: usize) {
    let routine = members.routine();
    let from = place(routine, "source", source, elements);
    let into = |bytes: usize| {
        let to = place(routine, "dest", dest, bytes / size_of::<T>());
        refuse_overlap(routine, Places { from, to }, May::NotBeOne);
        Some(to)
    };
    match members.by_team() {
        // SAFETY: the C program does not use the buffers during the collective, and they are disjoint (`into`).
        Ok(team) => unsafe { collective::collect(team, members.world(), from, size_of::<T>(), into) },
        // SAFETY: the C program passes disjoint buffers, and does not use them during the collective.
        Err(set) => unsafe { set.collect(dest, source, elements) },
    }
}

unsafe fn fcollect<T: Item>(members: Members, dest: *mut T, source: *const T, elements: usize) {
    let all = elements.saturating_mul(members.size());
    let places = places(members.routine(), (dest, all), (source, elements), May::NotBeOne);
    match members.by_team() {
        // SAFETY: the C program does not use the buffers during the collective, and they are disjoint (`places`).
        Ok(team) => unsafe { collective::fcollect(team, members.world(), places) },
        Err(set) => {
            let to = |rank: usize| dest.wrapping_add(rank * elements).cast();
            // SAFETY: both buffers are in segments, with space for a part of each member (`places`).
            unsafe { set.exchange(|rank| (places.from.offset, to(rank), places.from.bytes)) };
        }
    }
}

unsafe fn alltoall<T: Item>(members: Members, dest: *mut T, source: *const T, elements: usize) {
    let all = elements.saturating_mul(members.size());
    let places = places(members.routine(), (dest, all), (source, all), May::NotBeOne);
    match members.by_team() {
        // SAFETY: the C program does not use the buffers during the collective, and they are disjoint (`places`).
        Ok(team) => unsafe { collective::alltoall(team, members.world(), places) },
        Err(set) => {
            let part = elements * size_of::<T>();
            let to = |rank: usize| dest.wrapping_add(rank * elements).cast();
            // SAFETY: both buffers are in segments, with space for a part of each member (`places`).
            unsafe { set.exchange(|rank| (places.from.offset + set.rank() * part, to(rank), part)) };
        }
    }
}

unsafe fn alltoalls<T: Item>(
    members: Members,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    elements: usize,
) {
    let routine = members.routine();
    let [to, from] =
        [("dst", dst), ("sst", sst)].map(|(argument, stride)| required_stride(routine, argument, stride));
    let all = elements.saturating_mul(members.size());
    let places = places(routine, (dest, spread(all, to)), (source, spread(all, from)), May::Interleave);
    let size = size_of::<T>();
    match members.by_team() {
        Ok(team) => {
            // SAFETY: the C program does not use the buffers during the collective, and each has space for all elements (`places`).
            unsafe { collective::alltoalls(team, members.world(), places, (elements, size), (from, to)) };
        }
        Err(set) => {
            set.meet();
            for k in 0..elements {
                let there = places.from.offset + (set.rank() * elements + k) * from * size;
                let here = |rank: usize| dest.wrapping_add((rank * elements + k) * to).cast();
                // SAFETY: both buffers are in segments, with space for an element of each member (`places`).
                unsafe { set.get_parts(|rank| (there, here(rank), size)) };
            }
            set.meet();
        }
    }
}

unsafe fn reduce<T: Item>(members: Members, dest: *mut T, source: *const T, elements: usize, by: Reduction) {
    // SAFETY: the C program does not use the buffers during the collective.
    unsafe { combined(members, dest, source, elements, by, Combined::All, by.family) };
}

unsafe fn to_all<T: Item>(members: Members, dest: *mut T, source: *const T, elements: c_int, by: Reduction) {
    let Ok(elements) = usize::try_from(elements) else {
        let why = format_args!("is {elements}: there cannot be less than nothing");
        refuse(members.routine(), "nreduce", why)
    };
    // SAFETY: the C program does not use the buffers during the collective.
    unsafe { reduce(members, dest, source, elements, by) };
}

unsafe fn combined<T: Item>(
    members: Members,
    dest: *mut T,
    source: *const T,
    elements: usize,
    by: Reduction,
    which: Combined,
    family: Family,
) {
    let places = places(members.routine(), (dest, elements), (source, elements), May::BeOne);
    let fold = by.fold::<T>(members.routine());
    match members.by_team() {
        // SAFETY: the C program does not use the buffers during the collective.
        Ok(team) => unsafe { collective::reduce(team, members.world(), family, places, which, fold) },
        // SAFETY: the C program does not use the buffers during the collective. Active sets have no scans: `which` is `All`.
        Err(set) => unsafe { set.reduce(dest.cast(), places.from, fold) },
    }
}

/// Returns a rank as an index. Refuses a number that is no rank of `members` members.
pub(crate) fn required_rank(routine: &str, argument: &str, rank: c_int, members: usize) -> usize {
    let number = usize::try_from(rank).ok().filter(|number| *number < members);
    let last = members - 1;
    number.unwrap_or_else(|| refuse(routine, argument, format_args!("is {rank}: members are 0 to {last}")))
}

/// Returns a stride. Refuses a stride below 1.
pub(crate) fn required_stride(routine: &str, argument: &str, stride: isize) -> usize {
    let distance = usize::try_from(stride).ok().filter(|distance| *distance > 0);
    distance.unwrap_or_else(|| refuse(routine, argument, format_args!("is {stride}: strides are at least 1")))
}

/// Returns the length of strided elements, from the first to the last, in elements.
pub(crate) fn spread(elements: usize, stride: usize) -> usize {
    elements.checked_sub(1).map_or(0, |steps| steps.saturating_mul(stride).saturating_add(1))
}

/// The overlap of source and destination that a collective permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum May {
    /// Source and destination must be equal or disjoint.
    BeOne,
    /// No overlap: source and destination must be disjoint.
    NotBeOne,
    /// Elements of source and destination must be disjoint, and may interleave.
    Interleave,
}

/// Returns the extents of source and destination. Refuses addresses that are not symmetric, and an overlap that `may` excludes.
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

/// Returns the extent of `elements` elements at `pointer`. Refuses an address that is not symmetric, unless `elements` is 0.
pub(crate) fn place<T>(
    routine: &'static str,
    argument: &'static str,
    pointer: *const T,
    elements: usize,
) -> Extent {
    let Some(bytes) = elements.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize)
    else {
        refuse(routine, argument, "has more elements than there is memory")
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
        refuse(routine, "dest", "overlaps source: they must lie apart");
    }
}
