use shmem::Symmetric;

#[derive(Clone, Copy)]
struct Byte(u8);

impl std::ops::Deref for Byte {
    type Target = u8;

    fn deref(&self) -> &u8 {
        &self.0
    }
}

#[derive(Clone, Copy, Symmetric)]
#[changes::words(ready: u8 => ready: Byte)]
#[repr(C)]
struct Flags {
    ready: u8,
}

fn main() {}
