//! Collectives of active sets, as they were before there were teams: of PEs at a stride, with words of the program to meet in.
//!
//! A set of all PEs is the world's team, and needs no words. Any other is known to nobody but its members, who cannot make a
//! team of it alone, so they meet by tokens in `pSync`: in round `k` each adds one to the `k`-th word of the member
//! `2^k` behind it, and waits for one in its own, which it takes away. After as many rounds as the number of members has bits all
//! are there, and what a member has of the next meeting already stays where it is. So between two calls all words are zero
//! (`SHMEM_SYNC_VALUE`), as the specification has it, and nothing is remembered of a set.
//!
//! Data go by gets between two meetings: behind the first all sources can be read, and behind the second nobody reads any more.

use std::ffi::{c_int, c_long, c_void};
use std::panic::Location;

use shmem::raw::collective::{self, Fold};
use shmem::{Pe, Team};
use shmem_core::context::{Endpoint, untyped};
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::transport::{AtomicOp, Remote, Width};

use crate::collective as of_team;
use crate::collective::{May, place, places, required_rank, required_stride, spread};
use crate::combine::{self, Arithmetic, Bitwise, Operation, Ordered};
use crate::refusal::refuse;
use crate::symmetric::{self, Place};
use crate::table::routines;
use crate::types::{Bytes4, Bytes8, Ctx, Item};
use crate::word::Word;
use crate::world::{self, CWorld};

routines! {
    once {
        named "shmem_barrier" "" (start: c_int, log_stride: c_int, size: c_int, psync: *mut c_long) [] = barrier;
        named "shmem_sync" "" (start: c_int, log_stride: c_int, size: c_int, psync: *mut c_long) [] = sync;
        named "shmem_broadcast32" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, root: c_int, start: c_int, log_stride: c_int,
            size: c_int, psync: *mut c_long
        ) [] = broadcast::<Bytes4>;
        named "shmem_broadcast64" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, root: c_int, start: c_int, log_stride: c_int,
            size: c_int, psync: *mut c_long
        ) [] = broadcast::<Bytes8>;
        named "shmem_collect32" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, start: c_int, log_stride: c_int, size: c_int,
            psync: *mut c_long
        ) [] = collect::<Bytes4>;
        named "shmem_collect64" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, start: c_int, log_stride: c_int, size: c_int,
            psync: *mut c_long
        ) [] = collect::<Bytes8>;
        named "shmem_fcollect32" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, start: c_int, log_stride: c_int, size: c_int,
            psync: *mut c_long
        ) [] = fcollect::<Bytes4>;
        named "shmem_fcollect64" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, start: c_int, log_stride: c_int, size: c_int,
            psync: *mut c_long
        ) [] = fcollect::<Bytes8>;
        named "shmem_alltoall32" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, start: c_int, log_stride: c_int, size: c_int,
            psync: *mut c_long
        ) [] = alltoall::<Bytes4>;
        named "shmem_alltoall64" "" (
            dest: *mut c_void, source: *const c_void, nelems: usize, start: c_int, log_stride: c_int, size: c_int,
            psync: *mut c_long
        ) [] = alltoall::<Bytes8>;
        named "shmem_alltoalls32" "" (
            dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, nelems: usize, start: c_int,
            log_stride: c_int, size: c_int, psync: *mut c_long
        ) [] = alltoalls::<Bytes4>;
        named "shmem_alltoalls64" "" (
            dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, nelems: usize, start: c_int,
            log_stride: c_int, size: c_int, psync: *mut c_long
        ) [] = alltoalls::<Bytes8>;
    }
    bitwise_to_all {
        plain "" "_and_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = and_to_all::<T>;
        plain "" "_or_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = or_to_all::<T>;
        plain "" "_xor_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = xor_to_all::<T>;
    }
    compared_to_all {
        plain "" "_max_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = max_to_all::<T>;
        plain "" "_min_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = min_to_all::<T>;
    }
    arithmetic_to_all {
        plain "" "_sum_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = sum_to_all::<T>;
        plain "" "_prod_to_all" (
            dest: *mut T, source: *const T, nreduce: c_int, start: c_int, log_stride: c_int, size: c_int, pwrk: *mut T,
            psync: *mut c_long
        ) [] = prod_to_all::<T>;
    }
}

