//! The exclusive and the read-only phase. What must not compile is in the compile-fail tests; here
//! is what must work, and what must end the job.

use shmem::prelude::*;
use shmem::thread::Multiple;

#[symmetric]
static GRID: [[f64; 4]; 3];
#[symmetric]
static HITS: Atomic<u64>;

#[shmem::test(pes = 3)]
fn local_gives_mut_and_the_others_see_it_afterwards(world: &mut World) {
    let me = world.my_pe() as f64;
    let sum: f64 = world.local(&GRID, |grid| {
        grid[1] = [me; 4];
        grid[2][3] = 10.0 * me;
        grid.as_flattened().iter().sum()
    });
    assert_eq!(sum, 14.0 * me);
    for pe in world.pes() {
        assert_eq!(world.g(GRID.on(pe).index(2).index(3)), 10.0 * pe.number() as f64);
    }
}

#[shmem::test(pes = 3)]
fn what_was_put_before_is_there_inside(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    for round in 0..100 {
        world.put(GRID.on(east).index(0), &[world.my_pe() as f64 + f64::from(round); 4]);
        world.add(HITS.on(east), 1);
        world.local((&GRID, &HITS), |(grid, hits)| {
            assert_eq!(grid[0], [west.number() as f64 + f64::from(round); 4]);
            assert_eq!(hits.value(), 1);
            *hits.value_mut() = 0;
        });
    }
}

#[shmem::test(pes = 3)]
fn nobody_writes_inside(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    let me = world.my_pe() as f64;
    for round in 0..200 {
        world.put(GRID.on(west).index(0), &[-1.0; 4]);
        world.put(GRID.on(east), &[[-1.0; 4]; 3]);
        world.local(&GRID, |grid| {
            *grid = [[me; 4]; 3];
            // Those who were first are waiting to write again.
            if f64::from(round % 3) == me {
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
            assert_eq!(std::hint::black_box(&mut *grid), &[[me; 4]; 3], "in round {round}");
        });
    }
}

#[shmem::test(pes = 2)]
fn tuples_mix_statics_and_heap_objects(world: &mut World) {
    let scratch = world.alloc([0.0; 8]).unwrap();
    let one = world.alloc(shmem::value(5_u32)).unwrap();
    world.local((&GRID, &scratch, &one), |(grid, scratch, one)| {
        scratch.copy_from_slice(&[1.0; 8]);
        grid[0][0] = scratch.iter().sum();
        *one += 1;
    });
    let (total, one) = world.frozen((&GRID, &one), |(grid, one)| (grid[0][0], *one));
    assert_eq!((total, one), (8.0, 6));
}

#[shmem::test(pes = 2)]
fn naming_an_object_twice_is_refused_before_the_barrier(world: &mut World) {
    let twice = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.local((&GRID, &GRID), |(a, b)| a[0][0] = b[0][0]);
    }));
    let message = *twice.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("`GRID` is named twice in one `local`"), "{message}");
    // Nothing is left of the attempt: the PEs still meet.
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn a_handle_lives_across_phases(world: &mut World) {
    struct Solver {
        field: SymBox<[f64]>,
    }
    let solver = Solver { field: world.alloc(shmem::filled(1.0, 16)).unwrap() };
    for _ in 0..3 {
        world.local(&solver.field, |field| field.iter_mut().for_each(|x| *x *= 2.0));
        let (_, east) = world.ring_neighbours();
        assert_eq!(world.g(solver.field.on(east).index(15)), solver.field.here(world).index(0).load());
        world.barrier_all();
    }
    assert_eq!(solver.field.here(world).index(7).load(), 8.0);
}

#[shmem::test(pes = 1)]
fn there_is_one_world_per_process(world: &mut World) {
    let second = || shmem::init::<Multiple>().map(|_| ()).unwrap_err().to_string();
    let body: fn(&mut World) = |_| unreachable!("a second world");
    world.local(&GRID, |_| {
        assert!(second().contains("one world per process"));
        assert!(std::thread::spawn(second).join().unwrap().contains("one world per process"));
        assert_eq!(shmem::__private::main(body), std::process::ExitCode::from(2));
    });
}
