use shmem::prelude::*;
use shmem::{Team, TeamBox};

fn relax(world: &mut World, team: &Team, field: &TeamBox<[f64]>, to: Pe) {
    field.local(world, team, |mine| world.put(field.on(to), mine));
}

fn main() {}
