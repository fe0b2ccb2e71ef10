//! What other libraries have beside the specification, and partitions: `shmemx.h`.
//!
//! Counters (`shmemx_pcntr_..`, Sandia's) are those of a job that counts (`SHMEM_STATS`), of the whole PE: calls that write memory or
//! change a word of a PE, and calls that read or fetch. Otherwise they are 0, since operations of a job that nobody observes have
//! no instruction of it. On a node, what was issued is complete when the call returns; over a network, who asks for what is
//! complete completes the context first.

use std::ffi::{c_char, c_int};
use std::time::{SystemTime, UNIX_EPOCH};

use shmem_core::context::untyped;
use shmem_core::observe::{Effect, Family};

use crate::stream::blocks;
use crate::table::routines;
use crate::types::{Ctx, PartitionInfo, PerformanceCounters};
use crate::world;

routines! {
    once {
        extra "wtime" "" () -> f64 [] = wtime;
        extra "partition_info" "" (partition: c_int, info: *mut PartitionInfo) -> c_int [] = partition_info;
    }
    mem {
        beside "iput" ""
            (dest: *mut T, source: *const T, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = blocks::<T>, Family::Iputmem;
        beside "iget" ""
            (dest: *mut T, source: *const T, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = blocks::<T>, Family::Igetmem;
        beside "put" "_strided"
            (dest: *mut T, source: *const T, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = blocks::<T>, Family::Iputmem;
        beside "get" "_strided"
            (dest: *mut T, source: *const T, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = blocks::<T>, Family::Igetmem;
    }
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

/// Seconds since a moment in the past.
fn wtime(_: &'static str) -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Tells of a partition; -1 if there is none.
unsafe fn partition_info(routine: &'static str, partition: c_int, info: *mut PartitionInfo) -> c_int {
    let world = world::current(routine);
    let id = u32::try_from(partition).unwrap_or(u32::MAX);
    let (Ok(heap), Some(report)) =
        (world.partition(id), world.partitions().into_iter().find(|report| report.spec.id == id))
    else {
        return -1;
    };
    let mut name = [0; 32];
    for (to, from) in name.iter_mut().zip(heap.name().bytes().take(31)) {
        *to = from as c_char;
    }
    let usage = heap.usage();
    let page_size = report.grants.get(world.my_pe()).map_or(0, |grant| grant.pgsize as usize);
    let told = PartitionInfo { id: partition, size: usage.used + usage.free, page_size, name };
    // SAFETY: C gives a variable to be written.
    unsafe { info.write(told) };
    0
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
