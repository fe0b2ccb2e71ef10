//! Triangles of a graph: the benchmark "triangle counting" of bale.
//!
//! Vertices are distributed over the PEs. The owner of a vertex knows the vertex's neighbours with smaller numbers. Two of them,
//! `j` and `k`, form a triangle with the vertex if `j` and `k` are neighbours. So each pair is sent to the owner of `j`, which
//! looks the edge up and counts. There are no answers: one sum at the end adds the counts of all PEs.
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
    /// Number of vertices.
    #[arg(long, default_value_t = 1 << 14, value_parser = clap::value_parser!(u32).range(1..))]
    vertices: u32,

    /// Upper limit on a vertex's neighbours with smaller numbers.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    degree: u32,
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::<Options>(world)? else { return Ok(()) };
    let Options { vertices, degree, .. } = options;
    let (me, pes) = (world.my_pe(), world.n_pes());
    let all: Vec<Pe> = world.pes().iter().collect();
    // PE `v % pes` stores vertex `v`, at index `v / pes`.
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

/// Returns the neighbours of a vertex that have smaller numbers, in order. They come from a small set, so that triangles exist.
fn neighbours(vertex: u32, degree: u32) -> Vec<u32> {
    let near = |k: u32| (mixed(u64::from(vertex) << 32 | u64::from(k)) >> 7) % u64::from(4 * degree) + 1;
    let mut found: Vec<u32> = (0..degree).filter_map(|k| vertex.checked_sub(near(k) as u32)).collect();
    found.sort_unstable();
    found.dedup();
    found
}
