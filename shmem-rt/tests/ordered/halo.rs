//! Halos: whatever the grid, the neighbours and their delays, a stencil comes to what one process computes,
//! and ghost cells stay what they are until the next exchange.

use std::time::{Duration, Instant};

use crate::dice::Dice;
use shmem::prelude::*;
use shmem::thread::Private;
use shmem::{Ghosts, zeroed};

/// The eight directions, so that the opposite of `d` is `7 - d`.
const AROUND: [(isize, isize); 8] = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

/// A grid of PEs and of cells, drawn equally on all PEs.
struct Drawn {
    pes: [usize; 2],
    cells: [usize; 2],
    periodic: bool,
}

impl Drawn {
    fn new(dice: &mut Dice, pes: usize) -> Self {
        let heights: Vec<usize> = (1..=pes).filter(|height| pes.is_multiple_of(*height)).collect();
        let height = heights[dice.below(heights.len() as u64) as usize];
        let pes = [height, pes / height];
        let cells = pes.map(|pes| pes + dice.below(12) as usize);
        Self { pes, cells, periodic: dice.below(2) == 0 }
    }

    /// Which rows or columns a row or column of PEs has.
    fn part(&self, axis: usize, number: usize) -> std::ops::Range<usize> {
        let (cells, pes) = (self.cells[axis], self.pes[axis]);
        number * cells / pes..(number + 1) * cells / pes
    }

    fn parts_of(&self, pe: usize) -> [std::ops::Range<usize>; 2] {
        [self.part(0, pe / self.pes[1]), self.part(1, pe % self.pes[1])]
    }

    fn neighbour(&self, pe: usize, (down, right): (isize, isize)) -> Option<usize> {
        let place = [pe / self.pes[1], pe % self.pes[1]];
        let moved = [(place[0], down, self.pes[0]), (place[1], right, self.pes[1])].map(|(at, by, all)| {
            let moved = at as isize + by;
            let inside = (0..all as isize).contains(&moved);
            (inside || self.periodic).then(|| moved.rem_euclid(all as isize) as usize)
        });
        Some(moved[0]? * self.pes[1] + moved[1]?)
    }

    /// Cells that come over the edge in a direction.
    fn cells_over(&self, pe: usize, (down, right): (isize, isize)) -> usize {
        let [rows, columns] = self.parts_of(pe).map(|part| part.len());
        (if down == 0 { rows } else { 1 }) * (if right == 0 { columns } else { 1 })
    }
}

/// A block of cells inside a frame.
#[derive(Clone)]
struct Block {
    rows: usize,
    columns: usize,
    cells: Vec<u64>,
}

impl Block {
    fn new([rows, columns]: [usize; 2]) -> Self {
        Self { rows, columns, cells: vec![7; (rows + 2) * (columns + 2)] }
    }

    fn pitch(&self) -> usize {
        self.columns + 2
    }

    /// The cells along an edge: inside the block, or in its frame. First, number, and distance.
    fn edge(&self, (down, right): (isize, isize), frame: bool) -> (usize, usize, usize) {
        let at = |by: isize, all: usize| match (by, frame) {
            (-1, true) => 0,
            (1, true) => all + 1,
            (1, false) => all,
            _ => 1,
        };
        let first = at(down, self.rows) * self.pitch() + at(right, self.columns);
        let many = (if down == 0 { self.rows } else { 1 }) * (if right == 0 { self.columns } else { 1 });
        (first, many, if down == 0 && right != 0 { self.pitch() } else { 1 })
    }

    fn shape(&self) -> [usize; 2] {
        [self.rows + 2, self.pitch()]
    }

    /// The same cells as [`edge`](Self::edge), as a region.
    fn region(&self, direction: (isize, isize), frame: bool) -> [std::ops::Range<usize>; 2] {
        let (start, many, step) = self.edge(direction, frame);
        let (row, column) = (start / self.pitch(), start % self.pitch());
        let (rows, columns) = if step == 1 { (1, many) } else { (many, 1) };
        [row..row + rows, column..column + columns]
    }

