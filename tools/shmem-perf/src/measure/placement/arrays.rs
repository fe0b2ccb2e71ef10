//! Arrays of each storage: which share of their elements lies where their chunk belongs.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Some Interesting Use Cases".

use core::ops::Range;

use shmem::ErrorKind;
use shmem::partition::default;
use shmem_core::array::{Chunking, StorageKind};
use shmem_core::memory::{Arena, LaterRange, Machine, Request, SlotLayout, Spread};
use shmem_core::topology::Topology;

use super::*;
use crate::bench::keep_on;

/// The table of affinities: the share of elements on the node of the threads that own their chunk.
const AFFINITY: &str = "affinity";

/// The shapes of the source, by their names there, with their sizes divided by a power of two; what is smaller than a page stays
/// so. Rows: of some there are several. Five pages are its example of what four nodes cannot share exactly.
fn shapes(scale: u32) -> [(&'static str, usize, usize); 6] {
    let (many, few) = (1 << (30 - scale), 1 << (20 - scale));
    [
        ("[0..#2**30] int(8)", 1, many),
        ("[0..#2**30-2**20] int(8)", 1, many - few),
        ("[0..#2**11] int(8)", 1, 1 << 11),
        ("five pages", 1, 5 * 4096),
        ("[0..1, 0..#2**30] int(8)", 2, many),
        ("[0..1, 0..#2**30-2**20] int(8)", 2, many - few),
    ]
}

pub(super) fn most_bytes(scale: u32) -> usize {
    shapes(scale).map(|(_, rows, columns)| rows * columns).into_iter().max().unwrap_or(0)
}

/// By which power of two the arrays of the source are made smaller, so that the largest one has a twelfth of the memory of the
/// smallest node, but 1 MiB: chunks of many pages are what they are about. `None`: this process has CPUs on one node only, where
/// everything is near.
pub(super) fn scale(topology: &Topology) -> Option<u32> {
    let homes = topology.homes();
    let memory = topology.nodes().iter().filter(|node| homes.contains(&node.number) && node.memory > 0);
    let smallest = memory.map(|node| node.memory).min()?;
    (homes.len() > 1).then(|| (0..10).find(|scale| 2 << (30 - scale) <= smallest / 12).unwrap_or(10))
}

/// Arrays of each storage, and fresh memory touched first by the threads that work on it, and by one thread. For a job of
/// one PE that has the CPUs of several nodes.
pub(super) fn arrays(world: &mut World, scale: u32) -> Result<Vec<Fact>> {
    let mut found = Vec::new();
    for (name, rows, columns) in shapes(scale) {
        match rows {
            1 => of_shape(world, name, [columns], &mut found)?,
            _ => of_shape(world, name, [rows, columns], &mut found)?,
        }
    }
    let inner = 1 << (20 - scale);
    let name = "[0..7] [0..#2**20] int, behind its loops";
    found.push(Fact::new(AFFINITY, name, "made as", format!("8 arrays of {inner} x 8 bytes")));
    for kind in StorageKind::ALL {
        found.push(Fact::new(AFFINITY, name, kind.name(), share(of_arrays(world, inner, kind)?)));
    }
    Ok(found)
}

fn of_shape<const D: usize>(
    world: &World,
    name: &str,
    shape: [usize; D],
    found: &mut Vec<Fact>,
) -> Result<()> {
    let mut push = |column: &str, value: String| found.push(Fact::new(AFFINITY, name, column, value));
    push("made as", shape.map(|len| len.to_string()).join(" x ") + " bytes");
    for kind in StorageKind::ALL {
        let array = world.array(shape).storage_kind(kind).zeroed::<u8>()?;
        push(kind.name(), share(world.affinity(&array)?));
        world.free(array)?;
    }
    push("first touch by all threads", share(first_touch(shape, true)?));
    push("first touch by one thread", share(first_touch(shape, false)?));
    Ok(())
}

/// The least affinity of eight arrays, after they were walked through by element and by index.
fn of_arrays(world: &mut World, inner: usize, kind: StorageKind) -> Result<f64> {
    let arrays = (0..8).map(|_| world.array([inner]).storage_kind(kind).zeroed::<i64>());
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let mut least = 1.0_f64;
    for array in &arrays {
        world.local(array, |mut array| {
            array.iter_mut().for_each(|element| *element += 1);
            for i in array.indices() {
                array[i] += i as i64;
            }
        });
        least = least.min(world.affinity(array)?);
    }
    arrays.into_iter().try_for_each(|array| world.free(array))?;
    Ok(least)
}

/// The same arrays dealt out to PEs that have a node each: the share of the least lucky PE's pages on its node. All PEs
/// call it.
pub(super) fn apart(world: &mut World, scale: u32) -> Result<Vec<Fact>> {
    let home = Machine::default().topology().home();
    let mut found = Vec::new();
    for (name, rows, columns) in shapes(scale) {
        let part = world.alloc(zeroed::<u8>((rows * columns).div_ceil(world.n_pes())))?;
        world.local(&part, |part| part.fill(1));
        let pages = world.heap::<default>()?.pages_per_node()?;
        let all: u64 = pages.iter().map(|(_, pages)| pages).sum();
        let near: u64 = pages.iter().filter(|(node, _)| Some(*node) == home).map(|(_, pages)| pages).sum();
        let least = world.min(near as f64 / all.max(1) as f64);
        world.free(part)?;
        found.push(Fact::new(AFFINITY, name, "one PE per node", share(least)));
    }
    Ok(found)
}

/// The share of bytes on the nodes of the threads that own their chunks, in fresh memory that was touched first by
/// these threads (`by_owners`), or by one thread of the first node.
fn first_touch<const D: usize>(shape: [usize; D], by_owners: bool) -> Result<f64> {
    let (machine, page) = (Machine::default(), rustix::param::page_size());
    let topology = machine.topology();
    let homes = topology.homes();
    let chunking = Chunking::new(shape, homes.len());
    let bytes = chunking.len().next_multiple_of(page);
    let layout = SlotLayout::new(&[], 0, bytes, &Topology::default())?;
    let at = LaterRange::new(&layout).allocate(bytes, layout.granule())?.offset;
    let arena = Arena::reserve(0, layout, 1, machine)?;
    arena.create_later(0, at, &Request::plain("to be touched", bytes), None)?;
    let whole = at..at + bytes;
    arena.place_ranges(0, &[(whole.clone(), &[])], Spread::System)?;

    let start = arena.start_of(0) as usize + at;
    for chunk in 0..chunking.chunks() {
        let home = homes[if by_owners { chunk % homes.len() } else { 0 }];
        let runs = chunking.runs(chunk).map(|run| pages(&run, page));
        let on_node = || {
            keep_on(&topology.cpus_of(home))?;
            for address in runs.flat_map(|run| (start + run.start..start + run.end).step_by(page)) {
                let byte: *mut u8 = core::ptr::with_exposed_provenance_mut(address);
                // SAFETY: the arena's memory is mapped, it belongs to this function, and threads come one after the other.
                unsafe { byte.write_volatile(1) };
            }
            Ok(())
        };
        let touched: std::io::Result<()> = std::thread::scope(|scope| {
            scope.spawn(on_node).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let place = format!("node {home}");
        touched.map_err(|error| ErrorKind::Threads { threads: 1, place, reason: error.to_string() })?;
    }

    let nodes = arena.nodes_of(0, whole, page)?;
    let mut at_home = 0;
    for chunk in 0..chunking.chunks() {
        let home = Some(homes[chunk % homes.len()]);
        for run in chunking.runs(chunk) {
            let pages = run.start / page..run.end.div_ceil(page);
            for (number, node) in pages.clone().zip(&nodes[pages]) {
                let inside = run.end.min((number + 1) * page) - run.start.max(number * page);
                at_home += if *node == home { inside } else { 0 };
            }
        }
    }
    Ok(at_home as f64 / chunking.len() as f64)
}

fn pages(bytes: &Range<usize>, page: usize) -> Range<usize> {
    bytes.start / page * page..bytes.end.next_multiple_of(page)
}

/// Six digits, and 1 for nothing less than all.
fn share(share: f64) -> String {
    if share == 1.0 { "1".to_owned() } else { format!("{:.6}", (share * 1e6).floor() / 1e6) }
}
