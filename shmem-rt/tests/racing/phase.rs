//! Phases: objects that may be opened, and how often. (Contents inside phases: random programs. Misuse: compile-fail tests.)

use crate::panics::refused;
use shmem::prelude::*;

#[symmetric]
static GRID: [[f64; 4]; 3];
#[symmetric]
static HITS: Atomic<u32>;

#[symmetric]
static LEFT: [u64; 3];
#[symmetric]
static RIGHT: [u64; 3];

#[shmem::test(pes = 2)]
fn arrays_and_lists_of_references_open_too(world: &mut World) {
    world.local([&LEFT, &RIGHT], |[left, right]| (left[0], right[2]) = (1, 2));
    let one = world.alloc([3_u64; 4]).unwrap();
    let pair = [one, world.alloc([4_u64; 2]).unwrap()];
    world.local(&pair, |[one, two]| std::mem::swap(&mut one[0], &mut two[0]));
    let (both, number) = (vec![&LEFT, &RIGHT], world.alloc(shmem::value(5_u32)).unwrap());
    world.add(HITS.on(world.ring_neighbours().1), 4);
    world.local((&number, &HITS, &GRID), |(number, hits, grid)| {
        *number += grid.len() as u32 + std::mem::take(hits.value_mut());
    });
    assert_eq!(world.frozen(&number, |number| *number), 12);
    let found = world.frozen(([&both, &both], &pair, &both[..1]), |([all, again], [one, two], first)| {
        assert_eq!((all, again[1]), (vec![&[1, 0, 0], &[0, 0, 2]], &[0, 0, 2]));
        [one[0], two[0], first.len() as u64]
    });
    assert_eq!(found, [4, 3, 1]);
    world.local(&pair[..0], |nothing| assert!(nothing.is_empty()));
}

#[shmem::test(pes = 2)]
fn naming_an_object_twice_is_refused(world: &mut World) {
    refused! { world.local((&GRID, &GRID), |_| ()) => "`GRID` is named twice in one `local`"; }
    let line = line!() + 1;
    let boxes: Vec<_> = (0..9).map(|i| world.alloc(vec![i; 1 + i]).unwrap()).collect();
    for (first, second) in (0..9).flat_map(|first| (0..9).map(move |second| (first, second))) {
        let mut list: Vec<_> = boxes.iter().collect();
        list[first] = list[second];
        let mut open =
            || world.local((&list[..4], &GRID, &list[4..]), |(head, _, tail)| head.len() + tail.len());
        if first == second {
            assert_eq!(open(), 9);
        } else {
            let name = format!(
                "`object #{} (shmem-rt/tests/racing/phase.rs:{line})` is named twice",
                boxes[second].id()
            );
            refused! { open() => name; }
        }
    }
    // The refused calls have no effect.
    world.barrier_all();
}
