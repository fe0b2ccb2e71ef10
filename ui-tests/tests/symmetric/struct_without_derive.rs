use shmem::symmetric;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Particle {
    pub position: [f64; 3],
}

#[symmetric]
static PARTICLES: [Particle; 100];

fn main() {}
