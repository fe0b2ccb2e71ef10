use shmem::symmetric;

#[symmetric]
static TITLE: &str = "heat";

fn main() {}
