use shmem::bootstrap::Local;

fn main() {
    let job = Local::connect().unwrap().unwrap();
    drop(job);
}
