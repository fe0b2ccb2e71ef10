//! Operations of the program, results for one member, and parts of any length: what histories do not have, such as items
//! of unusual sizes, and what is refused.

use shmem::Located;
use shmem::prelude::*;

use crate::panics::refused;
use crate::together::make::folded;

/// Larger than what lies half made in a frame, and more aligned.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C, align(64))]
struct Large {
    numbers: [u64; 1000],
}

#[shmem::test(pes = 5)]
fn items_larger_than_a_frame_are_combined_and_dealt_out(world: &mut World) {
    let third = world.pe(2).unwrap();
    let large = Large { numbers: [world.my_pe() as u64; 1000] };
    let sum = |a: Large, b: Large| Large { numbers: std::array::from_fn(|i| a.numbers[i] + b.numbers[i]) };
    let (all, mut list) = (vec![large; 5], vec![large; 3]);
    world.reduce(&mut list, sum);
    for found in [list[2], world.reduce(large, sum), world.reduce_scatter(&all, large, sum)] {
        assert_eq!(found, Large { numbers: [10; 1000] });
    }
    assert_eq!(world.scatter_from(&all, large, third), Large { numbers: [2; 1000] });
}

/// Combines so many items of so many words by an operation that is neither commutative nor associative, in all ways: values
/// and parts of objects.
fn combines<const N: usize>(world: &World, team: &Team, len: usize) {
    let of = |pe: usize, len: usize| -> Vec<[u64; N]> {
        let word = |k: usize, i: usize| ((pe * len + k) * N + i) as u64;
        (0..len).map(|k| std::array::from_fn(|i| word(k, i).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
    };
    let op = |a: [u64; N], b: [u64; N]| -> [u64; N] {
        std::array::from_fn(|i| a[i].wrapping_mul(3).rotate_left(1) ^ b[i])
    };
    let (me, rank, members) = (world.my_pe(), team.rank(), team.size());
    let (root, is_root) = (team.pes()[len % members], rank == len % members);
    let rows = |len: usize| team.pes().iter().map(|pe| of(pe.number(), len)).collect::<Vec<_>>();
    let (mine, all) = (of(me, len), rows(len * members));
    let first = |ranks: usize| folded(rows(len)[..ranks].to_vec(), op);
    let part = |row: &Vec<[u64; N]>| row[rank * len..][..len].to_vec();
    let object = team.alloc(world, &all[rank][..]).unwrap();
    let into = team.alloc(world, &mine[..]).unwrap();
    macro_rules! both {
        ($expected:expr, |$x:ident| $call:expr) => {{
            let (expected, mut values) = ($expected, mine.clone());
            let $x = &mut values[..];
            $call;
            let $x = into.here(world);
            $x.copy_from(&mine);
            $call;
            let is_same = values == expected && $x.to_vec() == expected;
            assert!(is_same, "{len} items of {N} words among {:?}: {}", team.pes(), stringify!($call));
        }};
    }
    both!(first(members), |x| team.reduce(world, x, op));
    both!(first(rank + 1), |x| team.reduce_inscan(world, x, op));
    both!(if rank == 0 { mine.clone() } else { first(rank) }, |x| {
        assert_eq!(team.reduce_exscan(world, x, op).is_some(), rank > 0);
    });
    both!(if is_root { first(members) } else { mine.clone() }, |x| {
        assert_eq!(team.reduce_to(world, x, root, op).is_some(), is_root);
    });
    let sum = folded(all.iter().map(part).collect(), op);
    both!(sum.clone(), |x| team.reduce_scatter(world, &all[rank], x, op));
    both!(sum, |x| team.reduce_scatter(world, &object, x, op));
    both!(part(&all[len % members]), |x| team.scatter_from(world, &all[rank], x, root));
    both!(part(&all[len % members]), |x| team.scatter_from(world, &object, x, root));
    let mut exchanged = all[rank].clone();
    team.alltoall(world, &all[rank], &mut exchanged);
    assert!(exchanged == all.iter().map(part).collect::<Vec<_>>().concat(), "{len} items of {N} words");
    into.here(world).copy_from(&mine);
    team.fcollect_to(world, &into, &object, root);
    assert!(object.here(world).to_vec() == if is_root { rows(len).concat() } else { all[rank].clone() });
}

/// Few and many, of sizes that rooms, lines and tiles hold many of, one, none, or no whole number.
#[shmem::test(pes = 5)]
fn operations_are_carried_out_by_the_tree_however_large_items_are(world: &mut World) {
    let (me, config) = (world.my_pe(), TeamConfig::default());
    // In order; the first ones, backwards; and in an order in which those of a node do not follow each other.
    for (members, keys) in [(5, [0; 5]), (1, [0; 5]), (2, [0; 5]), (4, [4, 3, 2, 1, 0]), (5, [0, 3, 1, 4, 2])]
    {
        let team = world.team().split_by(world, (me < members).then_some(0), keys[me], &config).unwrap();
        let Some(team) = team else { continue };
        for len in [1, 50, 999] {
            combines::<1>(world, &team, len);
            combines::<11>(world, &team, len);
        }
        for len in [1, 300, 9000] {
            combines::<3>(world, &team, len);
        }
        for len in [1, 70] {
            combines::<128>(world, &team, len);
            combines::<129>(world, &team, len);
        }
        combines::<400>(world, &team, 7);
        combines::<3000>(world, &team, 2);
    }
}

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

/// So large that members are served in several steps, of which the first has the own item.
#[shmem::test(pes = [4, 5])]
fn large_items_are_exchanged_in_several_steps(world: &mut World) {
    type Item = [u8; 11_000];
    let (me, pes) = (world.my_pe() as u8, world.n_pes() as u8);
    let source: Vec<Item> = (0..pes).map(|to| [me << 4 | to; 11_000]).collect();
    let mut into = vec![[0; 11_000]; usize::from(pes)];
    world.alltoalls(&source, 1, &mut into, 1, 1);
    assert!(into.iter().zip(0..pes).all(|(item, from)| *item == [from << 4 | me; 11_000]));
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
