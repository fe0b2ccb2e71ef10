use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[repr(u8)]
enum Colour {
    Red,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
union Bits {
    float: f32,
    number: u32,
}

fn main() {}
