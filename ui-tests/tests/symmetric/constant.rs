use shmem::symmetric;

#[symmetric]
const LIMIT: u64 = 3;

fn main() {
    assert_eq!(LIMIT, 3);
}
