//! What an expansion asks for can be said by the library alone.
#![forbid(unsafe_code)]

#[derive(Clone, Copy)]
pub struct Text(&'static str);

impl<T> shmem::__private::HeldBy<T> for Text {} //~

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
pub struct Row {
    text: Text,
}

fn main() {}
