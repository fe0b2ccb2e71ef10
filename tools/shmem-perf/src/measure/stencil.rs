//! Stencils: what one costs with a halo, against the same stencil with a barrier in each step.
//!
//! Both are a 5-point Jacobi relaxation on n x n cells of each PE, whose first and last row go to its neighbours in a ring. The
//! first form keeps its cells in private memory, and exchanges rows by a [`Halo`]. The second puts its rows into its neighbours'
//! frames in symmetric memory, and calls a barrier: two grids take turns, so that one barrier in each step is enough.
//!
//! And the effect of page size on a stencil, and on columns: if the stride of a column is larger than a page, each element is on a
//! page of its own. Each element beyond the reach of the TLB costs a walk through the page table.

use std::ops::Range;

use shmem::partition::Pages;
use shmem::{Flight, HaloToken};

use super::*;

pub(crate) const HALO: Measure =
    Measure { name: "halo", tasks: &[("halo", Task::Near(halo))], ..Measure::PLAIN };

fn halo(world: &mut World, bench: &Bench<'_>) -> Done {
    let world = &*world;
    let word = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let line = word_at(world, word.on(world.pe(0)?).index(0));
    for size in [16, 32, 256] {
        let stencil = &mut Stencil::new(world, size)?;
        stencil.against_barrier(bench, format!("halo {size}x{size}"));
        if size == 16 {
            // Nanoseconds of an exchange alone.
            let exchange = || stencil.run(EXCHANGES, |stencil, _| stencil.exchange());
            let limit = || baseline::round_trip(line, world.my_pe() == 0, EXCHANGES);
            bench.pairs("halo exchange/16", exchange, limit);
        }
        if size == 256 {
            stencil.be_late();
            stencil.against_barrier(bench, format!("halo late/{size}x{size}"));
            stencil.late = Duration::ZERO;
            stencil.interior(bench, format!("halo interior/{size}x{size}"));
        }
    }
    Ok(())
}

const NORTH: usize = 0;
const SOUTH: usize = 1;

const EXCHANGES: usize = 500;

struct Stencil<'w> {
    world: &'w World,
    form: Form,
    neighbours: [Pe; 2],
    halo: Halo<f64>,
    /// Grids in private memory.
    own: [&'static mut [f64]; 2],
    shared: [SymBox<[f64]>; 2],
    /// The longest delay of a PE; PEs are late in turn.
    late: Duration,
}

impl<'w> Stencil<'w> {
    fn new(world: &'w World, size: usize) -> Result<Self> {
        let (north, south) = world.ring_neighbours();
        // Rows start on cache lines.
        let form = Form { size, pitch: (size + 2).next_multiple_of(8) };
        let halo = world.halo(&[Edge::new(north, SOUTH, size), Edge::new(south, NORTH, size)])?;
        let shared = [world.alloc(zeroed::<f64>(form.cells()))?, world.alloc(zeroed::<f64>(form.cells()))?];
        let first = |at: usize| (at * (3 + world.my_pe()) % 101) as f64;
        let own = shared.each_ref().map(|grid| {
            let grid = grid.here(world);
            (0..form.cells()).for_each(|at| grid.index(at).store(first(at)));
            like(grid.as_ptr().addr(), (0..form.cells()).map(first))
        });
        world.barrier_all();
        Ok(Self { world, form, neighbours: [north, south], halo, own, shared, late: Duration::ZERO })
    }

    fn against_barrier(&mut self, bench: &Bench<'_>, name: String) {
        let steps = self.some_steps();
        bench
            .pair(name, || (self.run(steps, Self::step_with_halo), self.run(steps, Self::step_with_barrier)));
    }

    /// From now on, in each step one PE, in turn, is late by a random part of a step.
    fn be_late(&mut self) {
        // The shortest of several, since other load makes them longer.
        let step = |stencil: &mut Self| {
            _ = stencil.run(20, Self::step_with_halo);
            stencil.run(20, Self::step_with_barrier)
        };
        let shortest = (0..11).map(|_| step(self)).fold(f64::INFINITY, f64::min);
        self.late = Duration::from_nanos(self.world.max(shortest) as u64);
    }

