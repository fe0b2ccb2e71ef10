//! Operations of the program, results for one member, and parts of any length: what histories do not have, such as items
//! of unusual sizes, and what is refused.

use shmem::prelude::*;
use shmem::{Located, Team, TeamConfig};

/// Larger than what lies half made in a frame, and more aligned.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C, align(64))]
struct Large {
    numbers: [u64; 1000],
}

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Ends {
    low: f64,
    high: f64,
    /// Ranks that it was made of, as digits.
    made: u64,
}

fn message(body: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_err();
    *panic
        .downcast::<String>()
        .unwrap_or_else(|other| Box::new(other.downcast::<&str>().unwrap().to_string()))
}

#[shmem::test(pes = 5)]
fn items_of_any_size_are_combined_in_the_order_of_ranks(world: &mut World) {
    let me = world.my_pe() as u64;
    let append = |a: Ends, b: Ends| {
        let digits = 10_u64.pow(b.made.checked_ilog10().unwrap_or(0) + 1);
        Ends { low: a.low.min(b.low), high: a.high.max(b.high), made: a.made * digits + b.made }
    };
    let mine = Ends { low: -(me as f64), high: me as f64, made: me + 1 };
    let all = world.reduce(mine, append);
    assert_eq!(all, Ends { low: -4.0, high: 4.0, made: 12345 });
    assert_eq!(world.reduce_inscan(mine, append).made, [1, 12, 123, 1234, 12345][me as usize]);
    assert_eq!(
        world.reduce_exscan(mine, append).map(|ends| ends.made),
        [None, Some(1), Some(12), Some(123), Some(1234)][me as usize]
    );
    let third = world.pe(2).unwrap();
    assert_eq!(world.reduce_to(mine, third, append).map(|ends| ends.made), (me == 2).then_some(12345));

    let large = Large { numbers: [me; 1000] };
    let sum = |a: Large, b: Large| Large { numbers: std::array::from_fn(|i| a.numbers[i] + b.numbers[i]) };
    assert_eq!(world.reduce(large, sum), Large { numbers: [10; 1000] });
    let mut list = vec![large; 3];
    world.reduce(&mut list, sum);
    assert!(list == [Large { numbers: [10; 1000] }; 3]);
    let all = vec![large; 5];
    assert_eq!(world.reduce_scatter(&all, large, sum), Large { numbers: [10; 1000] });
    assert_eq!(world.scatter_from(&vec![large; 5], large, third), Large { numbers: [2; 1000] });
}

/// The tree over ranks, as it is defined, of what each has, item by item.
fn tree<T: Copy>(rows: &[Vec<T>], op: &impl Fn(T, T) -> T) -> Vec<T> {
    match rows {
        [one] => one.clone(),
        _ => {
            let (left, right) = rows.split_at(rows.len().next_power_of_two() / 2);
            let (left, right) = (tree(left, op), tree(right, op));
            left.into_iter().zip(right).map(|(left, right)| op(left, right)).collect()
        }
    }
}

