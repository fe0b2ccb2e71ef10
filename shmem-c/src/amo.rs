//! Atomic memory operations, blocking and not, and under their old names.

use std::ffi::c_int;
use std::panic::Location;

use shmem_core::context::untyped;
use shmem_core::observe::Family;
use shmem_core::transport::{AtomicOp, Width};

use crate::rma::{near_word, remote_word};
use crate::table::routines;
use crate::types::{Ctx, Word};
use crate::world::stream;

routines! {
    extended_amo {
        ctx "" "_atomic_fetch" (source: *const T, pe: c_int) -> T [shmem_atomic_fetch 0] = fetch::<T>;
        ctx "" "_atomic_set" (dest: *mut T, value: T, pe: c_int) [shmem_atomic_set 0] = set::<T>;
        ctx "" "_atomic_swap" (dest: *mut T, value: T, pe: c_int) -> T [shmem_atomic_swap 0] = swap::<T>;
        ctx "" "_atomic_fetch_nbi" (fetch: *mut T, source: *const T, pe: c_int) [shmem_atomic_fetch_nbi 0] = fetch_nbi::<T>;
        ctx "" "_atomic_swap_nbi" (fetch: *mut T, dest: *mut T, value: T, pe: c_int) [shmem_atomic_swap_nbi 0]
            = swap_nbi::<T>;
    }
    standard_amo {
        ctx "" "_atomic_compare_swap" (dest: *mut T, cond: T, value: T, pe: c_int) -> T [shmem_atomic_compare_swap 0]
            = compare_swap::<T>;
        ctx "" "_atomic_fetch_inc" (dest: *mut T, pe: c_int) -> T [shmem_atomic_fetch_inc 0] = fetch_inc::<T>;
        ctx "" "_atomic_inc" (dest: *mut T, pe: c_int) [shmem_atomic_inc 0] = inc::<T>;
        ctx "" "_atomic_fetch_add" (dest: *mut T, value: T, pe: c_int) -> T [shmem_atomic_fetch_add 0] = fetch_add::<T>;
        ctx "" "_atomic_add" (dest: *mut T, value: T, pe: c_int) [shmem_atomic_add 0] = add::<T>;
        ctx "" "_atomic_compare_swap_nbi" (fetch: *mut T, dest: *mut T, cond: T, value: T, pe: c_int)
            [shmem_atomic_compare_swap_nbi 0] = compare_swap_nbi::<T>;
        ctx "" "_atomic_fetch_inc_nbi" (fetch: *mut T, dest: *mut T, pe: c_int) [shmem_atomic_fetch_inc_nbi 0]
            = fetch_inc_nbi::<T>;
        ctx "" "_atomic_fetch_add_nbi" (fetch: *mut T, dest: *mut T, value: T, pe: c_int) [shmem_atomic_fetch_add_nbi 0]
            = fetch_add_nbi::<T>;
    }
    bitwise_amo {
        ctx "" "_atomic_and" (dest: *mut T, value: T, pe: c_int) [shmem_atomic_and 0] = and::<T>;
        ctx "" "_atomic_or" (dest: *mut T, value: T, pe: c_int) [shmem_atomic_or 0] = or::<T>;
        ctx "" "_atomic_xor" (dest: *mut T, value: T, pe: c_int) [shmem_atomic_xor 0] = xor::<T>;
        ctx "" "_atomic_fetch_and" (dest: *mut T, value: T, pe: c_int) -> T [shmem_atomic_fetch_and 0] = fetch_and::<T>;
        ctx "" "_atomic_fetch_or" (dest: *mut T, value: T, pe: c_int) -> T [shmem_atomic_fetch_or 0] = fetch_or::<T>;
        ctx "" "_atomic_fetch_xor" (dest: *mut T, value: T, pe: c_int) -> T [shmem_atomic_fetch_xor 0] = fetch_xor::<T>;
        ctx "" "_atomic_fetch_and_nbi" (fetch: *mut T, dest: *mut T, value: T, pe: c_int) [shmem_atomic_fetch_and_nbi 0]
            = fetch_and_nbi::<T>;
        ctx "" "_atomic_fetch_or_nbi" (fetch: *mut T, dest: *mut T, value: T, pe: c_int) [shmem_atomic_fetch_or_nbi 0]
            = fetch_or_nbi::<T>;
        ctx "" "_atomic_fetch_xor_nbi" (fetch: *mut T, dest: *mut T, value: T, pe: c_int) [shmem_atomic_fetch_xor_nbi 0]
            = fetch_xor_nbi::<T>;
    }
    old_extended_amo {
        plain "" "_fetch" (source: *const T, pe: c_int) -> T [shmem_fetch 0] = old_fetch::<T>;
        plain "" "_set" (dest: *mut T, value: T, pe: c_int) [shmem_set 0] = old_set::<T>;
        plain "" "_swap" (dest: *mut T, value: T, pe: c_int) -> T [shmem_swap 0] = old_swap::<T>;
    }
    old_amo {
        plain "" "_cswap" (dest: *mut T, cond: T, value: T, pe: c_int) -> T [shmem_cswap 0] = old_compare_swap::<T>;
        plain "" "_finc" (dest: *mut T, pe: c_int) -> T [shmem_finc 0] = old_fetch_inc::<T>;
        plain "" "_inc" (dest: *mut T, pe: c_int) [shmem_inc 0] = old_inc::<T>;
        plain "" "_fadd" (dest: *mut T, value: T, pe: c_int) -> T [shmem_fadd 0] = old_fetch_add::<T>;
        plain "" "_add" (dest: *mut T, value: T, pe: c_int) [shmem_add 0] = old_add::<T>;
    }
}