    /// The relaxation of the interior while rows travel, against relaxation without exchange: nanoseconds each.
    fn interior(&mut self, bench: &Bench<'_>, name: String) {
        let steps = self.some_steps();
        let Self { world, form, halo, own, .. } = self;
        let mut relaxing = |in_flight: bool| {
            let mut taken = Duration::ZERO;
            world.barrier_all();
            for _ in 0..steps {
                let flight = if in_flight { Some(form.send(halo, *world, own[0])) } else { None };
                let start = Instant::now();
                form.relax_interior(own);
                taken += start.elapsed();
                flight.map(|flight| black_box(flight.finish()[NORTH][0]));
            }
            taken.as_nanos() as f64 / steps as f64
        };
        bench.pair(name, || (relaxing(true), relaxing(false)));
    }

    fn some_steps(&self) -> usize {
        ((1 << 20) / (self.form.size * self.form.size)).clamp(20, 1000)
    }

    /// Returns the nanoseconds of one of `steps` steps, which all PEs begin together.
    fn run(&mut self, steps: usize, mut step: impl FnMut(&mut Self, usize)) -> f64 {
        self.world.barrier_all();
        nanoseconds_each(steps, || (0..steps).for_each(|number| step(self, number)))
    }

    fn step_with_halo(&mut self, number: usize) {
        let Self { world, form, halo, own, late, .. } = self;
        let (form, last) = (*form, form.size);
        let flight = form.send(halo, *world, own[0]);
        pass(*late, number, world.my_pe());
        form.relax_interior(own);
        let ghosts = flight.finish();
        let [old, new] = &mut *own;
        relax_row(&ghosts[NORTH], form.framed(old, 1), &old[form.row(2)], &mut new[form.row(1)]);
        relax_row(&old[form.row(last - 1)], form.framed(old, last), &ghosts[SOUTH], &mut new[form.row(last)]);
        own.swap(0, 1);
    }

    fn step_with_barrier(&mut self, number: usize) {
        let Self { world, form, neighbours: [north, south], shared: [ref old, ref new], .. } = *self;
        let mine = old.here(world).as_ptr().cast::<f64>();
        for (pe, from, to) in [(north, 1, form.size + 1), (south, form.size, 0)] {
            // SAFETY: rows inside the frame belong to this PE, which writes them in the next step only.
            let row =
                unsafe { std::slice::from_raw_parts(mine.wrapping_add(form.row(from).start), form.size) };
            world.put(old.on(pe).index(form.row(to)), row);
        }
        world.barrier_all();
        pass(self.late, number, world.my_pe());
        // SAFETY: all of the old grid. Neighbours write its frame again in the step after the next one, after
        // another barrier; this PE writes the rest in the next step.
        let old = unsafe { std::slice::from_raw_parts(mine, form.cells()) };
        let inside = new.here(world).as_ptr().cast::<f64>().wrapping_add(form.pitch);
        // SAFETY: the rows of the new grid without those of the frame, which only this PE touches.
        let new = unsafe { std::slice::from_raw_parts_mut(inside, form.cells() - 2 * form.pitch) };
        form.relax(old, new, 1..form.size + 1);
        self.shared.swap(0, 1);
    }

    fn exchange(&mut self) {
        let Self { world, form, halo, own, .. } = self;
        let ghosts = form.send(halo, *world, own[0]).finish();
        // Received rows are read, or their lines would stay in the other core's cache.
        own[0][..form.size].copy_from_slice(&ghosts[NORTH]);
        own[0][(form.size + 1) * form.pitch..][..form.size].copy_from_slice(&ghosts[SOUTH]);
    }
}

