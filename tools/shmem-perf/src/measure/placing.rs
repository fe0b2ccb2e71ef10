//! What it costs to have memory where it ought to be.

use core::ops::Range;
use std::borrow::Cow;
use std::time::Instant;

use shmem_core::memory::{Arena, LaterRange, Machine, MemoryError, Request, SlotLayout, Spread};
use shmem_core::topology::Topology;

use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::{self, Part, names};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::Done;
use crate::touch::touch;

/// What placing memory costs: a part of `partitions`.
pub const MEASURE: Measure = Measure {
    name: "placing",
    usual: false,
    cases: &[cases(
        &["placing"],
        "bytes",
        "four chunks bound to a node each, then populated",
        "a first touch of each page by all CPUs",
    )],
    // 0.8 of the speed.
    goal: |case| goal_of(case, |Name::Placing(_)| Some(Goal::Ratio(1.0 / 0.8))),
    again: again::<Name>,
    ..Measure::PLAIN
};

names! {
    Placing(size: Mebibytes) = "placing": [size];
}

/// Mebibytes, `64M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mebibytes(usize);

impl Part for Mebibytes {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        usize::take(&mut Some(name::piece(rest)?.strip_suffix('M')?)).map(Self)
    }

    fn show(&self) -> Cow<'static, str> {
        format!("{}M", self.0).into()
    }
}

/// Measures in this process: it needs no job.
pub(crate) fn measure(runner: &mut Runner, sizes: &[usize]) -> Done {
    let mut records = Vec::new();
    for &bytes in sizes {
        let samples = placing(bytes, runner.repetitions)?;
        let compared =
            "memory whose chunks have a node each, bound and populated, against a first touch by all CPUs";
        let name = Name::Placing(Mebibytes(bytes >> 20));
        records.push(Record::new(&Site::near(1), &name, "ms", compared, samples));
    }
    runner.show(records);
    Ok(())
}

/// Sizes that [`placing`] is measured with, in bytes.
pub const SIZES: [usize; 2] = [64 << 20, 512 << 20];

/// Chunks that have a node each.
pub const CHUNKS: usize = 4;

/// Having [`CHUNKS`] chunks of fresh memory come from a node each, and making their pages, against a first touch of each page
/// by as many threads as there are CPUs: milliseconds. Where there are fewer nodes than chunks, several
/// chunks have the same.
///
/// # Errors
///
/// If the machine does not have the memory.
pub fn placing(bytes: usize, repetitions: usize) -> Result<Samples, MemoryError> {
    let machine = Machine::default();
    let topology = machine.topology();
    let with_memory = topology.nodes().iter().filter(|node| node.memory > 0 && node.allowed);
    let nodes: Vec<u32> = with_memory.map(|node| node.number).collect();
    let layout = SlotLayout::new(&[], bytes, &Topology::default())?;
    let at = LaterRange::new(&layout).allocate(bytes, layout.granule())?.offset;
    let arena = Arena::reserve(layout, 1, machine)?;
    arena.create_later(0, at, &Request::array("to be placed", bytes))?;

    let page = rustix::param::page_size();
    let whole = at..at + bytes;
    let chunk = bytes / CHUNKS;
    let ranges: Vec<(Range<usize>, &[u32])> = (0..CHUNKS)
        .map(|k| {
            (at + k * chunk..at + (k + 1) * chunk, nodes.get(k % nodes.len().max(1)..).unwrap_or_default())
        })
        .map(|(range, nodes)| (range, &nodes[..nodes.len().min(1)]))
        .collect();
    let discard = || {
        // SAFETY: nobody else knows of the memory, and the threads below have ended.
        unsafe { arena.discard(0, whole.clone()) }
    };
    let place = || {
        let spread = if nodes.is_empty() { Spread::System } else { Spread::Preferred };
        match arena.place_ranges(0, &ranges, spread, false) {
            Err(error) if !error.no_nodes() => Err(error),
            _ => arena.populate(0, whole.clone()),
        }
    };
    let start = arena.start_of(0) as usize + at;
    let mut samples = Samples::new();
    for repetition in 0..=repetitions {
        discard()?;
        let begin = Instant::now();
        place()?;
        let cost = milliseconds(begin);
        arena
            .place_range(0, whole.clone(), &[], Spread::System, false)
            .or_else(|error| if error.no_nodes() { Ok(()) } else { Err(error) })?;
        discard()?;
        let begin = Instant::now();
        touch_by_all(start..start + bytes, page);
        // The first pair pays for what is touched for the first time.
        if repetition > 0 {
            samples.push(cost, milliseconds(begin));
        }
    }
    Ok(samples)
}

/// Writes to each page of mapped memory that nobody else uses, from all CPUs.
fn touch_by_all(addresses: Range<usize>, page: usize) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = addresses.len().div_ceil(threads).next_multiple_of(page);
    std::thread::scope(|scope| {
        for from in addresses.clone().step_by(part) {
            let to = addresses.end.min(from + part);
            scope.spawn(move || {
                // SAFETY: the pages are mapped, and each is one thread's alone.
                unsafe { touch(from..to, page) };
            });
        }
    });
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
