//! The published table: is a payload in blocks of one size at one distance moved faster block by block
//! (Algorithm 1) or column by column (Algorithm 2)?
//!
//! Both sides of a transfer have the same distance from block to block. Where a payload with its gaps is larger than
//! the sides, it is moved by several passes over as much as there is, each of which begins a few lines further, so
//! that what one pass has brought into a cache does not serve the next ones.

use shmem::zeroed;
use shmem_core::context::Stores;
use shmem_core::memory::Machine;
use shmem_core::strided::{Algorithm, Columns, GAPS, Method, PUBLISHED, Pattern, Plan, settings};

use super::{MARGIN, either, once};
use crate::bench::{Bench, Done, Fact, Given, Task};
use crate::case::Record;
use crate::runner::Runner;
use crate::samples::{Samples, each};
use crate::strided::{Direction, Sides};

pub(super) const TABLE: Task = Task::near("strided-published", published);

/// Bytes of the published payload.
const PAYLOAD: usize = 64 << 20;

/// Bytes of a heap beside the sides: statics, and the margin.
const SPARE: usize = 4 << 20;

/// The published table.
pub(crate) fn measure(runner: &mut Runner, quick: bool) -> Done {
    let payload = either(quick, PAYLOAD, 4 << 20, 64 << 10);
    let room = room(payload);
    for cell in Cell::all() {
        let (passes, Cell { block, gap }) = (cell.passes(payload, room).len(), cell);
        if passes > 1 {
            let passes = format!("{passes} passes over {} MiB", room >> 20);
            runner.fact(Fact::new(
                "strided-published-passes",
                &block.to_string(),
                &gap.to_string(),
                passes,
            ))?;
        }
    }
    once(runner, &TABLE, room + SPARE, Given { most: Some(payload), ..Given::default() })
}

/// The published table, for a payload of so many bytes.
fn published(bench: &mut Bench<'_>) -> Done {
    let (world, payload) = (bench.world, bench.given.most.unwrap_or(PAYLOAD));
    let heap = world.partitions().first().map_or(0, |heap| heap.spec.size as usize);
    let object = world.alloc(zeroed::<u8>(heap.saturating_sub(SPARE) + MARGIN))?;
    let place = object.on(bench.other());
    bench.alone(|| {
        let mut sides = Sides::new(world, place);
        for (direction, cell) in
            Direction::BOTH.into_iter().flat_map(|direction| Cell::all().map(move |cell| (direction, cell)))
        {
            times(bench, &mut sides, cell, direction, payload);
        }
    });
    Ok(())
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Milliseconds after which a cell has taken long enough.
const ENOUGH: f64 = 900.0;

/// What the sides are larger than a last-level cache by, at least.
const CACHES: u64 = 8;

/// A cell of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    /// Bytes of a block.
    block: usize,
    /// Bytes between two of them.
    gap: usize,
}

impl Cell {
    /// All of them, row by row.
    fn all() -> impl Iterator<Item = Self> {
        PUBLISHED.iter().flat_map(|&(block, _)| GAPS.map(|gap| Self { block, gap }))
    }

    const fn stride(self) -> usize {
        self.block + self.gap
    }

    /// Bytes from the first block of a payload to behind the last gap.
    const fn span(self, payload: usize) -> usize {
        payload / self.block * self.stride()
    }

    /// The passes that move a payload inside sides of `room` bytes: where each begins, and its number of blocks.
    fn passes(self, payload: usize, room: usize) -> Vec<(usize, usize)> {
        let stride = self.stride();
        assert!(
            room >= 2 * stride,
            "sides of {room} bytes have no room for blocks at a distance of {stride}"
        );
        let blocks = payload / self.block;
        let each = if self.span(payload) <= room { blocks } else { room / stride - 1 };
        // The last place is that where the next block begins.
        let places = (stride / self.block.next_multiple_of(LINE)).max(1);
        (0..blocks.div_ceil(each))
            .map(|pass| {
                let first = pass % places * self.block.next_multiple_of(LINE);
                (first, each.min(blocks - pass * each))
            })
            .collect()
    }

