//! Counters of operations, by the names that Sandia's library has for its own: `shmemx_pcntr_..`.
//!
//! What is counted is what a job counts that is asked to (`SHMEM_STATS`), of the whole PE: calls that write memory or change a word
//! of a PE, and calls that read or fetch. Nobody counts otherwise, since operations of a job that nobody observes have no
//! instruction of it; then all counters are 0, as there where operations go through no network. On a node, what was issued is
//! complete when the call returns. Over a network, who asks for what is complete completes the context first.

use shmem_core::context::untyped;
use shmem_core::observe::Effect;

use crate::table::routines;
use crate::types::{Ctx, PerformanceCounters};
use crate::world;

routines! {
    once {
        extra "pcntr_get_issued_write" "" (ctx: Ctx, cntr_value: *mut u64) [] = give, |routine, _| issued(routine)[0];
        extra "pcntr_get_issued_read" "" (ctx: Ctx, cntr_value: *mut u64) [] = give, |routine, _| issued(routine)[1];
        extra "pcntr_get_completed_write" "" (ctx: Ctx, cntr_value: *mut u64) []
            = give, |routine, ctx| completed(routine, ctx)[0];
        extra "pcntr_get_completed_read" "" (ctx: Ctx, cntr_value: *mut u64) []
            = give, |routine, ctx| completed(routine, ctx)[1];
        extra "pcntr_get_completed_target" "" (cntr_value: *mut u64) [] = completed_target;
        extra "pcntr_get_all" "" (ctx: Ctx, pcntr: *mut PerformanceCounters) [] = give, all;
    }
}

/// Calls so far: those that write, and those that read.
fn issued(routine: &'static str) -> [u64; 2] {
    let [mut writes, mut reads] = [0; 2];
    for (family, tally) in world::current(routine).statistics().iter().flat_map(|counted| counted.iter()) {
        match family.effect() {
            Effect::Put | Effect::PutSignal | Effect::Update => writes += tally.calls,
            Effect::Get | Effect::Fetch => reads += tally.calls,
            _ => {}
        }
    }
    [writes, reads]
}

/// The same, each of them complete.
fn completed(routine: &'static str, ctx: Ctx) -> [u64; 2] {
    if ctx != Ctx::INVALID {
        let endpoint = world::stream(ctx, routine).endpoint(routine);
        if endpoint.transport_name().is_some() {
            untyped::quiet(endpoint);
        }
    }
    issued(routine)
}

fn all(routine: &'static str, ctx: Ctx) -> PerformanceCounters {
    let [pending_put, pending_get] = completed(routine, ctx);
    let (completed_put, completed_get) = (pending_put, pending_get);
    PerformanceCounters { pending_put, pending_get, completed_put, completed_get, target: 0 }
}

/// Writes what is asked for.
unsafe fn give<T>(routine: &'static str, ctx: Ctx, value: *mut T, of: fn(&'static str, Ctx) -> T) {
    // SAFETY: C gives a variable to be written.
    unsafe { value.write(of(routine, ctx)) };
}

/// What other PEs have done to this one: nobody counts that.
unsafe fn completed_target(routine: &'static str, value: *mut u64) {
    world::current(routine);
    // SAFETY: C gives a variable to be written.
    unsafe { value.write(0) };
}