const fn width<T>() -> Width {
    if size_of::<T>() == 8 { Width::W8 } else { Width::W4 }
}

/// Changes a word, and gives what was there.
#[inline(always)]
unsafe fn fetching<T: Word>(
    ctx: Ctx,
    routine: &'static str,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) -> T {
    match near_word(ctx, routine, word, pe) {
        // SAFETY: an aligned place in the slot of a PE of this node (`near_word`).
        Some((word, slot)) => T::of(unsafe { untyped::near_atomic(slot, word.cast(), width::<T>(), op) }),
        // SAFETY: the caller's promise.
        None => unsafe { fetching_far(ctx, routine, word, op, pe, family) },
    }
}

#[cold]
#[inline(never)]
unsafe fn fetching_far<T: Word>(
    ctx: Ctx,
    routine: &'static str,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) -> T {
    let place = remote_word(ctx, routine, word, "dest", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    // SAFETY: the word lies in the segment aligned (`remote_word`).
    T::of(unsafe { untyped::atomic(endpoint, place, width::<T>(), op, family, Location::caller()) })
}

/// Changes a word.
#[inline(always)]
unsafe fn update<T: Word>(
    ctx: Ctx,
    routine: &'static str,
    word: *mut T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) {
    match near_word(ctx, routine, word, pe) {
        // SAFETY: an aligned place in the slot of a PE of this node (`near_word`).
        Some((word, slot)) => _ = unsafe { untyped::near_atomic(slot, word.cast(), width::<T>(), op) },
        // SAFETY: the caller's promise.
        None => unsafe { update_far(ctx, routine, word, op, pe, family) },
    }
}

#[cold]
#[inline(never)]
unsafe fn update_far<T: Word>(
    ctx: Ctx,
    routine: &'static str,
    word: *mut T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) {
    let place = remote_word(ctx, routine, word, "dest", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    // SAFETY: the word lies in the segment aligned (`remote_word`).
    unsafe { untyped::update(endpoint, place, width::<T>(), op, family, Location::caller()) };
}

/// Changes a word; what was there is written until the stream is quiet.
#[inline(always)]
unsafe fn fetching_nbi<T: Word>(
    ctx: Ctx,
    routine: &'static str,
    before: *mut T,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) {
    match near_word(ctx, routine, word, pe) {
        Some((word, slot)) => {
            // SAFETY: an aligned place in the slot of a PE of this node (`near_word`).
            let bits = unsafe { untyped::near_atomic(slot, word.cast(), width::<T>(), op) };
            // SAFETY: C gives a variable to be written; it may be symmetric itself.
            unsafe { untyped::store(before, T::of(bits)) };
        }
        // SAFETY: the caller's promise.
        None => unsafe { fetching_nbi_far(ctx, routine, before, word, op, pe, family) },
    }
}

#[cold]
#[inline(never)]
unsafe fn fetching_nbi_far<T: Word>(
    ctx: Ctx,
    routine: &'static str,
    before: *mut T,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) {
    let place = remote_word(ctx, routine, word, "dest", pe);
    let endpoint = stream(ctx, routine).endpoint(routine);
    // SAFETY: the word lies in the segment aligned (`remote_word`); C leaves the result's variable alone until
    // it is quiet.
    unsafe {
        untyped::atomic_nbi(endpoint, before.cast(), place, width::<T>(), op, family, Location::caller());
    }
}

macro_rules! operations {
    ($($kind:ident $name:ident $values:tt $(/ $old:ident)? = $op:expr, $family:ident;)*) => {$(
        operations! { @$kind $name $values = $op, $family }
        $(operations! { @old $kind $old $name $values })?
    )*};
    (@fetching $name:ident ($($value:ident),*) = $op:expr, $family:ident) => {
        #[inline(always)]
        unsafe fn $name<T: Word>(ctx: Ctx, routine: &'static str, dest: *const T $(, $value: T)*, pe: c_int) -> T {
            // SAFETY: the caller's promise.
            unsafe { fetching(ctx, routine, dest, ($op)($($value.bits(),)* T::ONE), pe, Family::$family) }
        }
    };
    (@old fetching $old:ident $name:ident ($($value:ident),*)) => {
        #[inline(always)]
        unsafe fn $old<T: Word>(routine: &'static str, dest: *const T $(, $value: T)*, pe: c_int) -> T {
            // SAFETY: the caller's promise.
            unsafe { $name(Ctx::DEFAULT, routine, dest $(, $value)*, pe) }
        }
    };
    (@update $name:ident ($($value:ident),*) = $op:expr, $family:ident) => {
        #[inline(always)]
        unsafe fn $name<T: Word>(ctx: Ctx, routine: &'static str, dest: *mut T $(, $value: T)*, pe: c_int) {
            // SAFETY: the caller's promise.
            unsafe { update(ctx, routine, dest, ($op)($($value.bits(),)* T::ONE), pe, Family::$family) };
        }
    };
    (@old update $old:ident $name:ident ($($value:ident),*)) => {
        #[inline(always)]
        unsafe fn $old<T: Word>(routine: &'static str, dest: *mut T $(, $value: T)*, pe: c_int) {
            // SAFETY: the caller's promise.
            unsafe { $name(Ctx::DEFAULT, routine, dest $(, $value)*, pe) };
        }
    };
    (@nbi $name:ident ($($value:ident),*) = $op:expr, $family:ident) => {
        #[inline(always)]
        unsafe fn $name<T: Word>(
            ctx: Ctx,
            routine: &'static str,
            before: *mut T,
            dest: *const T
            $(, $value: T)*,
            pe: c_int,
        ) {
            // SAFETY: the caller's promise.
            unsafe {
                fetching_nbi(ctx, routine, before, dest, ($op)($($value.bits(),)* T::ONE), pe, Family::$family);
            }
        }
    };
}
operations! {
    fetching fetch () / old_fetch = |_| AtomicOp::Fetch, AtomicFetch;
    update set (value) / old_set = |value, _| AtomicOp::Set(value), AtomicSet;
    fetching swap (value) / old_swap = |value, _| AtomicOp::Swap(value), AtomicSwap;
    fetching compare_swap (cond, value) / old_compare_swap
        = |expected, desired, _| AtomicOp::CompareSwap { expected, desired }, AtomicCompareSwap;
    fetching fetch_inc () / old_fetch_inc = AtomicOp::Add, AtomicFetchInc;
    update inc () / old_inc = AtomicOp::Add, AtomicInc;
    fetching fetch_add (value) / old_fetch_add = |value, _| AtomicOp::Add(value), AtomicFetchAdd;
    update add (value) / old_add = |value, _| AtomicOp::Add(value), AtomicAdd;
    update and (value) = |value, _| AtomicOp::And(value), AtomicAnd;
    update or (value) = |value, _| AtomicOp::Or(value), AtomicOr;
    update xor (value) = |value, _| AtomicOp::Xor(value), AtomicXor;
    fetching fetch_and (value) = |value, _| AtomicOp::And(value), AtomicFetchAnd;
    fetching fetch_or (value) = |value, _| AtomicOp::Or(value), AtomicFetchOr;
    fetching fetch_xor (value) = |value, _| AtomicOp::Xor(value), AtomicFetchXor;
    nbi fetch_nbi () = |_| AtomicOp::Fetch, AtomicFetchNbi;
    nbi swap_nbi (value) = |value, _| AtomicOp::Swap(value), AtomicSwapNbi;
    nbi compare_swap_nbi (cond, value)
        = |expected, desired, _| AtomicOp::CompareSwap { expected, desired }, AtomicCompareSwapNbi;
    nbi fetch_inc_nbi () = AtomicOp::Add, AtomicFetchIncNbi;
    nbi fetch_add_nbi (value) = |value, _| AtomicOp::Add(value), AtomicFetchAddNbi;
    nbi fetch_and_nbi (value) = |value, _| AtomicOp::And(value), AtomicFetchAndNbi;
    nbi fetch_or_nbi (value) = |value, _| AtomicOp::Or(value), AtomicFetchOrNbi;
    nbi fetch_xor_nbi (value) = |value, _| AtomicOp::Xor(value), AtomicFetchXorNbi;
}