    /// A step of nine points; arithmetic wraps, so every bit counts. Gives the cell too.
    fn relaxed(&self, row: usize, column: usize) -> u64 {
        let at = row * self.pitch() + column;
        let mut sum = self.cells[at].wrapping_mul(5);
        for (number, (down, right)) in AROUND.into_iter().enumerate() {
            let there = at.wrapping_add_signed(down * self.pitch() as isize + right);
            sum = sum.wrapping_add(self.cells[there].wrapping_mul(2 * number as u64 + 1));
        }
        sum
    }
}

fn initial(row: usize, column: usize) -> u64 {
    (row * 1000 + column) as u64
}

/// The whole field after each step, in one process.
fn serial(drawn: &Drawn, steps: usize) -> Vec<Block> {
    let mut field = Block::new(drawn.cells);
    let (rows, columns, pitch) = (field.rows, field.columns, field.pitch());
    for row in 1..=rows {
        for column in 1..=columns {
            field.cells[row * pitch + column] = initial(row - 1, column - 1);
        }
    }
    let mut fields = vec![field.clone()];
    for _ in 0..steps {
        if drawn.periodic {
            for row in 0..rows + 2 {
                for column in 0..columns + 2 {
                    let from = ((row + rows - 1) % rows + 1) * pitch + (column + columns - 1) % columns + 1;
                    field.cells[row * pitch + column] = field.cells[from];
                }
            }
        }
        let mut next = field.clone();
        for row in 1..=rows {
            for column in 1..=columns {
                next.cells[row * pitch + column] = field.relaxed(row, column);
            }
        }
        field = next;
        fields.push(field.clone());
    }
    fields
}

/// Now and then a pause, of another length on each PE: a part of a step, or many.
fn dawdle(own: &mut Dice) {
    match own.below(12) {
        0 => std::thread::sleep(Duration::from_micros(own.below(300))),
        1 | 2 => {
            let (start, pause) = (Instant::now(), Duration::from_micros(own.below(20)));
            while start.elapsed() < pause {
                std::hint::spin_loop();
            }
        }
        _ => {}
    }
}

/// Random grids, step by step like the serial solution.
fn relax_random_grids(world: &World, grids: usize, seed: u64) {
    const STEPS: usize = 12;
    let (mut dice, me) = (Dice(seed), world.my_pe());
    let mut own = Dice(seed * 31 + me as u64);
    let pes: Vec<Pe> = world.pes().iter().collect();
    for _ in 0..grids {
        let drawn = Drawn::new(&mut dice, pes.len());
        let edges: Vec<Edge> = (0..8)
            .map(|d| {
                let neighbour = drawn.neighbour(me, AROUND[d]).map(|pe| pes[pe]);
                Edge::new(neighbour, 7 - d, drawn.cells_over(me, AROUND[d]))
            })
            .collect();
        let mut halo = world.halo(&edges).unwrap();
        let [rows, columns] = drawn.parts_of(me);
        let mut block = Block::new([rows.len(), columns.len()]);
        let pitch = block.pitch();
        let expected = serial(&drawn, STEPS);
        for (row, line) in rows.clone().zip(1..) {
            for (column, at) in columns.clone().zip(1..) {
                block.cells[line * pitch + at] = initial(row, column);
            }
        }
        for field in &expected[1..] {
            let mut flight = halo.begin(world);
            let first = own.below(8) as usize;
            for turn in 0..8 {
                let d = (first + turn) % 8;
                let (start, many, step) = block.edge(AROUND[d], false);
                let cells = &block.cells[start..];
                match own.below(5) {
                    4 => flight.send_region(d, &block.cells, block.shape(), block.region(AROUND[d], false)),
                    0 => flight.send_iter(d, cells.iter().copied().step_by(step).take(many)),
                    1 if step == 1 => flight.send_blocks(d, &cells[..many], many, many),
                    _ if step == 1 => flight.send(d, &cells[..many]),
                    _ => flight.send_strided(d, cells, step),
                }
                dawdle(&mut own);
            }
            let mut next = block.clone();
            for row in 2..block.rows {
                for column in 2..block.columns {
                    next.cells[row * pitch + column] = block.relaxed(row, column);
                }
            }
            dawdle(&mut own);
            let all = flight.finish();
            dawdle(&mut own);
            for d in 0..8 {
                let (start, many, step) = block.edge(AROUND[d], true);
                let ghosts = &all[d];
                assert_eq!(ghosts.len(), if halo_has(&drawn, me, d) { many } else { 0 });
                if own.below(2) == 0 {
                    let (shape, region) = (block.shape(), block.region(AROUND[d], true));
                    all.unpack(d, &mut block.cells, shape, region);
                    continue;
                }
                for (at, cell) in ghosts.iter().enumerate() {
                    block.cells[start + at * step] = *cell;
                }
            }
            for row in 1..=block.rows {
                for column in 1..=block.columns {
                    if row == 1 || row == block.rows || column == 1 || column == block.columns {
                        next.cells[row * pitch + column] = block.relaxed(row, column);
                    }
                }
            }
            block = next;
            for (row, line) in rows.clone().zip(1..) {
                let whole = &field.cells[(row + 1) * field.pitch() + 1..][columns.clone()];
                assert_eq!(&block.cells[line * pitch + 1..][..columns.len()], whole, "row {row}");
            }
        }
    }
}

