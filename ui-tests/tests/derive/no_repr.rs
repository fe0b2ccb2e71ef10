use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
struct Particle {
    position: [f64; 3],
}

fn main() {}
