//! What a stencil costs with a halo, against the same stencil with a barrier in each step.
//!
//! Both are a 5-point Jacobi relaxation on n x n cells of each PE, in memory of its own, whose blocks form a ring: the first
//! and the last row of each go to the neighbours. The one exchanges rows by a [`Halo`]. The other puts its rows into symmetric
//! memory of its neighbours, and meets them in a barrier. It is the least that works with barriers: two places take turns, so
//! that one barrier in each step is enough, and nothing is checked. Loops over rows are the same function, and both must come
//! to the same cells.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use shmem::prelude::*;
use shmem::{Flight, HaloToken};

use super::Measure;
use crate::baseline::{self, LIMIT_WORDS, word_at};
use crate::bench::{Bench, Task};
use crate::check::Guard;
use crate::samples::numbered;

pub(crate) const MEASURE: Measure = Measure {
    name: "halo",
    about: "A stencil with a halo, against the same with a barrier in each step",
    run: |runner, _| runner.jobs(&HALO, 2),
    tasks: &[HALO],
    rows: &[
        "halo * | cells of each PE | a step of a 5-point stencil with a halo, two PEs in a ring | the same with puts and a \
         barrier, two grids in turn: one barrier in each step | 16x16|32x32 apart 1/1.2; 256x256 apart 1",
        "halo late/* | late/cells | a step of that stencil, while in each step one PE, the next in turn, is late by a random part of a step | \
         the same with puts and a barrier | ** apart 1/1.2",
        "halo exchange/* | exchange/cells | an exchange of two edges, and nothing in between | a round trip of a cache line: two \
         half ping-pongs | ** apart 1.3",
        "halo interior/* | interior/cells | the relaxation of the interior while edges travel | the same slices, without a halo \
         | ** apart 1.02",
    ],
    guards: &[Guard::of(
        "halo",
        |runner| runner.jobs(&HALO, 2),
        &["halo {16x16,256x256,interior/256x256} | 2 | goal x3", "halo exchange/16 | 2 | goal x4"],
    )],
    ..Measure::PLAIN
};

const HALO: Task = Task::near("halo", |bench| {
    let world = bench.world;
    let word = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let line = word_at(world, word.on(world.pe(0)?).index(0));
    for size in [16, 32, 256] {
        let (north, south) = world.ring_neighbours();
        let halo = world.halo(&[Edge::new(north, SOUTH, size), Edge::new(south, NORTH, size)])?;
        let places = [world.alloc(zeroed::<f64>(2 * size))?, world.alloc(zeroed::<f64>(2 * size))?];
        let mut ours = Stencil::new(world, size, Way::Halo(halo));
        let mut plain = Stencil::new(world, size, Way::Barrier(places));
        against(bench, format!("halo {size}x{size}"), [&mut ours, &mut plain]);
        if size == 16 {
            // An exchange and nothing else: nanoseconds for each.
            let limit = || baseline::round_trip(line, world.my_pe() == 0, EXCHANGES);
            bench.pairs("halo exchange/16", || ours.run(EXCHANGES, |stencil, _| stencil.exchange()), limit);
        }
        if size == 256 {
            late(bench, format!("halo late/{size}x{size}"), [&mut ours, &mut plain]);
            let interior = RefCell::new(&mut ours);
            let relaxing = |in_flight| interior.borrow_mut().interior(in_flight);
            bench.pairs(format!("halo interior/{size}x{size}"), || relaxing(true), || relaxing(false));
        }
    }
    Ok(())
});

/// Cells from one row to the next are a multiple of this: rows start on cache lines.
const LINE: usize = 8;

/// Bytes of a page.
const PAGE: usize = 4096;

/// The edges of a block.
const NORTH: usize = 0;
const SOUTH: usize = 1;

/// Exchanges in a sample of nothing else.
const EXCHANGES: usize = 500;

/// A step with the halo, against one with a barrier: nanoseconds for each.
fn against(bench: &Bench<'_>, name: String, [ours, plain]: [&mut Stencil<'_>; 2]) {
    let steps = ours.form.steps();
    bench.pairs(name, || ours.run(steps, Stencil::step), || plain.run(steps, Stencil::step));
    assert_eq!(ours.steps, plain.steps, "both take as many steps");
    for row in 1..=ours.form.size {
        let (found, expected) = (ours.form.inner(ours.now(), row), plain.form.inner(plain.now(), row));
        assert!(found == expected, "row {row} is {found:?}, and not {expected:?}");
    }
}

