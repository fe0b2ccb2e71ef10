//! What other libraries have beside the specification, and partitions: `shmemx.h`.

use std::ffi::{c_char, c_int, c_void};
use std::time::{SystemTime, UNIX_EPOCH};

use shmem_core::observe::Family;
use shmem_core::strided::Level;

use crate::refusal::refuse;
use crate::stream::move_bytes;
use crate::table::routines;
use crate::types::{Ctx, PartitionInfo};
use crate::world;

routines! {
    once {
        extra "wtime" "" () -> f64 [] = wtime;
        extra "partition_info" "" (partition: c_int, info: *mut PartitionInfo) -> c_int [] = partition_info;
        extra "iputmem" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = moved_bytes, Family::Iputmem;
        extra "igetmem" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = moved_bytes, Family::Igetmem;
        extra "putmem_strided" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = moved_bytes, Family::Iputmem;
        extra "getmem_strided" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = moved_bytes, Family::Igetmem;
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

/// Blocks of bytes, if there are any; refused where a stride is none.
unsafe fn moved_bytes(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    dst: isize,
    sst: isize,
    block: usize,
    count: usize,
    pe: c_int,
    family: Family,
) {
    for (name, stride) in [("dst", dst), ("sst", sst)] {
        if stride < 1 {
            refuse(routine, name, format_args!("is {stride}: a stride is at least 1 byte"));
        }
    }
    if block > 0 && count > 0 {
        let level = Level { count, to: dst as usize, from: sst as usize };
        // SAFETY: the caller's promise.
        unsafe { move_bytes(Ctx::DEFAULT, routine, dest.cast(), source.cast(), block, level, pe, family) };
    }
}
