//! Partition 1 on each kind of memory, in pages of each size: what was asked, what was given, where its pages are.
//!
//! The published stencil uses the default heap only. What that is made of is said in the environment, and the program
//! stays as it is.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), "2D Stencil Kernel Performance Analysis".

use shmem::partition::default;
use shmem::thread::ThreadLevel;
use shmem::{Result, World, zeroed};
use shmem_core::partition::{PARTITION_VARIABLE, Pages, show_size};

use super::Found;
use crate::jobs::JobError;
use crate::stencil::Stencil;

/// The table of partitions.
pub const PARTITIONS: &str = "partition 1";

/// What the environment asks: the published cases with less memory, then pages of 64 MiB for those who can do with
/// others.
pub const TRAITS: [&str; 8] = [
    "size=24M:kind=N:policy=M:pgsize=4K",
    "size=24M:kind=N:policy=M:pgsize=2M",
    "size=24M:kind=N:policy=M:pgsize=64M",
    "size=24M:kind=F:policy=M:pgsize=4K",
    "size=24M:kind=F:policy=M:pgsize=2M",
    "size=24M:kind=F:policy=M:pgsize=64M",
    "size=24M:kind=N:policy=P:pgsize=64M",
    "size=24M:kind=F:policy=P:pgsize=64M",
];

/// Rows and columns of each PE. An emulated machine is slow.
const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 512 };

/// Steps of the stencil.
const STEPS: usize = 2;

/// More nodes than any machine has that is found.
const NODES: usize = 64;

/// The variables of a job whose partition 1 has these traits.
pub fn traits_variables(traits: &str) -> Vec<(String, String)> {
    vec![(format!("{PARTITION_VARIABLE}1"), traits.to_owned())]
}

/// Runs a stencil on the default heap, and says what that is. All PEs call it.
///
/// # Errors
///
/// If there is no room, or the kernel does not say where pages lie.
pub fn partition<L: ThreadLevel>(world: &mut World<L>) -> Result<Vec<Found>> {
    let mut stencil = Stencil::new(world, SIZE, |world, words| world.alloc(zeroed::<f64>(words)))?;
    (0..STEPS).for_each(|_| stencil.step(world));
    world.barrier_all();

    let heap = world.heap::<default>()?;
    let id = heap.id();
    let mut mine = [0_u64; NODES];
    for (node, pages) in heap.pages_per_node()? {
        mine[(node as usize).min(NODES - 1)] += pages;
    }
    let mut all = vec![0; NODES * world.n_pes()];
    world.fcollect(&mine[..], &mut all);

    let asked = std::env::var(format!("{PARTITION_VARIABLE}1")).unwrap_or_else(|_| "nothing".to_owned());
    let mut found = Vec::new();
    let mut push = |column: &str, value: String| found.push(Found::new(PARTITIONS, &asked, column, value));
    let report = world.partitions().into_iter().find(|report| report.spec.id == id);
    for (pe, grant) in report.iter().flat_map(|report| report.grants.iter().enumerate()) {
        if pe == 0 {
            push("given", format!("{} in pages of {}", show_size(grant.size), show_size(grant.pgsize)));
            push("pages are", pages(grant.pages).to_owned());
            push("kind", grant.kind.map_or_else(|| "none asked".to_owned(), |kind| kind.to_string()));
        }
        let nodes = all[pe * NODES..][..NODES].iter().enumerate().filter(|(_, pages)| **pages > 0);
        let nodes: Vec<_> = nodes.map(|(node, pages)| format!("{pages} on node {node}")).collect();
        push(&format!("PE {pe}"), nodes.join(", "));
        if !grant.downgrades.is_empty() && pe == 0 {
            push("said", grant.downgrades.join("; "));
        }
    }
    Ok(found)
}

/// That the library has refused traits, in its words; nothing if it was something else that failed.
pub fn refused(traits: &str, error: &JobError) -> Option<Found> {
    let JobError::Failed { report, .. } = error else { return None };
    // Behind who has said it.
    let reason = report.lines().find_map(|line| line.find("partition 1 ").map(|at| &line[at..]))?;
    Some(Found::new(PARTITIONS, traits, "refused", reason.trim()))
}

const fn pages(pages: Pages) -> &'static str {
    match pages {
        Pages::Base => "base pages",
        Pages::Transparent => "base pages that were merged",
        Pages::HugeTlb => "huge pages of the pool",
    }
}
