//! Teams, locks, and arrays over NUMA nodes.

use shmem::array::{Chosen, Multi};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Lock, Team, TeamBox};

#[symmetric]
static GRID: [f64; 8];
#[symmetric]
static NUMBER: u64;
#[symmetric]
static LOCK: Lock;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Particle {
    mass: f64,
    charge: f64,
}

fn what_is_no_operand(world: &World, team: &Team, particle: &mut Particle) {
    team.and(world, &mut 1.5_f64); //~
    team.sum(world, particle); //~
}

fn phase_of_an_object_of_all_pes(world: &mut World, team: &Team) {
    team.local(world, &GRID, |grid| grid.fill(0.0)); //~
}

fn put_in_a_phase(world: &mut World, team: &Team, field: &TeamBox<[f64]>, to: Pe) {
    team.local(world, field, |mine| world.put(field.on(to), mine)); //~
}

fn reference_that_leaves<'a>(world: &mut World, team: &Team, field: &'a TeamBox<[f64]>) -> &'a mut [f64] {
    team.local(world, field, |field| field) //~
}

fn destroyed_and_used(world: &World, team: Team) -> Result<()> {
    team.destroy(world)?;
    team.barrier(world); //~
    Ok(())
}

fn what_is_no_lock(world: &World, pe: Pe) {
    drop(world.lock(&NUMBER)); //~
    world.put(LOCK.on(pe), &Lock::new()); //~
}

fn sent<T: Send>(_: T) {}

fn on_another_thread(world: &World<Multiple>, plane: NumaArray<u64, 2>) {
    sent(world.lock(&LOCK)); //~
    sent(plane.here(world)); //~
}

fn phase_while_a_lock_is_held(world: &mut World) {
    let guard = world.lock(&LOCK);
    world.local(&GRID, |grid| grid.fill(0.0)); //~
    drop(guard);
}

fn elements(world: &World, plane: NumaArray<f64, 2>) -> Result<()> {
    drop(world.array([10]).zeroed::<String>()?); //~
    world.p(plane.on(world.me()).index([3]), 1.0); //~
    println!("{}", plane[[3, 4]]); //~
    Ok(())
}

fn slices(world: &mut World, plane: NumaArray<f64, 2, Chosen>, line: NumaArray<f64, 1, Multi>) {
    world.local(&plane, |mut plane| plane.row_mut(3).fill(1.0)); //~
    world.local(&line, |mut line| line.as_mut_slice().fill(1.0)); //~
}

fn view_that_leaves(world: &mut World, plane: NumaArray<f64, 2>) {
    let view = world.local(&plane, |plane| plane); //~
    drop(view);
}

fn main() {}
