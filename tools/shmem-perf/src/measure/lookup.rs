//! What the number of partitions costs.
//!
//! An implementation that looks for the segment of an address pays for every segment it has. There are two forms:
//!
//! * The **published** one compares operations on buffers of random partitions, one in each, with operations on one
//!   buffer. There the number of buffers changes, too, and with it what the caches do.
//! * The **fair** one uses as many buffers at the same distances twice: each in a partition of its own, and all in
//!   one partition. So it shows lookup, and nothing else. Distances matter more than any lookup: buffers at
//!   equal places of their pages meet in one cache set, wherever they came from.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), section 5.

use std::cell::RefCell;
use std::hint::black_box;

use clap::{Args, FromArgMatches};
use shmem::prelude::*;
use shmem::{SymAddr, SymmetricData};
use shmem_core::object::AtomicWord;
use shmem_core::partition::PARTITION_VARIABLE;

use super::indexed::random;
use super::{At, Cases, Measure, row};
use crate::bench::{Bench, Records};
use crate::case::Record;
use crate::check::{Bound, Guard, held};
use crate::fabric;
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

pub(crate) const MEASURE: Measure = Measure {
    name: "lookup",
    about: "Operations on many partitions, against those on one",
    options: Options::augment_args,
    run: |runner, options| Options::from_arg_matches(options)?.run(runner),
    tasks: &[LOOKUP, LOOKUP_PUBLISHED, LOOKUP_BY_SIZE],
    rows: ROWS,
    guards: &[
        Guard::of(
            "lookup",
            |runner| runner.repeat(&of_partitions(runner, &LOOKUP, 127)),
            || {
                ["lookup typed/127/8", "lookup raw/127/8"]
                    .map(|name| held(name, Bound::Own(Goal::RatioOr(3.0, 0.5))))
                    .into()
            },
        ),
        // Against one buffer in the first of them: what looks from either end is seen. 1.00 to 1.02.
        Guard::of(
            "lookup",
            |runner| runner.repeat(&of_partitions(runner, &LOOKUP_PUBLISHED, 127)),
            || {
                ["lookup-published put/127/8", "lookup-published get/127/8"]
                    .map(|name| held(name, Bound::Own(Goal::Ratio(3.0))))
                    .into()
            },
        ),
    ],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("lookup | kind/partitions/bytes | typed puts, untyped puts (`raw`), `get` and `fetch-add` on random buffers, each in \
         a partition of its own | the same buffers at the same distances, all in one partition",
        // Over a network, nothing that a lookup costs can be seen.
         &[("lookup typed/**", At::Near, Goal::RatioOr(1.01, 0.05)), ("lookup **", At::Near, Goal::RatioOr(1.02, 0.3))]),
    row("lookup-published | operation/partitions/bytes | 10,000 operations on random partitions, then quiet; fewer where they \
         move more than 64 MiB, and 200 over a network | the same on one buffer", &[]),
];

const LOOKUP: Task = Task::near("lookup", |bench| {
    let mut records = typed::<u8>(bench)?;
    records.extend(typed::<u64>(bench)?);
    records.extend(typed::<[u64; 8]>(bench)?);
    records.extend(typed::<[u64; 64]>(bench)?);
    records.extend(typed::<[u64; 512]>(bench)?);
    records.extend(of_forms(bench, &[Form::Fair], &[1, 8, 64, 512, 4096])?);
    Ok(records)
});
const LOOKUP_PUBLISHED: Task =
    Task::near("lookup-published", |bench| of_forms(bench, &[Form::Published], &[8]));
const LOOKUP_BY_SIZE: Task = Task::near("lookup-by-size", |bench| {
    // One partition against itself shows how sure the published form is.
    let forms =
        if bench.given.partitions == 1 { &[Form::Published][..] } else { &[Form::Published, Form::Fair] };
    of_forms(bench, forms, &bench.given.sizes)
});

/// Which transfers, and between whom.
#[derive(Args, Clone, Debug, Default)]
struct Options {
    /// Both forms with puts and gets of these sizes, in bytes; not given: those that show most.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    sizes: Vec<u32>,
    /// Between PEs that reach each other through this provider of libfabric; not given: through shared memory.
    #[arg(long, requires = "sizes")]
    provider: Option<String>,
}

impl Options {
    fn run(&self, runner: &mut Runner) -> Done {
        let mut numbers = [1].into_iter().chain(PARTITIONS);
        if self.sizes.is_empty() {
            PARTITIONS.into_iter().try_for_each(|n| runner.repeat(&of_partitions(runner, &LOOKUP, n)))?;
            return numbers.try_for_each(|n| runner.repeat(&of_partitions(runner, &LOOKUP_PUBLISHED, n)));
        }
        let sizes: Vec<_> = self.sizes.iter().map(|&bytes| bytes as usize).collect();
        let provider = self.provider.as_deref();
        numbers.try_for_each(|n| runner.repeat(&of_sizes(runner, n, &sizes, provider)))
    }
}

