use shmem::SymBox;

#[shmem::collective]
fn smooth(rounds: usize) {
    #[symmetric]
    let scratch: SymBox<[f64]> = [0.0; 16];
    println!("{} {rounds}", scratch.len());
}

fn main() {
    smooth(3);
}
