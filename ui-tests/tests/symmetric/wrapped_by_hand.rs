use shmem::symmetric;

#[symmetric]
static GRID: shmem::__private::Symmetric<[f64; 8]>;

fn main() {
    let _: &shmem::__private::Symmetric<[f64; 8]> = &GRID;
}
