//! Halos, exchanges, and lists of indices.

use shmem::prelude::*;
use shmem::{Exchange, Halo};

#[symmetric]
static GRID: [f64; 4];
#[symmetric]
static CELLS: [f64; 100];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static COUNTS: [Atomic<u64>; 100];
#[symmetric]
static SUMS: [Atomic<f64>; 100];

fn what_is_no_data(world: &World, me: Pe) -> Result<()> {
    world.halo::<String>(&[Edge::BORDER])?; //~
    world.exchange::<&str>(ExchangeOptions::default())?; //~
    world.plan(COUNTS.over(world.team(), Block).at(&[1_u32, 5]))?; //~
    world.gather(&mut Vec::new(), COUNTS.on(me).at(&[1_u32, 5])); //~
    world.xor_each(SUMS.on(me).at(&[1_u32, 5]), 1.0); //~
    world.add_each(COUNT.on(me).at(&[0_u32]), 1); //~
    Ok(())
}

fn through_a_team(world: &World, mut exchange: Exchange<u64>, east: Pe) {
    exchange.run(world.team(), [(east, 1)], |_from, _number| ()); //~
}

fn flight_on_another_thread(world: &World, mut halo: Halo<f64>) {
    fn sent<T: Send>(_: T) {}
    sent(halo.begin(world)); //~
}

fn ghosts_before_arrival(world: &World, mut halo: Halo<f64>) {
    let mut flight = halo.begin(world);
    flight.send(0, &[1.0]);
    println!("{}", flight[0][0]); //~
}

fn ghosts_behind_the_next_begin(world: &World, mut halo: Halo<f64>) {
    let ghost = &halo.begin(world).finish()[0];
    let mut next = halo.begin(world); //~
    next.send(0, ghost);
}

fn sent_behind_the_finish(world: &World, mut halo: Halo<f64>) {
    let mut flight = halo.begin(world);
    let ghosts = flight.finish();
    flight.send(1, ghosts.edge(0)); //~
}

fn two_exchanges_of_a_halo(world: &World, mut halo: Halo<f64>) {
    let (first, second) = (halo.begin(world), halo.begin(world)); //~
    println!("{}", first.finish()[0][0] + second.finish()[0][0]);
}

fn phase_while_in_flight(world: &mut World, mut halo: Halo<f64>) {
    let mut flight = halo.begin(world);
    world.local(&GRID, |grid| flight.send(0, &grid[..1])); //~
}

fn put_in_a_phase_of_halos(world: &mut World, me: Pe) {
    world.local_with_exchanges(&GRID, |grid, phase| phase.put(GRID.on(me), grid)); //~
}

fn phase_that_leaves(world: &mut World, mut halo: Halo<f64>) {
    let ghosts = world.local_with_exchanges(&GRID, |_, phase| halo.begin(phase).finish()); //~
    println!("{ghosts:?}");
}

#[shmem::collective]
fn through_the_world_in_a_phase(world: &mut World, mut exchange: Exchange<[u32; 2]>, east: Pe) {
    world.local_with_exchanges(&CELLS, |cells, _phase| {
        exchange.run(world, [(east, [1, 2])], |_from, [place, charge]| cells[place as usize] += charge as f64); //~
    });
}

fn values_that_end_before_the_scope(world: &World) {
    world.scope(|scope| {
        let mut found = [0.0; 2];
        scope.gather(&mut found, CELLS.on(world.me()).at(&[1_u32, 5])); //~
    });
}

fn main() {}
