//! The strided routines between PEs, against element loops, by every algorithm.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use shmem::prelude::*;
use shmem::{PlainData, zeroed};

const BYTES: usize = 4096;

#[symmetric]
static BLOCK: [u64; BYTES / 8];

/// Blocks on both sides, in elements.
#[derive(Clone, Copy, Debug)]
struct Case {
    block: usize,
    count: usize,
    there: usize,
    here: usize,
    first: usize,
    get: bool,
}

/// Cases that fit `len` elements on each side.
fn cases(len: usize) -> impl Strategy<Value = Case> {
    (1..len / 8, 0..20_usize, 0..40_usize, 0..40_usize, 0..9_usize, any::<bool>()).prop_map(
        move |(block, count, gap_there, gap_here, first, get)| {
            let (there, here) = (block + gap_there, block + gap_here);
            let most = (len - first).saturating_sub(block) / there.max(here) + 1;
            Case { block, count: count.min(most), there, here, first, get }
        },
    )
}

/// Where `case` takes its blocks from and puts them, element by element, on a side with `stride`.
fn elements(case: Case, stride: usize) -> impl Iterator<Item = usize> {
    (0..case.count).flat_map(move |i| (0..case.block).map(move |j| i * stride + j))
}

/// Element `i` of the contents that PE `pe` starts with.
fn initial<T: PlainData>(pe: usize, i: usize) -> T {
    let mut value = T::zeroed();
    for (k, byte) in bytemuck::bytes_of_mut(&mut value).iter_mut().enumerate() {
        *byte = ((i * 7 + k * 3 + pe * 101) % 253) as u8;
    }
    value
}

/// Runs `transfer` on random cases between both PEs at once, each against an element loop.
fn compare<T: PlainData + PartialEq + std::fmt::Debug>(
    world: &mut World,
    put: impl Fn(&World, Case, Pe, &SymBox<[T]>, &[T]),
    get: impl Fn(&World, Case, Pe, &SymBox<[T]>, &mut [T]),
) {
    let len = BYTES / size_of::<T>();
    let object = world.alloc(zeroed::<T>(len)).unwrap();
    let other = world.ring_neighbours().1;
    let me = world.my_pe();
    // The same cases on every PE: the barriers inside are collective.
    let default = Config::default();
    let config = Config { cases: default.cases.min(200), failure_persistence: None, ..default };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let done = runner.run(&cases(len), |case| {
        let mine: Vec<T> = (0..len).map(|i| initial(me, i)).collect();
        object.here(world).copy_from(&mine);
        let mut local: Vec<T> = (0..len).map(|i| initial(me + 50, i)).collect();
        world.barrier_all();
        let (mut there, mut here) = (mine, local.clone());
        if case.get {
            get(world, case, other, &object, &mut local[case.first..]);
            let from = elements(case, case.there);
            for (to, from) in elements(case, case.here).zip(from) {
                here[case.first + to] = initial(other.number(), case.first + from);
            }
        } else {
            put(world, case, other, &object, &local[case.first..]);
            for (to, from) in elements(case, case.there).zip(elements(case, case.here)) {
                there[case.first + to] = initial(other.number() + 50, case.first + from);
            }
        }
        world.barrier_all();
        let mut found = vec![T::zeroed(); len];
        object.here(world).copy_to(&mut found);
        prop_assert_eq!(found, there, "the symmetric side");
        prop_assert_eq!(local, here, "the local side");
        world.barrier_all();
        Ok(())
    });
    done.unwrap();
}

/// The typed routines and those that are named after a size, of elements of that size.
macro_rules! compare_sized {
    ($world:expr, $t:ty: $iput:ident, $iget:ident, $ibput:ident, $ibget:ident) => {{
        compare::<$t>(
            $world,
            |world, case, pe, object, local| {
                let place = object.on(pe).index(case.first..);
                match case.block {
                    1 => world.$iput(place, local, case.there, case.here, case.count),
                    n if n % 2 == 0 => world.ibput(place, local, case.there, case.here, n, case.count),
                    n => world.$ibput(place, local, case.there, case.here, n, case.count),
                }
            },
            |world, case, pe, object, local| {
                let place = object.on(pe).index(case.first..);
                match case.block {
                    1 => world.$iget(local, place, case.here, case.there, case.count),
                    n if n % 2 == 0 => world.ibget(local, place, case.here, case.there, n, case.count),
                    n => world.$ibget(local, place, case.here, case.there, n, case.count),
                }
            },
        );
    }};
}

