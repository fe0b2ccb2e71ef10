//! Halo exchange in two dimensions: the benchmark of "Extending Strided Communication Interface in
//! OpenSHMEM" (2015), with 128 MiB of data.
//!
//! A field whose opposite edges meet is dealt out in blocks to a grid of PEs. In each step every PE puts the outermost rows and
//! columns of its block into the frames of its four neighbours' blocks, and relaxes its own. Rows are
//! contiguous, columns are not: how their cells are moved is what the algorithms differ in. The last way is a
//! halo, which needs no barrier around it: its time is that of the whole exchange, the wait for the neighbours
//! and the copies into the frame included. The ways take turns, so that they meet the same machine, and any of
//! them leads to the same field.
//!
//! ```text
//! SHMEM_NPES=2 cargo run --release -p shmem-examples --bin halo2d
//! ```
//!
//! Large pages make it faster than any algorithm does, as each cell of a long column lies on another page:
//! `SHMEM_SYMMETRIC_PARTITION_GRIDS=size=136M:pgsize=2M`.

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::padded::pitch;
use shmem::prelude::*;
use shmem::strided::Algorithm;
use shmem_examples::{Blocks, compare, counted, options};

partitions! {
    /// Room for the block of a single PE. Memory is taken for what is used of it.
    grids { size = "136M" }
}

/// Exchanges the edges of blocks by each algorithm and by a halo, in turn, and compares their times.
#[derive(Debug, Parser)]
#[command(name = "halo2d", max_term_width = 100)]
struct Arguments {
    /// Rows of the field, of all PEs together.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,

    /// Columns of the field.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    columns: u32,

    /// How often each way has its turn.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Solve once more on PE 0 alone, and compare bit for bit.
    #[arg(long)]
    serial_check: bool,
}

/// Each algorithm, and the halo.
const WAYS: usize = Algorithm::ALL.len() + 1;

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(arguments) = options::<Arguments>(world)? else { return Ok(()) };
    let (size, pes) = ([arguments.rows as usize, arguments.columns as usize], world.n_pes());
    // The blocks with the shortest edges; of two such ways, the one with more columns of PEs.
    let fits = |blocks: &Blocks| blocks.pes.iter().zip(size).all(|(pes, cells)| *pes <= cells);
    let best = Blocks::all(size, pes).rev().filter(fits).min_by_key(Blocks::cells_along_cuts);
    let [rows, columns] = size;
    let blocks = best.ok_or_else(|| {
        format!("{rows} x {columns} cells cannot be dealt out to {pes} PEs in blocks of at least one cell")
    })?;
    let mut block = Block::fill(world, blocks)?;

    let mut times = Vec::new();
    for round in 0..arguments.rounds as usize {
        let mut taken = [0.0; WAYS];
        for turn in 0..WAYS {
            // Another one begins in each round.
            let which = (round + turn) % WAYS;
            world.barrier_all();
            taken[which] = match Algorithm::ALL.get(which) {
                Some(algorithm) => {
                    let start = Instant::now();
                    block.exchange(world, *algorithm);
                    world.quiet();
                    start.elapsed().as_secs_f64()
                }
                None => block.exchange_by_halo(world),
            };
            block.relax(world);
        }
        // An exchange takes as long as it takes the slowest PE.
        world.max(&mut taken[..]);
        times.push(taken);
    }

    if world.my_pe() == 0 {
        let [down, across] = blocks.pes;
        let (mib, pes) = ((rows * columns * 8) as f64 / f64::from(1 << 20), counted(pes));
        println!("{rows} x {columns} cells ({mib:.1} MiB) on {pes}, {down} x {across} blocks");
        println!("algorithm      median   faster than 1");
        for way in 0..WAYS {
            let name = Algorithm::ALL.get(way).map_or("halo", |algorithm| algorithm.name());
            let microseconds = median(times.iter().map(|round| round[way] * 1e6));
            // In the same round: the machine was busy in some.
            let faster = median(times.iter().map(|round| round[0] / round[way]));
            println!("{name:<9}{microseconds:>9.1} us{faster:>15.2}x");
        }
        if arguments.serial_check {
            let serial = solve(size, times.len() * WAYS);
            for pe in world.pes() {
                let [rows, columns] = blocks.part_of(pe.number());
                for (at, row) in rows.enumerate() {
                    let place = |column| format!("the cell in row {row}, column {}", columns.start + column);
                    let parallel = block.row_of(world, pe, at, columns.len());
                    compare(&parallel, &serial[row][columns.clone()], place)?;
                }
            }
            println!("equal to the serial solution, bit for bit");
        }
    }
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The calling PE's block.
struct Block {
    /// Rows of the block inside a frame, which belongs to the neighbours: they put their edges there. The
    /// largest block says how far apart rows are, so that all PEs have the same places.
    cells: SymBox<[f64]>,
    /// Cells from one row to the next. Padded: at a distance of a power of two, the cells of a column would
    /// be in each other's way.
    pitch: usize,
    rows: usize,
    columns: usize,
    /// The PEs in the north, the south, the west and the east, and the row or column of their frame that this PE's edge goes to.
    neighbours: [(Pe, usize); 4],
    /// The same neighbours, in the same order.
    halo: Halo<f64>,
}

