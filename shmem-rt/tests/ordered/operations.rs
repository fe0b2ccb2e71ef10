//! What histories do not have: items of no bytes, and what is refused.

use shmem::Located;
use shmem::prelude::*;

use crate::panics::refused;

#[shmem::test(pes = 3)]
fn the_first_of_equal_numbers_is_found_and_no_nan_before_a_number(world: &mut World) {
    let me = world.my_pe();
    let nan = f64::NAN;
    let rows: [&[f64]; 3] = [&[nan, 2.0, 2.0], &[1.0, 2.0, 1.0], &[1.0, nan]];
    assert_eq!(world.min_at(rows[me]), Some(Located { value: 1.0, rank: 1, index: 0 }));
    assert_eq!(world.max_at(rows[me]), Some(Located { value: 2.0, rank: 0, index: 1 }));
    assert_eq!(world.max_at(&me), Some(Located { value: 2, rank: 2, index: 0 }));
    let none = world.min_at(&[nan; 2][me / 2..]).unwrap();
    assert!(none.value.is_nan() && (none.rank, none.index) == (0, 0));
    let empty: &[u128] = &[];
    assert_eq!(world.min_at(empty), None);
    let one: &[u128] = if me == 1 { &[u128::MAX] } else { &[] };
    assert_eq!(world.min_at(one), Some(Located { value: u128::MAX, rank: 1, index: 0 }));
}

#[shmem::test(pes = 3)]
fn items_without_bytes_keep_their_count(world: &mut World) {
    // More than any loop comes to the end of.
    let many = 1_usize << 50;
    let (me, first) = (world.my_pe(), world.pe(0).unwrap());
    let some = |count: usize| shmem_core::data::zeroed_items::<[u64; 0]>(count);
    let all = world.collect_to(&some(many + me), first);
    assert_eq!(all.map(|all| all.len()), (me == 0).then_some(3 * many + 3));
    let mut into = Vec::new();
    let came = world.alltoallv(&some(3 * many + 3), &[many, many + 1, many + 2], &mut into);
    assert_eq!((came, into.len()), (vec![many + me; 3], 3 * (many + me)));
    let keep = |a: [u64; 0], _: [u64; 0]| a;
    assert_eq!(world.reduce(some(many), keep).len(), many);
    assert_eq!(world.reduce_to(some(many), first, keep).map(|all| all.len()), (me == 0).then_some(many));
    assert_eq!(world.scatter_from(&some(3 * many), some(many), first).len(), many);
    assert_eq!(world.reduce_scatter(&some(3 * many), some(many), keep).len(), many);
    let mut all = some(if me == 0 { 3 * many } else { 0 });
    world.fcollect_to(&some(many), &mut all, first);
    let mut all = some(3 * many);
    world.fcollect(&some(many), &mut all);
    world.alltoall(&some(3 * many), &mut all);
    world.alltoalls(&some(3 * many), 1, &mut all, 1, many);
    assert_eq!(world.collect(&some(many + me)).len(), 3 * many + 3);
    assert_eq!(world.broadcast(some(many), first).len(), many);
    world.sum(&mut [0.5_f64; 0]);
}

/// One member may have as many as there are numbers.
#[shmem::test(pes = 1)]
fn items_of_no_bytes_may_be_as_many_as_there_are_numbers(world: &mut World) {
    /// The standard library makes vectors of numbers, and of arrays of numbers, at once, and no others.
    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    struct Nothing([u64; 0]);

    let source = vec![[0_u64; 0]; usize::MAX];
    let mut into = source.clone();
    world.alltoalls(&source, 1, &mut into, 1, usize::MAX);
    world.fcollect(&source[..], &mut into);
    assert_eq!(world.collect(bytemuck::cast_slice::<_, Nothing>(&source)).len(), usize::MAX);
}

#[shmem::test(pes = 3)]
fn what_does_not_fit_is_refused_before_anybody_meets(world: &mut World) {
    let last = world.pe(2).unwrap();
    let team = world.team().split_strided(world, 0, 1, 2, &TeamConfig::default()).unwrap();
    if let Some(team) = &team {
        refused! {
            team.sum_to(world, 1, last).is_some() => "the root of `sum_to`, PE 2, is not a member of the team";
            team.collect_to(world, &1_u8, last) => "the root of `collect_to`, PE 2";
            { let _: i32 = team.scatter_from(world, &[1, 2][..], 0, last); }
                => "the root of `scatter_from`, PE 2";
            team.broadcast(world, &mut 1, last) => "the root of `broadcast`, PE 2, is not a member of the team";
        }
    }
    let mut into = vec![0_u8];
    refused! {
        world.fcollect(&[1_u8; 2][..], &mut [0; 5]) => "3 members have 2 elements each, the destination has 5";
        world.alltoall(&[1_u8; 4], &mut [0; 4]) => "4 elements cannot be divided among 3 members";
        world.alltoall(&[1_u8; 3], &mut [0; 6]) => "the source has 3 elements, the destination 6";
        world.alltoalls(&[1_u8; 6], 2, &mut [0; 6], 1, 2)
            => "6 elements at stride 2 do not fit the source, which has 6";
        world.alltoalls(&[1_u8; 6], 1, &mut [0; 6], 0, 2)
            => "the stride of the destination is 0: elements would lie on each other";
        world.alltoallv(&[1; 3], &[1, 2], &mut into) => "2 counts are given for 3 members";
        world.alltoallv(&[1; 3], &[1, 2, 1], &mut into) => "the counts add up to 4, the source has 3 elements";
        world.alltoallv(&[1; 3], &[1, usize::MAX, 1], &mut into)
            => "the counts add up to more than there can be, the source has 3 elements";
        { let _: i32 = world.sum_scatter(&[1; 5][..], 0); }
            => "5 elements are not 3 parts of 1 elements, one for each member";
    }
    // Nothing is left of the attempts.
    assert_eq!((world.sum(1), into), (3, vec![0]));
}
