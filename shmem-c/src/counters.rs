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
        extra "pcntr_get_issued_write" "" (ctx: Ctx, cntr_value: *mut u64) [] = issued, |calls| calls.writes;
        extra "pcntr_get_issued_read" "" (ctx: Ctx, cntr_value: *mut u64) [] = issued, |calls| calls.reads;
        extra "pcntr_get_completed_write" "" (ctx: Ctx, cntr_value: *mut u64) []
            = completed, |calls| calls.writes;
        extra "pcntr_get_completed_read" "" (ctx: Ctx, cntr_value: *mut u64) []
            = completed, |calls| calls.reads;
        extra "pcntr_get_completed_target" "" (cntr_value: *mut u64) [] = completed_target;
        extra "pcntr_get_all" "" (ctx: Ctx, pcntr: *mut PerformanceCounters) [] = all;
    }
}

/// Calls that write, and calls that read.
#[derive(Clone, Copy, Default)]
struct Calls {
    writes: u64,
    reads: u64,
}

impl Calls {
    /// All so far.
    fn issued(routine: &'static str) -> Self {
        let mut calls = Self::default();
        for (family, tally) in world::current(routine).statistics().iter().flat_map(|counted| counted.iter())
        {
            match family.effect() {
                Effect::Put | Effect::PutSignal | Effect::Update => calls.writes += tally.calls,
                Effect::Get | Effect::Fetch => calls.reads += tally.calls,
                _ => {}
            }
        }
        calls
    }

    /// All so far, each of them complete.
    fn completed(ctx: Ctx, routine: &'static str) -> Self {
        if ctx != Ctx::INVALID {
            let endpoint = world::stream(ctx, routine).endpoint(routine);
            if endpoint.transport_name().is_some() {
                untyped::quiet(endpoint);
            }
        }
        Self::issued(routine)
    }
}

unsafe fn issued(routine: &'static str, _: Ctx, value: *mut u64, which: fn(Calls) -> u64) {
    // SAFETY: C gives a variable to be written.
    unsafe { value.write(which(Calls::issued(routine))) };
}

unsafe fn completed(routine: &'static str, ctx: Ctx, value: *mut u64, which: fn(Calls) -> u64) {
    // SAFETY: C gives a variable to be written.
    unsafe { value.write(which(Calls::completed(ctx, routine))) };
}

/// What other PEs have done to this one: nobody counts that.
unsafe fn completed_target(routine: &'static str, value: *mut u64) {
    world::current(routine);
    // SAFETY: C gives a variable to be written.
    unsafe { value.write(0) };
}

unsafe fn all(routine: &'static str, ctx: Ctx, counters: *mut PerformanceCounters) {
    let Calls { writes, reads } = Calls::completed(ctx, routine);
    let told = PerformanceCounters {
        pending_put: writes,
        pending_get: reads,
        completed_put: writes,
        completed_get: reads,
        target: 0,
    };
    // SAFETY: C gives a variable to be written.
    unsafe { counters.write(told) };
}
