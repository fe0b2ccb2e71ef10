use shmem::prelude::*;
use shmem::{Team, TeamBox};

fn keep<'a>(world: &mut World, team: &Team, field: &'a TeamBox<[f64]>) -> &'a mut [f64] {
    field.local(world, team, |field| field)
}

fn main() {}