fn halo_has(drawn: &Drawn, me: usize, d: usize) -> bool {
    drawn.neighbour(me, AROUND[d]).is_some()
}

#[shmem::test(pes = 1)]
fn one_pe_is_its_own_neighbour(world: &mut World) {
    relax_random_grids(world, 30, 1);
}

#[shmem::test(pes = 2)]
fn two_pes_relax_random_grids(world: &mut World) {
    relax_random_grids(world, 20, 2);
}

#[shmem::test(pes = 3)]
fn three_pes_relax_random_grids(world: &mut World) {
    relax_random_grids(world, 12, 3);
}

#[shmem::test(pes = 4)]
fn four_pes_relax_random_grids(world: &mut World) {
    relax_random_grids(world, 12, 4);
}

const WEST: usize = 0;
const EAST: usize = 1;

/// A ring: an edge to the west and one to the east, with so many cells each.
fn ring(world: &World, cells: usize) -> Halo<u64> {
    let (west, east) = world.ring_neighbours();
    world.halo(&[Edge::new(west, EAST, cells), Edge::new(east, WEST, cells)]).unwrap()
}

#[shmem::test(pes = 2)]
fn ghost_cells_stay_while_neighbours_go_on(world: &mut World) {
    let mut halo = ring(world, 5);
    let slow = world.my_pe() == 0;
    let there = (1 - world.my_pe()) as u64;
    for step in 0..20_u64 {
        let cells = [step * 10 + world.my_pe() as u64; 5];
        let mut flight = halo.begin(world);
        flight.send(WEST, &cells);
        flight.send(EAST, &cells);
        let ghosts = flight.finish();
        if slow {
            // Long enough for the other to send its next cells, and to wait for ours.
            std::thread::sleep(Duration::from_millis(2));
        }
        for edge in [WEST, EAST] {
            assert_eq!(ghosts[edge], [step * 10 + there; 5]);
        }
    }
}

#[shmem::test(pes = 2)]
fn a_pe_may_be_one_exchange_ahead_and_no_more(world: &mut World) {
    let mut halo = ring(world, 1);
    let (_, other) = world.ring_neighbours();
    for exchange in 0..2 {
        let mut flight = halo.begin(world);
        flight.send(WEST, &[exchange]);
        flight.send(EAST, &[exchange]);
        match (world.my_pe(), exchange) {
            // PE 1 finishes the first exchange, and begins the second, while this PE is in the first.
            (0, 0) => _ = AHEAD.wait_until(world, eq(1)),
            (1, 1) => {
                assert!(!flight.is_ready(), "PE 0 has not begun the second");
                world.signal_set(AHEAD.on(other), 1);
            }
            _ => {}
        }
        let cells = flight.finish();
        assert_eq!((&cells[WEST], &cells[EAST]), (&[exchange][..], &[exchange][..]));
    }
}

#[symmetric]
static AHEAD: Signal;

#[symmetric]
static FINISHED: Signal;

