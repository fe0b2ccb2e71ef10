//! What a stencil costs with a halo, against the same stencil with a barrier in each step.
//!
//! Both are a 5-point Jacobi relaxation on n x n cells of each PE, whose blocks form a ring: the first and the
//! last row of each go to the neighbours. The one keeps its cells in memory of its own, and exchanges rows by a
//! [`Halo`]. The other keeps them in symmetric memory, puts its rows into the frames of its neighbours, and
//! meets them in a barrier. It is the least that works with barriers: two grids take turns, so that one barrier
//! in each step is enough, and nothing is checked. Loops over rows are the same function, and both must come to
//! the same cells.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use shmem_core::context::Rma;
use shmem_core::halo::{Edge, Flight, Halo, HaloToken};
use shmem_core::object::{On, SymBox};
use shmem_core::pe::Pe;

use super::baseline;
use super::put::near;
use super::samples::{Samples, nanoseconds_each};
use crate::error::Result;
use crate::initial::zeroed;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Rows and columns of each PE's cells.
pub const SIZES: [usize; 3] = [16, 32, 256];

/// Cells from one row to the next are a multiple of this: rows start on cache lines.
const LINE: usize = 8;

/// The edges of a block.
const NORTH: usize = 0;
const SOUTH: usize = 1;

/// Exchanges in a sample of nothing else.
const EXCHANGES: usize = 500;

/// A stencil, in both forms.
pub struct Stencil<'w, L: ThreadLevel> {
    world: &'w World<L>,
    size: usize,
    pitch: usize,
    neighbours: [Pe; 2],
    halo: Halo<f64>,
    own: [Own; 2],
    shared: [SymBox<[f64]>; 2],
    /// Steps that the grids of each form have taken.
    steps: [usize; 2],
    late: Option<Late>,
}

/// Rows in memory of this PE alone, from a cache line on.
struct Own {
    cells: Vec<f64>,
    start: usize,
}

/// The PEs are late in turn, each time by a random part of a step.
#[derive(Clone, Copy)]
struct Late {
    at_most: Duration,
}

impl<'w, L: ThreadLevel> Stencil<'w, L> {
    /// A stencil on `size` x `size` cells of each PE. Collective.
    ///
    /// # Errors
    ///
    /// If there is no room.
    pub fn new(world: &'w World<L>, size: usize) -> Result<Self> {
        let (north, south) = world.ring_neighbours();
        let pitch = (size + 2).next_multiple_of(LINE);
        let halo = world.halo(&[Edge::new(north, SOUTH, size), Edge::new(south, NORTH, size)])?;
        let rows = (size + 2) * pitch;
        let shared = [world.alloc(zeroed::<f64>(rows))?, world.alloc(zeroed::<f64>(rows))?];
        let own = [(); 2].map(|()| Own::new(rows));
        let mut stencil = Self {
            world,
            size,
            pitch,
            neighbours: [north, south],
            halo,
            own,
            shared,
            steps: [0; 2],
            late: None,
        };
        let first = |at: usize| (at * (3 + world.my_pe()) % 101) as f64;
        for grid in 0..2 {
            for at in 0..rows {
                stencil.own[grid].cells[stencil.own[grid].start + at] = first(at);
                stencil.shared[grid].here(world).index(at).store(first(at));
            }
        }
        world.barrier_all();
        Ok(stencil)
    }

    /// A step with the halo, against one with a barrier: nanoseconds for each.
    ///
    /// # Panics
    ///
    /// If they come to different cells.
    pub fn against_barrier(&mut self, repetitions: usize) -> Samples {
        let steps = ((1 << 20) / (self.size * self.size)).clamp(20, 1000);
        let both = std::cell::RefCell::new(self);
        let samples = Samples::alternate(
            repetitions,
            || both.borrow_mut().run(steps, Self::step_with_halo),
            || both.borrow_mut().run(steps, Self::step_with_barrier),
        );
        both.into_inner().compare();
        samples
    }

