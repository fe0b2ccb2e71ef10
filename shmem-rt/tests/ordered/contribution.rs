//! Arguments of collectives that histories lack: other forms, items of no bytes, and refused arguments.

use shmem::prelude::*;

use crate::panics::refused;

#[symmetric]
static TABLE: [u64; 24];
#[symmetric]
static TOTAL: f64;
#[symmetric]
static PAIR: [u32; 2];

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Particle {
    mass: f64,
    charge: [u32; 2],
}

#[shmem::test(pes = 3)]
fn the_argument_decides_what_comes_back(world: &mut World) {
    let (me, n, team) = (world.my_pe(), world.n_pes(), world.team());
    let [first, second] = [0, 1].map(|pe| world.pes()[pe]);
    // The literal gets the type of the result.
    let ones: u16 = world.sum(1);
    assert_eq!((usize::from(ones), world.max(me)), (n, n - 1));
    assert_eq!(
        (world.sum_inscan(1_u64), world.sum_exscan([1, 2])),
        (me as u64 + 1, [me as i32, 2 * me as i32])
    );
    let most: f64 = world.reduce(me as f64, f64::max);
    let part: u64 = world.reduce_scatter(&[7, 8, 9][..], 0, |a, b| a + b);
    assert_eq!((most, part), (2.0, 21 + 3 * me as u64));
    // Statics, and parts of them.
    TOTAL.here(world).store(me as f64 + 0.5);
    world.sum(&TOTAL);
    PAIR.here(world).store([me as u32, 7]);
    world.max(PAIR.here(world).index(0));
    assert_eq!((TOTAL.here(world).load(), PAIR.here(world).load()), (4.5, [2, 7]));
    TABLE.here(world).store([1 + me as u64; 24]);
    world.sum(TABLE.here(world).index(20..));
    world.min(&TABLE);
    assert_eq!(TABLE.here(world).load(), std::array::from_fn(|k| if k < 20 { 1 } else { 6 }));
    // Structs, vectors and boxes; an object that is an array is one item.
    let particle = Particle { mass: me as f64, charge: [1, me as u32] };
    let of_second = Particle { mass: 1.0, charge: [1, 1] };
    assert_eq!(world.broadcast(particle, second), of_second);
    let (mut many, boxed) = (vec![particle; 3], world.alloc(shmem::value(particle)).unwrap());
    world.broadcast(&mut many, second);
    world.broadcast(&boxed, second);
    assert_eq!((many, boxed.here(world).load()), (vec![of_second; 3], of_second));
    let mut mine = vec![me; 2].into_boxed_slice();
    world.max(&mut mine);
    let all: Box<[usize]> = world.sum(mine);
    assert_eq!((&*all, world.collect(&vec![me; me])), (&[6, 6][..], vec![1, 2, 2]));
    assert_eq!(world.collect(&PAIR), [[2, 7]; 3]);
    assert_eq!(world.collect_to(&[me as u8; 2], first), (me == 0).then(|| vec![[0, 0], [1, 1], [2, 2]]));
    // `bool` has the bitwise collectives.
    let mut odd = me > 0;
    team.xor(world, &mut odd);
    assert_eq!((team.and(world, me > 0), team.or(world, me > 0), odd), (false, true, false));
    assert!(world.broadcast(me == 1, second));
}

#[shmem::test(pes = 3)]
fn the_object_of_another_team_is_refused(world: &mut World) {
    let first = |members| world.team().split_strided(world, 0, 1, members, &TeamConfig::default()).unwrap();
    if let (Some(one), Some(other)) = (first(2), first(3)) {
        let object = one.alloc(world, [0_u64; 8]).unwrap();
        let of_another = "is an object of another team, in which not all members of this one are: collectives of a team take";
        refused! {
            other.sum(world, &object) => of_another;
            world.sum(object.here(world).index(2)) => of_another;
            other.broadcast(world, &object, world.me()) => of_another;
            other.collect(world, &object) => of_another;
        }
        one.sum(world, &object);
    }
    world.barrier_all();
}

