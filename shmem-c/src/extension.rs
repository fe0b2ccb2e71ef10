//! `shmemx.h`: partitions, and extensions that other libraries introduced.

use std::ffi::{c_char, c_int};
use std::time::{SystemTime, UNIX_EPOCH};

use shmem_core::observe::Family;

use crate::strided::blocks;
use crate::table::routines;
use crate::types::PartitionInfo;
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
}

fn wtime(_: &'static str) -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Writes the description of a partition to `info`. Returns -1 if there is no such partition.
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
    // SAFETY: the C program passes a writable `info`.
    unsafe { info.write(told) };
    0
}
