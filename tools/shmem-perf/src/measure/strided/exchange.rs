//! The halo exchange of the literature: two PEs with a half each of a field, whose columns go to the other one.
//!
//! What lies beyond the edges of the field is its opposite edge. In an exchange each PE puts its first and its last column into the
//! frame of the other one's half, and its first and last row, which are contiguous, into its own frame.

use shmem::padded::pitch;
use shmem::strided::Algorithm;

use super::*;

/// Edges are still in a cache when they are exchanged, or they are not, unless all of the half is: every cell of it is visited
/// between two exchanges.
pub(super) fn exchanges(world: &mut World, bench: &Bench<'_>) -> Done {
    let world = &*world;
    for [rows, columns] in shapes(bench.quick) {
        let pitch = pitch_of(columns);
        let cells = world.alloc(zeroed::<f64>((rows + 2) * pitch))?;
        // Every page is there.
        (0..(rows + 2) * pitch).for_each(|at| cells.here(world).index(at).store(1.0));
        world.barrier_all();
        let half = Half { world, cells, rows, columns: columns / 2, pitch };
        for edges in ["cached", "evicted"] {
            // Microseconds by Algorithms 2 and 3 and by what is chosen here, each against Algorithm 1: those of the slower PE.
            let round =
                |_| world.max(Algorithm::ALL.map(|algorithm| half.time(algorithm, edges == "evicted")));
            let rounds: Vec<_> = (0..bench.repetitions).map(round).collect();
            for (way, algorithm) in Algorithm::ALL.iter().enumerate().skip(1) {
                let samples: Samples = rounds.iter().map(|times| (times[way], times[0])).collect();
                bench.add(format!("strided-exchange {}/{rows}x{columns}/{edges}", algorithm.name()), samples);
            }
        }
        world.free(half.cells)?;
    }
    Ok(())
}

pub(super) fn measure(runner: &mut Runner) -> Done {
    let cells = shapes(runner.asked.quick).map(|[rows, columns]| (rows + 2) * pitch_of(columns));
    let bytes = cells.into_iter().max().unwrap_or(0) * size_of::<f64>();
    runner.times(1, &runner.job("strided-exchange", 2, Given::default()).heap(bytes + (1 << 20)))
}

/// Rows and columns of fields of the published 128 MiB, or of less, from wide ones to high ones.
fn shapes(quick: bool) -> [[usize; 2]; 5] {
    let bytes: usize = either(quick, 128 << 20, 8 << 20, 128 << 10);
    let side = (bytes / size_of::<f64>()).isqrt();
    [[side / 16, side * 16], [side / 4, side * 4], [side, side], [side * 4, side / 4], [side * 16, side / 16]]
}

/// Cells from one row of a half to the next, with those of the frame: padded, as in a program that means it. At a power of two,
/// the cells of a column are in each other's way.
fn pitch_of(columns: usize) -> usize {
    pitch::<f64>(columns / 2 + 2)
}

struct Half<'w> {
    world: &'w World,
    cells: SymBox<[f64]>,
    rows: usize,
    columns: usize,
    pitch: usize,
}

/// The transfers of an exchange, columns by an algorithm that is written in the program.
macro_rules! exchange {
    ($half:ident, algorithm = $algorithm:tt) => {{
        let Half { world, ref cells, rows, columns, pitch } = *$half;
        let (here, there) = (world.me(), other(world));
        for (edge, into) in [(1, rows + 1), (rows, 0)] {
            let [from, into] = [edge, into].map(|row| row * pitch + 1..row * pitch + 1 + columns);
            strided!(world, cells@here[dyn into.start..into.end] = cells[dyn from.start..from.end]);
        }
        for (edge, into) in [(1, columns + 1), (columns, 0)] {
            let [from, into] = [edge, into].map(|column| pitch + column..(rows + 1) * pitch);
            strided!(world, algorithm = $algorithm;
                cells@there[dyn into.start..into.end; dyn pitch] = cells[dyn from.start..from.end; dyn pitch]);
        }
    }};
}

impl Half<'_> {
    /// Microseconds of an exchange. Collective.
    fn time(&self, algorithm: Algorithm, is_evicted: bool) -> f64 {
        let mut spent = 0.0;
        // More in one sample, where nothing comes in between.
        let exchanges = if is_evicted { 1 } else { 5 };
        for _ in 0..exchanges {
            if is_evicted {
                // Every line of the half.
                self.world.barrier_all();
                for at in (0..(self.rows + 2) * self.pitch).step_by(8) {
                    let cell = self.cells.here(self.world).index(at);
                    cell.store(cell.load());
                }
            }
            self.world.barrier_all();
            let start = Instant::now();
            match algorithm {
                Algorithm::One => exchange!(self, algorithm = 1),
                Algorithm::Two => exchange!(self, algorithm = 2),
                Algorithm::Three => exchange!(self, algorithm = 3),
                Algorithm::Auto => exchange!(self, algorithm = auto),
            }
            self.world.quiet();
            spent += start.elapsed().as_secs_f64();
        }
        spent * 1e6 / exchanges as f64
    }
}
