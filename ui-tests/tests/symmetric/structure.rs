use shmem::symmetric;

#[symmetric]
pub struct Grid {
    pub cells: [f64; 8],
}

fn main() {
    let _ = Grid { cells: [0.0; 8] };
}