#[shmem::test(pes = 2)]
fn who_has_sent_may_wait_for_what_a_neighbour_does_behind_its_exchange(world: &mut World) {
    let mut halo = ring(world, 1);
    let (_, other) = world.ring_neighbours();
    let mut flight = halo.begin(world);
    if world.my_pe() == 0 {
        // Long enough for the other to fall asleep in `finish`.
        std::thread::sleep(Duration::from_millis(200));
    }
    flight.send(WEST, &[0]);
    flight.send(EAST, &[0]);
    // If the other one was not woken, this ends at the limit of tests.
    if world.my_pe() == 0 {
        FINISHED.wait_until(world, eq(1));
        _ = flight.finish();
    } else {
        _ = flight.finish();
        world.signal_set(FINISHED.on(other), 1);
    }
}

#[shmem::test(pes = 2)]
fn who_sleeps_is_woken_when_cells_come_and_not_when_the_sender_has_time(world: &mut World) {
    let mut halo = ring(world, 1);
    let (_, other) = world.ring_neighbours();
    let mut flight = halo.begin(world);
    if world.my_pe() == 0 {
        // The other one is asleep by then.
        std::thread::sleep(Duration::from_millis(50));
    }
    flight.send(WEST, &[1]);
    flight.send(EAST, &[2]);
    if world.my_pe() == 0 {
        // It has time for the exchange when the other one has finished it, and looks at its own memory only.
        while !WOKEN.test(world, eq(1)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        _ = flight.finish();
    } else {
        _ = flight.finish();
        world.signal_set(WOKEN.on(other), 1);
    }
}

#[symmetric]
static WOKEN: Signal;

#[shmem::test(pes = 3)]
fn ends_of_an_edge_may_differ_in_length_and_in_element(world: &mut World) {
    #[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
    #[repr(C, align(32))]
    struct Cell {
        mass: f64,
        velocity: [f64; 3],
    }
    let cell = |pe: Pe, number: usize| Cell { mass: pe.number() as f64, velocity: [number as f64; 3] };
    let (west, east) = world.ring_neighbours();
    // Upwind: three cells from the west, none from the east.
    let mut halo = world.halo(&[Edge::new(west, EAST, 3), Edge::new(east, WEST, 0)]).unwrap();
    for step in 0..5 {
        let mut flight = halo.begin(world);
        flight.send(WEST, &[]);
        flight.send_iter(EAST, (0..3).map(|number| cell(world.me(), step + number)));
        let ghosts: Ghosts<'_, Cell> = flight.finish();
        assert_eq!(ghosts[WEST], [0, 1, 2].map(|number| cell(west, step + number)));
        assert!(ghosts[EAST].is_empty() && ghosts[WEST].as_ptr().is_aligned());
        assert_eq!(
            ghosts.iter().map(|(edge, cells)| (edge, cells.len())).collect::<Vec<_>>(),
            [(0, 3), (1, 0)]
        );
    }
}

#[shmem::test(pes = 2)]
fn faces_of_three_dimensions_come_as_blocks(world: &mut World) {
    // Cells [z][y][x], cut across y: a face is a row of x for each z.
    const SIZE: [usize; 3] = [4, 6, 5];
    let [depth, height, width] = SIZE;
    let value = |pe: usize, z: usize, y: usize, x: usize| (((pe * 10 + z) * 10 + y) * 10 + x) as u64;
    let me = world.my_pe();
    let cells: Vec<u64> = (0..depth * height * width)
        .map(|at| value(me, at / (height * width), at / width % height, at % width))
        .collect();
    let mut halo = ring(world, depth * width);
    let mut flight = halo.begin(world);
    flight.send_blocks(WEST, &cells, width, height * width);
    flight.send_blocks(EAST, &cells[(height - 1) * width..], width, height * width);
    let ghosts = flight.finish();
    for (edge, y) in [(WEST, height - 1), (EAST, 0)] {
        let face: Vec<u64> = (0..depth * width).map(|at| value(1 - me, at / width, y, at % width)).collect();
        assert_eq!(ghosts[edge], face);
    }
}

/// Regions of random cubes, as a loop over their cells sends and receives them.
#[shmem::test(pes = 2)]
fn regions_of_any_rank_are_sent_and_unpacked(world: &mut World) {
    /// All indices of a region, in order, as numbers of cells.
    fn cells(shape: [usize; 3], region: &[std::ops::Range<usize>; 3]) -> Vec<usize> {
        let [a, b, c] = region.clone();
        let rows = a.flat_map(|i| b.clone().map(move |j| (i * shape[1] + j) * shape[2]));
        rows.flat_map(|row| c.clone().map(move |k| row + k)).collect()
    }
    let (me, mut dice) = (world.my_pe(), Dice(808));
    for _ in 0..60 {
        let counts: [usize; 3] = std::array::from_fn(|_| dice.below(5) as usize);
        let mut around = || {
            let before: [usize; 3] = std::array::from_fn(|_| dice.below(3) as usize);
            let shape = std::array::from_fn(|d| before[d] + counts[d] + dice.below(3) as usize);
            (shape, std::array::from_fn(|d| before[d]..before[d] + counts[d]))
        };
        let [(sent_shape, sent), (shape, region)] = [around(), around()];
        let value = |pe: usize, edge: usize, cell: usize| ((pe * 10 + edge) * 10_000 + cell) as u64 + 1;
        let mut halo = ring(world, counts.iter().product());
        let mut flight = halo.begin(world);
        for edge in [WEST, EAST] {
            let cube: Vec<u64> = (0..sent_shape.iter().product()).map(|cell| value(me, edge, cell)).collect();
            flight.send_region(edge, &cube, sent_shape, sent.clone());
        }
        let ghosts = flight.finish();
        for edge in [WEST, EAST] {
            let mut cube = vec![0; shape.iter().product()];
            ghosts.unpack(edge, &mut cube, shape, region.clone());
            let mut expected = vec![0; cube.len()];
            for (to, from) in cells(shape, &region).into_iter().zip(cells(sent_shape, &sent)) {
                expected[to] = value(1 - me, 1 - edge, from);
            }
            assert_eq!(cube, expected, "{region:?} of {shape:?} from {sent:?} of {sent_shape:?}");
        }
    }
}

/// As if it had been finished, also where an error leaves the exchange.
#[shmem::test(pes = 2)]
fn a_flight_that_is_dropped_is_finished(world: &mut World) {
    fn exchange(halo: &mut Halo<u64>, world: &World, value: u64, text: &str) -> std::result::Result<u64, ()> {
        let mut flight = halo.begin(world);
        flight.send(WEST, &[value]);
        flight.send(EAST, &[value]);
        let number: u64 = text.parse().map_err(|_| ())?;
        Ok(flight.finish()[WEST][0] + number)
    }
    let me = world.my_pe() as u64;
    let mut halo = ring(world, 1);
    for round in 0..20 {
        let result =
            exchange(&mut halo, world, 100 * me + round, if round % 3 == me { "seven" } else { "7" });
        let expected = if round % 3 == me { Err(()) } else { Ok(100 * (1 - me) + round + 7) };
        assert_eq!(result, expected);
    }
}

#[shmem::test(pes = 2)]
fn contexts_exchange_as_the_world_does(world: &mut World) {
    let context = world.create_ctx::<Private>().unwrap();
    let ctx = context.bind(world);
    let mut halo = ring(world, 2);
    let there = (1 - world.my_pe()) as u64;
    let mut exchange = |step: u64, through: &dyn shmem::HaloToken| {
        let cells = [step, world.my_pe() as u64];
        let mut flight = halo.begin(through);
        flight.send(WEST, &cells);
        flight.send(EAST, &cells);
        let ghosts = flight.finish();
        assert_eq!((&ghosts[WEST], &ghosts[EAST]), (&[step, there][..], &[step, there][..]));
    };
    for step in 0..50 {
        if step % 3 == 0 { exchange(step, &ctx) } else { exchange(step, world) }
    }
}

#[symmetric]
static ROD: [u64; 40];

#[shmem::test(pes = 3)]
fn symmetric_objects_are_exclusive_while_halos_are_exchanged(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let mut halo = ring(world, 1);
    let (west, _) = world.ring_neighbours();
    world.put(ROD.on(world.me()), &std::array::from_fn(|i| (me * 40 + i) as u64));
    let steps = 100;
    let sum: u64 = world.local_with_halos(&ROD, |rod, phase| {
        for _ in 0..steps {
            let mut flight = halo.begin(phase);
            flight.send(EAST, &rod[39..]);
            flight.send(WEST, &rod[..1]);
            rod.copy_within(..39, 1);
            rod[0] = flight.finish()[WEST][0];
        }
        rod.iter().sum()
    });
    assert_eq!(halo.neighbour(WEST), Some(west));
    let all = 40 * pes;
    let expected = (0..40).map(|i| ((me * 40 + i + all * steps - steps) % all) as u64);
    assert_eq!(sum, expected.clone().sum::<u64>());
    for (i, cell) in expected.enumerate() {
        assert_eq!(ROD.here(world).index(i).load(), cell);
    }
}

#[shmem::test(pes = 2)]
fn no_raw_address_reaches_ghost_cells(world: &mut World) {
    let block = world.malloc(64).unwrap();
    let mut halo = ring(world, 8);
    let mut flight = halo.begin(world);
    flight.send(WEST, &[1; 8]);
    flight.send(EAST, &[2; 8]);
    let ghosts = flight.finish();
    let miss = world.address(ghosts[WEST].as_ptr()).unwrap_err().to_string();
    assert!(miss.contains("are not symmetric memory") || miss.contains("is not symmetric memory"), "{miss}");
    assert!(miss.contains("goes when its handle is dropped"), "{miss}");
    let distance = (ghosts[WEST].as_ptr() as usize).wrapping_sub(block.as_ptr() as usize);
    let put = || world.putmem(block.add(distance), &[0; 8], world.ring_neighbours().1);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(put)).is_err());
    assert_eq!((&ghosts[WEST], &ghosts[EAST]), (&[2; 8][..], &[1; 8][..]));
}

