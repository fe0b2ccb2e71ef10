//! Stencils: a step with a [`Halo`], against a step of the same stencil with a barrier; and what large pages save in a step.
//!
//! The stencil is a 5-point Jacobi relaxation on n x n cells of each PE, which sends its first and last row to its neighbours in a
//! ring. With a halo, cells are in private memory. With a barrier, they are in symmetric memory, and each PE puts its rows into the
//! border of its neighbours. Two grids take turns, so that one barrier in each step is enough.
//!
//! Page size matters most to columns: if their stride is longer than a page, each element is on another page, and most accesses
//! cost a walk of the page table if the column has more elements than the TLB has entries.

use std::ops::Range;

use shmem::partition::Pages;
use shmem::{HaloExchange, HaloToken};

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
    /// Grids in private memory, for steps with a halo.
    own: [&'static mut [f64]; 2],
    shared: [SymBox<[f64]>; 2],
    /// Upper limit on the delay of a PE. In each step, one of the two PEs is late.
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

    /// Delays one PE in each step from now on, in turn, by a random part of the time of a step.
    fn be_late(&mut self) {
        // The shortest of several times is taken, because other load makes times longer.
        let step = |stencil: &mut Self| {
            _ = stencil.run(20, Self::step_with_halo);
            stencil.run(20, Self::step_with_barrier)
        };
        let shortest = (0..11).map(|_| step(self)).fold(f64::INFINITY, f64::min);
        self.late = Duration::from_nanos(self.world.max(shortest) as u64);
    }

    /// Measures the relaxation of inner rows while border rows travel, against relaxation without exchange, in nanoseconds.
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

    /// Returns the mean nanoseconds of `steps` steps, which all PEs begin together.
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
            // SAFETY: neighbours write to the border only. This PE writes to its rows of this grid in the next step only.
            let row =
                unsafe { std::slice::from_raw_parts(mine.wrapping_add(form.row(from).start), form.size) };
            world.put(old.on(pe).index(form.row(to)), row);
        }
        world.barrier_all();
        pass(self.late, number, world.my_pe());
        // SAFETY: nobody writes to the old grid now. Neighbours write to its border again after another barrier, and this PE writes
        // to its other rows in the next step.
        let old = unsafe { std::slice::from_raw_parts(mine, form.cells()) };
        let inside = new.here(world).as_ptr().cast::<f64>().wrapping_add(form.pitch);
        // SAFETY: the slice has the rows of the new grid between its two border rows. Only this PE accesses them.
        let new = unsafe { std::slice::from_raw_parts_mut(inside, form.cells() - 2 * form.pitch) };
        form.relax(old, new, 1..form.size + 1);
        self.shared.swap(0, 1);
    }

    fn exchange(&mut self) {
        let Self { world, form, halo, own, .. } = self;
        let ghosts = form.send(halo, *world, own[0]).finish();
        // Reads the received rows, because otherwise their cache lines would stay in the other core's cache.
        own[0][..form.size].copy_from_slice(&ghosts[NORTH]);
        own[0][(form.size + 1) * form.pitch..][..form.size].copy_from_slice(&ghosts[SOUTH]);
    }
}

/// Delays this PE if it is its turn in this step. The delay of a step is the same with a halo and with a barrier.
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

/// Returns leaked private cells with the same offset in a page as `address`, so that both grids pay the same for 4K aliasing.
fn like(address: usize, values: impl ExactSizeIterator<Item = f64>) -> &'static mut [f64] {
    const PAGE: usize = 4096;
    let cells = Vec::leak(vec![0.0; values.len() + PAGE / size_of::<f64>()]);
    let start = address.wrapping_sub(cells.as_ptr().addr()) % PAGE / size_of::<f64>();
    let cells = &mut cells[start..][..values.len()];
    cells.iter_mut().zip(values).for_each(|(cell, value)| *cell = value);
    cells
}

/// Memory layout of a grid: a border row, rows that begin and end with a border cell, a border row. Rows are `pitch` cells apart.
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

    /// Computes rows of a new grid from an old one. `new` starts at the first row inside the border.
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
    ) -> HaloExchange<'h, f64, I> {
        let mut flight = halo.begin(token);
        flight.send(NORTH, &old[self.row(1)]);
        flight.send(SOUTH, &old[self.row(self.size)]);
        flight
    }
}

/// Computes one row of a new grid. `row` includes its two border cells; `above` and `below` do not.
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
        let pages = [(SMALL, rustix::param::page_size() as u64), (LARGE, LARGE_PAGE)];
        let partitions = pages.map(|(id, page)| {
            let traits = format!("SIZE={}:PGSIZE={page}:POLICY=PREFERRED", 8 * WORDS + (1 << 20));
            (format!("{PARTITION_VARIABLE}{id}"), traits)
        });
        runner.repeat(&runner.job("pages", 2, PeArguments::default()).with(partitions))
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

/// Words from one element of a column to the next: a small page and a cache line, so that elements use different cache sets.
const STRIDE: usize = (4096 + 64) / 8;

const WORDS: usize = TOUCHED[TOUCHED.len() - 1] * STRIDE;

/// ID of the partition in small pages. The partition [`LARGE`] has pages of [`LARGE_PAGE`] bytes.
const SMALL: u32 = 4;
const LARGE: u32 = 5;
const LARGE_PAGE: u64 = 2 << 20;

/// Rows and columns of each PE's grid. Two grids exceed the caches. A debug build only tests the tool.
const SIZE: usize = if cfg!(debug_assertions) { 64 } else { 2048 };

/// Measures a step of a stencil in large pages, against one in small pages, in nanoseconds for each cell. All PEs call it.
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

/// Measures puts of a column of `touched` elements to another PE's large pages, against puts to small pages, in nanoseconds for
/// each element. Both objects have [`WORDS`] words.
fn column(world: &World, bench: &Bench<'_>, places: [&SymBox<[u64]>; 2], touched: usize) {
    // A sample writes at least 64 Ki elements.
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

/// A 2-D stencil in given memory: a 5-point Jacobi relaxation on n x n cells of each PE, in a ring from west to east. After each
/// step, a PE sends its first and last column to its neighbours. Two grids take turns.
pub(super) struct Columns {
    form: Form,
    grids: [SymBox<[f64]>; 2],
}

impl Columns {
    /// Makes a stencil on `size` x `size` cells of each PE. `alloc` allocates a grid: it gets the number of words. All PEs call it.
    pub(super) fn new(
        world: &mut World,
        size: usize,
        alloc: impl Fn(&World, usize) -> Result<SymBox<[f64]>>,
    ) -> Result<Self> {
        // Rows begin on cache lines. Their distance is no power of two, so that the cells of a column use different cache sets.
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
