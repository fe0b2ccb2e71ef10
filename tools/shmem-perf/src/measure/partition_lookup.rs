//! The time to find the segment of an address, by the number of partitions ("Symmetric Memory Partitions in OpenSHMEM", 2017,
//! section 5). The *published* form compares buffers in random partitions with a single buffer, which also saves cache misses. The
//! *fair* form compares equally many buffers at equal distances: each in a partition of its own, or all in one partition.

use shmem::{SymAddr, SymmetricData};
use shmem_core::object::AtomicWord;

use super::indexed::random;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "lookup",
    run: Some(|runner| {
        let network = runner.asked.provider.first().map(|provider| fabric::variables(provider));
        for n in runner.numbers("partitions") {
            // The last partition also has the second list of [`Buffers`]. Dynamic segments get little address space, so that
            // partitions are closer together.
            let size = |id| if id == n { 2 * REGION * (n + 2) } else { REGION / 4 * 3 };
            let partition = |id| (format!("{PARTITION_VARIABLE}{id}"), format!("SIZE={}", size(id)));
            let given =
                PeArguments { partitions: n, sizes: runner.numbers("sizes"), ..PeArguments::default() };
            let job = runner.job("lookup", 2, given).with([("SHMEM_DYNAMIC_SIZE", "2M")]);
            runner.repeat(&job.with((1..=n).map(partition)).with(network.iter().flatten().cloned()))?;
        }
        Ok(())
    }),
    tasks: &[("lookup", Task::Near(lookup))],
    ..Measure::PLAIN
};

fn lookup(world: &mut World, bench: &Bench<'_>) -> Done {
    let [fair, published] = match &bench.sizes[..] {
        [] => [&[1, 8, 64, 512, 4096][..], &[8]],
        sizes => [sizes; 2],
    };
    // With one partition, the published form compares equal things, which shows the noise; the fair form would say nothing.
    if bench.partitions > 1 {
        if bench.sizes.is_empty() {
            typed::<u8>(world, bench)?;
            typed::<u64>(world, bench)?;
            typed::<[u64; 8]>(world, bench)?;
            typed::<[u64; 64]>(world, bench)?;
            typed::<[u64; 512]>(world, bench)?;
        }
        of_form(world, bench, FAIR, fair)?;
    }
    of_form(world, bench, PUBLISHED, published)
}

/// Name of the published form in cases. [`FAIR`] is the name of the fair form.
const PUBLISHED: &str = "lookup-published";
const FAIR: &str = "lookup";

/// Alignment of partitions. Each has space for the largest buffer.
const REGION: usize = 2 << 20;

/// Buffers of the fair form: one in each of `n` partitions; `n` in the last partition, at the same distances.
type Buffers<B> = [Vec<B>; 2];

fn with_buffers<T: SymmetricData>(
    world: &World,
    bench: &Bench<'_>,
    len: usize,
    measure: impl FnOnce(&mut Buffers<SymBox<[T]>>),
) -> Done {
    let n = bench.partitions;
    let apart: Vec<_> =
        (1..=n as u32).map(|id| world.partition(id)?.alloc(zeroed::<T>(len))).collect::<Result<_>>()?;
    let heap = world.partition(n as u32)?;
    let room = (len * size_of::<T>()).next_multiple_of(shmem_core::heap::MIN_ALIGN);
    let first = apart[0].offset();
    let mut end = apart[n - 1].offset() + room;
    // The first buffers of both lists start at the same offset modulo [`REGION`], so that addresses make no difference.
    let start = end + (first.wrapping_sub(end) % REGION);
    let (mut together, mut between) = (Vec::new(), Vec::new());
    for other in &apart {
        let wanted = start + (other.offset() - first);
        if wanted > end {
            between.push(heap.malloc(wanted - end)?);
        }
        let buffer = heap.alloc(zeroed::<T>(len))?;
        assert_eq!(buffer.offset(), wanted, "the heap of the last partition was not empty");
        end = wanted + room;
        together.push(buffer);
    }
    let mut buffers = [apart, together];
    alone(world, || measure(&mut buffers))?;
    buffers.into_iter().flatten().try_for_each(|buffer| world.free(buffer))?;
    Ok(between.into_iter().try_for_each(|block| world.free(block))?)
}

