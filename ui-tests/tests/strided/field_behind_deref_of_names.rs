use shmem::strided::Shaped;

mod cells {
    use shmem::prelude::*;

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Cell {
        mass: u64,
    }

    pub struct Other {
        pub mass: f64,
    }
}

// Where names are looked up, nothing else can be lent.
impl std::ops::Deref for <cells::Cell as Shaped>::Names {
    type Target = cells::Other;

    fn deref(&self) -> &cells::Other {
        &cells::Other { mass: 1.0 }
    }
}

fn main() {}