/// The same while in each step one PE, the next in turn, is late by a random part of the time of a step.
fn late(bench: &Bench<'_>, name: String, [ours, plain]: [&mut Stencil<'_>; 2]) {
    // The shortest of some, since what else the machine does makes them longer.
    let mut step = || {
        _ = ours.run(20, Stencil::step);
        plain.run(20, Stencil::step)
    };
    let mut shortest = [(0..11).map(|_| step()).fold(f64::INFINITY, f64::min)];
    bench.world.max(&mut shortest[..]);
    let late = Some(Duration::from_nanos(shortest[0] as u64));
    (ours.late, plain.late) = (late, late);
    against(bench, name, [ours, plain]);
}

/// A stencil on cells of this PE, which exchanges rows with its neighbours in one of two ways.
struct Stencil<'w> {
    world: &'w World,
    form: Form,
    way: Way,
    /// Two grids, which take turns, one behind the other from `start` on.
    cells: Vec<f64>,
    start: usize,
    steps: usize,
    /// By how much a PE is late at most, in turn.
    late: Option<Duration>,
}

/// How rows come to neighbours.
enum Way {
    Halo(Halo<f64>),
    /// By puts to two places in turn, and a barrier: the row from the north and that from the south.
    Barrier([SymBox<[f64]>; 2]),
}

/// How a grid lies in memory: rows of cells between two of the border, and such a row before and behind them.
#[derive(Clone, Copy)]
struct Form {
    size: usize,
    pitch: usize,
}

impl<'w> Stencil<'w> {
    /// A stencil on `size` x `size` cells of each PE.
    fn new(world: &'w World, size: usize, way: Way) -> Self {
        let form = Form { size, pitch: (size + 2).next_multiple_of(LINE) };
        // Both ways begin at the start of a page: processors confuse addresses of different pages.
        let mut cells = vec![0.0; 2 * form.cells() + PAGE / size_of::<f64>()];
        let start = cells.as_ptr().align_offset(PAGE);
        for at in 0..form.cells() {
            let first = (at * (3 + world.my_pe()) % 101) as f64;
            (cells[start + at], cells[start + form.cells() + at]) = (first, first);
        }
        Self { world, form, way, cells, start, steps: 0, late: None }
    }

    /// Nanoseconds of one of so many steps, which all PEs begin together.
    fn run(&mut self, steps: usize, mut step: impl FnMut(&mut Self, usize)) -> f64 {
        self.world.barrier_all();
        numbered(steps as u64, |number| step(self, number as usize))
    }

    fn step(&mut self, number: usize) {
        let Self { world, form, way, cells, start, steps, late } = self;
        let (form, world, last) = (*form, *world, form.size);
        let (old, new) = form.turns(&mut cells[*start..], *steps);
        let pass = || late.iter().for_each(|late| pass(*late, number, world.my_pe()));
        match way {
            Way::Halo(halo) => {
                let flight = form.send(halo, world, old);
                pass();
                form.relax(old, new, 2..last);
                let ghosts = flight.finish();
                form.relax_edges(old, new, [&ghosts[NORTH], &ghosts[SOUTH]]);
            }
            Way::Barrier(places) => {
                let (north, south) = world.ring_neighbours();
                let place = &places[*steps % 2];
                world.put(place.on(north).index(last..2 * last), form.inner(old, 1));
                world.put(place.on(south).index(..last), form.inner(old, last));
                world.barrier_all();
                pass();
                form.relax(old, new, 2..last);
                let ghosts = place.here(world).as_ptr().cast::<f64>();
                // SAFETY: all of the place, which neighbours write again in the step after the next one, behind another
                // barrier.
                let ghosts = unsafe { std::slice::from_raw_parts(ghosts, 2 * last) };
                form.relax_edges(old, new, [&ghosts[..last], &ghosts[last..]]);
            }
        }
        *steps += 1;
    }

