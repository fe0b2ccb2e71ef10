//! Barriers, broadcast, reductions, and what happens when PEs disagree.

use shmem::prelude::*;

#[symmetric]
static TURN: [u64; 64];
#[symmetric]
static COUNT: Atomic<u64>;

#[shmem::test(pes = 5)]
fn nobody_passes_a_barrier_early(world: &mut World) {
    let n = world.n_pes() as u64;
    for round in 1..=200 {
        world.add(COUNT.on(world.pe(0).unwrap()), 1);
        world.barrier_all();
        let count = world.fetch(COUNT.on(world.pe(0).unwrap()));
        assert_eq!(count, round * n, "in round {round}");
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn a_barrier_makes_puts_visible(world: &mut World) {
    let me = world.my_pe();
    for round in 1..100 {
        for pe in world.pes() {
            world.p(TURN.on(pe).index(me), round * 10 + me as u64);
        }
        world.barrier_all();
        for from in 0..world.n_pes() {
            assert_eq!(TURN.here(world).index(from).load(), round * 10 + from as u64);
        }
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn broadcast_gives_all_what_the_root_has(world: &mut World) {
    for root in world.pes() {
        let mut value = world.my_pe() as u32;
        world.broadcast(&mut value, root);
        assert_eq!(value, root.number() as u32);
        // More than one step of scratch, and not a multiple of it.
        let mut many: Vec<u64> = (0..10_001).map(|i| i * 7 + world.my_pe() as u64).collect();
        world.broadcast(many.as_mut_slice(), root);
        assert!(many.iter().enumerate().all(|(i, v)| *v == i as u64 * 7 + root.number() as u64));
    }
}

#[shmem::test(pes = 4)]
fn reductions_combine_all_in_order_of_ranks(world: &mut World) {
    let me = world.my_pe();
    let n = world.n_pes();
    let mut sum = me as i64 + 1;
    world.sum(&mut sum);
    assert_eq!(sum, (n * (n + 1) / 2) as i64);
    let mut extremes = [me as f64, -(me as f64)];
    world.min(&mut extremes);
    assert_eq!(extremes, [0.0, -(n as f64 - 1.0)]);
    let mut largest = me as u8;
    world.max(&mut largest);
    assert_eq!(usize::from(largest), n - 1);
    // In floating point the order shows: 1e16 + 1 + 1 + 1 from the left is 1e16 + 4 rounded twice.
    let parts = [1e16, 1.0, 1.0, 1.0];
    let mut total = parts[me];
    world.sum(&mut total);
    assert_eq!(total, parts.iter().copied().reduce(|a, b| a + b).unwrap());
    let mut many: Vec<u32> = (0..9000).map(|i| i + me as u32).collect();
    world.sum(many.as_mut_slice());
    let shift = (n * (n - 1) / 2) as u32;
    assert!(many.iter().enumerate().all(|(i, v)| *v == i as u32 * n as u32 + shift));
    world.sum(&mut [0_u64; 0][..]);
}

#[shmem::test(pes = 16)]
fn more_pes_than_cores_do_not_crawl(world: &mut World) {
    let start = std::time::Instant::now();
    for _ in 0..200 {
        world.barrier_all();
    }
    let mut slowest = start.elapsed().as_secs_f64();
    world.max(&mut slowest);
    // 16 PEs that spin for a time slice each would take 200 x 15 x 4 ms.
    assert!(slowest < 6.0, "200 barriers of 16 PEs took {slowest} s");
}

#[shmem::test(pes = 4)]
fn the_team_of_the_world_is_the_world(world: &mut World) {
    let team = world.team();
    assert_eq!((team.size(), team.rank()), (world.n_pes(), world.my_pe()));
    assert_eq!(team.pe(2), world.pe(2).ok());
    assert_eq!(team.pe(4), None);
    assert_eq!(team.rank_of(world.me()), Some(world.my_pe()));
    let error = world.pe(4).unwrap_err().to_string();
    assert_eq!(error, "there is no PE 4: the job has 4 (0..4); start more with `shmrun -n`");
}
