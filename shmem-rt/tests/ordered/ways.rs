//! Whichever way collectives are asked to take (`SHMEM_COLLECTIVE_ALGORITHM`), they give the same: what a loop gives, and of
//! floating sums the bits of the tree. Lengths of nothing and of a few bytes are among what goes each way.

use shmem::Family;
use shmem::prelude::*;

use crate::collectives::{SUMS, play};
use crate::together::{MOST, What};

/// What goes by ways that are asked for, and where the order of sums shows.
fn is_the_same(world: &mut World) {
    play(world, &[What::Broadcast, What::Sum, What::Min, What::Fcollect, What::Alltoall], 6, MOST);
    play(world, SUMS, 4, MOST);
}

macro_rules! ways {
    ($($name:ident: $ways:literal, $($variable:literal = $value:literal),*;)*) => {$(
        #[shmem::test(pes = 4, env("SHMEM_COLLECTIVE_ALGORITHM" = $ways, $($variable = $value),*))]
        fn $name(world: &mut World) {
            is_the_same(world);
        }
    )*};
}
ways! {
    meetings_on_a_node: "broadcast:meetings,reduce:meetings,fcollect:meetings,alltoall:meetings",
        "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x4";
    rings: "broadcast:rings,reduce:rings,fcollect:rings,alltoall:rings",
        "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x4";
    direct_forms: "broadcast:direct,reduce:direct,fcollect:direct,alltoall:direct",
        "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x4";
    meetings_of_nodes: "broadcast:meetings,reduce:meetings,fcollect:meetings,alltoall:meetings",
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    meetings_of_nodes_of_two: "broadcast:meetings,reduce:meetings,fcollect:meetings,alltoall:meetings",
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    windows: "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows",
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1";
    windows_of_nodes_of_two: "broadcast:windows,reduce:windows,fcollect:windows,alltoall:windows",
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
    one_way_each: "broadcast:windows,reduce:meetings,fcollect:rings,alltoall:direct",
        "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x2";
}

/// Messages that this PE sends in a collective.
fn sent(world: &World, collective: impl FnOnce()) -> u64 {
    let all = || world.traffic().expect("SHMEM_STATS counts").iter().map(|to| to.operations).sum::<u64>();
    let before = all();
    collective();
    all() - before
}

#[shmem::test(pes = 2, env("SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:windows", "SHMEM_STATS" = "1",
    "SHMEM_TRANSPORT" = "loopback", "SHMRUN_HOSTS_AS" = "*x1"))]
fn a_word_goes_by_windows_where_that_is_asked_for(world: &mut World) {
    let root = world.pe(0).unwrap();
    let messages = sent(world, || assert_eq!(world.broadcast(world.my_pe() + 7, root), 7));
    assert_eq!(messages, 1 + u64::from(world.me() == root), "that of the meeting, and of the root a chunk");
}

#[shmem::test(pes = 2, env("SHMEM_COLLECTIVE_ALGORITHM" = "broadcast:direct", "SHMEM_STATS" = "1",
    "SHMEM_TRANSPORT" = "shm", "SHMRUN_HOSTS_AS" = "*x2"))]
fn a_few_bytes_are_read_where_they_lie_where_that_is_asked_for(world: &mut World) {
    let object = world.alloc(shmem::value(world.my_pe() + 7)).unwrap();
    world.broadcast(&object, world.pe(0).unwrap());
    let statistics = world.statistics().expect("SHMEM_STATS counts");
    // By another way each would read its own copy, and write it.
    let bytes = [Family::HereLoad, Family::HereStore].map(|family| statistics.of(family).bytes);
    assert_eq!(bytes, if world.my_pe() == 0 { [8, 0] } else { [0, 8] });
    assert_eq!(world.g(object.on(world.me())), 7);
}
