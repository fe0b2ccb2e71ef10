use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct View<'a> {
    cells: &'a [f64; 4],
}

fn main() {}
