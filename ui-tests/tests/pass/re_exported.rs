//! The library at another path, for which the program answers.
#![deny(warnings)]

pub mod my {
    pub use shmem;
}

macro_rules! declare {
    ($row:ident, $words:ident) => {
        #[derive(Clone, Copy, shmem::Symmetric)]
        #[shmem(unsafe(crate = $crate::my::shmem))]
        #[repr(C)]
        struct $row {
            words: [u64; 2],
        }

        #[shmem::symmetric(unsafe(crate = crate::my::shmem), partition = fast)]
        static $words: [$row; 4];
    };
}

shmem::partitions! {
    unsafe(crate = crate::my::shmem);
    pub fast { size = "1M" }
}

declare!(Row, WORDS);

fn main() {
    fn plain<T: shmem::PlainData>(_: &shmem::Symmetric<[T; 4]>) {}
    plain(&WORDS);
    let _ = Row { words: [1, 2] }.words;
}
