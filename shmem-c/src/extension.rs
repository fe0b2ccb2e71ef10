//! What other libraries have beside the specification, and partitions: `shmemx.h`.

use std::ffi::{c_char, c_int, c_void};
use std::time::{SystemTime, UNIX_EPOCH};

use shmem_core::observe::Family;
use shmem_core::strided::Level;

use crate::refusal::refuse;
use crate::stream::{get_bytes, put_bytes};
use crate::table::routines;
use crate::types::{Ctx, PartitionInfo};
use crate::world;

routines! {
    once {
        extra "wtime" "" () -> f64 [] = wtime;
        extra "partition_info" "" (partition: c_int, info: *mut PartitionInfo) -> c_int [] = partition_info;
        extra "iputmem" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = iputmem;
        extra "igetmem" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = igetmem;
        extra "putmem_strided" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = iputmem;
        extra "getmem_strided" ""
            (dest: *mut c_void, source: *const c_void, dst: isize, sst: isize, blksize: usize, nblks: usize, pe: c_int) []
            = igetmem;
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
fn level(routine: &'static str, dst: isize, sst: isize, block: usize, count: usize) -> Option<Level> {
    for (name, stride) in [("dst", dst), ("sst", sst)] {
        if stride < 1 {
            refuse(routine, name, format_args!("is {stride}: a stride is at least 1 byte"));
        }
    }
    (block > 0 && count > 0).then_some(Level { count, to: dst as usize, from: sst as usize })
}

unsafe fn iputmem(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    dst: isize,
    sst: isize,
    block: usize,
    count: usize,
    pe: c_int,
) {
    if let Some(level) = level(routine, dst, sst, block, count) {
        // SAFETY: the caller's promise.
        unsafe {
            put_bytes(Ctx::DEFAULT, routine, dest.cast(), source.cast(), block, level, pe, Family::Iputmem);
        }
    }
}

unsafe fn igetmem(
    routine: &'static str,
    dest: *mut c_void,
    source: *const c_void,
    dst: isize,
    sst: isize,
    block: usize,
    count: usize,
    pe: c_int,
) {
    if let Some(level) = level(routine, dst, sst, block, count) {
        // SAFETY: the caller's promise.
        unsafe {
            get_bytes(Ctx::DEFAULT, routine, dest.cast(), source.cast(), block, level, pe, Family::Igetmem);
        }
    }
}
