//! Atomic memory operations: blocking, non-blocking, and under the names that OpenSHMEM had before 1.4.

use std::ffi::c_int;
use std::ptr::NonNull;

use shmem_core::context::untyped;
use shmem_core::observe::Family;
use shmem_core::transport::{AtomicOp, Width};

use crate::context::Call;
use crate::rma::{near_word, remote_word};
use crate::table::routines;
use crate::types::{Number, Numeric};

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
        fixed "" "_fetch" (source: *const T, pe: c_int) -> T [shmem_fetch 0] = fetch::<T>;
        fixed "" "_set" (dest: *mut T, value: T, pe: c_int) [shmem_set 0] = set::<T>;
        fixed "" "_swap" (dest: *mut T, value: T, pe: c_int) -> T [shmem_swap 0] = swap::<T>;
    }
    old_amo {
        fixed "" "_cswap" (dest: *mut T, cond: T, value: T, pe: c_int) -> T [shmem_cswap 0] = compare_swap::<T>;
        fixed "" "_finc" (dest: *mut T, pe: c_int) -> T [shmem_finc 0] = fetch_inc::<T>;
        fixed "" "_inc" (dest: *mut T, pe: c_int) [shmem_inc 0] = inc::<T>;
        fixed "" "_fadd" (dest: *mut T, value: T, pe: c_int) -> T [shmem_fadd 0] = fetch_add::<T>;
        fixed "" "_add" (dest: *mut T, value: T, pe: c_int) [shmem_add 0] = add::<T>;
    }
}

const fn width<T>() -> Width {
    if size_of::<T>() == 8 { Width::W8 } else { Width::W4 }
}

#[inline(always)]
fn bits<T: Numeric<Number: Number>>(element: T) -> u64 {
    bytemuck::cast::<T, T::Number>(element).bits()
}

#[inline(always)]
fn of<T: Numeric<Number: Number>>(bits: u64) -> T {
    bytemuck::cast(T::Number::of(bits))
}

/// Updates a word atomically. Returns its old value, if `family` is an operation that fetches.
#[inline(always)]
unsafe fn change<T: Numeric<Number: Number>>(
    call: Call,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) -> T {
    of(match near_word(call, word, pe) {
        // SAFETY: `word` is aligned and in the slot of a PE of this node (`near_word`).
        Some((word, slot)) => unsafe { untyped::on_node(slot, word.cast(), width::<T>(), op) },
        // SAFETY: `change_far` checks `word`.
        None => unsafe { change_far(call, word, op, pe, family) },
    })
}

#[cold]
#[inline(never)]
unsafe fn change_far<T>(call: Call, word: *const T, op: AtomicOp, pe: c_int, family: Family) -> u64 {
    let place = remote_word(call, word, "dest", pe);
    // SAFETY: the word is in a segment, and aligned (`remote_word`).
    unsafe { untyped::atomic(call.endpoint(), None, place, width::<T>(), op, family) }
}

/// Updates a word atomically. The next quiet completes the write of its old value to `before`.
#[inline(always)]
unsafe fn change_nbi<T: Numeric<Number: Number>>(
    call: Call,
    before: *mut T,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) {
    match near_word(call, word, pe) {
        Some((word, slot)) => {
            // SAFETY: `word` is aligned and in the slot of a PE of this node (`near_word`).
            let bits = unsafe { untyped::on_node(slot, word.cast(), width::<T>(), op) };
            // SAFETY: the C program passes a writable `before`, which may be symmetric memory.
            unsafe { untyped::store(before, of(bits)) };
        }
        // SAFETY: `change_nbi_far` checks `word`. `before` is writable until the next quiet (caller).
        None => unsafe { change_nbi_far(call, before, word, op, pe, family) },
    }
}

#[cold]
#[inline(never)]
unsafe fn change_nbi_far<T>(
    call: Call,
    before: *mut T,
    word: *const T,
    op: AtomicOp,
    pe: c_int,
    family: Family,
) {
    let (place, width) = (remote_word(call, word, "dest", pe), width::<T>());
    let endpoint = call.endpoint();
    // SAFETY: the word is in a segment, and aligned (`remote_word`). The C program passes an aligned, writable `before`, and does
    // not use it until quiet.
    _ = unsafe { untyped::atomic(endpoint, NonNull::new(before.cast()), place, width, op, family) };
}