    /// As [`against_barrier`](Self::against_barrier), while in each step one PE, the next in turn, is late by
    /// a random part of the time that the relaxation takes.
    ///
    /// # Panics
    ///
    /// As [`against_barrier`](Self::against_barrier).
    pub fn against_barrier_when_late(&mut self, repetitions: usize) -> Samples {
        let relaxing = self.run(50, |stencil, _| stencil.relax_own());
        let mut slowest = [relaxing];
        self.world.max(&mut slowest[..]);
        self.late = Some(Late { at_most: Duration::from_nanos(slowest[0] as u64) });
        let samples = self.against_barrier(repetitions);
        self.late = None;
        samples
    }

    /// An exchange and nothing else, against a round trip of a cache line, which is two half ones:
    /// nanoseconds for each. `word` lies on one of two PEs, on a line of its own, zero to begin with.
    ///
    /// # Panics
    ///
    /// If `word` is not on this node.
    pub fn against_round_trip(&mut self, word: On<'_, u64>, repetitions: usize) -> Samples {
        let word = near(word.ptr(self.world));
        // SAFETY: the place holds an aligned word and lives while the world does; whatever else the program
        // does with it, no reference says that it does not change.
        let line = unsafe { AtomicU64::from_ptr(word) };
        let first = self.world.my_pe() == 0;
        let limit = || nanoseconds_each(EXCHANGES, || baseline::round_trips(line, first, EXCHANGES as u64));
        Samples::alternate(repetitions, || self.run(EXCHANGES, |stencil, _| stencil.exchange()), limit)
    }

    /// The relaxation of the interior while rows are on their way, against the same without any: nanoseconds
    /// for each.
    pub fn interior(&mut self, repetitions: usize) -> Samples {
        let steps = ((1 << 20) / (self.size * self.size)).clamp(20, 1000);
        let both = std::cell::RefCell::new(self);
        let in_flight = || {
            let stencil = &mut *both.borrow_mut();
            let mut taken = Duration::ZERO;
            stencil.world.barrier_all();
            for _ in 0..steps {
                let Self { world, size, pitch, halo, own, .. } = &mut *stencil;
                let flight = send(halo, *world, &own[0], *size, *pitch);
                let start = Instant::now();
                relax_interior(own, *size, *pitch);
                taken += start.elapsed();
                black_box(flight.finish()[NORTH][0]);
            }
            taken.as_nanos() as f64 / steps as f64
        };
        let ordinary = || {
            let stencil = &mut *both.borrow_mut();
            let mut taken = Duration::ZERO;
            stencil.world.barrier_all();
            for _ in 0..steps {
                let start = Instant::now();
                relax_interior(&mut stencil.own, stencil.size, stencil.pitch);
                taken += start.elapsed();
            }
            taken.as_nanos() as f64 / steps as f64
        };
        Samples::alternate(repetitions, in_flight, ordinary)
    }

    /// Nanoseconds of one of so many steps, which all PEs begin together.
    fn run(&mut self, steps: usize, mut step: impl FnMut(&mut Self, usize)) -> f64 {
        self.world.barrier_all();
        nanoseconds_each(steps, || (0..steps).for_each(|number| step(self, number)))
    }

    fn step_with_halo(&mut self, number: usize) {
        let (late, me) = (self.late, self.world.my_pe());
        let Self { world, size, pitch, halo, own, .. } = self;
        let (size, pitch) = (*size, *pitch);
        let flight = send(halo, *world, &own[0], size, pitch);
        late.inspect(|late| late.pass(number, me));
        relax_interior(own, size, pitch);
        let ghosts = flight.finish();
        let [old, new] = own;
        let last = size - 1;
        relax_row(
            &ghosts[NORTH],
            old.row(0, size, pitch),
            old.inner(1, size, pitch),
            new.inner_mut(0, size, pitch),
        );
        let above = old.inner(last - 1, size, pitch);
        relax_row(above, old.row(last, size, pitch), &ghosts[SOUTH], new.inner_mut(last, size, pitch));
        own.swap(0, 1);
        self.steps[0] += 1;
    }

