//! One library, built in two ways, and a world of each.

fn main() {
    let _world = shmem::init::<shmem::thread::Single>().unwrap();
    let _other = other::init::<other::thread::Single>().unwrap();
}