    /// What a way does in passes, in its own order: Algorithm 2 makes a column of all blocks after the other.
    fn moves(self, passes: &[(usize, usize)], method: Method) -> Vec<Move> {
        let Method::Columns(Columns { iput128, iput64, iput32 }) = method else {
            let of = |&(first, count): &(usize, usize)| Move { first, count, bytes: self.block, method };
            return passes.iter().map(of).collect();
        };
        let none = Columns { iput128: 0, iput64: 0, iput32: 0 };
        let widths = [
            (16, iput128, Columns { iput128: 1, ..none }),
            (8, iput64, Columns { iput64: 1, ..none }),
            (4, iput32, Columns { iput32: 1, ..none }),
        ];
        let mut moves = Vec::new();
        for &(first, count) in passes {
            let mut at = first;
            for (bytes, columns, one) in widths {
                for _ in 0..columns {
                    moves.push(Move { first: at, count, bytes, method: Method::Columns(one) });
                    at += bytes;
                }
            }
        }
        moves
    }

    /// Moves in so many parts, in their order, with as many blocks in each as in the others, but for one.
    fn cut(self, moves: &[Move], parts: usize) -> Vec<Vec<Move>> {
        let blocks: usize = moves.iter().map(|one| one.count).sum();
        let mut cut = vec![Vec::new(); parts];
        let mut before = 0;
        for one in moves {
            let mut done = 0;
            while done < one.count {
                let part = ((before + done) * parts) / blocks;
                let end = ((part + 1) * blocks).div_ceil(parts) - before;
                let count = end.min(one.count) - done;
                cut[part].push(Move { first: one.first + done * self.stride(), count, ..*one });
                done += count;
            }
            before += one.count;
        }
        cut
    }
}

/// Blocks, or a column of them, that are moved at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    /// Where the first one begins on both sides.
    first: usize,
    count: usize,
    /// Bytes of each.
    bytes: usize,
    method: Method,
}

/// Bytes of sides that hold every cell of a payload as far as memory allows: a sixteenth of what is left, but several
/// times a last-level cache.
fn room(payload: usize) -> usize {
    let machine = Machine::default();
    let left = machine.available().bytes;
    let wanted = (left / 16).max(CACHES * last_level_cache());
    let widest = Cell::all().map(|cell| cell.span(payload)).max().unwrap_or(0) as u64;
    wanted.min(left / 4).min(widest) as usize
}

/// Bytes of the largest cache of this machine, as the system says; if it does not, more than most have.
fn last_level_cache() -> u64 {
    let size = |index: usize| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = std::fs::read_to_string(file).ok()?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    (0..8).filter_map(size).max().map_or(32 << 20, |kibibytes| kibibytes << 10)
}