    fn step_with_barrier(&mut self, number: usize) {
        let Self { world, size, pitch, .. } = *self;
        let [north, south] = self.neighbours;
        let [old, new] = [0, 1].map(|turn| &self.shared[(self.steps[1] + turn) % 2]);
        let [from, to] = [old, new].map(|grid| grid.here(world).as_ptr().cast::<f64>());
        let row = |row: usize| from.wrapping_add(row * pitch);
        // SAFETY: rows 1 to `size` of the old grid belong to this PE, and are written in the next step only.
        let cells = |row: *mut f64| unsafe { std::slice::from_raw_parts(row.wrapping_add(1), size) };
        let frame = |row: usize| row * pitch + 1..row * pitch + 1 + size;
        world.put(old.on(north).index(frame(size + 1)), cells(row(1)));
        world.put(old.on(south).index(frame(0)), cells(row(size)));
        world.barrier_all();
        if let Some(late) = self.late {
            late.pass(number, world.my_pe());
        }
        for at in 1..=size {
            // SAFETY: the frames of the old grid are written again in the step after the next one, behind
            // another barrier; its other rows are read only.
            let here = unsafe { std::slice::from_raw_parts(row(at), size + 2) };
            let next = to.wrapping_add(at * pitch + 1);
            // SAFETY: a row of the new grid that is no frame, which nobody else touches.
            let next = unsafe { std::slice::from_raw_parts_mut(next, size) };
            relax_row(cells(row(at - 1)), here, cells(row(at + 1)), next);
        }
        self.steps[1] += 1;
    }

    fn exchange(&mut self) {
        let Self { world, size, pitch, halo, own, .. } = self;
        black_box(send(halo, *world, &own[0], *size, *pitch).finish()[SOUTH][0]);
    }

    fn relax_own(&mut self) {
        relax_interior(&mut self.own, self.size, self.pitch);
    }

    /// Both forms have come to the same cells.
    fn compare(&self) {
        let Self { world, size, pitch, own, .. } = self;
        assert_eq!(self.steps[0], self.steps[1], "both take as many steps");
        let shared = self.shared[self.steps[1] % 2].here(*world);
        for row in 0..*size {
            for (column, cell) in own[0].inner(row, *size, *pitch).iter().enumerate() {
                let there = shared.index((row + 1) * pitch + 1 + column).load();
                assert!(there.to_bits() == cell.to_bits(), "{there} is not {cell} in row {row}");
            }
        }
    }
}

impl Own {
    fn new(cells: usize) -> Self {
        let cells = vec![0.0; cells + LINE];
        let start = cells.as_ptr().align_offset(LINE * size_of::<f64>());
        Self { cells, start }
    }

    /// A row with the cells of the border on both sides.
    fn row(&self, row: usize, size: usize, pitch: usize) -> &[f64] {
        &self.cells[self.start + (row + 1) * pitch..][..size + 2]
    }

    /// A row without them.
    fn inner(&self, row: usize, size: usize, pitch: usize) -> &[f64] {
        &self.cells[self.start + (row + 1) * pitch + 1..][..size]
    }

    fn inner_mut(&mut self, row: usize, size: usize, pitch: usize) -> &mut [f64] {
        &mut self.cells[self.start + (row + 1) * pitch + 1..][..size]
    }
}

impl Late {
    /// Waits, if it is this PE's turn, for a time that is the same in both forms.
    fn pass(self, step: usize, pe: usize) {
        if step % 2 != pe % 2 {
            return;
        }
        let start = Instant::now();
        let drawn = (step as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let pause = self.at_most.mul_f64(drawn as f64 / f64::from(1 << 24));
        while start.elapsed() < pause {
            std::hint::spin_loop();
        }
    }
}

/// Begins an exchange and sends both rows.
#[inline]
fn send<'h, I: HaloToken>(
    halo: &'h mut Halo<f64>,
    token: &'h I,
    own: &Own,
    size: usize,
    pitch: usize,
) -> Flight<'h, f64, I> {
    let mut flight = halo.begin(token);
    flight.send(NORTH, own.inner(0, size, pitch));
    flight.send(SOUTH, own.inner(size - 1, size, pitch));
    flight
}

/// All rows but the first and the last.
fn relax_interior([old, new]: &mut [Own; 2], size: usize, pitch: usize) {
    for row in 1..size - 1 {
        let (above, below) = (old.inner(row - 1, size, pitch), old.inner(row + 1, size, pitch));
        relax_row(above, old.row(row, size, pitch), below, new.inner_mut(row, size, pitch));
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
