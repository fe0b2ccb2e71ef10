//! A world of one, and statics of the other.

#[other::symmetric(unsafe(crate = other))]
static COUNTER: u64;

fn main() {
    let _counter = &COUNTER;
    let _world = shmem::init::<shmem::thread::Single>().unwrap();
}