/// Moves a payload by Algorithms 1 and 2 and by what is chosen here, in turn: milliseconds for the whole payload. The times of
/// Algorithm 3 are those of the one it chooses.
///
/// Where that would take much longer than a second, what each way does is cut into 4 or 16 parts, in the way's own order:
/// blocks one behind the other, or columns. Each sample does the next part, so that as much memory as ever lies
/// between two visits of a line.
fn times<I: Stores>(
    bench: &Bench<'_>,
    sides: &mut Sides<'_, I>,
    cell: Cell,
    direction: Direction,
    payload: usize,
) {
    let (stride, blocks, repetitions) = (cell.stride(), payload / cell.block, bench.repetitions);
    let whole = Pattern::blocks(cell.block, blocks, stride, stride);
    let methods = [Algorithm::One, Algorithm::Two, Algorithm::Auto]
        .map(|algorithm| Plan::of(whole, LINE, algorithm, &settings().thresholds).method());
    let passes = cell.passes(payload, sides.room());
    let moves = methods.map(|method| cell.moves(&passes, method));
    let mut time = |moves: &[Move]| {
        let all = || {
            for &Move { first, count, bytes, method } in moves {
                let pattern = Pattern::blocks(bytes, count, stride, stride);
                sides.planned(first, &Plan::by(pattern, method), direction);
            }
        };
        each(1, all) / 1e6
    };
    let expected = repetitions as f64 * moves.iter().map(|moves| time(moves)).sum::<f64>();
    let parts =
        [1, 4, 16].into_iter().find(|&parts| expected / parts as f64 <= ENOUGH).unwrap_or(16).min(blocks);
    let cut = moves.map(|moves| cell.cut(&moves, parts));
    let rounds: Vec<_> = (0..repetitions)
        .map(|round| [0, 1, 2].map(|way| time(&cut[way][(3 * round + way) % parts]) * parts as f64))
        .collect();
    let pairs = |cost: usize, limit: usize| -> Samples {
        rounds.iter().map(|times| (times[cost], times[limit])).collect()
    };
    let two = pairs(1, 0);
    let chosen = usize::from(shmem_core::strided::published(stride, stride, cell.block));
    let better = usize::from(two.ratio()[1] < 1.0);
    let ways = [("2", two), ("3", pairs(chosen, 0)), ("auto", pairs(2, 0)), ("auto-best", pairs(2, better))];
    let sample = match parts {
        1 => String::new(),
        parts => format!(", a sample moves 1 of {parts} parts"),
    };
    for (way, samples) in ways {
        let name = format!("strided-published {way}/{}/{}/{}", direction.name(), cell.block, cell.gap);
        let note = format!("; time for {} KiB{sample}", payload >> 10);
        bench.push(Record { note, ..bench.record(name, samples) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_move_the_payload_inside_the_sides() {
        for payload in [PAYLOAD, 4 << 20] {
            for room in [1 << 20, 300 << 20, 20 << 30] {
                for cell in Cell::all() {
                    let passes = cell.passes(payload, room);
                    let bytes: usize = passes.iter().map(|(_, count)| count * cell.block).sum();
                    assert_eq!(bytes, payload, "{cell:?}");
                    for (first, count) in &passes {
                        let end = first + (count - 1) * cell.stride() + cell.block;
                        assert!(end <= room && first % LINE == 0, "{cell:?} in {room}: {first} {count}");
                    }
                    assert_eq!(passes.len() == 1, cell.span(payload) <= room, "{cell:?} in {room}");
                }
            }
        }
    }

    #[test]
    fn parts_are_all_of_the_moves_in_their_order() {
        let columns = |Cell { block, gap }| Columns::of(block, 1 << (block + gap).trailing_zeros()).unwrap();
        for cell in Cell::all().filter(|cell| cell.block <= 1024) {
            let passes = cell.passes(1 << 16, 100 << 10);
            for method in [Method::Putmem, Method::Columns(columns(cell))] {
                let moves = cell.moves(&passes, method);
                let all = words(cell, &moves);
                let sorted = |moves: &[Move]| {
                    let mut words = words(cell, moves);
                    words.sort_unstable();
                    words
                };
                assert_eq!(sorted(&moves), sorted(&cell.moves(&passes, Method::Putmem)), "{cell:?}");
                for parts in [1, 4, 16] {
                    let cut = cell.cut(&moves, parts);
                    let together = cut.iter().flat_map(|part| words(cell, part)).collect::<Vec<_>>();
                    assert_eq!(together, all, "{cell:?} {method:?}");
                    let counts = cut.iter().map(|part| part.iter().map(|one| one.count).sum::<usize>());
                    let (most, fewest) = (counts.clone().max(), counts.min());
                    assert!(most <= fewest.map(|fewest| fewest + 1), "{cell:?}: {most:?}, {fewest:?}");
                }
            }
        }
    }

    /// The words of 4 bytes that are moved, in order.
    fn words(cell: Cell, moves: &[Move]) -> Vec<usize> {
        let blocks =
            |one: Move| (0..one.count).map(move |block| (one.first + block * cell.stride(), one.bytes));
        let all = moves.iter().flat_map(|one| blocks(*one));
        all.flat_map(|(first, bytes)| (first..first + bytes).step_by(4)).collect()
    }
}