#[shmem::test(pes = 2)]
fn dropped_halos_give_their_memory_back(world: &mut World) {
    // More than there are slots for segments.
    for round in 0..200 {
        let mut halo = ring(world, 3);
        let mut flight = halo.begin(world);
        // The last message is never waited for here: it must not hit what comes next.
        flight.send(WEST, &[round; 3]);
        flight.send(EAST, &[round; 3]);
        if round % 2 == 0 {
            _ = flight.finish();
        } else {
            std::mem::forget(flight);
        }
    }
    let many: Vec<_> = (0..10).map(|cells| ring(world, cells)).collect();
    drop(many);
}

/// What was sent arrives, and the halo that was given up begins no other exchange.
#[shmem::test(pes = 2)]
fn an_exchange_that_is_given_up_is_the_last(world: &mut World) {
    let me = world.my_pe() as u64;
    let mut halo = ring(world, 1);
    let (begun, mut flight) = (line!(), halo.begin(world));
    flight.send(WEST, &[me]);
    flight.send(EAST, &[me]);
    if me == 0 {
        let unwind = std::panic::AssertUnwindSafe(|| {
            let _given_up = flight;
            std::panic::resume_unwind(Box::new(()));
        });
        std::panic::catch_unwind(unwind).unwrap_err();
        let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(halo.begin(world))));
        let said = again.unwrap_err().downcast::<String>().unwrap();
        let expected = format!("halo.rs:{begun}:");
        assert!(said.starts_with("the exchange begun at ") && said.contains(&expected), "{said}");
        assert!(said.ends_with("call `finish` on every flight"), "{said}");
    } else {
        let ghosts = flight.finish();
        assert_eq!((ghosts[WEST][0], ghosts[EAST][0]), (0, 0));
    }
}

