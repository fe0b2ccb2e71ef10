//! What comes of a first touch, by which programs that place nothing have their memory.

use core::ops::Range;

use shmem::{ErrorKind, Result};
use shmem_core::array::Chunking;
use shmem_core::memory::{Arena, LaterRange, Machine, Request, SlotLayout, Spread};
use shmem_core::topology::Topology;

use crate::affinity;
use crate::touch::touch;

/// The share of bytes on the nodes of the threads that own their chunks, in fresh memory that was touched first by
/// these threads (`by_owners`), or by one thread of the first node.
///
/// # Errors
///
/// If the machine does not have the memory, or does not say where it lies.
pub(super) fn first_touch<const D: usize>(shape: [usize; D], by_owners: bool) -> Result<f64> {
    let (machine, page) = (Machine::default(), rustix::param::page_size());
    let topology = machine.topology();
    let homes = topology.homes();
    let chunking = Chunking::new(shape, homes.len());
    let bytes = chunking.len().next_multiple_of(page);
    let layout = SlotLayout::new(&[], bytes, &Topology::default())?;
    let at = LaterRange::new(&layout).allocate(bytes, layout.granule())?.offset;
    let arena = Arena::reserve(layout, 1, machine)?;
    arena.create_later(0, at, &Request::array("to be touched", bytes))?;
    let whole = at..at + bytes;
    arena.place_range(0, whole.clone(), &[], Spread::System, false)?;

    let start = arena.start_of(0) as usize + at;
    for chunk in 0..chunking.chunks() {
        let home = homes[if by_owners { chunk % homes.len() } else { 0 }];
        let runs = chunking.runs(chunk).map(|run| pages(&run, page));
        let on_node = || {
            affinity::keep_on(&topology.cpus_of(home))?;
            // SAFETY: the arena's memory is mapped, it belongs to this function, and threads come one after the other.
            runs.for_each(|run| unsafe { touch(start + run.start..start + run.end, page) });
            Ok(())
        };
        let touched: std::io::Result<()> = std::thread::scope(|scope| {
            scope.spawn(on_node).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let place = || format!("node {home}");
        touched.map_err(|error| ErrorKind::Threads {
            threads: 1,
            place: place(),
            reason: error.to_string(),
        })?;
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

/// The pages that some bytes lie on.
fn pages(bytes: &Range<usize>, page: usize) -> Range<usize> {
    bytes.start / page * page..bytes.end.next_multiple_of(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_one_node_everything_is_at_home() {
        if Machine::default().topology().homes().len() != 1 {
            println!("skipped: this machine has several NUMA nodes, or does not say");
            return;
        }
        for by_owners in [true, false] {
            assert_eq!(first_touch([3 * 4096 + 5], by_owners).unwrap(), 1.0);
            assert_eq!(first_touch([2, 4097], by_owners).unwrap(), 1.0);
        }
    }
}
