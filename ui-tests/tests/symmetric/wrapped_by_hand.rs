use shmem::symmetric;

#[symmetric]
static GRID: shmem::Symmetric<[f64; 8]>;

fn main() {
    let _: &shmem::Symmetric<[f64; 8]> = &GRID;
}
