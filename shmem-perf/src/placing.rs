//! What it costs to have memory where it ought to be.

use core::ops::Range;
use std::time::Instant;

use shmem_core::memory::{Arena, LaterRange, Machine, MemoryError, PlaceLayout, Request, Spread};
use shmem_core::topology::Topology;

use super::samples::Samples;
use super::touch::touch;

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
    let layout = PlaceLayout::new(&[], bytes, &Topology::default())?;
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
    let start = arena.place(0) as usize + at;
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
