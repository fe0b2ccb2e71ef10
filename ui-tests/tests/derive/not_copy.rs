use shmem::Symmetric;

#[derive(Symmetric)]
#[repr(C)]
struct Particle {
    position: [f64; 3],
}

fn main() {}
