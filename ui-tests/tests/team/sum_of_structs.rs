use shmem::Team;
use shmem::prelude::*;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Particle {
    mass: f64,
    charge: f64,
}

fn total(world: &World, team: &Team, particle: &mut Particle) {
    team.sum(world, particle);
}

fn main() {}