/// Measures passes over buffers in random order. In the fair form, both lists are at the same address when a pass reads them.
fn passes<B>(
    bench: &Bench<'_>,
    form: &str,
    (operation, bytes): (&str, usize),
    [apart, together]: &mut Buffers<B>,
    mut pass: impl FnMut(&[B], &[u8]),
) {
    // As many operations as in the 2017 paper, or fewer if these move many bytes or go over a network.
    let most = if bench.site.transport == "shm" { 10_000 } else { 200 } / LESS;
    let (n, count) = (apart.len(), ((64 << 20) / bytes / LESS).clamp(most / 40, most));
    // Random indices of buffers, the same in every run; and as many indices of the first buffer.
    let [random, one] =
        [n, 1].map(|below| random(count, below, 0).into_iter().map(|at| at as u8).collect::<Vec<_>>());
    bench.pair(format!("{form} {operation}/{n}/{bytes}"), || {
        let cost = nanoseconds_each(count, || pass(apart, &random));
        if form == PUBLISHED {
            return (cost, nanoseconds_each(count, || pass(apart, &one)));
        }
        apart.swap_with_slice(together);
        let limit = nanoseconds_each(count, || pass(apart, &random));
        apart.swap_with_slice(together);
        (cost, limit)
    });
}

fn typed<T: PlainData>(world: &World, bench: &Bench<'_>) -> Done {
    let (pe, value) = (other(world), T::zeroed());
    with_buffers::<T>(world, bench, 1, |buffers| {
        let pass = |boxes: &[_], list: &[u8]| typed_pass(world, boxes, list, pe, &value);
        passes(bench, FAIR, ("typed", size_of::<T>()), buffers, pass);
    })
}

/// Measures untyped transfers of whole buffers, and fetch-adds on words.
fn of_form(world: &World, bench: &Bench<'_>, form: &str, sizes: &[usize]) -> Done {
    let pe = other(world);
    for &bytes in sizes {
        with_buffers::<u8>(world, bench, bytes, |buffers| {
            let address = |buffer: &SymBox<[u8]>| buffer.here(world).addr();
            let mut buffers = buffers.each_ref().map(|all| all.iter().map(address).collect::<Vec<_>>());
            let mut own = vec![1_u8; bytes];
            for put in [true, false] {
                let operation = match (form, put) {
                    (FAIR, true) => "raw",
                    (_, true) => "put",
                    (_, false) => "get",
                };
                let pass = |addresses: &[_], list: &[u8]| raw_pass(world, put, addresses, list, pe, &mut own);
                passes(bench, form, (operation, bytes), &mut buffers, pass);
            }
        })?;
    }
    fetch_adds::<Atomic<u32>>(world, bench, form)?;
    fetch_adds::<Atomic<u64>>(world, bench, form)
}

fn fetch_adds<W: AtomicWord<Value: From<u8>>>(world: &World, bench: &Bench<'_>, form: &str) -> Done {
    with_buffers::<W>(world, bench, 1, |buffers| {
        let pass = |boxes: &[_], list: &[u8]| word_pass(world, boxes, list, other(world));
        passes(bench, form, ("fetch-add", size_of::<W>()), buffers, pass);
    })
}

// Not inlined, so that passes over both lists run the same instructions at the same addresses.
#[inline(never)]
fn typed_pass<T: PlainData>(world: &World, boxes: &[SymBox<[T]>], sequence: &[u8], pe: Pe, value: &T) {
    for &i in sequence {
        world.put(boxes[usize::from(i)].on(pe).index(0), black_box(value));
    }
    world.quiet();
}

#[inline(never)]
fn word_pass<W: AtomicWord<Value: From<u8>>>(world: &World, boxes: &[SymBox<[W]>], sequence: &[u8], pe: Pe) {
    for &i in sequence {
        black_box(world.fetch_add(boxes[usize::from(i)].on(pe).index(0), 1.into()));
    }
    world.quiet();
}

#[inline(never)]
fn raw_pass(world: &World, put: bool, addresses: &[SymAddr], sequence: &[u8], pe: Pe, own: &mut [u8]) {
    let addresses = sequence.iter().map(|&i| addresses[usize::from(i)]);
    match put {
        true => addresses.for_each(|to| world.putmem(to, black_box(own), pe)),
        false => addresses.for_each(|from| world.getmem(black_box(own), from, pe)),
    }
    world.quiet();
}
