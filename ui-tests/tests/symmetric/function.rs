use shmem::symmetric;

#[symmetric]
fn relax() {}

fn main() {
    relax();
}
