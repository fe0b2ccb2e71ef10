//! Triangles of a graph: the benchmark "triangle counting" of bale.
//!
//! Vertices are dealt out to the PEs, and each knows its neighbours with smaller numbers. Two of these, `j` and `k`, are a
//! triangle with it if they are neighbours: which the owner of `j` knows. So each pair is an item for that owner, which looks
//! it up and counts: nothing comes back, and only the count is summed.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin triangles
//! ```

use std::error::Error;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::{mixed, options};

/// Counts the triangles of a random graph.
#[derive(Parser)]
#[command(name = "triangles", max_term_width = 100)]
struct Options {
    /// Vertices.
    #[arg(long, default_value_t = 1 << 14, value_parser = clap::value_parser!(u32).range(1..))]
    vertices: u32,

    /// Neighbours with smaller numbers that a vertex has at most.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    degree: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::<Options>(world)? else { return Ok(()) };
    let Options { vertices, degree, .. } = options;
    let (me, pes) = (world.my_pe(), world.n_pes());
    let all: Vec<Pe> = world.pes().iter().collect();
    // Vertex v is number v / pes of PE v % pes.
    let rows: Vec<Vec<u32>> = (me as u32..vertices).step_by(pes).map(|v| neighbours(v, degree)).collect();
    let owner = |vertex: u32| (vertex as usize % pes, vertex as usize / pes);
    let pairs = rows.iter().flat_map(|row| {
        row.iter().enumerate().flat_map(move |(at, j)| row[..at].iter().map(move |k| [*j, *k]))
    });

    let mut triangles = 0_u64;
    let items = pairs.map(|[j, k]| (all[owner(j).0], [j, k]));
    world.exchange::<[u32; 2]>(ExchangeOptions::default())?.run(world, items, |_from, [j, k]| {
        triangles += u64::from(rows[owner(j).1].binary_search(&k).is_ok());
    });
    let triangles = world.sum(triangles);
    let edges = world.sum(rows.iter().map(Vec::len).sum::<usize>());
    if me == 0 {
        println!("{triangles} triangles of {vertices} vertices and {edges} edges");
    }
    Ok(())
}

/// The neighbours of a vertex that have smaller numbers, in order: few of many, so that there are triangles.
fn neighbours(vertex: u32, degree: u32) -> Vec<u32> {
    let near = |k: u32| (mixed(u64::from(vertex) << 32 | u64::from(k)) >> 7) % u64::from(4 * degree) + 1;
    let mut found: Vec<u32> = (0..degree).filter_map(|k| vertex.checked_sub(near(k) as u32)).collect();
    found.sort_unstable();
    found.dedup();
    found
}