#[shmem::test(pes = 4)]
fn a_tuple_is_combined_as_each_of_its_numbers_is(world: &mut World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let term = [1e16, 3.0, -1e16, -0.0][me];
    let sum: f64 = world.sum(term);
    for round in 0..20_u32 {
        let (count, energy) = world.sum((round, term));
        assert_eq!((count, energy.to_bits()), (round * n as u32, sum.to_bits()));
    }
    assert_eq!(world.max((me as u8, -(me as i64), me as f32)), (n as u8 - 1, 0, n as f32 - 1.0));
    let (least, none, seven, first) = world.min((me as u16 + 3, f64::NAN, 7_u128, me));
    assert_eq!((least, none.to_bits(), seven, first), (3, f64::NAN.to_bits(), 7, 0));
    let mut both = (me, 0.5);
    world.sum_inscan(&mut both);
    assert_eq!(both, (me * (me + 1) / 2, 0.5 * (me + 1) as f64));
    assert_eq!(world.sum((1_u64, 2_i8, 3_u16, 0.25)), (4, 8, 12, 1.0));
    assert_eq!(world.broadcast((me, 2.5 * me as f64), world.pes()[2]), (2, 5.0));
}

/// The item type of a pair. Its size is no power of two.
type Pair = <(u8, u16) as shmem::Contribution<(u8, u16)>>::Item;

#[shmem::test(pes = 3)]
fn lists_of_pairs_are_summed_pair_by_pair(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    for len in [1000, 20_000, 66_666] {
        // The sums of bytes do not overflow.
        let byte = |pe: usize, k: usize| ((k + pe) % 7) as u8;
        let mine: Vec<u8> = (0..len * size_of::<Pair>()).map(|k| byte(me, k)).collect();
        let mine: &[Pair] = bytemuck::cast_slice(&mine);
        // Pairs are plain data: objects may consist of them.
        let object = world.alloc(mine.to_vec()).unwrap();
        world.sum(&object);
        let sum = |k: usize| (0..pes).map(|pe| byte(pe, k)).sum::<u8>();
        for sums in [world.sum(mine.to_vec()), object.here(world).to_vec()] {
            let sums: &[u8] = bytemuck::cast_slice(&sums);
            assert!(sums.len() == size_of_val(mine), "{len} pairs");
            assert!(sums.iter().enumerate().all(|(k, x)| *x == sum(k)), "{len} pairs");
        }
    }
}

#[shmem::test(pes = 3)]
fn items_without_bytes_keep_their_count(world: &mut World) {
    // Too many items for a loop over them.
    let many = 1_usize << 50;
    let (me, first) = (world.my_pe(), world.pe(0).unwrap());
    let some = |count: usize| shmem_core::symmetric_data::zeroed_items::<[u64; 0]>(count);
    let all = world.collect_to(&some(many + me), first);
    assert_eq!(all.map(|all| all.len()), (me == 0).then_some(3 * many + 3));
    let mut into = Vec::new();
    let came = world.alltoallv(&some(3 * many + 3), &[many, many + 1, many + 2], &mut into);
    assert_eq!((came, into.len()), (vec![many + me; 3], 3 * (many + me)));
    let keep = |a: [u64; 0], _: [u64; 0]| a;
    assert_eq!(world.reduce(some(many), keep).len(), many);
    assert_eq!(world.reduce_scatter(&some(3 * many), some(many), keep).len(), many);
    let mut all = some(3 * many);
    world.fcollect(&some(many), &mut all);
    world.alltoall(&some(3 * many), &mut all);
    world.alltoalls(&some(3 * many), 1, &mut all, 1, many);
    assert_eq!(world.collect(&some(many + me)).len(), 3 * many + 3);
    assert_eq!(world.broadcast(some(many), first).len(), many);
    world.sum(&mut [0.5_f64; 0]);
}

#[shmem::test(pes = 1)]
fn items_of_no_bytes_may_be_as_many_as_there_are_numbers(world: &mut World) {
    /// An item type without bytes. Vectors of it are made item by item, unlike those of arrays of numbers.
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
    if let Some(team) = world.team().split_strided(world, 0, 1, 2, &TeamConfig::default()).unwrap() {
        refused! {
            team.collect_to(world, &1_u8, last) => "the root of `collect_to`, PE 2";
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
        { let _: i32 = world.reduce_scatter(&[1; 5][..], 0, |a, b| a + b); }
            => "5 elements are not 3 parts of 1 elements, one for each member";
    }
    // The refused calls have no effect.
    assert_eq!((world.sum(1), into), (3, vec![0]));
}
