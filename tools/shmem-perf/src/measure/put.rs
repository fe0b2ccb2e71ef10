//! Puts, gets, and fetching atomic operations.

use std::sync::atomic::fence;

use super::*;

pub(crate) const PUT: Measure = Measure {
    name: "put",
    tasks: &[("put", Task::Near(|world, bench| transfers(world, bench, true)))],
    ..Measure::PLAIN
};

pub(crate) const GET: Measure = Measure {
    name: "get",
    tasks: &[("get", Task::Near(|world, bench| transfers(world, bench, false)))],
    ..Measure::PLAIN
};

pub(crate) const ATOMIC: Measure =
    Measure { name: "atomic", tasks: &[("atomic", Task::Near(atomics))], ..Measure::PLAIN };

const SIZES: [usize; 8] = [1, 8, 64, 512, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

/// Passes over the cache lines in a sample, which takes some ten microseconds.
const PASSES: u64 = 1000;

/// Words of [`LINES`] cache lines. The benchmark writes the first word of each line.
pub(crate) type Row = [u64; LINES * WORDS_OF_LINE];

#[symmetric]
static ROW: Row;

/// Puts `value` to the first word of each cache line of [`ROW`] (`put8-static`). Not inlined, because its baseline is not.
#[inline(never)]
fn put_row(world: &World, pe: Pe, value: u64) {
    for line in 0..LINES {
        world.p(ROW.on(pe).index(line * WORDS_OF_LINE), value);
    }
}

/// Measures 8-byte puts: to a static, and with their quiet. Closures own their operands, because the compiler would load borrowed
/// ones again after each put.
fn words(world: &World, bench: &Bench<'_>) {
    let (world, pe) = black_box((world, other(world)));
    let (word, start) = (ROW.on(pe).index(0), near(ROW.on(pe).index(0).ptr(world)));
    let puts = || numbered(PASSES, move |value| put_row(world, pe, value)) / LINES as f64;
    // SAFETY: `start` points to a row, which has `LINES * WORDS_OF_LINE` words and lives as long as the program.
    let stores = || numbered(PASSES, move |value| unsafe { baseline::stores(start, value) }) / LINES as f64;
    bench.pairs("put8-static 8", puts, stores);
    let put = || {
        let (world, word) = (black_box(world), black_box(word));
        numbered(PASSES, move |value| {
            world.p(word, value);
            world.quiet();
        })
    };
    // On one node, an 8-byte put and its quiet need a store and a full fence, so that no later load overtakes the store.
    let store = || {
        numbered(PASSES, move |value| {
            // SAFETY: `start` points to an aligned word, which lives as long as the program.
            unsafe { start.write_volatile(value) };
            fence(Ordering::SeqCst);
        })
    };
    bench.pairs("put8-quiet 8", put, store);
}

fn transfers(world: &World, bench: &Bench<'_>, puts: bool) -> Done {
    let object = world.alloc(zeroed::<u8>(SIZES[7]))?;
    Ok(alone(world, || {
        if puts {
            words(world, bench);
        }
        for bytes in SIZES {
            let (there, mut own) = (object.on(other(world)).index(..bytes), vec![1_u8; bytes]);
            let start: *mut u8 = near(there.ptr(world)).cast();
            // SAFETY: the bytes at `start` are as many as those of `own`, which is private memory, so that the two do not overlap.
            let put = |own: &mut [u8]| unsafe { baseline::memcpy(start, own.as_ptr(), own.len()) };
            // SAFETY: the bytes at `start` are as many as those of `own`, which is private memory, so that the two do not overlap.
            let get = |own: &mut [u8]| unsafe { baseline::memcpy(own.as_mut_ptr(), start, own.len()) };
            match puts {
                true => bench.pair(format!("put {bytes}"), || {
                    (of_byte(&mut own, |own| world.put(there, own)), of_byte(&mut own, put))
                }),
                false => bench.pair(format!("get {bytes}"), || {
                    (of_byte(&mut own, |own| world.get(own, there)), of_byte(&mut own, get))
                }),
            }
        }
    })?)
}

/// Returns the nanoseconds per byte of transfers of all of `own`, repeated so that a sample takes some hundred microseconds.
fn of_byte(own: &mut [u8], transfer: impl Fn(&mut [u8])) -> f64 {
    let count = ((1 << 21) / own.len()).clamp(2, 20_000);
    nanoseconds_each(count * own.len(), || (0..count).for_each(|_| transfer(black_box(&mut *own))))
}

fn atomics(world: &mut World, bench: &Bench<'_>) -> Done {
    const ORDER: Ordering = Ordering::SeqCst;
    let world = &*world;
    let object = world.alloc(value(Atomic::new(0_u64)))?;
    Ok(alone(world, || {
        let word = object.on(other(world));
        let raw = word_at(world, word);
        against(bench, "fetch-add/64", move |v| world.fetch_add(word, v), move |v| raw.fetch_add(v, ORDER));
        against(bench, "swap/64", move |v| world.swap(word, v), move |v| raw.swap(v, ORDER));
        let exchange = move |v| raw.compare_exchange(v, v + 1, ORDER, ORDER).unwrap_or_else(|before| before);
        against(bench, "compare-swap/64", move |v| world.compare_swap(word, v, v + 1), exchange);
        against(bench, "fetch-xor/64", move |v| world.fetch_xor(word, v), move |v| raw.fetch_xor(v, ORDER));
    })?)
}

fn against<T>(bench: &Bench<'_>, case: &str, ours: impl Fn(u64) -> T + Copy, raw: impl Fn(u64) -> T + Copy) {
    bench.pairs(format!("atomic {case}"), || repeated(ours), || repeated(raw));
}

/// Returns the nanoseconds of an operation, repeated for some ten microseconds. The compiler does not know the operands.
fn repeated<T>(operation: impl Fn(u64) -> T) -> f64 {
    let operation = black_box(operation);
    numbered(5000, move |value| _ = black_box(operation(value)))
}
