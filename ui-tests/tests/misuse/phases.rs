//! Phases: what is opened, what can be done meanwhile, and what must not leave.

use std::sync::Mutex;

use shmem::prelude::*;
use shmem::thread::Private;
use shmem::{Contribution, HaloToken};

#[symmetric]
static GRID: [f64; 4];
#[symmetric]
static A: [u64; 4];
#[symmetric]
static B: [u64; 4];

static STOLEN: Mutex<Option<&'static mut [f64; 4]>> = Mutex::new(None);

fn what_is_no_object(world: &mut World, rows: Vec<Vec<f64>>) {
    world.local(&3.0, |_| ()); //~
    world.local(&rows[1..], |_| ()); //~
}

#[shmem::collective]
fn inside(world: &mut World) {
    let me = world.me();
    world.local(&A, |a| world.local(&B, |b| b[0] = a[0])); //~
    world.local(&GRID, |grid| world.put(GRID.on(me), grid)); //~
    world.local(&GRID, |grid| {
        strided!(world, GRID@me[..] = grid[..]); //~
    });
}

fn through_an_open_phase(world: &mut World) {
    world.local_with_exchanges(&A, |_, phase| {
        Contribution::change(&A, phase.__endpoint(), |items: &mut [[u64; 4]]| items[0] = [7; 4]); //~
    });
}

fn on_another_thread(world: &World) {
    std::thread::scope(|threads| {
        threads.spawn(|| world.barrier_all()); //~
    });
}

fn place_kept_across(world: &mut World) {
    let mine = GRID.here(world);
    world.local(&GRID, |grid| grid[0] = 1.0); //~
    mine.index(0).store(2.0);
}

fn token_kept_across(world: &mut World) -> Result<()> {
    let context = world.create_ctx::<Private>()?;
    let ctx = context.bind(world);
    world.local(&GRID, |grid| grid[0] = 1.0); //~
    ctx.p(GRID.on(ctx.endpoint().me()).index(0), 2.0);
    Ok(())
}

fn object_dropped(world: &mut World, scratch: SymBox<[f64]>) {
    world.local(&scratch, |contents| { //~
        drop(scratch);
        contents[0] = 1.0;
    });
}

fn reference_that_escapes(world: &mut World) {
    let mut kept: Option<&mut [f64; 4]> = None;
    world.local(&GRID, |grid| kept = Some(grid)); //~
    world.barrier_all();
    kept.unwrap()[0] = 1.0;
}

fn reference_kept_in_a_static_in_a_thread_and_returned(world: &mut World) {
    world.local(&GRID, |grid| *STOLEN.lock().unwrap() = Some(grid)); //~
    world.local(&GRID, |grid| {
        std::thread::spawn(move || grid[0] = 1.0); //~
    });
    let grid: &'static mut [f64; 4] = world.local(&GRID, |grid| grid); //~
    grid[0] = 1.0;
}

fn write_to_frozen(world: &mut World) {
    world.frozen(&GRID, |grid| grid[0] = 1.0); //~
}

fn main() {}