#[shmem::test(pes = 3)]
fn edges_that_do_not_fit_are_one_error_on_all_pes(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    // PE 2 takes east for west.
    let wrong = world.my_pe() == 2;
    let edges = [Edge::new(west, if wrong { WEST } else { EAST }, 1), Edge::new(east, WEST, 1)];
    let error = world.halo::<u64>(&edges).unwrap_err().to_string();
    assert_eq!(
        error,
        "edge 1 of PE 1 leads to edge 0 of PE 2, and that one leads to edge 0 of PE 1: halos are exchanged both \
         ways, so the two ends of an edge must name each other"
    );
    let error = world.halo::<u64>(&[Edge::new(east, 1, 1)]).unwrap_err().to_string();
    assert!(error.starts_with("edge 0 of PE 0 leads to edge 1 of PE 1, which has 1 (0..1): "), "{error}");
    let error = world.halo::<u64>(&[Edge::new(world.me(), 0, usize::MAX)]).unwrap_err().to_string();
    assert!(error.contains("halo at ") && error.contains("halo.rs"), "{error}");
    // Nothing is left of it.
    let mut halo = ring(world, 1);
    let mut flight = halo.begin(world);
    flight.send(WEST, &[4]);
    flight.send(EAST, &[4]);
    assert_eq!(flight.finish()[WEST], [4]);
}