/// Numbers of partitions that are compared with one.
pub(crate) const PARTITIONS: [usize; 3] = [7, 8, 127];

/// Partitions start on multiples of it, and have room for the largest buffer.
const REGION: usize = 2 << 20;

/// How much less is measured where figures do not count: tests want to see that all of it works.
const LESS: usize = if cfg!(debug_assertions) { 50 } else { 1 };

/// A job with so many partitions, with the IDs from 1 on, the last of which has room for [`Buffers`]. Little is kept for later
/// segments: the more there is, the further apart partitions start.
fn of_partitions(runner: &Runner, task: &Task, n: usize) -> Asked {
    let size = |id| if id == n { 2 * REGION * (n + 2) } else { REGION / 4 * 3 };
    let job = (1..=n).fold(runner.job(task, 2, &[("SHMEM_LATER_SIZE", "2M".to_owned())]), |job, id| {
        job.with(&[(&format!("{PARTITION_VARIABLE}{id}"), format!("SIZE={}", size(id)))])
    });
    job.told("--partitions", n)
}

/// A job of both forms with so many partitions and transfers of these sizes; of PEs that reach each other through a provider if
/// one is named.
pub(crate) fn of_sizes(runner: &Runner, partitions: usize, sizes: &[usize], provider: Option<&str>) -> Asked {
    let job = of_partitions(runner, &LOOKUP_BY_SIZE, partitions).told_all("--sizes", sizes);
    provider.map_or(job.clone(), |provider| job.with(&fabric::variables(provider)))
}

/// What operations on buffers in many partitions are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Published,
    Fair,
}

impl Form {
    const fn compared(self) -> &'static str {
        match self {
            Self::Published => {
                "operations on buffers of random partitions, then quiet, against all on one buffer"
            }
            Self::Fair => {
                "operations on random buffers in a partition each, against the same in one partition"
            }
        }
    }

    /// As its measure and an operation are written.
    fn name(self, put: bool) -> &'static str {
        match (self, put) {
            (Self::Published, true) => "lookup-published put",
            (Self::Published, false) => "lookup-published get",
            (Self::Fair, true) => "lookup raw",
            (Self::Fair, false) => "lookup get",
        }
    }
}

/// A buffer in each of `n` partitions, and `n` of them in one, at the same distances.
struct Buffers<T: SymmetricData> {
    apart: Vec<SymBox<[T]>>,
    /// All in the last of these partitions.
    together: Vec<SymBox<[T]>>,
    between: Vec<SymAddr>,
}

impl<T: SymmetricData> Buffers<T> {
    /// Buffers of `len` elements. All PEs call it.
    fn allocate(world: &World, n: usize, len: usize) -> Result<Self> {
        let apart = (1..=n as u32)
            .map(|id| world.partition(id)?.alloc(zeroed::<T>(len)))
            .collect::<Result<Vec<_>>>()?;
        let heap = world.partition(n as u32)?;
        let room = (len * size_of::<T>()).next_multiple_of(shmem_core::heap::MIN_ALIGN);
        let first = apart[0].offset();
        let mut end = apart[n - 1].offset() + room;
        // The first one lies where the first one of the others does, as far as pages can tell.
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
        Ok(Self { apart, together, between })
    }
}

/// Measures with buffers of so many elements.
fn with_buffers<T: SymmetricData>(
    bench: &Bench<'_>,
    len: usize,
    measure: impl FnOnce(&mut Buffers<T>) -> Vec<Record>,
) -> Records {
    let world = bench.world;
    let mut buffers = Buffers::allocate(world, bench.given.partitions, len)?;
    let done = world.alloc(value(0_u64))?;
    let records = match bench.site.transport.as_str() {
        "shm" => bench.absent(&done, || measure(&mut buffers)),
        _ => bench.alone(|| measure(&mut buffers)),
    };
    let Buffers { apart, together, between } = buffers;
    apart.into_iter().chain(together).try_for_each(|buffer| world.free(buffer))?;
    between.into_iter().try_for_each(|block| world.free(block))?;
    world.free(done)?;
    Ok(records)
}

/// Transfers of these sizes, and fetch-adds.
fn of_forms(bench: &Bench<'_>, forms: &[Form], sizes: &[usize]) -> Records {
    let mut records = Vec::new();
    for &bytes in sizes {
        records.extend(transfers(bench, forms, bytes)?);
    }
    records.extend(fetch_adds::<Atomic<u32>>(bench, forms)?);
    records.extend(fetch_adds::<Atomic<u64>>(bench, forms)?);
    Ok(records)
}

