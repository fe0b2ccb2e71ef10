use shmem::symmetric;

#[symmetric]
static mut COUNTER: u64;

fn main() {}
