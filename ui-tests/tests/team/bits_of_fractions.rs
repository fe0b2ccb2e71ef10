use shmem::Team;
use shmem::prelude::*;

fn mask(world: &World, team: &Team) {
    team.and(world, &mut 1.5_f64);
}

fn main() {}
