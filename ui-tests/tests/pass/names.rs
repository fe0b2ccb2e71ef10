//! Names and macros of a program beside those of the library.
#![deny(warnings)]

use shmem::prelude::*;

// An argument of the program's macro stays one expression in the expansion of the library's macros.
#[symmetric]
static FIELD: [u64; 16];

macro_rules! twice {
    ($e:expr, $r:expr, $t:ty) => {
        const PLAIN: usize = $e * 2;

        #[symmetric]
        static TWICE: [$t; $e * 2];

        #[derive(Clone, Copy, Symmetric)]
        #[repr(C)]
        struct Pair {
            values: [$t; $e * 2],
            buffer: [u64; { $e * 2 }],
        }

        fn sizes() -> [usize; 2] {
            [TWICE_LENGTH, size_of::<Pair>()]
        }

        const TWICE_LENGTH: usize = length(&TWICE);

        fn moved(world: &World) -> usize {
            let source = [7_u64; 16];
            strided!(world, FIELD@(world.me())[0..$e * 2] = source[0..$e * 2]);
            strided!(world, FIELD@(world.me())[dyn 8..8 + $e * 2] = source[dyn 0..$e * 2]);
            strided!(world, FIELD@(world.me())[$r] = source[$r]);
            let mut found = [0; 16];
            world.get(&mut found, FIELD.on(world.me()));
            found.iter().filter(|value| **value == 7).count()
        }

        #[shmem::main]
        fn main(world: &mut World) {
            let inside = $e * 2;
            assert_eq!([inside, PLAIN], [4, 4]);
            assert_eq!(sizes(), [4, 64]);
            assert_eq!(moved(world), 4 + 4 + 1);
            own_library::run(world);
            own_prelude::run(world);
            elsewhere::run();
        }
    };
}

macro_rules! operands {
    ($r:expr, $p:pat, $t:ty) => {
        #[shmem::collective]
        #[allow(dead_code)]
        fn operands(_world: &World, number: i32, _any: &$t) -> bool {
            let is_found = matches!(number, one @ $p if one > 0);
            is_found && (&$r).contains(&2) && $r == (0..4)
        }
    };
}
operands!(0..4, 1 | 2, dyn Send + Sync);

const fn length<T, const N: usize>(_: &Symmetric<[T; N]>) -> usize {
    N
}

twice!(1 + 1, 4..5, u64);

// A module with the name of the library is the program's where the program names it.
mod own_library {
    mod shmem {
        pub use ::shmem::*;

        pub const START: u64 = 17;

        pub mod version {
            pub const NAME: &str = "the program's own";
        }
    }

    use shmem::prelude::*;

    #[symmetric]
    static FIRST: u64 = shmem::START;

    #[symmetric]
    static LENGTH: u64 = shmem::version::NAME.len() as u64;

    #[::shmem::collective]
    pub fn run(world: &World) {
        assert_eq!((FIRST.here(world).load(), LENGTH.here(world).load()), (17, 17));
    }
}

// Items, imports by name, and variables of a program come before those of the prelude.
mod own_prelude {
    use std::sync::atomic::Ordering::*;

    use shmem::prelude::*;

    type Result<T> = std::result::Result<T, String>;

    struct Team(u64);
    struct Private;

    trait Size {
        const ZERO: u64;
        fn added(self, other: Self) -> u64;
    }

    impl Size for u64 {
        const ZERO: u64 = 10;

        fn added(self, other: Self) -> u64 {
            self * other
        }
    }

    fn filled(from: u64) -> Result<u64> {
        Ok(from + 1)
    }

    pub fn run(world: &World) {
        let (value, zeroed, normal, fast) = (Team(1).0, filled(2).unwrap(), Private, Relaxed);
        let Private = normal;
        assert_eq!((value + zeroed, u64::ZERO.added(2)), (4, 20));
        assert_ne!(fast, SeqCst);
        assert_eq!(world.pes().len(), world.n_pes());
    }
}

// The library at another path, which the program gives as `unsafe`.
mod elsewhere {
    pub mod my {
        pub use shmem;
    }

    macro_rules! declare {
        ($row:ident, $words:ident) => {
            #[derive(Clone, Copy, shmem::Symmetric)]
            #[shmem(unsafe(crate = $crate::elsewhere::my::shmem))]
            #[repr(C)]
            struct $row {
                words: [u64; 2],
            }

            #[shmem::symmetric(unsafe(crate = crate::elsewhere::my::shmem), partition = fast)]
            static $words: [$row; 4];
        };
    }

    shmem::partitions! {
        unsafe(crate = crate::elsewhere::my::shmem);
        pub fast { size = "1M" }
    }

    declare!(Row, WORDS);

    pub fn run() {
        fn plain<T: shmem::PlainData>(_: &shmem::Symmetric<[T; 4]>) {}
        plain(&WORDS);
        let _ = Row { words: [1, 2] }.words;
    }
}