/// Operations of `bytes` bytes in one sample: those of the publication, or fewer that move some ten megabytes; over a network, a
/// hundred take as long as a million stores.
fn operations(bench: &Bench<'_>, bytes: usize) -> usize {
    let most = if bench.site.transport == "shm" { 10_000 } else { 200 } / LESS;
    ((64 << 20) / bytes / LESS).clamp(most / 40, most)
}

/// Buffers in random order, the same on every run.
fn sequence(count: usize, buffers: usize) -> Vec<u8> {
    random(count, buffers, 0).into_iter().map(|index| index as u8).collect()
}

/// Random typed puts: apart, with together as the limit.
fn typed<T: PlainData>(bench: &mut Bench<'_>) -> Records {
    let (world, pe, value, partitions) = (bench.world, bench.other(), T::zeroed(), bench.given.partitions);
    with_buffers::<T>(bench, 1, |buffers| {
        let samples =
            in_turn(bench, buffers, |boxes, sequence| typed_pass(world, boxes, sequence, pe, &value));
        vec![bench.record(
            &format!("lookup typed/{partitions}/{}", size_of::<T>()),
            Form::Fair.compared(),
            samples,
        )]
    })
}

/// Untyped transfers to or from the whole of the buffers.
fn transfers(bench: &Bench<'_>, forms: &[Form], bytes: usize) -> Records {
    let (world, pe, partitions, count) =
        (bench.world, bench.other(), bench.given.partitions, operations(bench, bytes));
    with_buffers::<u8>(bench, bytes, |buffers| {
        let addresses =
            |boxes: &[SymBox<[u8]>]| boxes.iter().map(|buffer| buffer.here(world).addr()).collect::<Vec<_>>();
        let (apart, together) = (addresses(&buffers.apart), addresses(&buffers.together));
        let own = RefCell::new(vec![1_u8; bytes]);
        // Addresses are read where they lie: both layouts take turns at one place.
        let current = RefCell::new(apart.clone());
        let pass = |addresses: &[SymAddr], sequence: &[u8], put: bool| {
            current.borrow_mut().copy_from_slice(addresses);
            let (current, own) = (current.borrow(), &mut *own.borrow_mut());
            nanoseconds_each(count, || raw_pass(world, put, &current, sequence, pe, own))
        };
        let (sequence, one) = (sequence(count, partitions), sequence(count, 1));
        let mut records = Vec::new();
        for (form, put) in forms.iter().flat_map(|form| [(*form, true), (*form, false)]) {
            let limit = || match form {
                Form::Published => pass(&apart, &one, put),
                Form::Fair => pass(&together, &sequence, put),
            };
            let samples = Samples::alternate(bench.repetitions, || pass(&apart, &sequence, put), limit);
            records.push(bench.record(
                &format!("{}/{partitions}/{bytes}", form.name(put)),
                form.compared(),
                samples,
            ));
        }
        records
    })
}

/// Random fetch-adds on words.
fn fetch_adds<W: AtomicWord<Value: From<u8>>>(bench: &Bench<'_>, forms: &[Form]) -> Records {
    let (world, pe, partitions, bytes) = (bench.world, bench.other(), bench.given.partitions, size_of::<W>());
    let count = operations(bench, bytes);
    with_buffers::<W>(bench, 1, |buffers| {
        let pass = |boxes: &[SymBox<[W]>], sequence: &[u8]| word_pass(world, boxes, sequence, pe);
        let mut records = Vec::new();
        for &form in forms {
            let (measure, samples) = match form {
                Form::Fair => ("lookup", in_turn(bench, buffers, pass)),
                Form::Published => {
                    let timed = |sequence: &[u8]| nanoseconds_each(count, || pass(&buffers.apart, sequence));
                    let (random, one) = (sequence(count, partitions), sequence(count, 1));
                    (
                        "lookup-published",
                        Samples::alternate(bench.repetitions, || timed(&random), || timed(&one)),
                    )
                }
            };
            records.push(bench.record(
                &format!("{measure} fetch-add/{partitions}/{bytes}"),
                form.compared(),
                samples,
            ));
        }
        records
    })
}

/// Passes over the handles of buffers, which lie at one place for both layouts.
fn in_turn<T: SymmetricData>(
    bench: &Bench<'_>,
    buffers: &mut Buffers<T>,
    pass: impl Fn(&[SymBox<[T]>], &[u8]),
) -> Samples {
    let count = operations(bench, size_of::<T>());
    let sequence = sequence(count, buffers.apart.len());
    Samples::of(bench.repetitions, || {
        let cost = nanoseconds_each(count, || pass(&buffers.apart, &sequence));
        buffers.apart.swap_with_slice(&mut buffers.together);
        let limit = nanoseconds_each(count, || pass(&buffers.apart, &sequence));
        buffers.apart.swap_with_slice(&mut buffers.together);
        (cost, limit)
    })
}

// One function for both layouts: the same instructions at the same addresses.
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
