use shmem::symmetric;

#[symmetric]
static N: u64 = "many";

fn main() {}
