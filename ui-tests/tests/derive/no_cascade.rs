//! The only error is ours: the struct counts as plain data all the same.

use shmem::{Symmetric, symmetric};

#[derive(Clone, Copy, Symmetric)]
struct Particle {
    position: [f64; 3],
}

#[symmetric]
static PARTICLES: [Particle; 4];

fn main() {
    let _ = (&PARTICLES, Particle { position: [0.0; 3] }.position);
}
