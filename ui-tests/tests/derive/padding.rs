use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Particle {
    position: [f64; 3],
    charge: f32,
}

fn main() {}
