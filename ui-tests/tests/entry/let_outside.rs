use shmem::{SymBox, partition::fast, symmetric};

fn main() {
    #[symmetric(partition = "fast")]
    let scratch: SymBox<[f64]> = [0.0; 16];
    println!("{}", scratch.len());
}
