use shmem::symmetric;

#[symmetric(pgsize = 3M)]
static A: [f64; 4];

#[symmetric(pgsize = 64Q)]
static B: [f64; 4];

#[symmetric(pgsize = "64MiB")]
static C: [f64; 4];

#[symmetric(pgsize = "")]
static D: [f64; 4];

#[symmetric(pgsize = 0)]
static E: [f64; 4];

#[symmetric(pgsize = huge)]
static F: [f64; 4];

#[symmetric(pgsize = 'm')]
static G: [f64; 4];

#[symmetric(pgsize = "99999999T")]
static H: [f64; 4];

#[symmetric(pgsize = "1K")]
static I: [f64; 4];

fn main() {}