/// Waits, if it is this PE's turn to be late. The delay of a step is the same in both forms.
fn pass(late: Duration, step: usize, pe: usize) {
    if late == Duration::ZERO || step % 2 != pe % 2 {
        return;
    }
    let start = Instant::now();
    let drawn = (step as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let pause = late.mul_f64(drawn as f64 / f64::from(1 << 24));
    while start.elapsed() < pause {
        std::hint::spin_loop();
    }
}

/// Returns private cells at the same offset in a page as `address`, since aliases of page offsets cost time. The cells are leaked.
fn like(address: usize, values: impl ExactSizeIterator<Item = f64>) -> &'static mut [f64] {
    const PAGE: usize = 4096;
    let cells = Vec::leak(vec![0.0; values.len() + PAGE / size_of::<f64>()]);
    let start = address.wrapping_sub(cells.as_ptr().addr()) % PAGE / size_of::<f64>();
    let cells = &mut cells[start..][..values.len()];
    cells.iter_mut().zip(values).for_each(|(cell, value)| *cell = value);
    cells
}

/// The memory layout of a grid: rows with a border cell at both ends, between two border rows.
#[derive(Clone, Copy)]
struct Form {
    size: usize,
    pitch: usize,
}

impl Form {
    const fn cells(self) -> usize {
        (self.size + 2) * self.pitch
    }

    fn row(self, row: usize) -> Range<usize> {
        row * self.pitch + 1..row * self.pitch + 1 + self.size
    }

    fn framed(self, cells: &[f64], row: usize) -> &[f64] {
        &cells[row * self.pitch..][..self.size + 2]
    }

    /// Relaxes rows of a grid into another one; `new` starts at its first inner row.
    fn relax(self, old: &[f64], new: &mut [f64], rows: Range<usize>) {
        for row in rows {
            let (above, below) = (&old[self.row(row - 1)], &old[self.row(row + 1)]);
            relax_row(above, self.framed(old, row), below, &mut new[self.row(row - 1)]);
        }
    }

    fn relax_interior(self, [old, new]: &mut [&mut [f64]; 2]) {
        self.relax(old, &mut new[self.pitch..], 2..self.size);
    }

    #[inline]
    fn send<'h, I: HaloToken>(
        self,
        halo: &'h mut Halo<f64>,
        token: &'h I,
        old: &[f64],
    ) -> Flight<'h, f64, I> {
        let mut flight = halo.begin(token);
        flight.send(NORTH, &old[self.row(1)]);
        flight.send(SOUTH, &old[self.row(self.size)]);
        flight
    }
}

/// Relaxes one row; `row` has its border cells.
#[inline(never)]
fn relax_row(above: &[f64], row: &[f64], below: &[f64], new: &mut [f64]) {
    let size = new.len();
    let (above, below) = (&above[..size], &below[..size]);
    let (left, right) = (&row[..size], &row[2..2 + size]);
    for at in 0..size {
        new[at] = 0.25 * (above[at] + below[at] + left[at] + right[at]);
    }
}

pub(crate) const PAGES: Measure = Measure {
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

/// IDs of partitions in small and large pages; bytes of a large page.
const SMALL: u32 = 4;
const LARGE: u32 = 5;
const LARGE_PAGE: u64 = 2 << 20;

/// Rows and columns of the stencil on each PE: its two grids are larger than caches. A debug build is for tests of the
/// tool.
const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 2048 };

/// A step of a stencil in large pages, against one in small pages: nanoseconds for each cell. All PEs call it.
fn stencil(world: &mut World, bench: &Bench<'_>) -> Done {
    let on = |id| move |world: &World, words| world.partition(id)?.alloc(zeroed::<f64>(words));
    let mut large = Columns::new(world, SIZE, on(LARGE))?;
    let mut small = Columns::new(world, SIZE, on(SMALL))?;
    bench.pair(format!("pages stencil/{SIZE}"), || {
        let mut step = |stencil: &mut Columns| nanoseconds_each(SIZE * SIZE, || stencil.step(world));
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

/// A 2-D stencil on any memory: a 5-point Jacobi relaxation on n x n cells of each PE, in a ring from west to east. Each PE's first
/// and last columns go to its neighbours after each step. Two grids take turns.
pub(super) struct Columns {
    form: Form,
    grids: [SymBox<[f64]>; 2],
}

impl Columns {
    /// A stencil on `size` x `size` cells of each PE, in memory from `alloc`, called twice with a number of zeroed words.
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