/// Combines so many items of so many words by an operation that is neither commutative nor associative, in all ways.
fn combines<const N: usize>(world: &World, team: &Team, len: usize) {
    let of = |pe: usize, len: usize| -> Vec<[u64; N]> {
        let word = |k: usize, i: usize| ((pe * len + k) * N + i) as u64;
        (0..len).map(|k| std::array::from_fn(|i| word(k, i).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
    };
    let op = |a: [u64; N], b: [u64; N]| -> [u64; N] {
        std::array::from_fn(|i| a[i].wrapping_mul(3).rotate_left(1) ^ b[i])
    };
    let (me, rank, members) = (world.my_pe(), team.rank(), team.size());
    let told = || format!("{len} items of {N} words among {:?}", team.pes());
    let rows: Vec<_> = team.pes().iter().map(|pe| of(pe.number(), len)).collect();
    let all = tree(&rows, &op);
    assert!(team.reduce(world, of(me, len), op) == all, "{}", told());
    assert!(team.reduce_inscan(world, of(me, len), op) == tree(&rows[..=rank], &op), "{}", told());
    let mut before = of(me, len);
    let found = team.reduce_exscan(world, &mut before[..], op);
    assert_eq!(found.is_some(), rank > 0);
    assert!(before == if rank == 0 { of(me, len) } else { tree(&rows[..rank], &op) }, "{}", told());
    let (mut mine, root) = (of(me, len), len % members);
    let found = team.reduce_to(world, &mut mine[..], team.pes()[root], op);
    assert_eq!(found.is_some(), rank == root);
    assert!(mine == if rank == root { all } else { of(me, len) }, "{}", told());
    let parts: Vec<_> = team.pes().iter().map(|pe| of(pe.number(), len * members)).collect();
    let part = |row: &Vec<[u64; N]>| row[rank * len..][..len].to_vec();
    let mine = team.reduce_scatter(world, &parts[rank], of(me, len), op);
    assert!(mine == tree(&parts.iter().map(part).collect::<Vec<_>>(), &op), "{}", told());
}

/// Few and many, of sizes that rooms hold many of, one, or none.
#[shmem::test(pes = 5)]
fn operations_are_carried_out_by_the_tree_however_large_items_are(world: &mut World) {
    let (me, config) = (world.my_pe(), TeamConfig::default());
    // In order; the first ones, backwards; and in an order in which those of a node do not follow each other.
    for (members, keys) in [(5, [0; 5]), (2, [0; 5]), (4, [4, 3, 2, 1, 0]), (5, [0, 3, 1, 4, 2])] {
        let team = world.team().split_by(world, (me < members).then_some(0), keys[me], &config).unwrap();
        let Some(team) = team else { continue };
        for len in [1, 300, 9000] {
            combines::<3>(world, &team, len);
        }
        for len in [1, 70] {
            combines::<128>(world, &team, len);
            combines::<129>(world, &team, len);
        }
        combines::<3000>(world, &team, 2);
    }
}

#[shmem::test(pes = 3)]
fn the_argument_decides_what_comes_back(world: &mut World) {
    let (me, first) = (world.my_pe(), world.pe(0).unwrap());
    let ones: Option<u16> = world.sum_to(1, first);
    assert_eq!(ones, (me == 0).then_some(3));
    let mut mine = [me, 1];
    assert_eq!(world.sum_to(&mut mine, first), (me == 0).then_some(()));
    assert_eq!(mine, if me == 0 { [3, 3] } else { [me, 1] });
    let team = world.team();
    assert_eq!(team.or_to(world, me == 2, first), (me == 0).then_some(true));
    let most: f64 = world.reduce(me as f64, f64::max);
    assert_eq!(most, 2.0);
    let part: u64 = world.scatter_from(&[7, 8, 9][..], 0, first);
    assert_eq!(part, 7 + me as u64);
    assert_eq!(world.collect_to(&[me as u8; 2], first), (me == 0).then(|| vec![[0, 0], [1, 1], [2, 2]]));
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
}

#[shmem::test(pes = 3)]
fn what_does_not_fit_is_refused_before_anybody_meets(world: &mut World) {
    let last = world.pe(2).unwrap();
    let team = world.team().split_strided(world, 0, 1, 2, &TeamConfig::default()).unwrap();
    if let Some(team) = &team {
        let said = message(|| _ = team.sum_to(world, 1, last));
        assert_eq!(said, "the root of `sum_to`, PE 2, is not a member of the team");
        let said = message(|| _ = team.collect_to(world, &1_u8, last));
        assert!(said.starts_with("the root of `collect_to`, PE 2"), "{said}");
        let said = message(|| _ = team.scatter_from(world, &[1, 2][..], 0, last));
        assert!(said.starts_with("the root of `scatter_from`, PE 2"), "{said}");
    }
    let mut into = vec![0_u8];
    let said = message(|| _ = world.alltoallv(&[1; 3], &[1, 2], &mut into));
    assert_eq!(said, "2 counts are given for 3 members");
    let said = message(|| _ = world.alltoallv(&[1; 3], &[1, 2, 1], &mut into));
    assert_eq!(said, "the counts add up to 4, the source has 3 elements");
    let said = message(|| _ = world.alltoallv(&[1; 3], &[1, usize::MAX, 1], &mut into));
    assert_eq!(said, "the counts add up to more than there can be, the source has 3 elements");
    assert_eq!(into, [0]);
    let said = message(|| _ = world.sum_scatter(&[1; 5][..], 0));
    assert_eq!(said, "5 elements are not 3 parts of 1 elements, one for each member");
    // Nothing is left of the attempts.
    assert_eq!(world.sum(1), 3);
}