/// Members that meet.
enum Members {
    /// All PEs, in the order of their numbers.
    All(&'static Team),
    /// Others.
    Some(Set),
}

/// PEs at a stride, as one of them.
struct Set {
    routine: &'static str,
    world: &'static CWorld,
    endpoint: &'static Endpoint,
    start: usize,
    stride: usize,
    size: usize,
    /// Which of them the calling PE is.
    rank: usize,
    /// Where the words begin.
    words: Place,
}

impl Members {
    /// The members that arguments name; refused if there are no such PEs, or the calling one is none of them.
    fn of(routine: &'static str, start: c_int, stride: usize, size: c_int, psync: *mut c_long) -> Self {
        let world = world::current(routine);
        let (pes, me) = (world.n_pes(), world.my_pe());
        let first = required_rank(routine, "PE_start", start, pes);
        let Some(members) = usize::try_from(size).ok().filter(|size| *size > 0) else {
            refuse(routine, "PE_size", format_args!("is {size}: a set has at least one PE"))
        };
        let last = (members - 1).checked_mul(stride).and_then(|distance| first.checked_add(distance));
        if last.is_none_or(|last| last >= pes) {
            let last = pes - 1;
            refuse(
                routine,
                "PE_size",
                format_args!(
                    "is {size}: from PE {first} on, at a stride of {stride}, the set goes beyond PE {last}"
                ),
            );
        }
        if members == pes {
            return Self::All(world.team());
        }
        let distance = me.checked_sub(first).filter(|distance| distance.is_multiple_of(stride));
        let Some(rank) = distance.map(|distance| distance / stride).filter(|rank| *rank < members) else {
            refuse(
                routine,
                "",
                format_args!(
                    "is called by PE {me}, which is not in the set of {size} PEs from {first} on at a stride of {stride}"
                ),
            )
        };
        let endpoint = world::stream(Ctx::DEFAULT, routine).endpoint(routine);
        let mut set = Set {
            routine,
            world,
            endpoint,
            start: first,
            stride,
            size: members,
            rank,
            words: Place { segment: 0, offset: 0 },
        };
        // Who is alone meets nobody.
        if members > 1 {
            if !psync.is_aligned() {
                refuse(routine, "pSync", format_args!("is {:#x}, which is no multiple of 8", psync.addr()));
            }
            set.words = symmetric::locate(psync, (set.rounds() + 1) * size_of::<c_long>(), routine, "pSync");
        }
        Self::Some(set)
    }

    /// The same, of a stride of which the logarithm is given.
    fn of_log(
        routine: &'static str,
        start: c_int,
        log_stride: c_int,
        size: c_int,
        psync: *mut c_long,
    ) -> Self {
        let stride = u32::try_from(log_stride).ok().and_then(|log| 1_usize.checked_shl(log));
        let stride = stride.unwrap_or_else(|| {
            refuse(routine, "logPE_stride", format_args!("is {log_stride}: no PE is so far from another"))
        });
        Self::of(routine, start, stride, size, psync)
    }
}

impl Set {
    /// Rounds of a meeting.
    fn rounds(&self) -> usize {
        self.size.next_power_of_two().ilog2() as usize
    }

    /// A member.
    fn pe(&self, rank: usize) -> Pe {
        self.world.pes()[self.start + rank * self.stride]
    }

    /// One of the words.
    fn word(&self, number: usize) -> Word {
        let place = Place { offset: self.words.offset + number * size_of::<c_long>(), ..self.words };
        // SAFETY: an aligned word of the program's, which has one more than there are rounds (`Members::of`).
        unsafe { Word::new(self.routine, place, Width::W8) }
    }

    /// Waits until all members are here.
    fn meet(&self) {
        for round in 0..self.rounds() {
            let (word, distance) = (self.word(round), 1 << round);
            word.update(self.pe((self.rank + distance) % self.size), AtomicOp::Add(1), Family::AtomicAdd);
            let from = (self.rank + self.size - distance % self.size) % self.size;
            word.wait(
                |tokens| tokens as i64 > 0,
                || {
                    format!(
                        "PE {} of {} PEs from {} at stride {}",
                        self.pe(from),
                        self.size,
                        self.start,
                        self.stride
                    )
                },
            );
            word.update(self.world.me(), AtomicOp::Add(u64::MAX), Family::AtomicAdd);
        }
    }

    /// Reads bytes of a member.
    ///
    /// # Safety
    ///
    /// So many bytes are writable at `to`, and lie in a segment from `offset` on.
    unsafe fn get(&self, to: *mut u8, rank: usize, offset: usize, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let segment = self.endpoint.segments().holding(offset, bytes);
        let segment = segment.unwrap_or_else(|| unreachable!("the place was found in a segment"));
        let from = Remote { pe: self.pe(rank), segment, offset };
        // SAFETY: the caller's promise; a blocking get is over when it returns.
        unsafe { untyped::get(self.endpoint, to, from, bytes, Family::Getmem, Location::caller()) };
    }