/// The transfers of [`Block::exchange`], by an algorithm that is written in the program.
macro_rules! exchange {
    ($block:ident, $world:ident, algorithm = $algorithm:tt) => {{
        let Block { ref cells, pitch, rows, columns, neighbours: [north, south, west, east], .. } = *$block;
        for (edge, (pe, into)) in [(1, north), (rows, south)] {
            let [from, into] = [edge, into].map(|row| row * pitch + 1..row * pitch + 1 + columns);
            strided!($world, algorithm = $algorithm;
                cells@pe[dyn into.start..into.end] = cells[dyn from.start..from.end]);
        }
        for (edge, (pe, into)) in [(1, west), (columns, east)] {
            let [from, into] = [edge, into].map(|column| pitch + column..(rows + 1) * pitch);
            strided!($world, algorithm = $algorithm;
                cells@pe[dyn into.start..into.end; dyn pitch] = cells[dyn from.start..from.end; dyn pitch]);
        }
    }};
}

impl Block {
    /// Sets the cells to what they are at the beginning. Collective.
    fn fill(world: &mut World, blocks: Blocks) -> Result<Self> {
        let [most_rows, most_columns] = blocks.part_of(0).map(|part| part.len());
        let pitch = pitch::<f64>(most_columns + 2);
        let cells = world.alloc_in::<grids, _>(shmem::zeroed((most_rows + 2) * pitch))?;
        let [rows, columns] = blocks.part_of(world.my_pe());
        world.local(&cells, |cells| {
            for (row, cells) in rows.clone().zip(cells.chunks_exact_mut(pitch).skip(1)) {
                columns.clone().zip(&mut cells[1..]).for_each(|(column, cell)| *cell = initial(row, column));
            }
        });
        let pes = world.grid(blocks.pes)?.periodic([true; 2]);
        let neighbours = [(0, -1), (0, 1), (1, -1), (1, 1)].map(|(axis, step)| {
            let pe = pes.neighbour(axis, step).unwrap_or(world.me());
            let last = blocks.part_of(pe.number())[axis].len() + 1;
            (pe, if step < 0 { last } else { 0 })
        });
        let (rows, columns) = (rows.len(), columns.len());
        let halo = world.halo(&pes.edges([columns, rows]))?;
        Ok(Self { cells, pitch, rows, columns, neighbours, halo })
    }

    /// Puts the edges into the frames of the neighbours.
    fn exchange(&self, world: &World, algorithm: Algorithm) {
        match algorithm {
            Algorithm::One => exchange!(self, world, algorithm = 1),
            Algorithm::Two => exchange!(self, world, algorithm = 2),
            Algorithm::Three => exchange!(self, world, algorithm = 3),
            Algorithm::Auto => exchange!(self, world, algorithm = auto),
        }
    }

    /// Exchanges the edges through the halo, and copies what comes into the own frame. Gives the seconds that it took.
    /// Collective.
    fn exchange_by_halo(&mut self, world: &mut World) -> f64 {
        let Self { cells, pitch, rows, columns, halo, .. } = self;
        let (pitch, rows, columns) = (*pitch, *rows, *columns);
        world.local_with_exchanges(&*cells, |cells, phase| {
            let start = Instant::now();
            let mut flight = halo.begin(phase);
            for (edge, row) in [1, rows].into_iter().enumerate() {
                flight.send(edge, &cells[row * pitch + 1..][..columns]);
            }
            for (edge, column) in (2..).zip([1, columns]) {
                flight.send_strided(edge, &cells[pitch + column..], pitch);
            }
            let ghosts = flight.finish();
            for (edge, row) in [0, rows + 1].into_iter().enumerate() {
                cells[row * pitch + 1..][..columns].copy_from_slice(&ghosts[edge]);
            }
            for (edge, column) in (2..).zip([0, columns + 1]) {
                for (row, ghost) in (1..).zip(&ghosts[edge]) {
                    cells[row * pitch + column] = *ghost;
                }
            }
            start.elapsed().as_secs_f64()
        })
    }

    /// One step: every cell becomes the mean of its four neighbours as they were before, so the order of the cells, and who
    /// computes them, cannot change a bit of the result. Collective: all edges have arrived when it begins.
    fn relax(&self, world: &mut World) {
        let Self { pitch, rows, columns, .. } = *self;
        world.local(&self.cells, |cells| {
            let mut above = cells[..columns + 2].to_vec();
            let mut here = above.clone();
            for row in 1..=rows {
                let (new, below) = cells[row * pitch..(row + 2) * pitch].split_at_mut(pitch);
                here.copy_from_slice(&new[..columns + 2]);
                for column in 1..=columns {
                    new[column] =
                        0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
                }
                std::mem::swap(&mut above, &mut here);
            }
        });
    }

    /// A row of the block of `pe`, which has so many columns.
    fn row_of(&self, world: &World, pe: Pe, row: usize, columns: usize) -> Vec<f64> {
        let mut cells = vec![0.0; columns];
        let first = (1 + row) * self.pitch + 1;
        world.get(&mut cells[..], self.cells.on(pe).index(first..first + columns));
        cells
    }
}

/// A cell of the field at the beginning.
fn initial(row: usize, column: usize) -> f64 {
    ((row * 31 + column * 17) % 101) as f64
}

/// The field after so many steps, in one process.
fn solve([rows, columns]: [usize; 2], steps: usize) -> Vec<Vec<f64>> {
    let field = |cell: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        (0..rows).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
    };
    (0..steps).fold(field(&initial), |old, _| {
        field(&|row, column| {
            let [above, below] = [rows - 1, 1].map(|step| old[(row + step) % rows][column]);
            let [left, right] = [columns - 1, 1].map(|step| old[row][(column + step) % columns]);
            0.25 * (above + below + left + right)
        })
    })
}
