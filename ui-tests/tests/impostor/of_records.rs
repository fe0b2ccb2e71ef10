//! A static of which no record lies where the library looks.
#![forbid(unsafe_code)]

#[shmem::symmetric]
static NUMBERS: [u64; 8];

fn main() {
    let _ = &NUMBERS;
}