    /// Reads a part of what each member has to the part of each, from the own one on, so that not all read the same.
    ///
    /// # Safety
    ///
    /// `part` gives, of a rank, where as many bytes of it lie in a segment, and where they go, which is writable.
    unsafe fn get_parts(&self, part: impl Fn(usize) -> (usize, *mut u8, usize)) {
        for distance in 0..self.size {
            let rank = (self.rank + distance) % self.size;
            let (from, to, bytes) = part(rank);
            // SAFETY: the caller's promise.
            unsafe { self.get(to, rank, from, bytes) };
        }
    }
}

fn barrier(routine: &'static str, start: c_int, log_stride: c_int, size: c_int, psync: *mut c_long) {
    match Members::of_log(routine, start, log_stride, size, psync) {
        Members::All(team) => team.barrier(world::current(routine)),
        Members::Some(set) => {
            untyped::quiet(set.endpoint);
            set.meet();
        }
    }
}

fn sync(routine: &'static str, start: c_int, log_stride: c_int, size: c_int, psync: *mut c_long) {
    match Members::of_log(routine, start, log_stride, size, psync) {
        Members::All(team) => team.sync(world::current(routine)),
        Members::Some(set) => set.meet(),
    }
}

unsafe fn broadcast<T: Item>(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    elements: usize,
    root: c_int,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    psync: *mut c_long,
) {
    let members = Members::of_log(routine, start, log_stride, size, psync);
    let (dest, source) = (dest.cast::<T>(), source.cast::<T>());
    let places = places(routine, (dest, elements), (source, elements), May::BeOne);
    let root = required_rank(routine, "PE_root", root, size as usize);
    match members {
        // SAFETY: C's caller keeps what is read and written to the collective. The root's own destination stays as it is.
        Members::All(team) => unsafe {
            collective::broadcast(team, world::current(routine), places, root, false);
        },
        Members::Some(set) => {
            set.meet();
            if root != set.rank {
                // SAFETY: both places lie in segments (`places`).
                unsafe { set.get(dest.cast(), root, places.from.offset, places.from.bytes) };
            }
            set.meet();
        }
    }
}

unsafe fn collect<T: Item>(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    elements: usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    psync: *mut c_long,
) {
    let (dest, source) = (dest.cast::<T>(), source.cast::<T>());
    let set = match Members::of_log(routine, start, log_stride, size, psync) {
        // SAFETY: the caller's promise.
        Members::All(team) => return unsafe { of_team::collect_of(routine, team, dest, source, elements) },
        Members::Some(set) => set,
    };
    let from = place(routine, "source", source, elements);
    let mut told = vec![elements as u64; set.size];
    // Who is alone has no words.
    let lengths = (set.size > 1).then(|| set.word(set.rounds()));
    if let Some(lengths) = lengths {
        lengths.update(set.world.me(), AtomicOp::Set(elements as u64), Family::AtomicSet);
        set.meet();
        for (rank, told) in told.iter_mut().enumerate().filter(|(rank, _)| *rank != set.rank) {
            *told = lengths.fetch(set.pe(rank), AtomicOp::Fetch, Family::AtomicFetch);
        }
    }
    let all = told.iter().fold(0_usize, |all, elements| all.saturating_add(*elements as usize));
    place(routine, "dest", dest, all);
    let mut at = 0;
    for (rank, elements) in told.into_iter().enumerate() {
        let (to, elements) = (dest.wrapping_add(at), elements as usize);
        at += elements;
        // A member that has none need not say where.
        let from = if from.bytes == 0 { place(routine, "source", source, elements) } else { from };
        // SAFETY: the destination has room for all (`place`), and the source of each member lies at one place.
        unsafe { set.get(to.cast(), rank, from.offset, elements * size_of::<T>()) };
    }
    set.meet();
    if let Some(lengths) = lengths {
        lengths.update(set.world.me(), AtomicOp::Set(0), Family::AtomicSet);
    }
}

unsafe fn fcollect<T: Item>(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    elements: usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    psync: *mut c_long,
) {
    let (dest, source) = (dest.cast::<T>(), source.cast::<T>());
    let set = match Members::of_log(routine, start, log_stride, size, psync) {
        // SAFETY: the caller's promise.
        Members::All(team) => return unsafe { of_team::fcollect_of(routine, team, dest, source, elements) },
        Members::Some(set) => set,
    };
    let all = elements.saturating_mul(set.size);
    let Extent { offset, bytes } = places(routine, (dest, all), (source, elements), May::NotBeOne).from;
    set.meet();
    let to = |rank: usize| dest.wrapping_add(rank * elements).cast();
    // SAFETY: both places lie in segments (`places`), and there is a part for each member.
    unsafe { set.get_parts(|rank| (offset, to(rank), bytes)) };
    set.meet();
}

unsafe fn alltoall<T: Item>(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    elements: usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    psync: *mut c_long,
) {
    let (dest, source) = (dest.cast::<T>(), source.cast::<T>());
    let set = match Members::of_log(routine, start, log_stride, size, psync) {
        // SAFETY: the caller's promise.
        Members::All(team) => return unsafe { of_team::alltoall_of(routine, team, dest, source, elements) },
        Members::Some(set) => set,
    };
    let all = elements.saturating_mul(set.size);
    let from = places(routine, (dest, all), (source, all), May::NotBeOne).from.offset;
    let part = elements * size_of::<T>();
    set.meet();
    let to = |rank: usize| dest.wrapping_add(rank * elements).cast();
    // SAFETY: both places lie in segments (`places`), and there is a part for each member.
    unsafe { set.get_parts(|rank| (from + set.rank * part, to(rank), part)) };
    set.meet();
}

unsafe fn alltoalls<T: Item>(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    dst: isize,
    sst: isize,
    elements: usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    psync: *mut c_long,
) {
    let (dest, source) = (dest.cast::<T>(), source.cast::<T>());
    let set = match Members::of_log(routine, start, log_stride, size, psync) {
        Members::All(team) => {
            // SAFETY: the caller's promise.
            return unsafe { of_team::alltoalls_of(routine, team, (dest, dst), (source, sst), elements) };
        }
        Members::Some(set) => set,
    };
    let [to, from] =
        [("dst", dst), ("sst", sst)].map(|(argument, stride)| required_stride(routine, argument, stride));
    let all = elements.saturating_mul(set.size);
    let places = places(routine, (dest, spread(all, to)), (source, spread(all, from)), May::Interleave);
    set.meet();
    for k in 0..elements {
        let there = places.from.offset + (set.rank * elements + k) * from * size_of::<T>();
        let here = |rank: usize| dest.wrapping_add((rank * elements + k) * to).cast();
        // SAFETY: both places lie in segments (`places`), and there is an element for each member.
        unsafe { set.get_parts(|rank| (there, here(rank), size_of::<T>())) };
    }
    set.meet();
}

macro_rules! reductions {
    ($($name:ident<$bound:ident> = $fold:ident $operation:ident;)*) => {$(
        unsafe fn $name<T: $bound>(
            routine: &'static str,
            dest: *mut T,
            source: *const T,
            elements: c_int,
            start: c_int,
            log_stride: c_int,
            size: c_int,
            _work: *mut T,
            psync: *mut c_long,
        ) {
            let operation = Operation::$operation;
            let fold = combine::$fold::<T>(operation, routine);
            let Ok(elements) = usize::try_from(elements) else {
                refuse(routine, "nreduce", format_args!("is {elements}: there cannot be less than nothing"))
            };
            match Members::of_log(routine, start, log_stride, size, psync) {
                // SAFETY: the caller's promise.
                Members::All(team) => unsafe {
                    of_team::reduce_of(routine, team, dest, source, elements, fold, operation);
                },
                // SAFETY: the caller's promise.
                Members::Some(set) => unsafe { set.reduce(dest, source, elements, fold) },
            }
        }
    )*};
}
reductions! {
    and_to_all<Bitwise> = bitwise And;
    or_to_all<Bitwise> = bitwise Or;
    xor_to_all<Bitwise> = bitwise Xor;
    max_to_all<Ordered> = ordered Max;
    min_to_all<Ordered> = ordered Min;
    sum_to_all<Arithmetic> = arithmetic Sum;
    prod_to_all<Arithmetic> = arithmetic Prod;
}

/// Bytes of each member that are combined at once: whole elements.
const PIECE: usize = 32 << 10;

impl Set {
    /// Combines what members have: each reads all of it, by pieces, and writes when nobody reads any more.
    ///
    /// # Safety
    ///
    /// What the specification asks of reductions, with elements that the fold combines.
    unsafe fn reduce<T>(&self, dest: *mut T, source: *const T, elements: usize, fold: Fold) {
        let Extent { offset, bytes } =
            places(self.routine, (dest, elements), (source, elements), May::BeOne).from;
        let mut all = vec![0_u8; PIECE.min(bytes) * self.size];
        let mut result = vec![0_u8; bytes];
        self.meet();
        for (k, piece) in result.chunks_mut(PIECE).enumerate() {
            let bytes = piece.len();
            let room = all.as_mut_ptr();
            let part = |rank: usize| (offset + k * PIECE, room.wrapping_add(rank * bytes), bytes);
            // SAFETY: the source lies in a segment (`places`), and there is room for the piece of each member.
            unsafe { self.get_parts(part) };
            let read = |rank: usize, at: usize, into: &mut [u8]| {
                into.copy_from_slice(&all[rank * bytes + at..][..into.len()]);
            };
            // SAFETY: pieces are whole elements, which the fold combines wherever they lie.
            unsafe { collective::fold_ranks(self.size, fold, piece, &read) };
        }
        self.meet();
        // SAFETY: the destination has so many bytes (`places`), which nobody reads any more.
        unsafe { untyped::copy(dest.cast(), result.as_ptr(), bytes) };
    }
}