#[shmem::test(pes = 2)]
fn borders_take_cells_and_give_none(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let first = world.my_pe() == 0;
    let side = |is_there: bool| is_there.then_some(other);
    let edges = [Edge::new(side(!first), EAST, 2), Edge::new(side(first), WEST, 2), Edge::BORDER];
    let mut halo = world.halo(&edges).unwrap();
    assert_eq!((halo.edges(), halo.neighbour(WEST), halo.neighbour(2)), (3, side(!first), None));
    let mut flight = halo.begin(world);
    for edge in 0..3 {
        flight.send(edge, &[first as u8; 2]);
    }
    let ghosts = flight.finish();
    assert_eq!(ghosts.iter().map(|(edge, _)| edge).collect::<Vec<_>>(), [usize::from(first)]);
    assert_eq!(ghosts[usize::from(first)], [!first as u8; 2]);
    assert!(ghosts[2].is_empty());
    // A PE without any neighbour.
    let mut alone = world.halo::<f32>(&[Edge::BORDER]).unwrap();
    let mut flight = alone.begin(world);
    flight.send_strided(0, &[], 0);
    flight.send_region(0, &[0.0; 3], [3, 1], [0..2, 0..1]);
    assert!(flight.is_ready());
    let ghosts = flight.finish();
    ghosts.unpack(0, &mut [0.0; 3], [3, 1], [0..2, 0..1]);
    assert!(ghosts[0].is_empty());
}

/// A flight of a ring of one.
fn mistake(world: &World, mistake: impl FnOnce(shmem::Flight<'_, u64, World>)) {
    let mut halo = ring(world, 3);
    mistake(halo.begin(world));
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "the exchange begun at shmem-rt/tests/ordered/halo.rs:")]
fn a_flight_that_was_given_up_stops_the_next_one(world: &mut World) {
    let mut halo = ring(world, 3);
    std::mem::forget(halo.begin(world));
    _ = halo.begin(world);
}

#[shmem::test(pes = 1)]
#[should_panic(
    expected = "ends with edges that were not sent: edge 1 to PE 0; send each edge of a flight, and then call `finish` on it"
)]
fn a_flight_is_not_dropped_before_its_edges_are_sent(world: &mut World) {
    mistake(world, |mut flight| flight.send(WEST, &[1, 2, 3]));
}

