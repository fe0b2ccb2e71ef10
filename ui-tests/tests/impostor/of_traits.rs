//! What threads must not share, sent.
#![forbid(unsafe_code)]

use std::marker::PhantomData;
use std::rc::Rc;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Holder {
    nothing: PhantomData<Rc<u64>>,
}

fn sent<T: Send>(_: T) {}

fn main() {
    sent(Holder { nothing: PhantomData });
}
