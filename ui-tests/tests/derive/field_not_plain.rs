use shmem::Symmetric;

#[derive(Clone, Copy)]
#[repr(u8)]
enum Colour {
    Red,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    colour: Colour,
}

fn main() {
    let _ = Cell { colour: Colour::Red };
}