#[shmem::test(pes = 1)]
#[should_panic(
    expected = "3 cells came over edge 1, and the region [0..2, 1..3] takes 4: give one of as many as this PE's `Edge::new` says"
)]
fn ghosts_go_to_a_region_of_as_many_cells(world: &mut World) {
    mistake(world, |mut flight| {
        flight.send(WEST, &[1, 2, 3]);
        flight.send(EAST, &[1, 2, 3]);
        flight.finish().unpack(EAST, &mut [0; 9], [3, 3], [0..2, 1..3]);
    });
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "edge 0 of PE 0 leads to PE 0, whose edge there takes 3 cells, not 4")]
fn a_region_has_all_cells_of_an_edge(world: &mut World) {
    mistake(world, |mut flight| flight.send_region(WEST, &[0; 9], [3, 3], [0..2, 1..3]));
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "edge 0 was sent already, and its cells are PE 0's now")]
fn an_edge_is_sent_once(world: &mut World) {
    mistake(world, |mut flight| {
        flight.send(WEST, &[1, 2, 3]);
        flight.send_iter(WEST, [1, 2, 3]);
    });
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "not sent: edge 1 to PE 0; each edge is sent once before `finish`")]
fn every_edge_is_sent(world: &mut World) {
    mistake(world, |mut flight| {
        flight.send(WEST, &[1, 2, 3]);
        _ = flight.finish();
    });
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "edge 1 of PE 0 leads to PE 0, whose edge there takes 3 cells, not 2")]
fn the_neighbour_says_how_many_cells_it_wants(world: &mut World) {
    mistake(world, |mut flight| flight.send_iter(EAST, [1, 2]));
}

#[shmem::test(pes = 1)]
#[should_panic(
    expected = "edge 0 of PE 0 leads to PE 0, whose edge there takes 18446744073709551615 cells, not 3"
)]
fn cells_of_no_bytes_may_be_as_many_as_there_are_numbers(world: &mut World) {
    let mut halo = world.halo::<[u64; 0]>(&[Edge::new(world.me(), 0, usize::MAX)]).unwrap();
    halo.begin(world).send_iter(0, [[]; 3]);
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "edge 1 of PE 0 leads to PE 0, whose edge there takes 3 cells, not 2")]
fn blocks_make_up_all_cells(world: &mut World) {
    mistake(world, |mut flight| flight.send_blocks(EAST, &[0; 9], 2, 4));
}

#[shmem::test(pes = 2)]
#[should_panic(expected = "edge 0 of PE 1 leads to PE 0, whose edge there takes 1 cell, not 2")]
fn the_sender_and_the_receiver_are_told_apart(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let mut halo = world.halo::<u64>(&[Edge::new(other, 0, 1)]).unwrap();
    if world.my_pe() == 1 {
        halo.begin(world).send(0, &[1, 2]);
    }
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "there is no edge 2: the halo has 2 (0..2)")]
fn edges_are_numbered_as_they_were_given(world: &mut World) {
    mistake(world, |mut flight| flight.send(2, &[1, 2, 3]));
}

#[shmem::test(pes = 2)]
fn objects_and_halos_live_side_by_side(world: &mut World) {
    // A segment of a halo between others, freed before them.
    let first = world.array([4096]).filled(1_u64).unwrap();
    let mut halo = ring(world, 4);
    let heap = world.alloc(zeroed::<u64>(100)).unwrap();
    let mut flight = halo.begin(world);
    world.put(heap.on(world.ring_neighbours().1), &[9; 100]);
    flight.send(WEST, &[5; 4]);
    flight.send(EAST, &[6; 4]);
    let ghosts = flight.finish();
    assert_eq!((&ghosts[WEST], &ghosts[EAST]), (&[6; 4][..], &[5; 4][..]));
    drop(halo);
    world.local((&first, &heap), |(first, heap)| {
        assert!(first.iter().all(|cell| *cell == 1) && heap.iter().all(|cell| *cell == 9));
    });
    world.reclaim();
}

/// A program that runs as one PE has borders only, and its regions are looked at all the same.
#[shmem::test(pes = 1)]
#[should_panic(expected = "the region ends at 5")]
fn a_region_that_a_border_is_sent_lies_in_its_shape(world: &mut World) {
    let mut halo = world.halo::<f64>(&[Edge::BORDER]).unwrap();
    halo.begin(world).send_region(0, &[0.0; 64], [4; 3], [1..3, 1..3, 4..5]);
}

/// As above, of the cells that come.
#[shmem::test(pes = 1)]
#[should_panic(expected = "the region ends at 10")]
fn a_region_that_a_border_fills_lies_in_its_shape(world: &mut World) {
    let mut halo = world.halo::<f64>(&[Edge::BORDER]).unwrap();
    halo.begin(world).finish().unpack(0, &mut [0.0; 64], [4; 3], [1..3, 1..3, 9..10]);
}