    fn exchange(&mut self) {
        let Self { world, form, way: Way::Halo(halo), cells, start, steps, .. } = self else {
            unreachable!("only halos are exchanged by themselves")
        };
        let (old, _) = form.turns(&mut cells[*start..], *steps);
        let ghosts = form.send(halo, *world, old).finish();
        // All that came is looked at, or it would stay where it was.
        old[..form.size].copy_from_slice(&ghosts[NORTH]);
        old[(form.size + 1) * form.pitch..][..form.size].copy_from_slice(&ghosts[SOUTH]);
    }

    /// The relaxation of the interior while rows are on their way, or without any: nanoseconds of each.
    fn interior(&mut self, in_flight: bool) -> f64 {
        let Self { world, form, way: Way::Halo(halo), cells, start, steps, .. } = self else {
            unreachable!("only halos have rows on their way")
        };
        let mut taken = Duration::ZERO;
        world.barrier_all();
        for _ in 0..form.steps() {
            let (old, new) = form.turns(&mut cells[*start..], *steps);
            let flight = if in_flight { Some(form.send(halo, *world, old)) } else { None };
            let start = Instant::now();
            form.relax(old, new, 2..form.size);
            taken += start.elapsed();
            flight.map(|flight| black_box(flight.finish()[NORTH][0]));
        }
        taken.as_nanos() as f64 / form.steps() as f64
    }

    /// The grid whose cells are those of now.
    fn now(&self) -> &[f64] {
        &self.cells[self.start + self.steps % 2 * self.form.cells()..][..self.form.cells()]
    }
}

impl Form {
    /// Cells with those of the border.
    fn cells(self) -> usize {
        (self.size + 2) * self.pitch
    }

    /// Steps that fill a sample.
    fn steps(self) -> usize {
        ((1 << 20) / (self.size * self.size)).clamp(20, 1000)
    }

    /// The grid of now, and the next one, behind so many steps.
    fn turns(self, cells: &mut [f64], steps: usize) -> (&mut [f64], &mut [f64]) {
        let (one, other) = cells.split_at_mut(self.cells());
        if steps.is_multiple_of(2) { (one, other) } else { (other, one) }
    }

    /// A row without the cells of the border.
    fn inner(self, cells: &[f64], row: usize) -> &[f64] {
        &cells[row * self.pitch + 1..][..self.size]
    }

    fn relax(self, old: &[f64], new: &mut [f64], rows: std::ops::Range<usize>) {
        rows.for_each(|row| {
            self.relax_one(old, new, row, [self.inner(old, row - 1), self.inner(old, row + 1)])
        });
    }

    /// The first and the last row, beside those of the neighbours.
    fn relax_edges(self, old: &[f64], new: &mut [f64], [north, south]: [&[f64]; 2]) {
        self.relax_one(old, new, 1, [north, self.inner(old, 2)]);
        self.relax_one(old, new, self.size, [self.inner(old, self.size - 1), south]);
    }

    fn relax_one(self, old: &[f64], new: &mut [f64], row: usize, [above, below]: [&[f64]; 2]) {
        let at = row * self.pitch;
        relax_row(above, &old[at..][..self.size + 2], below, &mut new[at + 1..][..self.size]);
    }

    /// Begins an exchange and sends the first and the last row.
    #[inline]
    fn send<'h, I: HaloToken>(
        self,
        halo: &'h mut Halo<f64>,
        token: &'h I,
        old: &[f64],
    ) -> Flight<'h, f64, I> {
        let mut flight = halo.begin(token);
        flight.send(NORTH, self.inner(old, 1));
        flight.send(SOUTH, self.inner(old, self.size));
        flight
    }
}

/// Waits, if it is this PE's turn, for a random part of a time that is the same in both ways.
fn pass(at_most: Duration, step: usize, pe: usize) {
    if step % 2 != pe % 2 {
        return;
    }
    let start = Instant::now();
    let drawn = (step as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let pause = at_most.mul_f64(drawn as f64 / f64::from(1 << 24));
    while start.elapsed() < pause {
        std::hint::spin_loop();
    }
}

/// One row; `row` has a cell more on each side than the others.
#[inline(never)]
fn relax_row(above: &[f64], row: &[f64], below: &[f64], new: &mut [f64]) {
    let size = new.len();
    let (above, below) = (&above[..size], &below[..size]);
    let (left, right) = (&row[..size], &row[2..2 + size]);
    for at in 0..size {
        new[at] = 0.25 * (above[at] + below[at] + left[at] + right[at]);
    }
}
