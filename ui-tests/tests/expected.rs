//! The expansions that `shmem-macros` is compared with compile.
#![allow(
    dead_code,
    non_camel_case_types,
    unreachable_pub,
    clippy::undocumented_unsafe_blocks,
    reason = "expansions in a user's crate are seen by these lints only here, where they are source"
)]

mod static_zeroed {
    include!("../../shmem-macros/expected/static_zeroed.rs");
}
mod static_image {
    include!("../../shmem-macros/expected/static_image.rs");
}
mod static_of_a_renamed_crate {
    include!("../../shmem-macros/expected/static_of_a_renamed_crate.rs");
}
mod partitions {
    include!("../../shmem-macros/expected/partitions.rs");
}
mod derive_plain {
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Particle {
        pub position: [f64; 3],
        pub charge: f32,
        pub pad: [u8; 4],
    }
    include!("../../shmem-macros/expected/derive_plain.rs");
}
mod derive_generic {
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Row<T: Copy, const N: usize>
    where
        T: Default,
    {
        pub head: T,
        pub rest: [T; N],
    }
    include!("../../shmem-macros/expected/derive_generic.rs");
}
mod derive_lengths {
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Line<const N: usize>(pub u64, pub [f64; N]);
    include!("../../shmem-macros/expected/derive_lengths.rs");
}
mod derive_words {
    use shmem::prelude::*;

    #[repr(C)]
    pub struct Queue {
        pub head: Atomic<u64>,
        pub ready: Signal,
        pub items: [u64; 8],
    }
    include!("../../shmem-macros/expected/derive_words.rs");
}
mod main {
    use shmem::prelude::*;
    include!("../../shmem-macros/expected/main.rs");
}
mod test {
    use shmem::prelude::*;
    include!("../../shmem-macros/expected/test.rs");
}
mod tests {
    use shmem::prelude::*;
    include!("../../shmem-macros/expected/tests.rs");
}
mod collective {
    use shmem::prelude::*;
    include!("../../shmem-macros/expected/collective.rs");
}
mod strided {
    use shmem::prelude::*;

    const N: usize = 16;

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Cell {
        pub mass: f64,
        pub velocity: [f64; 3],
        pub kind: u64,
    }

    #[symmetric]
    static FIELD: [[f64; N]; N + 1];
    #[symmetric]
    static CELLS: [Cell; N];
    #[symmetric]
    static PANEL: [[f32; 68]; 128];

    struct Solver<'w> {
        world: &'w World,
        west: Pe,
        row: Vec<f64>,
    }

    include!("../../shmem-macros/expected/strided_put.rs");
    include!("../../shmem-macros/expected/strided_get.rs");
    include!("../../shmem-macros/expected/strided_fields.rs");
    include!("../../shmem-macros/expected/strided_dyn.rs");
    include!("../../shmem-macros/expected/strided_published.rs");
    include!("../../shmem-macros/expected/strided_copy.rs");
}
