//! What a macro of the program hands on is one expression, also in what the library's macros make of it.

use shmem::prelude::*;

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
            buffer: Buffer<{ $e * 2 }>,
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

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Buffer<const N: usize> {
    values: [u64; N],
}

const fn length<T, const N: usize>(_: &Symmetric<[T; N]>) -> usize {
    N
}

twice!(1 + 1, 4..5, u64);
