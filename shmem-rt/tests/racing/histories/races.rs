//! Threads and PEs write and read the same words at the same time, by each operation that moves data. A read may mix bytes of
//! several writes, but has no other effect. ThreadSanitizer (`ci/sanitize.sh`) reports plain accesses.

use std::sync::atomic::{AtomicUsize, Ordering};

use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{filled, zeroed};

const WORDS: usize = 1024;
const ROUNDS: usize = if cfg!(shmem_words) { 20 } else { 200 };

#[derive(Clone, Copy, Debug, Default, PartialEq, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: [f32; 2],
    spin: [u16; 3],
    kind: [u8; 2],
}

#[symmetric]
static ROW: [u64; WORDS];
#[symmetric]
static CELLS: [Cell; 64];
#[symmetric]
static PAIR: [u32; 2];
#[symmetric]
static ARRIVED: Signal;

/// A value whose bytes are all equal.
fn all_of<T: bytemuck::Pod>(byte: u8) -> T {
    let mut value = T::zeroed();
    bytemuck::bytes_of_mut(&mut value).fill(byte);
    value
}

/// Returns whether each byte is one that was written.
fn is_known<T: bytemuck::Pod>(values: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(values).iter().all(|byte| *byte <= 2)
}

/// The rounds of two threads. They wait for each other by relaxed accesses, which order nothing else.
#[derive(Default)]
struct Together([AtomicUsize; 2]);

impl Together {
    /// Waits until the other thread is in the same round.
    fn meet(&self, thread: usize) {
        let Self(rounds) = self;
        let round = rounds[thread].fetch_add(1, Ordering::Relaxed) + 1;
        while rounds[1 - thread].load(Ordering::Relaxed) < round {
            std::thread::yield_now();
        }
    }
}

/// Issues each operation, with values of the thread's own byte.
fn use_all(world: &World<Multiple>, pe: Pe, together: &Together, thread: usize) {
    let byte = thread as u8 + 1;
    let (word, cell) = (all_of::<u64>(byte), all_of::<Cell>(byte));
    let source = [word; 297];
    let mut words = [word; WORDS];
    let mut cells = [cell; 64];
    for round in 0..ROUNDS {
        together.meet(thread);
        let (at, number) = (round % 64, round % WORDS);
        world.p(ROW.on(pe).index(number), word);
        world.put(ROW.on(pe).index(number), &word);
        assert!(is_known(&[world.g(ROW.on(pe).index(number))]));
        world.p(CELLS.on(pe).index(at), cell);
        assert!(is_known(&[world.g(CELLS.on(pe).index(at))]));
        world.put(PAIR.on(pe), &all_of::<[u32; 2]>(byte));
        assert!(is_known(&[world.g(PAIR.on(pe))]));

        world.put(ROW.on(pe), &[word; WORDS]);
        world.get(&mut words, ROW.on(pe));
        assert!(is_known(&words));
        world.put(CELLS.on(pe).index(1..at + 1), &[cell; 64][..at]);
        world.get(&mut cells, CELLS.on(pe));
        assert!(is_known(&cells));

        let (here, cells_here) = (ROW.here(world), CELLS.here(world));
        here.index(number).store(word);
        assert!(is_known(&[here.index(number).load()]));
        cells_here.index(at).store(cell);
        assert!(is_known(&[cells_here.index(at).load()]));
        here.index(..number).copy_from(&vec![word; number]);
        here.index(..).copy_to(&mut words[..]);
        assert!(is_known(&words));
        here.index(number..).fill(word);

        world.put_from(ROW.on(pe).index(..WORDS / 2), here.index(WORDS / 2..));
        world.get_into(here.index(..WORDS / 2), ROW.on(pe).index(WORDS / 2..));
        world.put_from(ROW.on(pe).index(number), here.index(WORDS - 1 - number));
        world.scope(|s| {
            s.put(ROW.on(pe).index(3..300), &source);
            s.get(&mut cells[..], CELLS.on(pe).index(..));
        });
        world.put_signal(ROW.on(pe).index(..17), &[word; 17], ARRIVED.on(pe), SignalOp::Add(1));

        let words = &mut words[..WORDS / 8];
        words.fill(word);
        world.iput(ROW.on(pe).index(..), words, 8, 1, WORDS / 8);
        world.iget(words, ROW.on(pe).index(..), 1, 8, WORDS / 8);
        assert!(is_known(words));
        world.ibput(ROW.on(pe).index(..), &[word; 96], 12, 3, 3, 32);
        strided!(world, ROW@pe[0..800; 200] = words[0..4]);
        strided!(world, ROW@pe[0..896; 7] = words[..]);
        strided!(world, words[..] = ROW@pe[0..256; 2]);
        assert!(is_known(words));
        strided!(world, CELLS@pe[0..64].mass = CELLS[0..64].mass);
        strided!(world, CELLS@pe[0..8; 2].spin = CELLS[32..40; 2].spin);
    }
    world.quiet();
}

#[shmem::test(pes = 2)]
fn threads_use_the_same_words_of_any_pe(world: &mut World<Multiple>) {
    let (world, together) = (&*world, &Together::default());
    std::thread::scope(|scope| {
        for thread in [0, 1] {
            scope.spawn(move || world.pes().iter().for_each(|pe| use_all(world, pe, together, thread)));
        }
    });
    world.barrier_all();
    assert!(is_known(&[world.g(ROW.on(world.me()).index(0))]));
}

/// Memory that a raw address writes to may become an object meanwhile. The program is wrong, and the object gets other contents,
/// but there is no undefined behaviour.
#[shmem::test(pes = 1)]
fn an_object_begins_while_a_raw_address_is_written(world: &mut World<Multiple>) {
    const BYTES: usize = 4096;
    let world = &*world;
    let block = world.malloc(BYTES).unwrap();
    world.free(block).unwrap();
    let together = Together::default();
    let at = block.as_ptr() as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let block = world.address(at as *const u8).unwrap();
            let mut seen = vec![0; BYTES];
            for _ in 0..ROUNDS {
                together.meet(1);
                world.putmem(block, &[1; BYTES], world.me());
                world.getmem(&mut seen, block, world.me());
                assert!(is_known(&seen));
            }
        });
        for _ in 0..ROUNDS {
            together.meet(0);
            let word = all_of::<u64>(2);
            let row = world.alloc(filled(word, BYTES / 8)).unwrap();
            assert_eq!(row.here(world).addr(), block, "the block that the other thread writes");
            world.free(row).unwrap();
            world.free(world.alloc(vec![word; BYTES / 8]).unwrap()).unwrap();
            world.free(world.alloc([word; BYTES / 8]).unwrap()).unwrap();
            world.free(world.alloc(zeroed::<Cell>(BYTES / 32)).unwrap()).unwrap();
            world
                .free(world.array([BYTES / 8]).storage(shmem::array::Single).from_fn(|_| word).unwrap())
                .unwrap();
            let again = world.partition(1).unwrap().calloc(BYTES / 2, 1).unwrap();
            let again = world.realloc(again, BYTES).unwrap();
            world.free(again).unwrap();
        }
    });
}