fn every_size(world: &mut World) {
    compare_sized!(world, u8: iput8, iget8, ibput8, ibget8);
    compare_sized!(world, i16: iput16, iget16, ibput16, ibget16);
    compare_sized!(world, f32: iput32, iget32, ibput32, ibget32);
    compare_sized!(world, f64: iput64, iget64, ibput64, ibget64);
    compare_sized!(world, [u32; 4]: iput128, iget128, ibput128, ibget128);
    // Bytes, on addresses.
    compare::<u8>(
        world,
        |world, Case { block, count, there, here, first, .. }, pe, object, local| {
            let to = object.here(world).addr().add(first);
            world.iputmem(to, local, there, here, block, count, pe);
        },
        |world, Case { block, count, there, here, first, .. }, pe, object, local| {
            let from = object.here(world).addr().add(first);
            world.igetmem(local, from, here, there, block, count, pe);
        },
    );
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "auto"))]
fn routines_move_what_element_loops_move(world: &mut World) {
    every_size(world);
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "1"))]
fn also_block_by_block(world: &mut World) {
    every_size(world);
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "2"))]
fn also_column_by_column(world: &mut World) {
    every_size(world);
}

#[shmem::test(pes = 2, env("SHMEM_STRIDED_ALGORITHM" = "3"))]
fn also_by_the_published_table(world: &mut World) {
    every_size(world);
}

fn refusal(call: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
    *panic.downcast::<String>().unwrap()
}

#[shmem::test]
fn what_does_not_fit_is_refused_before_anything_moves(world: &mut World) {
    let me = world.me();
    let row = BLOCK.on(me).index(..100);
    let ones = [1_u64; 100];
    assert_eq!(
        refusal(|| world.iput(row, &ones, 20, 1, 6)),
        "the place has 100 elements, but 6 blocks of 1 at a stride of 20 end at 101"
    );
    assert_eq!(
        refusal(|| world.ibput(row, &ones[..10], 8, 4, 4, 3)),
        "the source has 10 elements, but 3 blocks of 4 at a stride of 4 end at 12"
    );
    assert_eq!(
        refusal(|| world.iget(&mut [0; 4], row, 0, 1, 4)),
        "the stride of the destination is 0; a stride must be at least 1"
    );
    assert_eq!(
        refusal(|| world.ibget(&mut [0; 20], row, 4, 3, 4, 2)),
        "blocks of 4 elements overlap at a stride of 3 in the place; the stride must be at least the block"
    );
    // Of no blocks nothing else is looked at, and of one no stride.
    let most = usize::MAX;
    world.ibput(row, &ones, 0, 0, most, 0);
    world.ibget(&mut [0; 1], row, most, 3, most, 0);
    world.ibget(&mut [0; 2], row, most, most, 2, 1);
    world.iput(row, &[0; 3], most / 8 + 2, most - 1, 1);
    for (count, stride) in [(2, most), (3, most / 2 + 1), (most / 8 + 2, 8), (most, 1)] {
        refusal(|| world.iput(row, &ones, stride, 1, count));
        refusal(|| world.iget(&mut [0; 2], row, 1, stride, count));
        refusal(|| world.iputmem(BLOCK.here(world).addr(), &[1; 8], stride, 1, 1, count, me));
        refusal(|| world.igetmem(&mut [1; 8], BLOCK.here(world).addr(), stride, 1, 1, count, me));
    }
    let address = BLOCK.here(world).addr();
    let miss = refusal(|| world.iputmem(address, &[1; 8], 1 << 40, 1, 1, 2, me));
    assert!(miss.starts_with("`iputmem`: the 1099511627777 bytes at"), "{miss}");
    let mut found = [7; BYTES / 8];
    BLOCK.here(world).index(..).copy_to(&mut found);
    assert_eq!(found, [0; BYTES / 8], "something was written");
}
