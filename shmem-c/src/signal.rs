//! Signals: puts with a signal, and signal updates without data.

use std::ffi::c_int;

use shmem_core::context::untyped;
use shmem_core::observe::Family;
use shmem_core::transport::{SignalOp, Width};

use crate::context::Call;
use crate::errors::refuse;
use crate::rma::{bytes_of, near_range, near_word, remote, remote_word};
use crate::symmetric;
use crate::table::routines;
use crate::types::{Item, UInt64};
use crate::wait::{CMP_NE, Words};
use crate::world;

routines! {
    standard_rma {
        ctx "" "_put_signal"
            (dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int)
            [shmem_put_signal 0] = put_signal::<T>, Family::PutSignal;
        ctx "" "_put_signal_nbi"
            (dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int)
            [shmem_put_signal_nbi 0] = put_signal::<T>, Family::PutSignalNbi;
    }
    sizes_and_mem {
        ctx "put" "_signal"
            (dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int)
            [] = put_signal::<T>, Family::PutSignal;
        ctx "put" "_signal_nbi"
            (dest: *mut T, source: *const T, nelems: usize, sig_addr: *mut u64, signal: u64, sig_op: c_int, pe: c_int)
            [] = put_signal::<T>, Family::PutSignalNbi;
    }
    once {
        ctx "signal_set" "" (sig_addr: *mut u64, signal: u64, pe: c_int) [] = signal_alone, SignalOp::Set;
        ctx "signal_add" "" (sig_addr: *mut u64, signal: u64, pe: c_int) [] = signal_alone, SignalOp::Add;
        plain "signal_fetch" "" (sig_addr: *const u64) -> u64 [] = signal_fetch;
        plain "signal_wait_until" "" (sig_addr: *mut u64, cmp: c_int, cmp_value: u64) -> u64 [] = signal_wait_until;
    }
}

/// Returns the update that `SHMEM_SIGNAL_SET` or `SHMEM_SIGNAL_ADD` stands for. Refuses other numbers.
#[inline(always)]
fn change(routine: &'static str, sig_op: c_int, signal: u64) -> SignalOp {
    match sig_op {
        0 => SignalOp::Set(signal),
        1 => SignalOp::Add(signal),
        _ => {
            world::current(routine);
            refuse(
                routine,
                "sig_op",
                format_args!(
                    "is {sig_op}: a signal is changed by SHMEM_SIGNAL_SET (0) or SHMEM_SIGNAL_ADD (1)"
                ),
            )
        }
    }
}

#[inline(always)]
unsafe fn put_signal<T: Item>(
    call: Call,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
    family: Family,
) {
    let op = change(call.routine(), sig_op, signal);
    let bytes = bytes_of::<T>(call, nelems);
    let signal = symmetric::offset(sig_addr).filter(|_| sig_addr.is_aligned());
    let Some(((to, slot), signal)) = near_range(call, dest, bytes, pe).zip(signal) else {
        // SAFETY: `source` is readable; for a non-blocking put, until the next quiet (caller).
        return unsafe { put_signal_far(call, dest.cast(), source.cast(), bytes, sig_addr, op, pe, family) };
    };
    // SAFETY: `to` is symmetric memory of a PE of this node (`near_range`); `source` is readable (caller).
    unsafe { untyped::copy(to, source.cast(), bytes) };
    // SAFETY: `signal` is the offset of an aligned word (`offset`), the same in every slot, and so in `slot`.
    unsafe { untyped::signal_on_node(slot, slot.wrapping_add(signal), op) };
}

#[cold]
#[inline(never)]
unsafe fn put_signal_far(
    call: Call,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    sig_addr: *mut u64,
    op: SignalOp,
    pe: c_int,
    family: Family,
) {
    let signal = remote_word(call, sig_addr, "sig_addr", pe);
    // A put of 0 bytes may have any address, so the word's address stands in.
    let to = if bytes == 0 { signal } else { remote(call, dest, bytes, "dest", pe) };
    let endpoint = call.endpoint();
    // SAFETY: `to` is in a segment, and the signal word is aligned (`remote`, `remote_word`). `source` is readable (caller).
    unsafe { untyped::put_signal(endpoint, to, source, bytes, signal, op, family) };
}

#[inline(always)]
unsafe fn signal_alone(call: Call, sig_addr: *mut u64, signal: u64, pe: c_int, change: fn(u64) -> SignalOp) {
    let op = change(signal);
    match near_word(call, sig_addr, pe) {
        // SAFETY: `word` is aligned and in the slot of a PE of this node (`near_word`).
        Some((word, slot)) => unsafe { untyped::signal_on_node(slot, word.cast(), op) },
        // SAFETY: `signal_far` checks `sig_addr`.
        None => unsafe { signal_far(call, sig_addr, op, pe) },
    }
}

#[cold]
#[inline(never)]
unsafe fn signal_far(call: Call, sig_addr: *mut u64, op: SignalOp, pe: c_int) {
    let place = remote_word(call, sig_addr, "sig_addr", pe);
    let family = if let SignalOp::Set(_) = op { Family::SignalSet } else { Family::SignalAdd };
    // SAFETY: the word is in a segment, and aligned (`remote_word`).
    _ = unsafe { untyped::atomic(call.endpoint(), None, place, Width::W8, op.into(), family) };
}

fn signal_fetch(routine: &'static str, sig_addr: *const u64) -> u64 {
    Words::one(routine, "sig_addr", sig_addr.cast::<UInt64>(), CMP_NE, UInt64(0)).now(Family::SignalFetch).0
}

fn signal_wait_until(routine: &'static str, sig_addr: *mut u64, cmp: c_int, value: u64) -> u64 {
    Words::one(routine, "sig_addr", sig_addr.cast::<UInt64>(), cmp, UInt64(value)).wait_for_word().0
}
