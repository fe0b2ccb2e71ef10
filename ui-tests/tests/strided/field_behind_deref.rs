use shmem::prelude::*;

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

    impl std::ops::Deref for Cell {
        type Target = Other;

        fn deref(&self) -> &Other {
            &Other { mass: 1.0 }
        }
    }
}

#[symmetric]
static CELLS: [cells::Cell; 8];

fn transfer(world: &World, pe: Pe, masses: &mut [f64]) {
    strided!(world, masses[..] = CELLS@pe[..].mass);
}

fn main() {}
