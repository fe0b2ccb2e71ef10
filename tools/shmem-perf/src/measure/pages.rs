//! What the size of pages does to a stencil, and to columns.
//!
//! The elements of a column whose stride is larger than a page each lie on a page of their own. Beyond
//! the number of pages that a core finds by its TLB, each element costs a walk through the page table,
//! which pages of 2 MiB do without.

use shmem::partition::Pages;

use super::halo::Form;
use super::*;

pub(crate) const MEASURE: Measure = Measure {
    name: "pages",
    run: Some(|runner| {
        // A partition in small pages and one in large ones.
        let pages = [(SMALL, rustix::param::page_size() as u64), (LARGE, LARGE_PAGE)];
        let partitions = pages.map(|(id, page)| {
            let traits = format!("SIZE={}:PGSIZE={page}:POLICY=PREFERRED", 8 * WORDS + (1 << 20));
            (format!("{PARTITION_VARIABLE}{id}"), traits)
        });
        runner.repeat(&runner.job("pages", 2, Given::default()).with(partitions))
    }),
    tasks: &[("pages", Task::Near(by_pages))],
    ..Measure::PLAIN
};

fn by_pages(world: &mut World, bench: &Bench<'_>) -> Done {
    let large = world.partitions().into_iter().find(|partition| partition.spec.id == LARGE);
    let grants = large.map(|partition| partition.grants).unwrap_or_default();
    let said = |text: &str| {
        if world.my_pe() == 0 {
            eprintln!("shmem-perf: {text}");
        }
    };
    if grants.iter().map(|grant| grant.pgsize).min().is_none_or(|bytes| bytes < LARGE_PAGE) {
        let reasons: Vec<_> = grants.iter().flat_map(|grant| &grant.downgrades).collect();
        said(&format!("no large pages to compare with: {reasons:?}"));
        return Ok(());
    }
    if grants.iter().any(|grant| grant.pages == Pages::Transparent) {
        said(
            "no pages of 2M are reserved: those that are measured are small ones that the kernel has merged",
        );
    }
    stencil(world, bench)?;
    let small = world.partition(SMALL)?.alloc(zeroed::<u64>(WORDS))?;
    let large = world.partition(LARGE)?.alloc(zeroed::<u64>(WORDS))?;
    let column = |touched| column(world, bench, [&large, &small], touched);
    Ok(alone(world, || TOUCHED.into_iter().for_each(column))?)
}

const TOUCHED: [usize; 6] = [512, 2048, 4096, 8192, 16_384, 32_768];

/// From one element of a column to the next, in words: a small page and a line, so that elements fall into
/// different sets of a cache.
const STRIDE: usize = (4096 + 64) / 8;

const WORDS: usize = TOUCHED[TOUCHED.len() - 1] * STRIDE;

/// Numbers of the partitions in small pages, and in large ones, of so many bytes.
const SMALL: u32 = 4;
const LARGE: u32 = 5;
const LARGE_PAGE: u64 = 2 << 20;

/// Rows and columns of the stencil on each PE: its two grids are larger than caches. A debug build is for tests of the
/// tool.
const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 2048 };

/// A step of a stencil in large pages, against one in small pages: nanoseconds for each cell. All PEs call it.
fn stencil(world: &mut World, bench: &Bench<'_>) -> Done {
    let on = |id| move |world: &World, words| world.partition(id)?.alloc(zeroed::<f64>(words));
    let mut large = Stencil::new(world, SIZE, on(LARGE))?;
    let mut small = Stencil::new(world, SIZE, on(SMALL))?;
    bench.pair(format!("pages stencil/{SIZE}"), || {
        let mut step = |stencil: &mut Stencil| nanoseconds_each(SIZE * SIZE, || stencil.step(world));
        (step(&mut large), step(&mut small))
    });
    Ok(large.grids.into_iter().chain(small.grids).try_for_each(|grid| world.free(grid))?)
}

/// Writing a column of `touched` elements on another PE in large pages, against one in small pages:
/// nanoseconds for each element. Both places have [`WORDS`] words.
fn column(world: &World, bench: &Bench<'_>, places: [&SymBox<[u64]>; 2], touched: usize) {
    // So that one sample writes 64 Ki elements at least.
    let (row, passes) = (vec![1_u64; touched], (64_usize << 10).div_ceil(touched));
    let [large, small] = places.map(|to| {
        let (to, row) = (to.on(other(world)), &row);
        move || {
            nanoseconds_each(passes * touched, || {
                (0..passes).for_each(|_| world.iput(to, row, STRIDE, 1, touched));
                world.quiet();
            })
        }
    });
    bench.pairs(format!("pages column/{touched}"), large, small);
}

/// A 2-D stencil that knows nothing of the memory it works on: a 5-point Jacobi relaxation on n x n cells of each PE, which lie in
/// a ring from west to east. The first and the last column of each go to its neighbours, behind each step. Two grids take turns.
pub(super) struct Stencil {
    form: Form,
    grids: [SymBox<[f64]>; 2],
}

impl Stencil {
    /// A stencil on `size` x `size` cells of each PE, in memory from `alloc`, which is asked for so many zeroed words, twice.
    /// All PEs call it.
    pub(super) fn new(
        world: &mut World,
        size: usize,
        alloc: impl Fn(&World, usize) -> Result<SymBox<[f64]>>,
    ) -> Result<Self> {
        // Rows begin on cache lines, and do not follow each other at a power of two.
        let form = Form { size, pitch: (size + 2).next_multiple_of(8) + 8 };
        let grids = [alloc(world, form.cells())?, alloc(world, form.cells())?];
        let me = world.my_pe();
        world.local((&grids[0], &grids[1]), |(first, second)| {
            for (at, (first, second)) in first.iter_mut().zip(second).enumerate() {
                *first = (at * (me + 3) % 101) as f64;
                *second = *first;
            }
        });
        Ok(Self { form, grids })
    }

    pub(super) fn step(&mut self, world: &mut World) {
        let (form @ Form { size, pitch }, [old, new]) = (self.form, &self.grids);
        let edges = world.local((old, new), |(old, new)| {
            form.relax(old, &mut new[pitch..], 1..size + 1);
            [1, size].map(|column| (1..=size).map(|row| new[row * pitch + column]).collect::<Vec<_>>())
        });
        let (west, east) = world.ring_neighbours();
        for (pe, edge, column) in [(west, &edges[0], size + 1), (east, &edges[1], 0)] {
            world.iput(new.on(pe).index(pitch + column..), edge, pitch, 1, size);
        }
        self.grids.swap(0, 1);
    }
}
