use shmem::symmetric;

#[symmetric]
static NAMES: String = String::new();

fn main() {}
