//! What the size of pages does to a stencil, and to columns.
//!
//! The elements of a column whose stride is larger than a page each lie on a page of their own. Beyond
//! the number of pages that a core finds by its TLB, each element costs a walk through the page table,
//! which pages of 2 MiB do without.

use shmem_core::context::{Order, Stores, Strided};
use shmem_core::object::On;
use shmem_core::partition::PARTITION_VARIABLE;

use super::samples::{Samples, nanoseconds_each};
use super::stencil::Stencil;
use shmem::thread::ThreadLevel;
use shmem::{Result, World, zeroed};

/// Pages that a column touches.
pub const TOUCHED: [usize; 6] = [512, 2048, 4096, 8192, 16_384, 32_768];

/// From one element of a column to the next, in words: a small page and a line, so that elements fall into
/// different sets of a cache.
pub const STRIDE: usize = (4096 + 64) / 8;

/// Words of the longest column.
pub const WORDS: usize = TOUCHED[TOUCHED.len() - 1] * STRIDE;

/// Number of the partition in small pages.
pub const SMALL: u32 = 4;

/// Number of the partition in pages of 2 MiB.
pub const LARGE: u32 = 5;

/// Bytes of a large page.
pub const LARGE_PAGE: u64 = 2 << 20;

/// Elements that one sample writes at least.
const ELEMENTS: usize = 64 << 10;

/// The variables of a job with a partition in small pages and one in large ones.
pub fn variables() -> Vec<(String, String)> {
    let partition = |id, page| {
        let size = 8 * WORDS + (1 << 20);
        (format!("{PARTITION_VARIABLE}{id}"), format!("SIZE={size}:PGSIZE={page}:POLICY=PREFERRED"))
    };
    vec![partition(SMALL, rustix::param::page_size() as u64), partition(LARGE, LARGE_PAGE)]
}

/// Rows and columns of the stencil on each PE: its two grids are larger than caches. A debug build is for tests of the
/// tool.
pub const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 2048 };

/// A step of a stencil in large pages, against one in small pages: nanoseconds for each cell. All PEs call it.
///
/// # Errors
///
/// If there is no room.
///
/// # Panics
///
/// If they come to different cells.
pub fn stencil<L: ThreadLevel>(world: &mut World<L>, repetitions: usize) -> Result<Samples>
where
    World<L>: Strided,
{
    let on = |id| move |world: &World<L>, words| world.partition(id)?.alloc(zeroed::<f64>(words));
    let mut large = Stencil::new(world, SIZE, on(LARGE))?;
    let mut small = Stencil::new(world, SIZE, on(SMALL))?;
    let mut samples = Samples::new();
    for repetition in 0..=repetitions {
        let mut step = |stencil: &mut Stencil| nanoseconds_each(SIZE * SIZE, || stencil.step(world));
        let cost = step(&mut large);
        let limit = step(&mut small);
        // The first pair pays for what is touched for the first time.
        if repetition > 0 {
            samples.push(cost, limit);
        }
    }
    assert!(large.is_like(&small, world), "both have come to the same cells");
    large.free(world)?;
    small.free(world)?;
    Ok(samples)
}

/// Writing a column of `touched` elements on another PE in large pages, against one in small pages:
/// nanoseconds for each element. Both places have [`WORDS`] words.
pub fn column<I: Stores>(
    token: &I,
    large: On<'_, [u64]>,
    small: On<'_, [u64]>,
    touched: usize,
    repetitions: usize,
) -> Samples {
    let row = vec![1_u64; touched];
    let passes = ELEMENTS.div_ceil(touched);
    let write = |to: On<'_, [u64]>| {
        nanoseconds_each(passes * touched, || {
            for _ in 0..passes {
                token.iput(to, &row, STRIDE, 1, touched);
            }
            token.quiet();
        })
    };
    Samples::alternate(repetitions, || write(large), || write(small))
}