macro_rules! operations {
    ($($kind:ident $name:ident $values:tt = $op:expr, $family:ident;)*) => {$(
        operations! { @$kind $name $values = $op, $family }
    )*};
    (@fetching $name:ident ($($value:ident),*) = $op:expr, $family:ident) => {
        #[inline(always)]
        unsafe fn $name<T: Numeric<Number: Number>>(call: Call, dest: *const T $(, $value: T)*, pe: c_int) -> T {
            // SAFETY: `change` checks `dest`.
            unsafe { change(call, dest, ($op)($(bits($value),)* T::Number::ONE.bits()), pe, Family::$family) }
        }
    };
    (@update $name:ident ($($value:ident),*) = $op:expr, $family:ident) => {
        #[inline(always)]
        unsafe fn $name<T: Numeric<Number: Number>>(call: Call, dest: *mut T $(, $value: T)*, pe: c_int) {
            // SAFETY: `change` checks `dest`.
            unsafe { change(call, dest, ($op)($(bits($value),)* T::Number::ONE.bits()), pe, Family::$family) };
        }
    };
    (@nbi $name:ident ($($value:ident),*) = $op:expr, $family:ident) => {
        #[inline(always)]
        unsafe fn $name<T: Numeric<Number: Number>>(call: Call, before: *mut T, dest: *const T $(, $value: T)*, pe: c_int) {
            let op = ($op)($(bits($value),)* T::Number::ONE.bits());
            // SAFETY: `change_nbi` checks `dest`. `before` is writable until the next quiet (caller).
            unsafe { change_nbi(call, before, dest, op, pe, Family::$family) };
        }
    };
}
operations! {
    fetching fetch () = |_| AtomicOp::Fetch, AtomicFetch;
    update set (value) = |value, _| AtomicOp::Set(value), AtomicSet;
    fetching swap (value) = |value, _| AtomicOp::Swap(value), AtomicSwap;
    fetching compare_swap (cond, value) = |expected, desired, _| AtomicOp::CompareSwap { expected, desired }, AtomicCompareSwap;
    fetching fetch_inc () = AtomicOp::Add, AtomicFetchInc;
    update inc () = AtomicOp::Add, AtomicInc;
    fetching fetch_add (value) = |value, _| AtomicOp::Add(value), AtomicFetchAdd;
    update add (value) = |value, _| AtomicOp::Add(value), AtomicAdd;
    update and (value) = |value, _| AtomicOp::And(value), AtomicAnd;
    update or (value) = |value, _| AtomicOp::Or(value), AtomicOr;
    update xor (value) = |value, _| AtomicOp::Xor(value), AtomicXor;
    fetching fetch_and (value) = |value, _| AtomicOp::And(value), AtomicFetchAnd;
    fetching fetch_or (value) = |value, _| AtomicOp::Or(value), AtomicFetchOr;
    fetching fetch_xor (value) = |value, _| AtomicOp::Xor(value), AtomicFetchXor;
    nbi fetch_nbi () = |_| AtomicOp::Fetch, AtomicFetchNbi;
    nbi swap_nbi (value) = |value, _| AtomicOp::Swap(value), AtomicSwapNbi;
    nbi compare_swap_nbi (cond, value) = |expected, desired, _| AtomicOp::CompareSwap { expected, desired }, AtomicCompareSwapNbi;
    nbi fetch_inc_nbi () = AtomicOp::Add, AtomicFetchIncNbi;
    nbi fetch_add_nbi (value) = |value, _| AtomicOp::Add(value), AtomicFetchAddNbi;
    nbi fetch_and_nbi (value) = |value, _| AtomicOp::And(value), AtomicFetchAndNbi;
    nbi fetch_or_nbi (value) = |value, _| AtomicOp::Or(value), AtomicFetchOrNbi;
    nbi fetch_xor_nbi (value) = |value, _| AtomicOp::Xor(value), AtomicFetchXorNbi;
}
